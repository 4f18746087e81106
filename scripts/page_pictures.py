"""Photograph the page of nmt serve for the README, in its light and its dark theme.

    pip install -e '.[serve,browser]'
    python scripts/page_pictures.py runs/everyday

Needs Chromium, on the path or installed by `playwright install chromium`. Writes
docs/images/page-light.png and docs/images/page-dark.png.
"""

import shutil
import sys
import threading
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve.app import make_app
from nmt.serve.served_run import ServedRun
from nmt.serve.server import bind, make_server
from nmt.serve.service import Service

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SENTENCE = "Is there a pharmacy near here?"
WIDTH, HEIGHT = 1000, 740


def main() -> None:
    run = RunFolder(Path(sys.argv[1]))
    # With PyTorch, the page also shows attention.
    served = ServedRun(run.name, run, load_translator(run, engine="pytorch"), "pytorch")
    service = Service([served])
    listener = bind("127.0.0.1", 0)
    server = make_server(make_app(service), service.limits.seconds)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.1)
        photograph(f"http://127.0.0.1:{listener.getsockname()[1]}/")
    finally:
        server.should_exit = True
        thread.join()


def photograph(address: str) -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme=theme,
                device_scale_factor=1.5,
            )
            page.set_default_timeout(180_000)
            page.goto(address)
            page.get_by_label("Text to translate").fill(SENTENCE)
            page.locator("#inside svg, .figures svg").first.wait_for()
            page.wait_for_load_state("networkidle")
            file = IMAGES / f"page-{theme}.png"
            page.screenshot(path=file)
            print(f"{file}: {file.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
