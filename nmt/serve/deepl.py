"""The core of DeepL's API (https://developers.deepl.com), for the tools that speak it."""

import csv
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import NotRequired, TypedDict

from nmt.config.choices import Address
from nmt.config.languages import base_language, language_name
from nmt.errors import UserError
from nmt.serve.errors import ApiError
from nmt.serve.glossaries import StoredGlossary
from nmt.serve.libretranslate import AUTO, detect_languages
from nmt.serve.operations import Operation, Texts
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

_UNLIMITED = 10**12  # characters
_ADDRESSES: dict[str, Address | None] = {
    "default": None,
    "more": "sie",
    "prefer_more": "sie",
    "less": "du",
    "prefer_less": "du",
}
_TARGETS = {"en": ("EN-GB", "EN-US")}  # DeepL's clients refuse a target without a region


def _names(value: object) -> object:
    """Accept names with commas, as DeepL's API does."""
    given = [value] if isinstance(value, str) else value
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        return [name for each in given for name in each.replace(",", " ").split()]
    return [] if value is None else value


Names = Annotated[list[str], BeforeValidator(_names)]


class TextBody(BaseModel):
    """Texts to translate; further fields of DeepL's API are accepted and ignored."""

    text: Texts = Field(description="one text or a list")
    target_lang: str = Field(description="language code, with or without a region")
    source_lang: str | None = Field(None, description="language code; default: detected")
    glossary_id: str | None = Field(None, description="a stored glossary")
    formality: str | None = Field(
        None,
        description="`more` for Sie, `less` for du; `prefer_more` and `prefer_less` have no effect "
        "with runs that did not learn forms of address; `default`",
    )
    tag_handling: Literal["", "html", "xml"] | None = Field(
        None, description="html, xml: keep the markup"
    )
    ignore_tags: Names = Field([], description="xml: elements that stay as they are")
    splitting_tags: Names = Field([], description="xml: elements that divide the text around them")


