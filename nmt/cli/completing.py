"""Shell completion of configurations, fields and runs."""

from pathlib import Path


def configs(incomplete: str) -> list[str]:
    """Return the shipped configurations and the YAML files in this folder that match."""
    from nmt.config.yaml_files import config_name, shipped_configs

    names = [config_name(path) for path in shipped_configs()]
    names += [str(path) for path in sorted(Path().glob("[!.]*.yaml"))]
    return [name for name in names if name.startswith(incomplete)]


def fields(incomplete: str) -> list[str]:
    """Return the fields that match, each with `=`."""
    from nmt.config.yaml_files import describe_fields

    return [f"{name}=" for name, *_ in describe_fields() if name.startswith(incomplete)]


def decoding_fields(incomplete: str) -> list[str]:
    """Return the fields of the decoding section that match."""
    return [name for name in fields(incomplete) if name.startswith("decoding.")]


def runs(incomplete: str) -> list[str]:
    """Return the run folders under ./runs that match."""
    paths = [str(path.parent) for path in sorted(Path("runs").glob("[!.]*/config.yaml"))]
    return [path for path in paths if path.startswith(incomplete)]
