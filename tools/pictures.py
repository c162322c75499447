"""Take pictures of the README and of ten pages of the site at two widths, and name what is wider than the window.

    make site && python -m tools.pictures FOLDER

Each page has two pictures, as wide as a desktop window and as a phone. The exit code is 1 if a page scrolls sideways.
The README is drawn plainly, from Markdown, as a code host would.
"""

import argparse
import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from playwright.sync_api import Page, sync_playwright

CHECKOUT = Path(__file__).parents[1]
SITE = CHECKOUT / "site"
PAGES = (
    "index",
    "tutorial",
    "guides/evaluate-a-server",
    "guides/compare-checkpoints",
    "guides/write-a-task",
    "reference/cli",
    "reference/python",
    "reference/tasks/babilong/qa1",
    "reference/statuses",
    "explanation/statistics",
)
WIDTHS = (1280, 400)
HEIGHT = 900
STYLE = """
body { font: 16px sans-serif; max-width: 830px; margin: 2em auto; padding: 0 1em; }
img { max-width: 100%; }
td, th { border: 1px solid #ccc; padding: 4px 8px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
pre { background: #f4f4f4; padding: 1em; overflow-x: auto; }
"""
HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'


def main() -> int:
    parser = argparse.ArgumentParser(description="Take pictures of the README and of ten pages of the site.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dark", action="store_true", help="in dark mode")
    parser.add_argument("--chromium", help="a Chromium; by default playwright's own")
    given = parser.parse_args()
    if not SITE.is_dir():
        print("there is no site: `make site` builds it", file=sys.stderr)
        return 2
    given.folder.mkdir(parents=True, exist_ok=True)
    readme = given.folder / "README.html"
    readme.write_text(readme_page(), "utf-8")
    places = {"README": readme} | {page.replace("/", "-"): SITE / f"{page}.html" for page in PAGES}
    wide = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        for width in WIDTHS:
            window = browser.new_context(
                viewport={"width": width, "height": HEIGHT}, color_scheme="dark" if given.dark else "light"
            )
            page = window.new_page()
            for name, place in places.items():
                page.goto(place.resolve().as_uri())
                page.wait_for_timeout(300)
                page.screenshot(path=given.folder / f"{name}-{width}.png")
                if is_too_wide(page):
                    wide.append(f"{name} at {width} px")
        browser.close()
    print(f"{len(places) * len(WIDTHS)} pictures in {given.folder}")
    print(*(f"scrolls sideways: {one}" for one in wide), sep="\n", end="\n" if wide else "")
    return 1 if wide else 0


def readme_page() -> str:
    """Return the README as a page of HTML."""
    html = MarkdownIt("commonmark").enable("table").render((CHECKOUT / "README.md").read_text("utf-8"))
    html = re.sub(r'src="(?!https?:)', f'src="{CHECKOUT.as_uri()}/', html)
    return f"{HEAD}<style>{STYLE}</style>{html}"


def is_too_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


if __name__ == "__main__":
    sys.exit(main())
