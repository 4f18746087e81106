"""Glossaries that clients have stored."""

from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.serve import glossaries
from nmt.serve.errors import ApiError
from nmt.serve.glossaries import Glossaries


def test_a_folder_keeps_glossaries_until_they_are_deleted(tmp_path: Path) -> None:
    stored = Glossaries(tmp_path)
    made = [stored.add(name, "en", "de", "hat\tMütze") for name in ("a", "b", "c")]
    stored.delete(made[1].id)
    assert Glossaries(tmp_path).list() == [made[0], made[2]]
    assert {path.name for path in tmp_path.iterdir()} == {f"{x.id}.json" for x in stored.list()}


@pytest.mark.parametrize(("old", "new"), [("Mütze", ""), ("{", ""), ('"count":1', '"count":2')])
def test_damaged_files_are_refused_by_name(tmp_path: Path, old: str, new: str) -> None:
    made = Glossaries(tmp_path).add("a", "en", "de", "hat\tMütze")
    path = tmp_path / f"{made.id}.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UserError, match=f"{made.id}.json: is not a stored glossary"):
        Glossaries(tmp_path)


def test_a_folder_holds_a_limited_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        Glossaries(tmp_path).add("a", "en", "de", "hat\tMütze")
    monkeypatch.setattr(glossaries, "_MOST", 2)
    with pytest.raises(ApiError, match="delete one"):
        Glossaries(tmp_path).add("a", "en", "de", "hat\tMütze")
    monkeypatch.setattr(glossaries, "_MOST", 1)
    with pytest.raises(UserError, match="more than 1 glossaries"):
        Glossaries(tmp_path)


def test_a_glossary_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "glossaries"
    folder.mkdir()
    stored = Glossaries(folder)
    folder.rmdir()
    with pytest.raises(ApiError, match="cannot write"):
        stored.add("a", "en", "de", "hat\tMütze")
    assert stored.list() == []
