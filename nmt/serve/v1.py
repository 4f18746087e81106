"""The API of nmt itself: translations with scores, attention and search steps."""

from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from typing_extensions import NotRequired, TypedDict

from nmt.config.choices import Address, HeldOut
from nmt.errors import UserError
from nmt.serve.comparing import Comparison, compare
from nmt.serve.errors import ApiError, refusing
from nmt.serve.limits import MOST_OPTIONS
from nmt.serve.operations import LanguageCode, Operation, Texts, encode
from nmt.serve.runs import RunDetails, RunRow, describe_run, list_runs
from nmt.serve.service import Service

if TYPE_CHECKING:
    from nmt.decoding.translator import Translation
    from nmt.reports.inspection import Inspection
    from nmt.serve.served_run import ServedRun

T = TypeVar("T")

_MOST_INSPECTED = 20  # sentences per request
_LONGEST_PREFIX = 10_000  # characters
_MOST_WEIGHTS = 2_000_000  # of attention per request: about 64 MB as Python lists


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    api_key: str | None = Field(None, description="required if the server has keys")


class _RunBody(_Body):
    """The run, and how it translates."""

    run: str | None = Field(None, description="name of a run; default: the first that fits")
    source: LanguageCode | None = Field(None, description="language code")
    target: LanguageCode | None = Field(None, description="language code")
    glossary: str | None = Field(
        None,
        description="terms with prescribed translations, one SOURCE TAB TARGET on each line; "
        "see docs/translate.md",
    )
    address: Address | None = Field(
        None, description="how to address readers, for runs that learned it (data.address)"
    )


class TranslateBody(_RunBody):
    """The text to translate, and what to return about it."""

    text: Texts = Field(description="one text or a list")
    n_best: int = Field(1, ge=1, le=MOST_OPTIONS, description="translations per sentence")
    attention: bool = Field(False, description="tokens, their probabilities, cross-attention")
    beam: bool = Field(False, description="the hypotheses at each step of the search")
    prefix: str | None = Field(
        None,
        max_length=_LONGEST_PREFIX,
        description="how the translation of a single text begins; may end within a word",
    )
    stream: bool = Field(
        False,
        description="one line of JSON per sentence, as it becomes ready; if a sentence takes too "
        "long, a last line with only `error` ends the stream",
    )


class AlternativesBody(_RunBody):
    """A sentence, and the words of its translation that have been settled."""

    text: str = Field(description="one sentence")
    prefix: str = Field(
        "", max_length=_LONGEST_PREFIX, description="the words before, ending with the space"
    )
    n_best: int = Field(5, ge=1, le=MOST_OPTIONS, description="number of words")


class CompareBody(_Body):
    """A comparison of two runs on sentences of a held-out set."""

    runs: list[str] = Field(min_length=2, max_length=2)
    split: HeldOut = "test"
    sentences: int = Field(100, ge=1, le=500)


class Option(TypedDict):
    """A translation.

    complete: False if the length limit truncated it; parts: number of parts translated separately;
    in_proportion: False if its length is unusual for its source, as if words were missing; unknown:
    characters of the source that the model cannot read; from_memory: taken from the server's memory
    """

    text: str
    score: float
    complete: bool
    parts: int
    in_proportion: bool
    unknown: list[str]
    from_memory: bool


class Attention(TypedDict):
    """Attention and probabilities of the best translation.

    spans: the characters that each token covers, null if unknown; cross: weights by layer, head,
    target token and source token; average: over layers and heads; log_probabilities: of the target
    tokens
    """

    source_tokens: list[str]
    target_tokens: list[str]
    source_spans: list[tuple[int, int]] | None
    target_spans: list[tuple[int, int]] | None
    cross: list[list[list[list[float]]]]
    average: list[list[float]]
    log_probabilities: list[float]


class BeamStep(TypedDict):
    """A hypothesis with its last token and its text.

    parent: index, in the previous step, of the hypothesis that it continues; score: only if it ends
    here
    """

    token: str
    text: str
    parent: int
    log_probability: float
    fate: Literal["lives", "ends", "dies"]
    score: float | None


