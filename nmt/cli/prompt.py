"""The prompt of `nmt translate`: sentences in, translations out, and a few commands."""

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from nmt.cli.output import format_translations, reporting, warn_of_missing
from nmt.echo import echo
from nmt.errors import UserError, pytorch_missing, require_utf8

if TYPE_CHECKING:
    from nmt.decoding.glossary import Term
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import RunFolder

HELP = """\
Type a sentence to translate it; the arrow keys recall earlier ones.
  :beam N       set the beam size to N; 1 is greedy search
  :attention    draw the attention weights of the last sentence
  :help         show this
  :quit         leave the prompt; also quit, exit and Ctrl-D"""
_ENDS = ("quit", "exit", ":quit", ":q", ":exit")
_MOST_HYPOTHESES = 500


def converse(
    translator: "Translator",
    run: "RunFolder",
    n_best: int | None,
    tag: str = "",
    lines: Iterable[str] | None = None,
    scores: bool = False,
) -> None:
    """Translate each line, and run commands, until the input ends or asks to quit.

    run: pictures go to its folder; tag: put in front of every sentence; scores: as in
    `format_translations`
    """
    echo("Type a sentence. :help lists commands, Ctrl-D quits.", err=True)
    conversation = _Conversation(translator, run, n_best, tag, scores)
    for line in lines if lines is not None else typed_lines():
        if line.strip().lower() in _ENDS:
            return
        try:
            conversation.answer(line)
        except UserError as error:
            echo(*str(error).split("\n"), err=True)


def typed_lines() -> Iterator[str]:
    """Yield typed lines, with editing and a persistent history."""
    import platformdirs
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    from prompt_toolkit.output import create_output

    folder = platformdirs.user_state_path("nmt")
    if not sys.stderr.isatty():  # no editing without a visible prompt
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")  # for `require_utf8`
        yield from (line.rstrip("\n") for line in sys.stdin)
        return

    class OptionalHistory(FileHistory):
        def store_string(self, string: str) -> None:
            with suppress(OSError):  # such as a full disk
                super().store_string(string)

    history: History
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "history").open("ab"):  # it is opened only later, for each sentence
            history = OptionalHistory(str(folder / "history"))
    except OSError:
        history = InMemoryHistory()
    # The prompt goes to standard error, as standard output may be a file.
    session: PromptSession[str] = PromptSession(
        history=history, output=create_output(stdout=sys.stderr)
    )
    while True:
        try:
            yield from session.prompt("> ").split("\n")  # pasted text may have several lines
        except EOFError:
            return


class _Conversation:
    def __init__(
        self,
        translator: "Translator",
        run: "RunFolder",
        n_best: int | None,
        tag: str,
        scores: bool,
    ):
        self.translator, self.run, self.n_best, self.tag = translator, run, n_best, tag
        self.scores = scores
        self.last = ""

    def answer(self, line: str) -> None:
        require_utf8(line)
        if not line.startswith(":"):
            self.last = self.tag + line if line.strip() else self.last
            missing: Counter[Term] = Counter()
            options = self.translator.n_best([self.tag + line], self.n_best or 1)
            found = reporting(iter(options), missing)
            for text in format_translations(found, self.n_best, self.scores):
                typer.echo(text)
            warn_of_missing(missing, self.translator)
            return
        name, _, value = line[1:].strip().partition(" ")
        commands = {"beam": self.beam, "attention": self.attention, "help": self.help}
        if name not in commands:
            raise UserError(f"unknown command :{name}; :help lists the commands")
        commands[name](value.strip())

    def help(self, _: str) -> None:
        echo(*HELP.split("\n"), err=True)

    def beam(self, value: str) -> None:
        size = int(value) if value.isascii() and value.isdecimal() and len(value) < 4 else 0
        if not 1 <= size <= _MOST_HYPOTHESES:
            raise UserError(f":beam takes a number from 1 to {_MOST_HYPOTHESES}, as in :beam 8")
        decoding = self.translator.decoding
        self.translator.decoding = decoding.model_copy(update={"beam_size": size})
        echo(f"beam of {size}", err=True)

    def attention(self, _: str) -> None:
        try:
            from nmt.reports.attention import draw_attention, read_attention
        except ModuleNotFoundError:
            raise pytorch_missing() from None
        from nmt.reports.figures import picture_path

        if not self.last:
            raise UserError("translate a sentence first; :attention then draws its attention")
        path = picture_path(None, self.run.pictures, "attention-clearest")
        found = read_attention(self.translator, self.last, drawn=True)
        draw_attention(found, "clearest", path)
        echo(f"picture          {path}", err=True)
