"""DeepL's API, called by its official client."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import deepl
import pytest
from starlette.testclient import TestClient

from nmt.serve import glossaries
from nmt.serve.limits import Limits
from nmt.serve.service import Access

SENTENCE, GERMAN = "Anna sings today.", "Anna singt heute."
TO_GERMAN = {"source_lang": "EN", "target_lang": "DE"}


@pytest.fixture
def api(start_server: Callable[..., str]) -> deepl.DeepLClient:
    address = start_server(access=Access(keys=["secret"]))
    deepl.http_client.max_network_retries = 0
    return deepl.DeepLClient("secret", server_url=address)


def test_the_official_client_translates(api: deepl.DeepLClient) -> None:
    found = api.translate_text(SENTENCE, context="x", formality="prefer_more", **TO_GERMAN)
    assert isinstance(found, deepl.TextResult)
    assert (found.text, found.detected_source_lang) == (GERMAN, "EN")
    several = api.translate_text([SENTENCE, GERMAN, "  "], target_lang="DE")
    assert isinstance(several, list)
    assert [each.text for each in several] == [GERMAN, GERMAN, "  "]
    assert [each.detected_source_lang for each in several][:2] == ["EN", "DE"]
    marked = api.translate_text(f"<p>{SENTENCE}</p>", tag_handling="html", **TO_GERMAN)
    assert str(marked) == f"<p>{GERMAN}</p>"
    xml = f"<a>{SENTENCE}</a><b>Anna <c>sings</c> <x id='1'/>today.</b><code>Anna sings.</code>"
    found = api.translate_text(xml, tag_handling="xml", ignore_tags=["code"], **TO_GERMAN)
    assert str(found) == (
        f"<a>{GERMAN}</a><b>Anna <c>singt</c> <x id='1'/>heute.</b><code>Anna sings.</code>"
    )
    with pytest.raises(deepl.DeepLException, match="XML"):
        api.translate_text("<a>", tag_handling="xml", **TO_GERMAN)
    assert api.get_usage().character.count > 0


def test_the_official_client_translates_documents(api: deepl.DeepLClient, tmp_path: Path) -> None:
    po = 'msgid "Anna sings today."\nmsgstr ""\n'
    for name, content in (("a.txt", SENTENCE), ("de.po", po)):
        given, translated = tmp_path / name, tmp_path / f"translated-{name}"
        given.write_text(content)
        api.translate_document_from_filepath(given, translated, **TO_GERMAN)
        assert GERMAN in translated.read_text()
    as_bytes = api.translate_document_upload(SENTENCE, filename="a.txt", **TO_GERMAN)
    assert api.translate_document_get_status(as_bytes).ok
    with pytest.raises(deepl.DeepLException):
        api.translate_document_download(deepl.DocumentHandle("x", "y"), BytesIO())


def test_the_official_client_lists_languages(api: deepl.DeepLClient) -> None:
    assert [each.code for each in api.get_source_languages()] == ["EN"]
    assert [each.code for each in api.get_target_languages()] == ["DE"]


def test_an_unknown_kind_of_languages_is_refused(client: TestClient) -> None:
    for kind, status in (("source", 200), ("target", 200), ("targets", 400)):
        assert client.get("/v2/languages", params={"type": kind}).status_code == status


def test_the_official_client_manages_glossaries(api: deepl.DeepLClient) -> None:
    made = api.create_glossary("mine", "EN", "DE", {"Anna": "Ben", "swim": "schwimmen"})
    assert (made.name, made.entry_count, made.ready) == ("mine", 2, True)
    assert [each.glossary_id for each in api.list_glossaries()] == [made.glossary_id]
    assert api.get_glossary(made.glossary_id).name == "mine"
    assert api.get_glossary_entries(made) == {"Anna": "Ben", "swim": "schwimmen"}
    assert "Ben" in str(api.translate_text(SENTENCE, glossary=made, **TO_GERMAN))
    api.delete_glossary(made)
    assert api.list_glossaries() == []
    [pair] = api.get_glossary_languages()
    assert (pair.source_lang, pair.target_lang) == ("en", "de")
    from_csv = api.create_glossary_from_csv("csv", "EN", "DE", 'a,b\n"c, d",e\n')
    assert api.get_glossary_entries(from_csv) == {"a": "b", "c, d": "e"}


def test_the_official_client_understands_the_errors(api: deepl.DeepLClient) -> None:
    for named, text, options in (
        ("fr is not", SENTENCE, {"target_lang": "FR"}),
        ("glossary none", SENTENCE, {"glossary": "none"}),
        ("formality", SENTENCE, {"formality": "more"}),
        ("limit", "x" * 200_000, {}),
    ):
        with pytest.raises(deepl.DeepLException, match=named):
            api.translate_text(text, **TO_GERMAN | options)
    with pytest.raises(deepl.GlossaryNotFoundException):
        api.get_glossary("none")
    guess = deepl.DeepLClient("guess", server_url=api.server_url)
    with pytest.raises(deepl.AuthorizationException):
        guess.translate_text(SENTENCE, **TO_GERMAN)


def test_the_official_client_names_the_limit_of_documents(start_server: Callable[..., str]) -> None:
    api = deepl.DeepLClient("any", server_url=start_server(limits=Limits(body=1000)))
    with pytest.raises(deepl.DeepLException, match="larger than 1000 bytes"):
        api.translate_document_upload("x" * 2000, filename="a.txt", **TO_GERMAN)


@pytest.mark.parametrize("name", ["text", "ignore_tags"])
def test_a_field_that_is_given_in_two_ways_is_refused(client: TestClient, name: str) -> None:
    fields = {"text": SENTENCE, "target_lang": "DE", "ignore_tags": "b", f"{name}[]": "i"}
    answer = client.post("/v2/translate", data=fields)
    assert answer.status_code == 400
    assert f"either {name} or {name}[]" in answer.json()["message"]


def test_a_missing_key_is_refused(make_client: Callable[..., TestClient]) -> None:
    client = make_client(access=Access(keys=["secret"]))
    answer = client.post("/v2/translate", json={"text": [SENTENCE], "target_lang": "DE"})
    assert answer.status_code == 403
    assert "API key" in answer.json()["message"]


def test_options_without_effect_are_accepted(api: deepl.DeepLClient) -> None:
    ignored = {"split_sentences": "0", "preserve_formatting": True, "outline_detection": False}
    found = api.translate_text(SENTENCE, **ignored, **TO_GERMAN)  # type: ignore[arg-type]
    assert str(found) == GERMAN


def test_forms_are_read_as_well(client: TestClient) -> None:
    answer = client.post("/v2/translate", data={"text": [SENTENCE, "x"], "target_lang": "deu"})
    assert answer.json()["translations"][0]["text"] == GERMAN


def test_faulty_and_too_many_glossaries_are_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(entries: str, target: str = "de") -> int:
        body = {"name": "n", "source_lang": "en", "target_lang": target, "entries": entries}
        return client.post("/v2/glossaries", json=body).status_code

    assert create("a") == 400
    assert create("a\tb", target="fr") == 400
    assert create("x" * 2_000_000) == 413
    monkeypatch.setattr(glossaries, "_MOST", 1)
    assert [create("a\tb"), create("a\tb")] == [200, 400]