class Sentence(TypedDict):
    """A sentence.

    gap: the whitespace after it; missing_terms: if there is a glossary, its terms that the best
    translation lacks; problem: why it could not be inspected
    """

    source: str
    gap: str
    translations: list[Option]
    attention: NotRequired[Attention]
    beam: NotRequired[list[list[BeamStep]]]
    missing_terms: NotRequired[list[str]]
    problem: NotRequired[str]


class Text(TypedDict):
    """A text; gap: the whitespace before its first sentence."""

    translation: str
    gap: str
    sentences: list[Sentence]


class TranslateResponse(TypedDict):
    """Translations, with the run and engine that produced them."""

    run: str
    engine: str
    source: str
    target: str
    texts: list[Text]


class NextWord(TypedDict):
    """A word; prefix: for `/v1/translate`, to continue the translation with it."""

    word: str
    prefix: str


class Alternatives(TypedDict):
    """The words that may follow, most probable first."""

    run: str
    words: list[NextWord]


async def translate(
    service: Service, request: Request, body: TranslateBody
) -> TranslateResponse | AsyncIterator[bytes]:
    """Translate, with scores, tokens, attention and beam as requested; or yield lines of JSON."""
    run = _choose_run(service, body)
    run = await service.customized(run, body.glossary, body.address)
    texts = [body.text] if isinstance(body.text, str) else body.text
    cuts = await service.translator.split(run, texts)
    sentences = [sentence for each in cuts for sentence in each.sentences]
    if (body.attention or body.beam) and len(sentences) > _MOST_INSPECTED:
        raise ApiError(400, f"Invalid request: more than {_MOST_INSPECTED} sentences to inspect")
    if body.prefix is None:
        found = service.batcher.stream(run, sentences, body.n_best)
    else:
        if len(texts) != 1:
            raise ApiError(400, "Invalid request: prefix: send a single text with it")
        found = _begun(service, run, sentences, body.n_best, body.prefix)
    gaps = [gap for each in cuts for gap in each.gaps[1:]]
    described = _describe_all(service, run, body, sentences, gaps, found)
    if body.stream:
        return _as_lines(described, [i for i, each in enumerate(cuts) for _ in each.sentences])
    rest = iter([x async for x in described])
    answer: list[Text] = []
    for each in cuts:
        own = [next(rest) for _ in each.sentences]
        translation = each.join([sentence["translations"][0]["text"] for sentence in own])
        answer.append({"translation": translation, "gap": each.gaps[0], "sentences": own})
    return {
        "run": run.name,
        "engine": run.engine,
        "source": run.source,
        "target": run.target,
        "texts": answer,
    }


async def _begun(
    service: Service, run: "ServedRun", sentences: list[str], n: int, prefix: str
) -> "AsyncIterator[list[Translation]]":
    """Translate the sentences of a text whose translation has a beginning; raises `ApiError`."""
    for options in await _in_worker(service, partial(run.continued, sentences, n, prefix)):
        yield options


async def alternatives(service: Service, request: Request, body: AlternativesBody) -> Alternatives:
    """Return the words with which a translation may continue."""
    run = await service.customized(_choose_run(service, body), body.glossary, body.address)
    service.translator.require_length([body.text])
    found = await _in_worker(service, partial(run.next_words, body.text, body.prefix, body.n_best))
    return {"run": run.name, "words": [{"word": x, "prefix": y} for x, y in found.items()]}


async def _in_worker(service: Service, work: Callable[[], T]) -> T:
    """Call `work`, which needs a model; raises `ApiError` 400 for what the user can fix."""
    with refusing():
        return await service.batcher.run_in_worker(work)


def _choose_run(service: Service, body: _RunBody) -> "ServedRun":
    if body.run is None:
        return service.run_between(body.source or None, body.target or None)
    run = service.run_named(body.run)
    if (body.source or run.source, body.target or run.target) != (run.source, run.target):
        raise ApiError(400, f"{run.name} translates only from {run.source} to {run.target}")
    return run