class DocumentBody(BaseModel):
    """A document to translate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    file: Annotated[UploadFile, BeforeValidator(lambda value: value)]
    filename: str | None = Field(None, description="default: the name of the uploaded file")
    target_lang: str = Field(description="language code, with or without a region")
    source_lang: str | None = Field(None, description="language code; default: detected")
    glossary_id: str | None = Field(None, description="a stored glossary")
    formality: str | None = Field(None, description="as for texts")


class DocumentKey(BaseModel):
    """The key from the response to an upload."""

    document_key: str


class GlossaryBody(BaseModel):
    """A glossary to store."""

    name: str = Field(min_length=1, max_length=1000)
    source_lang: str
    target_lang: str
    entries: str = Field(description="a source term and its translation on each line")
    entries_format: Literal["tsv", "csv"] = "tsv"


class TextResult(TypedDict):
    """A translated text."""

    detected_source_language: str
    text: str
    billed_characters: int


class TextResults(TypedDict):
    """Translated texts, in the order of the request."""

    translations: list[TextResult]


class DocumentHandle(TypedDict):
    """A document that was uploaded."""

    document_id: str
    document_key: str


class DocumentStatus(TypedDict):
    """The state of a document, which is translated by the time that its upload is answered."""

    document_id: str
    status: Literal["done"]


class SupportedLanguage(TypedDict):
    """A language."""

    language: str
    name: str
    supports_formality: NotRequired[bool]


class Used(TypedDict):
    """Characters translated since the server was started; there is no limit."""

    character_count: int
    character_limit: int


class GlossaryFacts(TypedDict):
    """A stored glossary, without its entries."""

    glossary_id: str
    name: str
    ready: bool
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class GlossaryList(TypedDict):
    """All stored glossaries."""

    glossaries: list[GlossaryFacts]


class LanguagePair(TypedDict):
    """The languages of a glossary."""

    source_lang: str
    target_lang: str


class LanguagePairs(TypedDict):
    """All language pairs for which glossaries can be stored."""

    supported_languages: list[LanguagePair]


class Nothing(TypedDict):
    """An empty response."""


async def translate(service: Service, request: Request, body: TextBody) -> TextResults:
    """Translate texts; those that are already in the target language stay as they are."""
    texts = [body.text] if isinstance(body.text, str) else body.text
    service.translator.require_length(texts)
    target = base_language(body.target_lang)
    given = base_language(body.source_lang) if body.source_lang else AUTO
    glossary = service.glossaries.get(body.glossary_id) if body.glossary_id else None
    if glossary and (glossary.source, glossary.target) != (given, target):
        raise ApiError(400, "source_lang and target_lang must be those of the glossary")
    sources = [each["language"] for each in await detect_languages(service, given, target, texts)]
    if not texts:
        service.run_between(None if given == AUTO else given, target)
    found = dict(enumerate(texts))
    for source in dict.fromkeys(sources):
        if given == AUTO and source == target:
            continue
        run = service.run_between(source, target)
        address = _address(body.formality, run)
        run = await service.customized(run, glossary.entries if glossary else None, address)
        rows = [i for i, each in enumerate(sources) if each == source]
        own = [texts[i] for i in rows]
        if body.tag_handling == "html":
            translated = await service.translator.translate_html(run, own)
        elif body.tag_handling == "xml":
            translated = await service.translator.translate_xml(
                run, own, body.ignore_tags, body.splitting_tags
            )
        else:
            translated = [each[0] for each in await service.translator.translate(run, own)]
        found |= zip(rows, translated, strict=True)
    service.characters += sum(map(len, texts))
    return {
        "translations": [
            {
                "detected_source_language": source.upper(),
                "text": found[i],
                "billed_characters": len(texts[i]),
            }
            for i, source in enumerate(sources)
        ]
    }


async def upload_document(service: Service, request: Request, body: DocumentBody) -> DocumentHandle:
    """Translate a document, and keep the translation for ten minutes."""
    name = (body.filename or body.file.filename or "").replace("\\", "/").rpartition("/")[2]
    content = await body.file.read()
    target = base_language(body.target_lang)
    given = source = base_language(body.source_lang) if body.source_lang else AUTO
    glossary = service.glossaries.get(body.glossary_id) if body.glossary_id else None
    if glossary and (glossary.source, glossary.target) != (given, target):
        raise ApiError(400, "source_lang and target_lang must be those of the glossary")
    if given == AUTO:
        text = await service.translator.text_of_document(name, content)
        [found] = await detect_languages(service, given, target, [text])
        source = found["language"]
    if given != AUTO or source != target:
        run = service.run_between(source, target)
        address = _address(body.formality, run)
        run = await service.customized(run, glossary.entries if glossary else None, address)
        content = await service.translator.translate_document(run, name, content)
    secret = service.downloads.add(name, content)
    return {"document_id": secret, "document_key": secret}


async def document_status(service: Service, request: Request, body: DocumentKey) -> DocumentStatus:
    """Report that a document has been translated."""
    service.downloads.get(_document(request, body))
    return {"document_id": body.document_key, "status": "done"}


async def document_result(service: Service, request: Request, body: DocumentKey) -> Response:
    """Return a translated document."""
    file = service.downloads.get(_document(request, body))
    return Response(file.content, media_type="application/octet-stream")


def _document(request: Request, body: DocumentKey) -> str:
    if request.path_params["document"] != body.document_key:
        raise ApiError(404, "No such document")
    return body.document_key


def _address(formality: str | None, run: ServedRun) -> Address | None:
    """Return how to address readers; raises `ApiError` 400 for what the run did not learn."""
    if formality and formality not in _ADDRESSES:
        raise ApiError(400, f"Value for 'formality' not supported: {str(formality)[:50]}")
    address = _ADDRESSES[formality or "default"]
    if address and not run.folder.config.data.address:
        if formality in ("more", "less"):
            raise ApiError(400, "'formality' is not supported for the given 'target_lang'")
        return None
    return address


async def languages(service: Service, request: Request, body: None) -> list[SupportedLanguage]:
    """List the source languages of the runs, or the target languages with type=target."""
    # The official client sends the field of this GET request in its body.
    sent = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
    asked = request.query_params.get("type") or sent.get("type")
    if asked not in (None, "source", "target"):
        raise ApiError(400, f"Value for 'type' not supported: {asked[:50]}; send source or target")
    if asked != "target":
        codes = dict.fromkeys(run.source for run in service.runs.values())
        return [{"language": code.upper(), "name": language_name(code)} for code in codes]
    runs = service.runs.values()
    polite = {run.target for run in runs if run.folder.config.data.address}
    return [
        {"language": name, "name": language_name(code), "supports_formality": code in polite}
        for code in dict.fromkeys(run.target for run in runs)
        for name in _TARGETS.get(code, (code.upper(),))
    ]


async def usage(service: Service, request: Request, body: None) -> Used:
    """Report the number of characters translated."""
    return {"character_count": service.characters, "character_limit": _UNLIMITED}


async def glossary_languages(service: Service, request: Request, body: None) -> LanguagePairs:
    """List the language pairs of the runs, all of which can have glossaries."""
    pairs = dict.fromkeys((run.source, run.target) for run in service.runs.values())
    return {
        "supported_languages": [
            {"source_lang": source, "target_lang": target} for source, target in pairs
        ]
    }


async def create_glossary(service: Service, request: Request, body: GlossaryBody) -> GlossaryFacts:
    """Store a glossary."""
    source, target = base_language(body.source_lang), base_language(body.target_lang)
    service.run_between(source, target)
    try:
        entries = _as_tsv(body.entries) if body.entries_format == "csv" else body.entries
        return _facts(
            await service.in_thread(service.glossaries.add, body.name, source, target, entries)
        )
    except (UserError, csv.Error) as error:
        raise ApiError(400, f"Invalid glossary: {error}") from None


def _as_tsv(entries: str) -> str:
    rows = csv.reader(entries.splitlines())
    return "\n".join("\t".join(cell.replace("\t", " ") for cell in row[:2]) for row in rows)


async def list_glossaries(service: Service, request: Request, body: None) -> GlossaryList:
    """List the stored glossaries."""
    return {"glossaries": [_facts(each) for each in service.glossaries.list()]}


async def show_glossary(service: Service, request: Request, body: None) -> GlossaryFacts:
    """Describe a glossary."""
    return _facts(service.glossaries.get(request.path_params["glossary"]))


async def show_entries(service: Service, request: Request, body: None) -> Response:
    """Return the entries of a glossary, with tabs."""
    entries = service.glossaries.get(request.path_params["glossary"]).entries
    return Response(entries, media_type="text/tab-separated-values")


async def delete_glossary(service: Service, request: Request, body: None) -> Nothing:
    """Delete a glossary."""
    service.glossaries.delete(request.path_params["glossary"])
    return {}


def _facts(glossary: StoredGlossary) -> GlossaryFacts:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "ready": True,
        "source_lang": glossary.source,
        "target_lang": glossary.target,
        "creation_time": glossary.created.isoformat(),
        "entry_count": glossary.count,
    }


_KEY = {"document_key": "KEY"}
OPERATIONS = (
    Operation("POST", "/v2/translate", "Translate texts", translate, TextResults, TextBody,
              example={"text": ["Where is the station?"], "target_lang": "DE"}),
    Operation("POST", "/v2/document", "Translate a document", upload_document, DocumentHandle,
              DocumentBody, file=True, example={"target_lang": "DE"}),
    Operation("POST", "/v2/document/{document}", "Report the state of a document",
              document_status, DocumentStatus, DocumentKey, example=_KEY),
    Operation("POST", "/v2/document/{document}/result", "Return a translated document",
              document_result, bytes, DocumentKey, example=_KEY),
    Operation("GET", "/v2/languages", "List languages", languages, list[SupportedLanguage]),
    Operation("GET", "/v2/usage", "Count the translated characters", usage, Used),
    Operation("GET", "/v2/glossary-language-pairs", "List the languages of glossaries",
              glossary_languages, LanguagePairs),
    Operation("POST", "/v2/glossaries", "Store a glossary", create_glossary, GlossaryFacts,
              GlossaryBody,
              example={"name": "mine", "source_lang": "en", "target_lang": "de",
                       "entries": "hat\tMütze"}),
    Operation("GET", "/v2/glossaries", "List the glossaries", list_glossaries, GlossaryList),
    Operation("GET", "/v2/glossaries/{glossary}", "Describe a glossary", show_glossary,
              GlossaryFacts),
    Operation("GET", "/v2/glossaries/{glossary}/entries", "Return the entries of a glossary",
              show_entries, str),
    Operation("DELETE", "/v2/glossaries/{glossary}", "Delete a glossary", delete_glossary,
              Nothing),
)  # fmt: skip
