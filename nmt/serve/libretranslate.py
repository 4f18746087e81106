"""LibreTranslate's API (https://docs.libretranslate.com), for its existing clients."""

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import NotRequired, TypedDict

from nmt.config.choices import Address
from nmt.config.languages import language_name
from nmt.documents.extensions import EXTENSIONS
from nmt.documents.formats import encoding_of
from nmt.serve.detection import Detected
from nmt.serve.errors import refusing
from nmt.serve.limits import MOST_OPTIONS
from nmt.serve.operations import LanguageCode, Operation, Texts
from nmt.serve.service import Service

AUTO = "auto"


class _Body(BaseModel):
    api_key: str | None = Field(None, description="required if the server has keys")


def _or_text(value: object) -> object:
    """Accept any case, and empty and null, which LibreTranslate's clients send for the default."""
    given = value.lower() if isinstance(value, str) else value
    return "text" if given in ("", None) else given


def _to_number(value: object) -> object:
    """Accept numbers as text, and empty or null for none."""
    if isinstance(value, str) and value.isdecimal():
        return int(value[:9])
    return 0 if value in ("", None) else value


class LibreTranslateBody(_Body):
    """A translation request."""

    q: Texts = Field(description="one text or a list")
    source: LanguageCode = Field(description="language code, or auto")
    target: LanguageCode = Field(description="language code")
    format: Annotated[Literal["text", "html"], BeforeValidator(_or_text)] = "text"
    alternatives: Annotated[int, BeforeValidator(_to_number)] = Field(
        0, ge=0, lt=MOST_OPTIONS, description="additional translations"
    )


class DetectBody(_Body):
    """A text whose language is to be detected."""

    q: str


class FileBody(_Body):
    """A document."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    file: Annotated[UploadFile, BeforeValidator(lambda value: value)]
    source: LanguageCode
    target: LanguageCode
    glossary: str | None = Field(
        None, description="terms, as for /v1/translate; only of nmt, not of LibreTranslate"
    )
    address: Address | None = Field(None, description="as for /v1/translate")


class Detection(TypedDict):
    """A language, and the percentage of words known in it."""

    confidence: float
    language: str


class Translated(TypedDict):
    """A translation; each field is a list if `q` is one."""

    translatedText: str | list[str]
    alternatives: NotRequired[list[str] | list[list[str]]]
    detectedLanguage: NotRequired[Detection | list[Detection]]


class Language(TypedDict):
    """A source language, and its target languages."""

    code: str
    name: str
    targets: list[str]


class Health(TypedDict):
    """State of the server."""

    status: Literal["ok"]


class NamedLanguage(TypedDict):
    """A language."""

    code: str
    name: str


class BothLanguages(TypedDict):
    """Default languages of a web page."""

    source: NamedLanguage
    target: NamedLanguage


class Settings(TypedDict):
    """Settings for a web page that uses this server."""

    apiKeys: bool
    charLimit: int
    filesTranslation: bool
    frontendTimeout: int
    keyRequired: bool
    language: BothLanguages
    suggestions: bool
    supportedFilesFormat: list[str]


class TranslatedFile(TypedDict):
    """Address of a translated document.

    encoding: of the given file, if it was not UTF-8; the translation is in UTF-8; missing_terms:
    terms of the glossary that could not be placed; both are only of nmt
    """

    translatedFileUrl: str
    encoding: NotRequired[str]
    missing_terms: NotRequired[list[str]]


async def translate(service: Service, request: Request, body: LibreTranslateBody) -> Translated:
    """Translate one text or a list; text that is already in the target language stays as it is."""
    texts = [body.q] if isinstance(body.q, str) else body.q
    service.translator.require_length(texts)
    plain = texts
    if body.source == AUTO and body.format == "html":
        from nmt.documents.html_markup import Markup

        with refusing():
            plain = await service.in_thread(lambda: [Markup(text).text for text in texts])
    detected = await detect_languages(service, body.source, body.target, plain)
    found: list[list[str]] = [[text] for text in texts]
    for source in dict.fromkeys(each["language"] for each in detected):
        if body.source == AUTO and source == body.target:
            continue
        run = service.run_between(source, body.target)
        rows = [i for i, each in enumerate(detected) if each["language"] == source]
        if body.format == "html":
            html = await service.translator.translate_html(run, [texts[i] for i in rows])
            options = [[text] for text in html]
        else:
            options = await service.translator.translate(
                run, [texts[i] for i in rows], body.alternatives + 1
            )
        for i, each in zip(rows, options, strict=True):
            found[i] = each
    if not texts and body.source != AUTO:
        service.run_between(body.source, body.target)
    one = isinstance(body.q, str)
    best, others = [each[0] for each in found], [each[1:] for each in found]
    answer: Translated = {"translatedText": best[0] if one else best}
    if body.alternatives:
        answer["alternatives"] = others[0] if one else others
    if body.source == AUTO:
        answer["detectedLanguage"] = detected[0] if one else detected
    return answer


async def detect_languages(
    service: Service, source: str, target: str, texts: Sequence[str]
) -> list[Detection]:
    """Return the source language of each text.

    For `auto`, the most likely one among those translated to the target, and the target itself.
    Texts without a known word, such as names, get the language of all texts together.
    """
    if source != AUTO:
        return [{"confidence": 100.0, "language": source} for _ in texts]
    sources = [run.source for run in service.runs.values() if run.target == target]
    if not sources:
        service.run_between(None, target)  # raises the error
    detector = await service.detector()

    def likeliest(text: str) -> Detected:
        found = detector.detect(text, [*sources, target])
        return min(found, key=lambda each: (-each.confidence, each.language == target))

    together = likeliest(" ".join(texts)).language
    return [
        {"confidence": best.confidence, "language": best.language if best.confidence else together}
        for best in map(likeliest, texts)
    ]


async def detect(service: Service, request: Request, body: DetectBody) -> list[Detection]:
    """Detect which of the server's languages a text is in."""
    service.translator.require_length([body.q])
    return [
        {"confidence": each.confidence, "language": each.language}
        for each in (await service.detector()).detect(body.q)
    ]


