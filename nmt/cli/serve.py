"""`nmt serve`: trained runs over HTTP."""

import logging
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.cli import completing
from nmt.cli.options import TranslatorOptions, find_runs, with_translator_options
from nmt.echo import echo
from nmt.errors import UserError, missing_extra

_LOG = logging.getLogger(__name__)

if TYPE_CHECKING:
    from nmt.serve.service import Access

_MOST_BYTES = 12  # that a character takes in JSON: \ud83d\ude00

RunsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--run",
        help="Run folder. Repeat to serve several runs. Default: the most recently trained run "
        "under ./runs.",
        autocompletion=completing.runs,
    ),
]


@with_translator_options("glossary", "memory", "engine", "compute_type")
def serve(
    run: RunsOption = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; 0.0.0.0: all.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0: any free port.")
    ] = 5000,
    api_key: Annotated[
        list[str] | None,
        typer.Option("--api-key", help="Key that clients must send. Repeat for several."),
    ] = None,
    api_keys: Annotated[
        Path | None, typer.Option("--api-keys", help="File of keys, one per line.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let other machines connect without a key.")
    ] = False,
    requests_per_minute: Annotated[
        int,
        typer.Option(
            "--requests-per-minute",
            min=0,
            help="Maximum requests per minute from each client; 0: no limit.",
        ),
    ] = 0,
    max_characters: Annotated[
        int, typer.Option("--max-characters", min=1, help="Maximum length of a request.")
    ] = 100_000,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            min=0.1,
            help="Time limit in seconds for each step: receiving, processing and answering.",
        ),
    ] = 60.0,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            help="Site whose web pages may send requests, such as https://example.com; *: all. "
            "Repeat for several.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            help="Additional host name of this server, such as that of a proxy in front of it. "
            "Repeat for several.",
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            "--root-path",
            help="Path under which a proxy serves this, and which it removes, such as /translate.",
        ),
    ] = "",
    glossaries: Annotated[
        Path | None,
        typer.Option(
            "--glossaries",
            help="Folder that keeps the glossaries of clients of DeepL's API; default: they are "
            "lost when the server stops.",
        ),
    ] = None,
    export_openapi: Annotated[
        bool, typer.Option("--export-openapi", help="Print the OpenAPI document and exit.")
    ] = False,
    *,
    options: TranslatorOptions,
) -> None:
    """Serve runs over HTTP, to browsers and programs.

    A web page, the core of LibreTranslate's and DeepL's APIs, and nmt's own API.

    Example: nmt serve --run runs/sample --port 8080
    """
    try:
        import selectolax  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise missing_extra("nmt serve", "serve") from None
    if export_openapi:
        _print_openapi()
        return

    from nmt.runs.folder import RUNS
    from nmt.serve.app import make_app
    from nmt.serve.glossaries import Glossaries
    from nmt.serve.limits import Limits
    from nmt.serve.served_run import ServedRun, name_runs
    from nmt.serve.server import LOOPBACK, bind, make_server
    from nmt.serve.service import Service

    if root_path and not re.fullmatch(r"(?:/[\w.~-]+)+/?", root_path):
        raise UserError(f"--root-path {root_path}: must be a path such as /translate")
    root_path = root_path.rstrip("/")
    access = _access(host, public, api_key, api_keys, allow_origin, allow_host)
    if glossaries and not glossaries.is_dir():
        raise UserError(f"--glossaries {glossaries}: is not a folder; create it first")
    stored = Glossaries(glossaries)
    listener = bind(host, port)
    folders = find_runs(run, options.weights)
    paths = [folder.path.resolve() for folder in folders]
    for number, folder in enumerate(folders):
        if paths[number] in paths[:number]:
            raise UserError(f"--run {folder.path}: given twice; omit one of them")
    runs = []
    for folder, name in zip(folders, name_runs(folders), strict=True):
        translator = options.open(folder)
        runs.append(ServedRun(name, folder, translator, translator.engine.name))
    private = host in LOOPBACK and not allow_host  # a proxy would show ./runs to others
    limits = Limits(
        body=max(Limits.body, _MOST_BYTES * max_characters),
        characters=max_characters,
        seconds=timeout,
        per_minute=requests_per_minute,
    )
    service = Service(runs, limits, access, RUNS if private else None, stored)
    for each in runs:
        echo(f"serving          {each.name}, {each.source} → {each.target}", err=True)
        if tags := each.folder.config.data.imported_tags:
            _LOG.warning(
                f"{each.name}: may write any of its target languages ({', '.join(tags)}), because "
                "requests cannot choose one; serve a model for a single language, or use "
                "nmt translate --tag"
            )
    if find_spec("torch") is None:
        _LOG.warning(
            "without PyTorch, attention, the beam, alternative words and given beginnings are "
            "unavailable, missing terms are not searched for again, HTML tags are placed by word "
            "order, and whole-word models write <unk> for unknown words"
        )
    shown = f"[{host}]" if ":" in host else host
    echo(f"open             http://{shown}:{listener.getsockname()[1]}", err=True)
    make_server(make_app(service), limits.seconds, root_path).run(sockets=[listener])


def _access(
    host: str,
    public: bool,
    api_key: list[str] | None,
    api_keys: Path | None,
    allow_origin: list[str] | None,
    allow_host: list[str] | None,
) -> "Access":
    from nmt.serve.server import LOOPBACK, hosts_of, origins_of, read_keys
    from nmt.serve.service import Access

    given = [key.strip() for key in api_key or []]
    if not all(given):
        raise UserError("--api-key: is empty; give a long random string")
    keys = [*given, *(read_keys(api_keys) if api_keys else [])]
    if not all(key.isascii() and key.isprintable() for key in keys):
        raise UserError(
            "--api-key and --api-keys: use printable ASCII characters only; programs encode others "
            "differently"
        )
    if public and keys:
        raise UserError(
            "--public cannot be combined with --api-key or --api-keys; omit one of them"
        )
    if host not in LOOPBACK and not keys and not public:
        raise UserError(
            f"--host {host}: others could reach it; add --api-key or --api-keys, or --public to "
            "let everyone translate"
        )
    return Access(keys, hosts_of(host, allow_host or []), origins_of(allow_origin or []))


def _print_openapi() -> None:
    import json

    from nmt.serve.app import OPERATIONS
    from nmt.serve.openapi import describe

    typer.echo(json.dumps(describe(OPERATIONS), indent=2, ensure_ascii=False))
