"""The page in a real browser: Chromium, driven by Playwright. Run by `make test-browser`."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="the extra `browser` is not installed")

import torch
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Request,
    Response,
    Route,
    expect,
    sync_playwright,
)

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config
from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve.app import make_app
from nmt.serve.served_run import ServedRun
from nmt.serve.server import bind
from nmt.serve.service import Service
from nmt.training.train import train

pytestmark = pytest.mark.browser
_NAMES_OF_IT = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES_OF_IT)), None)
NAMES = ["Oscar", "Anna", "Ben", "Clara", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas"]
VERBS = {
    "code": "programmiert",
    "read": "liest",
    "dance": "tanzt",
    "cook": "kocht",
    "swim": "schwimmt",
}
TIMES = {"today": "heute", "often": "oft", "at home": "zu Hause", "at night": "nachts"}
SENTENCE, GERMAN = "Oscar likes to code today.", "Oscar programmiert heute gern."
WAIT = 60_000  # milliseconds; the machine may be busy


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, toy_config: Callable[..., Config]) -> RunFolder:
    """A run trained on sentences about what people like to do."""
    root = tmp_path_factory.mktemp("page")
    pairs = [
        f"{name} likes to {verb} {time_}.\t{name} {german} {german_time} gern.\n"
        for name in NAMES
        for verb, german in VERBS.items()
        for time_, german_time in TIMES.items()
    ]
    (root / "pairs.tsv").write_text("".join(pairs), encoding="utf-8")
    training = {"epochs": 60, "batch_tokens": 512, "learning_rate": 5e-3, "warmup_updates": 20}
    config = toy_config(
        data={"path": str(root / "pairs.tsv")},
        tokenizer={"vocabulary_size": 140},
        model={"d_model": 64, "heads": 4, "d_ff": 128},
        training=training | {"validate_updates": 100},
        decoding={"beam_size": 4},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return RunFolder(train(config, root / "runs" / "likes").path)


@dataclass
class Running:
    """A running server: its address, and how to stop it."""

    address: str
    stop: Callable[[], None]


@contextmanager
def serving(run: RunFolder, root_path: str = "") -> Iterator[Running]:
    translator = load_translator(run, device=torch.device("cpu"))
    runs = [ServedRun(name, run, translator, "pytorch") for name in ("likes", "again")]
    listener = bind("127.0.0.1", 0)
    app = make_app(Service(runs, runs_folder=run.path.parent))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", root_path=root_path))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(60)

    while not server.started:
        time.sleep(0.01)
    try:
        yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}", stop)
    finally:
        stop()


@pytest.fixture(scope="module")
def server(run: RunFolder) -> Iterator[Running]:
    with serving(run) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    sandbox = [] if os.getuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser, server: Running) -> Iterator[BrowserContext]:
    with browser.new_context(base_url=server.address, reduced_motion="reduce") as context:
        context.set_default_timeout(WAIT)
        expect.set_options(timeout=WAIT)
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; the test fails if a script raises an error."""
    page = context.new_page()
    errors: list[object] = []
    page.on("pageerror", lambda error: errors.append(error))
    yield page
    assert not errors


def translate(page: Page, text: str = SENTENCE, server: str = "") -> None:
    page.goto(f"{server}/")
    page.get_by_label("Text to translate").fill(text)


def inspect(page: Page, text: str = SENTENCE, server: str = "") -> None:
    translate(page, text, server)
    page.wait_for_selector("#inside svg")


def posted(page: Page) -> list[Any]:
    """Return a list to which each request for a translation will be appended."""
    bodies: list[Any] = []

    def note(request: Request) -> None:
        if request.url.endswith("/v1/translate"):
            bodies.append(request.post_data_json)

    page.on("request", note)
    return bodies


def on_inspection(page: Page, act: Callable[[Route], object]) -> None:
    """Act on requests for an inspection instead of answering them."""

    def answer(route: Route) -> None:
        act(route) if route.request.post_data_json.get("attention") else route.fallback()

    page.route("**/v1/translate", answer)