async def _describe_all(
    service: Service,
    run: "ServedRun",
    body: TranslateBody,
    sentences: list[str],
    gaps: list[str],
    found: "AsyncIterator[list[Translation]]",
) -> AsyncIterator[Sentence]:
    number = weights = 0
    async for options in found:
        source = sentences[number]
        sentence: Sentence = {
            "source": source,
            "gap": gaps[number],
            "translations": [
                cast(Option, {name: getattr(each, name) for name in Option.__annotations__})
                for each in options
            ],
        }
        if run.translator.glossary:  # of the request, the server or the run
            sentence["missing_terms"] = [str(term) for term in options[0].missing_terms]
        problems = []
        if body.attention:
            try:
                inspected = await service.batcher.run_in_worker(
                    partial(run.inspect, source, options[0])
                )
                if weights + inspected.cross.weights.size > _MOST_WEIGHTS:
                    raise UserError(
                        f"the response would have more than {_MOST_WEIGHTS:,} attention weights; "
                        "send fewer or shorter sentences"
                    )
                weights += inspected.cross.weights.size
                sentence["attention"] = await service.in_thread(_attention, inspected)
            except UserError as error:
                problems.append(str(error))
        if body.beam:
            try:
                steps = await service.batcher.run_in_worker(
                    partial(run.record_beam, options[0], body.n_best)
                )
                beam = [[asdict(step) for step in each] for each in steps]
                sentence["beam"] = cast("list[list[BeamStep]]", beam)
            except UserError as error:
                problems.append(str(error))
        if problems:
            sentence["problem"] = "; ".join(dict.fromkeys(problems))
        yield sentence
        number += 1


def _attention(found: "Inspection") -> Attention:
    # In float64, which prints 0.1234; float32 would become 0.12340000271797180.
    cross, average = (
        each.astype(float).round(4).tolist() for each in (found.cross.weights, found.cross.average)
    )
    fields = {name: getattr(found, name) for name in Attention.__annotations__ if name != "average"}
    return cast(Attention, fields | {"cross": cross, "average": average})


async def _as_lines(described: AsyncIterator[Sentence], texts: list[int]) -> AsyncIterator[bytes]:
    number = 0
    async for sentence in described:
        yield encode({"text": texts[number], **sentence}) + b"\n"
        number += 1


async def runs(service: Service, request: Request, body: None) -> list[RunRow]:
    """List the runs."""
    return await service.in_thread(list_runs, service)


async def run_details(service: Service, request: Request, body: None) -> RunDetails:
    """Describe a run: metrics, data report, configuration."""
    return await service.in_thread(describe_run, service, request.path_params["name"])


async def compare_runs(service: Service, request: Request, body: CompareBody) -> Comparison:
    """Translate a set with two runs, and return the sentences in which they differ most."""
    first, second = (service.run_named(name) for name in body.runs)
    return await compare(service, first, second, body.split, body.sentences)


OPERATIONS: tuple[Operation, ...] = (
    Operation("POST", "/v1/translate", "Translate, with scores, tokens, attention and beam",
              translate, TranslateResponse, TranslateBody, streams=True,
              example={"text": "Where is the station?", "n_best": 3}),
    Operation("POST", "/v1/alternatives", "Words with which a translation may continue",
              alternatives, Alternatives, AlternativesBody,
              example={"text": "Where is the station?", "prefix": "Wo ist "}),
    Operation("GET", "/v1/runs", "List runs", runs, list[RunRow]),
    Operation("GET", "/v1/runs/{name}", "Describe a run: metrics, data report, configuration",
              run_details, RunDetails),
    Operation("POST", "/v1/compare", "Compare two runs on a held-out set", compare_runs,
              Comparison, CompareBody, example={"runs": ["FIRST", "SECOND"], "sentences": 50}),
)  # fmt: skip
