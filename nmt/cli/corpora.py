"""`nmt corpora`: corpora and test sets that are available by name."""

import re
from typing import Annotated

import typer

from nmt.config.languages import base_language
from nmt.errors import UserError


def corpora(
    languages: Annotated[
        str, typer.Option("--languages", "-l", metavar="SOURCE-TARGET", help="Language codes.")
    ] = "en-de",
    test_sets: Annotated[
        bool, typer.Option("--test-sets", help="List the names for nmt evaluate --test-set.")
    ] = False,
) -> None:
    """List the corpora available by name: pairs, size if downloaded, licence and address.

    Example: nmt corpora --languages en-fr
    """
    from nmt.cli.tables import print_table

    source, _, target = (base_language(each) for each in languages.partition("-"))
    if not all(re.fullmatch("[a-z]{2,3}", each) for each in (source, target)) or source == target:
        raise UserError(
            f"--languages {languages}: expected two different language codes, as in en-de"
        )
    if test_sets:
        from nmt.evaluation.test_sets import list_test_sets

        found = list_test_sets((source, target))
        rows = [
            (name, f"{lines:,}" if lines else "", description, address)
            for name, description, address, lines in found
        ]
        print_table(("test set", "lines, if downloaded", "what it is", "address"), rows, 4, below=2)
        return
    from nmt.corpus.sources.registry import list_corpora

    print_table(
        ("fields of data", "pairs", "on disk", "licence", "address"),
        [
            (
                e.fields,
                e.pairs,
                f"{e.size / 1e6:,.1f} MB" if e.size else "",
                e.licence,
                e.address,
            )
            for e in list_corpora((source, target))
        ],
        5,
        below=1,
    )