def slow_down(route: Route) -> None:
    route.fulfill(status=429, json={"error": "Slowdown"})


def test_a_translation_appears_while_typing(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Text to translate").press_sequentially(SENTENCE, delay=5)
    expect(page.locator("#output")).to_have_text(GERMAN)
    assert "text=Oscar" in page.url
    page.reload()
    expect(page.locator("#output")).to_have_text(GERMAN)


def test_the_translation_stays_when_its_inspection_arrives(page: Page) -> None:
    asked = posted(page)
    inspect(page)
    assert [body.get("attention", False) for body in asked] == [False, True]
    assert asked[0]["n_best"] == asked[1]["n_best"]  # a wider search may find another translation


def test_the_inspection_does_not_replace_the_words(page: Page) -> None:
    """A screen reader would read the translation a second time."""
    held: list[Route] = []
    on_inspection(page, held.append)
    translate(page)
    expect(page.locator("#output")).to_have_text(GERMAN)
    words = page.locator("#output .word")
    words.last.evaluate("word => { word.marked = true; }")
    words.first.focus()
    for _ in range(WAIT // 20):
        if held:
            break
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(words.last).to_have_attribute("title", re.compile(r"probability \d+"))
    assert words.last.evaluate("word => word.marked")
    expect(words.first).to_be_focused()


def test_only_the_word_pointed_at_last_is_chosen(page: Page) -> None:
    inspect(page, f"{SENTENCE} {SENTENCE}")
    words = page.locator("#output .word")
    for number in (1, 0, words.count() - 2):
        words.nth(number).hover()
        expect(words.nth(number)).to_have_class("word chosen")
        expect(page.locator("#output .chosen")).to_have_count(1)
    expect(page.locator("#sentence")).to_have_value("1")


def test_a_text_too_long_to_inspect_is_translated_without_alternatives(page: Page) -> None:
    asked = posted(page)
    translate(page, " ".join([SENTENCE] * 21))
    expect(page.locator("#output")).to_have_text(" ".join([GERMAN] * 21))
    assert [body["n_best"] for body in asked] == [1]  # more take longer and are not shown
    expect(page.locator("#looked")).to_have_text(
        "Only texts of up to 20 sentences can be inspected; shorten the text."
    )
    page.get_by_text("Beam search").click()
    expect(page.locator("#beam output")).to_contain_text("up to 20 sentences can be inspected")


def test_a_failed_inspection_is_reported(page: Page) -> None:
    on_inspection(page, slow_down)
    translate(page)
    expect(page.locator("#problem")).to_have_text("Slowdown")
    expect(page.locator("#looked")).to_have_text("Not available; see the message above.")
    page.unroute("**/v1/translate")
    page.locator("#beam summary").click()  # asks again
    expect(page.locator("#looked")).not_to_contain_text("Not available")


def test_the_page_works_in_a_browser_that_blocks_storage(page: Page) -> None:
    for area in ("localStorage", "sessionStorage"):
        page.add_init_script(
            f"Object.defineProperty(window, '{area}', {{get() {{ throw new Error('denied'); }}}})"
        )
    inspect(page)
    expect(page.locator("#output")).to_have_text(GERMAN)


@pytest.mark.parametrize("view", ["translate", "compare"])
def test_clearing_the_text_cancels_its_translation(page: Page, view: str) -> None:
    page.route("**/v1/translate", lambda route: None)  # no answer yet
    page.goto(f"/#/{view}")
    text = page.get_by_label("Text to translate")
    with page.expect_request("**/v1/translate"):
        text.fill(SENTENCE)
    with page.expect_event("requestfailed", timeout=WAIT / 6):  # as an answer would be shown
        text.fill("")
    for output in page.locator(".output").all():
        expect(output).to_have_text("The translation appears here.")
        expect(output).to_have_class("output")  # not dimmed


def test_an_error_stays_when_an_older_request_is_answered(page: Page) -> None:
    held: list[Route] = []
    on_inspection(page, held.append)
    translate(page)
    expect(page.locator("#output")).to_have_text(GERMAN)
    page.route("**/v1/translate", slow_down)
    page.get_by_label("Text to translate").fill("Anna likes to dance.")
    expect(page.locator("#problem")).to_have_text("Slowdown")
    for route in held:
        with suppress(Error):  # the page has cancelled it
            route.continue_()
    page.wait_for_timeout(500)
    expect(page.locator("#problem")).to_have_text("Slowdown")
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_disabled()


def test_text_and_run_are_kept_while_another_view_is_shown(page: Page) -> None:
    page.goto("/")
    page.locator("#run").select_option("again")
    page.get_by_label("Text to translate").fill(SENTENCE)
    expect(page.locator("#output")).to_have_text(GERMAN)
    page.get_by_role("link", name="Runs").click()
    expect(page.locator("#runs")).to_contain_text("likes")
    page.get_by_role("link", name="Translate").click()
    expect(page.locator("#output")).to_have_text(GERMAN)
    assert page.locator("#run").input_value() == "again"
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    page.reload()
    expect(page.locator("#output")).to_have_text(GERMAN)


def test_a_long_word_does_not_widen_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    translate(page, "x" * 200 + " Oscar")
    expect(page.locator("#options li").first).to_be_visible(timeout=WAIT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_text_typed_before_leaving_the_view_does_not_change_the_address(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("#run option", state="attached")
    page.get_by_label("Text to translate").fill(SENTENCE)
    page.get_by_role("link", name="Runs").click()
    expect(page.locator("#runs")).to_contain_text("likes")
    page.wait_for_timeout(500)  # longer than the pause in typing that starts a translation
    expect(page).to_have_url("/#/runs")


def test_the_view_chosen_last_is_shown(page: Page) -> None:
    held: list[Route] = []
    page.route("**/page/runs.js", lambda route: held.append(route))
    page.goto("/")
    with page.expect_request("**/page/runs.js"):
        page.get_by_role("link", name="Runs").click()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator("h1")).to_have_text("Compare")
    held[0].continue_()
    page.evaluate("import('/page/runs.js')")  # returns when it has loaded
    assert page.locator("h1").inner_text() == "Compare"


def test_an_edited_text_does_not_change_what_is_inspected(page: Page) -> None:
    held: list[Route] = []
    page.route("**/v1/translate", lambda route: held.append(route), times=1)
    page.goto("/")
    text = page.get_by_label("Text to translate")
    with page.expect_request("**/v1/translate"):
        text.fill(SENTENCE)
    text.evaluate("each => { each.value += '!' }")  # as if typed a moment ago
    with page.expect_request("**/v1/translate") as inspecting:
        held[0].continue_()
    body = inspecting.value.post_data_json
    assert (body["text"], body["attention"]) == (SENTENCE, True)
    expect(page.locator("#output")).to_have_text(GERMAN)


def test_a_key_required_after_the_page_was_loaded_can_be_entered(page: Page) -> None:
    """Meanwhile, the text that was typed is kept, although the address has another one."""
    refusal = {"error": "Invalid API key"}
    page.route("**/v1/runs", lambda route: route.fulfill(status=403, json=refusal))
    page.goto("/#/translate?text=Hello")
    expect(page.locator("#problem")).to_have_text("Invalid API key. Enter a key above.")
    page.get_by_label("Text to translate").fill(SENTENCE)
    page.unroute("**/v1/runs")
    page.locator("#key").fill("a key from a text with “quotes”")
    page.keyboard.press("Tab")
    expect(page.locator("#output")).to_have_text(GERMAN)
    expect(page.get_by_label("Text to translate")).to_have_value(SENTENCE)


def test_comparing_recovers_when_the_list_of_runs_could_not_be_loaded(page: Page) -> None:
    busy = {"error": "Too busy"}
    page.route("**/v1/runs", lambda route: route.fulfill(status=503, json=busy))
    page.goto("/#/compare")
    expect(page.locator("#problem")).to_have_text("Too busy")
    page.unroute("**/v1/runs")
    page.get_by_label("Text to translate").fill(SENTENCE)
    expect(page.locator(".output").nth(1)).to_contain_text(GERMAN)
    expect(page.locator("#problem")).to_be_hidden()


def test_the_theme_applies_to_the_documentation(page: Page) -> None:
    page.goto("/")
    page.locator("#theme").select_option("dark")
    page.goto("/docs")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#theme").select_option("light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_labels_of_an_axis_differ(page: Page) -> None:
    page.goto("/")
    labels = page.evaluate(
        """async () => {
          const { plot } = await import("/page/plot.js");
          const points = [[100, 31.02], [200, 31.05]];
          const drawn = plot("BLEU", [{ name: "a", color: 1, points }, { name: "b", color: 2, points: [] }]);
          return [[...drawn.querySelectorAll(".tick")].map((each) => each.textContent), drawn.getAttribute("aria-label")];
        }"""  # noqa: E501
    )
    assert len(set(labels[0])) == len(labels[0]) > 8
    assert labels[1] == "BLEU by update; last: a 31.1"


def test_alternatives_have_scores(page: Page) -> None:
    inspect(page)
    options = page.locator("#options li")
    expect(options).to_have_count(5)
    expect(options.first).to_contain_text(GERMAN)
    scores = [float(re.findall(r"score (\S+)", text)[0]) for text in options.all_inner_texts()]
    assert scores == sorted(scores, reverse=True)


def test_programmiert_attends_most_to_code(page: Page) -> None:
    inspect(page)
    page.locator("#output .word", has_text="programmiert").hover()
    expect(page.locator("#looked")).to_contain_text("“programmiert” looks at “code”")
    expect(page.locator("#inside svg text.chosen").first).to_have_text("code")


def test_words_can_be_selected_with_the_keyboard(page: Page) -> None:
    inspect(page)
    page.locator("#output .word").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#looked")).to_contain_text("“programmiert” looks at “code”")
    page.keyboard.press("End")
    expect(page.locator("#output .word.chosen")).to_have_text(".")
    page.keyboard.press("Home")
    expect(page.locator("#looked")).to_contain_text("“Oscar” looks at")


def test_selecting_a_head_changes_the_picture(page: Page) -> None:
    inspect(page)
    average = page.locator("#inside .figures").inner_html()
    page.get_by_label("Head").select_option("0")
    assert page.locator("#inside .figures").inner_html() != average


def test_the_beam_can_be_viewed_step_by_step(page: Page) -> None:
    inspect(page)
    page.locator("#beam summary").click()
    page.wait_for_selector("#beam tbody tr")
    page.get_by_label("Step").focus()
    page.keyboard.press("End")
    expect(page.locator("#beam tbody")).to_contain_text("ends")
    expect(page.locator("#beam tbody")).to_contain_text("programmiert heute gern.")
    page.keyboard.press("Home")
    expect(page.locator("#beam .bar")).to_contain_text("1 of")
    expect(page.locator("#beam tbody")).to_contain_text("lives")


def test_text_is_never_interpreted_as_markup(page: Page) -> None:
    inspect(page, "<img src=x onerror=alert(1)> likes to code.")
    assert page.locator("#main img").count() == 0


def test_a_live_curve_grows_while_a_run_trains(
    page: Page, run: RunFolder, toy_config: Callable[..., Config], tmp_path: Path
) -> None:
    config = tmp_path / "live.yaml"
    config.write_text(dump_config(toy_config(training={"epochs": 300, "validate_updates": 20})))
    live = run.path.parent / "live"
    command = [sys.executable, "-m", "nmt", "train", "--config", str(config), "--run", str(live)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    page.goto("/#/runs")
    expect(page.locator("#runs")).to_contain_text("likes")
    training = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        page.get_by_label("Plot live").check(timeout=3 * WAIT)
        points = page.get_by_role("img", name="BLEU on validation").locator("circle.s2")
        expect(points).not_to_have_count(0, timeout=3 * WAIT)
        first = points.count()
        expect(points.nth(first)).to_be_attached(timeout=3 * WAIT)
    finally:
        training.kill()
        training.wait()


def test_the_training_loss_is_drawn_every_few_updates(page: Page, run: RunFolder) -> None:
    page.goto("/#/runs")
    shown = f"Plot {run.path.name}"
    page.get_by_label(shown, exact=True).check()
    for box in page.get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("aria-label") == shown)
    dashed = page.locator("path.series.dashed")
    expect(dashed).to_have_count(1)
    points = len(run.read_updates())
    assert points > len(run.read_metrics())
    assert len(re.findall("[ML]", dashed.get_attribute("d") or "")) == points


def test_a_deleted_run_disappears(page: Page, run: RunFolder) -> None:
    vanishing = run.path.parent / "vanishing"
    shutil.copytree(run.path, vanishing)
    page.goto("/#/runs")
    page.get_by_label("Plot vanishing").check()
    page.get_by_role("button", name="vanishing", exact=True).click()
    expect(page.locator("#about h2")).to_have_text("vanishing")
    shutil.rmtree(vanishing)
    expect(page.get_by_text("vanishing")).to_have_count(0)
    expect(page.locator("#about h2")).not_to_have_text("vanishing")


def test_the_details_of_a_run_are_shown(page: Page) -> None:
    page.goto("/#/runs")
    page.get_by_role("button", name="likes", exact=True).click()
    about = page.locator("#about")
    expect(about).to_contain_text("likes to")
    about.get_by_text("Configuration", exact=True).click()
    expect(about).to_contain_text("model.d_model")
    about.get_by_text("Data", exact=True).click()
    expect(about).to_contain_text("Pairs read")
    page.get_by_role("button", name="BLEU").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("BLEU")


def test_two_runs_are_compared(page: Page) -> None:
    page.goto("/#/compare")
    page.get_by_label("Text to translate").fill(SENTENCE)
    for output in page.locator(".output").all():
        expect(output).to_contain_text(GERMAN)
    assert page.locator("#first option:disabled").all_inner_texts() == ["again"]
    assert page.locator("#second option:disabled").all_inner_texts() == ["likes"]
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#results")).to_contain_text("0 of 16 translations differ")


def test_the_api_documentation_works_offline(page: Page, server: Running) -> None:
    page.goto("/docs")
    expect(page.locator("main")).to_contain_text("POST /v1/translate")
    expect(page.locator("h2").first).to_have_text("POST /translate")
    example = page.locator("pre").first
    expect(example).to_contain_text(f"curl '{server.address}/translate' -H 'Content-Type:")
    expect(page.locator("main")).to_contain_text("alternatives")


def test_a_stopped_server_is_reported(page: Page, run: RunFolder) -> None:
    with serving(run) as other:
        inspect(page, server=other.address)
        other.stop()
        page.get_by_label("Text to translate").fill("Anna likes to read.")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")


def test_the_first_load_is_small_and_contacts_no_other_host(page: Page, server: Running) -> None:
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto("/")
    page.wait_for_selector("#run option", state="attached")
    assert all(answer.url.startswith(server.address) for answer in answers)
    assert sum(len(answer.body()) for answer in answers) <= 150_000


def test_the_page_works_under_the_path_of_a_proxy(page: Page, run: RunFolder) -> None:
    """Such a proxy passes on /mt and /mt/ as the same request, without the path."""

    def pass_on(route: Route) -> None:
        path = route.request.url.partition("/mt")[2].partition("#")[0]
        route.fulfill(response=route.fetch(url=f"{server.address}/{path.removeprefix('/')}"))

    with serving(run, root_path="/mt") as server:
        page.route(re.compile("/mt"), pass_on)
        page.goto(f"{server.address}/mt")
        page.get_by_label("Text to translate").fill(SENTENCE)
        expect(page.locator("#output")).to_have_text(GERMAN)
        expect(page).to_have_url(re.compile(r"/mt/#/translate\?"))
        page.get_by_role("link", name="API").click()
        expect(page.locator("pre").first).to_contain_text(f"curl '{server.address}/mt/translate'")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("view", ["/#/translate", "/#/runs", "/#/compare", "/docs"])
def test_the_page_is_accessible(
    browser: Browser, server: Running, theme: Any, width: int, view: str
) -> None:
    looks: Any = {"color_scheme": theme, "viewport": {"width": width, "height": 800}}
    with browser.new_context(
        base_url=server.address, reduced_motion="reduce", bypass_csp=True, **looks
    ) as context:
        page = context.new_page()
        page.goto(view)
        if view == "/#/translate":
            inspect(page, f"{SENTENCE} {SENTENCE.replace('Oscar', 'Anna and Ben')}")
            page.locator("#output .word").first.hover()
            page.locator("#beam summary").click()
            page.wait_for_selector("#beam tbody tr")
            page.locator("#output .word").first.click()
            page.wait_for_selector("[role=menuitem]")
        page.wait_for_selector("main h1, main h2", state="attached")
        page.wait_for_load_state("networkidle")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        overflow = "document.documentElement.scrollWidth > innerWidth"
        assert not page.evaluate(overflow), "the page scrolls sideways"


DOCUMENT: Any = {"name": "a.txt", "mimeType": "text/plain", "buffer": SENTENCE.encode()}


def fetched(page: Page) -> str:
    with page.expect_download() as download:
        page.get_by_role("link", name="a_de.txt").click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_a_document_is_translated_and_fetched(page: Page) -> None:
    page.goto("/")
    page.locator("#files").set_input_files([DOCUMENT, {**DOCUMENT, "name": "a.xyz"}])
    expect(page.locator("#documents .bad")).to_contain_text("file format not supported")
    assert fetched(page) == GERMAN
    expect(page.locator("#problem")).to_be_visible()
    page.locator("#files").set_input_files([DOCUMENT])
    expect(page.locator("#problem")).to_be_hidden(timeout=WAIT)


def test_files_wait_for_their_turn(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("#run option", state="attached")
    held: list[Route] = []
    page.route("**/translate_file", lambda route: held.append(route), times=1)
    with page.expect_request("**/translate_file"):
        page.locator("#files").set_input_files([DOCUMENT, {**DOCUMENT, "name": "b.txt"}])
    rows = page.locator("#documents li")
    expect(rows).to_have_count(2)
    expect(rows.first.get_by_role("progressbar")).to_be_visible()
    expect(rows.last).to_have_text("b.txtwaiting")
    held[0].continue_()
    expect(rows.first).to_have_text("a.txta_de.txt")
    expect(rows.last).to_have_text("b.txtb_de.txt")


def test_a_dropped_folder_is_refused(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("#run option", state="attached")
    page.evaluate(
        """() => {
          const item = (name, isDirectory) => ({
            kind: "file", getAsFile: () => new File(["Hello"], name), webkitGetAsEntry: () => ({ isDirectory }),
          });
          const event = new Event("drop", { cancelable: true });
          const items = [item("letters", true), item("a.txt", false)];
          dispatchEvent(Object.assign(event, { dataTransfer: { types: ["Files"], items } }));
        }"""  # noqa: E501
    )
    rows = page.locator("#documents li")
    expect(rows.filter(has_text="letters")).to_have_text("lettersDrop files, not folders")
    expect(rows.filter(has_text="a.txt")).to_have_text("a.txta_de.txt")
    expect(page.locator("#problem")).to_be_hidden()


def test_terms_are_followed_and_remembered(page: Page) -> None:
    inspect(page)
    page.locator("#terms-card summary").click()
    page.locator("#terms").fill("today = nachts\nunfinished")
    expect(page.locator("#output")).to_contain_text("nachts", timeout=WAIT)
    expect(page.locator("#terms-count")).to_have_text("(1)")
    page.locator("#files").set_input_files([DOCUMENT])
    assert "nachts" in fetched(page)
    page.reload()
    expect(page.locator("#output")).to_contain_text("nachts", timeout=WAIT)
    page.locator("#terms-card summary").click()
    page.locator("#terms").fill("")
    expect(page.locator("#output")).to_have_text(GERMAN, timeout=WAIT)
    expect(page.get_by_label("Address readers")).to_be_hidden()  # this run has not learned them


def test_messages_about_terms_count_the_lines_as_typed(page: Page) -> None:
    inspect(page)
    page.locator("#terms-card summary").click()
    page.locator("#terms").fill("# Times\ntoday = nachts\nunfinished\n\ntoday = oft")
    expect(page.locator("#problem")).to_contain_text("line 5 translates today as oft, but line 2")


def test_the_form_of_address_is_sent_and_remembered(page: Page) -> None:
    def with_address(route: Route) -> None:
        answer = route.fetch()
        runs = [{**each, "address": True} for each in answer.json()]
        route.fulfill(response=answer, json=runs)

    page.route("**/v1/runs", with_address)
    inspect(page)
    sent = page.get_by_label("Address readers")
    with page.expect_request(lambda request: "sie" in (request.post_data or "")):
        sent.select_option("Sie")
    expect(page.locator("#problem")).to_contain_text("forms of address")
    page.reload()
    expect(page.get_by_label("Address readers")).to_be_visible()
    expect(page.get_by_label("Address readers")).to_have_value("sie")
    page.unroute_all(behavior="ignoreErrors")


def test_text_in_another_language_is_noticed_without_a_run_for_it(page: Page) -> None:
    translate(page, GERMAN)
    notice = page.locator("#other-language")
    expect(notice).to_have_text("This looks like German; the run translates from English.")
    page.get_by_label("Text to translate").fill(SENTENCE)
    expect(page.locator("#output")).to_have_text(GERMAN)
    expect(notice).to_be_hidden()


def test_text_is_counted_and_cleared(page: Page) -> None:
    inspect(page)
    expect(page.locator("#counter")).to_have_text(f"{len(SENTENCE)} of 100,000 characters")
    page.get_by_label("Text to translate").press("Escape")
    expect(page.get_by_label("Text to translate")).to_have_value("")
    expect(page.locator("#output")).to_have_text("The translation appears here.")
    expect(page.get_by_role("button", name="Clear")).to_be_hidden()


@pytest.mark.parametrize("way", ["Escape", "Clear"])
def test_clearing_can_be_undone(page: Page, way: str) -> None:
    translate(page)
    text = page.get_by_label("Text to translate")
    if way == "Clear":
        page.get_by_role("button", name="Clear").click()
    else:
        text.press("Escape")
    expect(text).to_have_value("")
    expect(text).to_be_focused()
    page.keyboard.press("ControlOrMeta+z")
    expect(text).to_have_value(SENTENCE)
    expect(page.locator("#output")).to_have_text(GERMAN)


def test_escape_while_composing_clears_nothing(page: Page) -> None:
    translate(page)
    text = page.get_by_label("Text to translate")
    text.dispatch_event("keydown", {"key": "Escape", "isComposing": True, "bubbles": True})
    expect(text).to_have_value(SENTENCE)


def test_an_example_can_be_tried(page: Page) -> None:
    page.goto("/")
    example = page.locator("#examples button").first
    sentence = example.text_content() or ""
    example.click()
    expect(page.get_by_label("Text to translate")).to_have_value(sentence)
    expect(page.locator("#output .word").first).to_be_visible()
    expect(page.locator("#examples")).to_be_hidden()


def test_another_translation_can_be_chosen(page: Page) -> None:
    inspect(page)
    other = page.locator("#options button").nth(1)
    text = other.text_content() or ""
    other.click()
    expect(page.locator("#output")).to_have_text(text)
    expect(page.locator("#options button").first).to_be_focused()


def test_another_word_can_be_chosen_with_the_mouse(page: Page) -> None:
    inspect(page, f"{SENTENCE} Anna likes to read.")
    page.locator("#output .word", has_text="heute").first.click()
    menu = page.get_by_role("menu", name="Instead of heute")
    expect(menu.get_by_role("menuitem").first).to_be_visible()
    words = menu.get_by_role("menuitem").all_inner_texts()
    assert 1 <= len(set(words)) == len(words) <= 5
    assert "heute" not in words
    menu.get_by_role("menuitem").first.click()
    expect(menu).to_be_hidden()
    changed = re.compile(rf"^Oscar programmiert {re.escape(words[0])}\b.* Anna liest")
    expect(page.locator("#output")).to_have_text(changed)
    expect(page.locator("#looked")).to_contain_text(f"“{words[0]}” looks at")
    page.get_by_text("Beam search").click()  # which translates the others again
    expect(page.locator("#beam output")).to_contain_text("the model's own translation")
    expect(page.locator("#output")).to_have_text(changed)
    page.locator("#output .word").first.click()
    expect(page.get_by_role("menu")).to_be_visible()
    page.locator("#text").click()
    expect(page.get_by_role("menu")).to_be_hidden()


def test_another_word_can_be_chosen_with_the_keyboard(page: Page) -> None:
    inspect(page)
    word = page.locator("#output .word").nth(2)
    for key in ("Enter", "Space"):
        word.focus()
        page.keyboard.press(key)
        menu = page.get_by_role("menu", name="Instead of heute")
        items = page.get_by_role("menuitem")
        expect(items.first).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(items.last).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(items.first).to_be_focused()
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(word).to_be_focused()
    expect(page.locator("#output")).to_have_text(GERMAN)
    page.keyboard.press("Enter")
    expect(items.first).to_be_focused()
    page.keyboard.press("End")
    last = items.last.inner_text()
    page.keyboard.press("Enter")
    expect(word).to_have_text(last)
    expect(word).to_be_focused()
    page.keyboard.press("Enter")
    expect(items.first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("menu")).to_be_hidden()


def test_a_word_can_be_tapped(browser: Browser, server: Running) -> None:
    size: Any = {"width": 390, "height": 800}
    with browser.new_context(base_url=server.address, has_touch=True, viewport=size) as context:
        page = context.new_page()
        inspect(page)
        page.locator("#output .word", has_text="heute").tap()
        page.get_by_role("menuitem").first.tap()
        expect(page.locator("#output")).not_to_have_text(GERMAN)
        expect(page.locator("#output")).to_have_text(re.compile("^Oscar programmiert "))


def test_words_without_alternatives_say_so(page: Page) -> None:
    page.route("**/v1/alternatives", lambda route: route.fulfill(json={"run": "", "words": []}))
    inspect(page)
    page.locator("#output .word").first.click()
    expect(page.get_by_role("menuitem")).to_have_text("No other word fits here")


def test_the_beginning_of_the_translation_can_be_typed(page: Page) -> None:
    inspect(page)
    begins = page.get_by_label("The translation begins with")
    begins.press_sequentially("Anna tan", delay=5)
    expect(page.locator("#output")).to_have_text(re.compile("^Anna tanzt"))
    begins.fill("")
    expect(page.locator("#output")).to_have_text(GERMAN)
    begins.fill("Anna")
    page.get_by_role("button", name="Clear").click()
    expect(begins).to_have_value("")


def test_a_failed_translation_is_not_mistaken_for_a_new_one(page: Page) -> None:
    inspect(page)
    page.route("**/v1/translate", lambda route: route.abort())
    page.get_by_label("Text to translate").fill("Anna likes to read.")
    expect(page.locator("#output.stale")).to_have_text(GERMAN)
    expect(page.locator("#problem")).to_be_in_viewport()


def test_long_texts_stay_out_of_the_address(page: Page) -> None:
    translate(page, SENTENCE + " Anna likes to read." * 150)
    expect(page.locator("#output .word").first).to_be_visible()
    assert len(page.url) < 200
    expect(page.get_by_role("button", name="Copy link")).to_be_disabled()
