"""Pages of the documentation site that are generated from the code (a hook of MkDocs).

    make docs

The configuration page comes from the fields' descriptions, the command line page from Typer, the
changelog from CHANGELOG.md. Configurations that pages link to are copied into the site.
"""

import re
import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from nmt.config.yaml_files import describe_fields, shipped_configs

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the site."""
    pages = {
        "configuration.md": configuration(),
        "command-line.md": command_line(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    for path in shipped_configs():
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to ../configs, which work in the repository, as links within the site."""
    return markdown.replace("](../configs/", "](configs/")


def configuration() -> str:
    """Return a list of fields for each section of the YAML."""
    lines = [
        "# Configuration",
        "",
        "Every field of the YAML, with its type, default and meaning. "
        "`nmt config fields` prints the same list.",
    ]
    current = ""
    for field, kind, default, description in describe_fields(nested=True):
        section, _, name = field.partition(".")
        if section != current:
            current = section
            lines += ["", f"## `{section}`", ""]
        lines += [f"- **`{name}`**: `{kind}`, default `{default}`  ", f"    {description}"]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """Return Typer's own documentation of all commands."""
    command = [sys.executable, "-m", "typer", "nmt.cli.app", "utils", "docs"]
    options = ["--name", "nmt", "--title", "Command line"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    return _with_whole_summaries(done.stdout)


def _with_whole_summaries(text: str) -> str:
    """Replace the truncated summaries in Typer's lists of commands by those of their sections."""
    summaries = dict(re.findall(r"^#+ `(nmt [\w ]+)`\n\n(.+)$", text, flags=re.MULTILINE))
    lines, group = [], "nmt"
    for line in text.splitlines():
        if heading := re.match(r"#+ `(nmt [\w ]+)`$", line):
            group = heading[1]
        if item := re.match(r"\* `(\w+)`: .*\.\.\.$", line):
            line = f"* `{item[1]}`: {summaries[f'{group} {item[1]}']}"
        lines.append(line)
    return "\n".join(lines) + "\n"