async def languages(service: Service, request: Request, body: None) -> list[Language]:
    """List the languages of the runs."""
    targets: dict[str, list[str]] = {}
    for run in service.runs.values():
        targets.setdefault(run.source, [])
        targets.setdefault(run.target, [])
        if run.target not in targets[run.source]:
            targets[run.source].append(run.target)
    return [
        {"code": code, "name": language_name(code), "targets": others}
        for code, others in targets.items()
    ]


async def health(service: Service, request: Request, body: None) -> Health:
    """Report that the server is running."""
    return {"status": "ok"}


async def settings(service: Service, request: Request, body: object) -> Settings:
    """Return settings for a web page."""
    run = next(iter(service.runs.values()))
    return {
        "apiKeys": service.key_required,
        "charLimit": service.limits.characters,
        "filesTranslation": True,
        "frontendTimeout": 500,
        "keyRequired": service.key_required,
        "language": {
            "source": {"code": run.source, "name": language_name(run.source)},
            "target": {"code": run.target, "name": language_name(run.target)},
        },
        "suggestions": False,
        "supportedFilesFormat": list(EXTENSIONS),
    }


async def translate_file(service: Service, request: Request, body: FileBody) -> TranslatedFile:
    """Translate a document; the response contains the address of the translation."""
    name = (body.file.filename or "").replace("\\", "/").rpartition("/")[2]
    content = await body.file.read()
    source = body.source
    missing: list[str] = []
    if source == AUTO:
        text = await service.translator.text_of_document(name, content)
        [found] = await detect_languages(service, source, body.target, [text])
        source = found["language"]
    if body.source == AUTO and source == body.target:
        translated = content
    else:
        run = service.run_between(source, body.target)
        run = await service.customized(run, body.glossary, body.address)
        translator = service.translator.noting(missing)
        translated = await translator.translate_document(run, name, content)
    stem, _, extension = name.rpartition(".")
    new_name = f"{stem}_{body.target}.{extension}"
    secret = service.downloads.add(new_name, translated)
    path = f"/download_file/{secret}/{quote(new_name, safe='')}"
    answer: TranslatedFile = {"translatedFileUrl": str(request.base_url).rstrip("/") + path}
    with refusing():
        encoding = encoding_of(name, content)
    if encoding != "utf-8":
        answer["encoding"] = encoding
    if missing:
        answer["missing_terms"] = [*dict.fromkeys(missing)]
    return answer


async def download_file(service: Service, request: Request, body: None) -> Response:
    """Return a translated document as an attachment, which browsers save and never display."""
    file = service.downloads.get(request.path_params["secret"])
    disposition = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
    return Response(
        file.content,
        media_type="application/octet-stream",
        headers={"Content-Disposition": disposition},
    )


OPERATIONS = (
    Operation("POST", "/translate", "Translate text", translate, Translated, LibreTranslateBody,
              example={"q": "Where is the station?", "source": "en", "target": "de"}),
    Operation("POST", "/detect", "Detect a language", detect, list[Detection], DetectBody,
              example={"q": "Where is the station?"}),
    Operation("GET", "/languages", "List languages", languages, list[Language], needs_key=False),
    Operation("GET", "/health", "Report that the server is running", health, Health,
              needs_key=False),
    Operation("GET", "/frontend/settings", "Settings for a web page", settings, Settings,
              needs_key=False),
    Operation("POST", "/translate_file", "Translate a document", translate_file, TranslatedFile,
              FileBody, file=True, example={"source": "en", "target": "de"}),
    Operation("GET", "/download_file/{secret}/{name}", "Fetch a translated document",
              download_file, bytes, needs_key=False),
)  # fmt: skip
