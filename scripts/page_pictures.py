"""Photograph the page of nmt serve for the README, in its light and its dark theme.

    pip install -e '.[serve,browser]'
    python scripts/page_pictures.py runs/everyday

Needs Chromium, on the path or installed by `playwright install chromium`. Writes
docs/images/page-light.png and docs/images/page-dark.png.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SENTENCE = "Is there a pharmacy near here?"
WIDTH, HEIGHT = 1000, 740


def main() -> None:
    # With PyTorch, the page also shows attention.
    command = ["-m", "nmt", "serve", "--port", "0", "--engine", "pytorch", "--run", sys.argv[1]]
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        address = next(line.split()[1] for line in server.stderr if line.startswith("open"))
        try:
            photograph(address)
        finally:
            server.terminate()


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
