"""The page in a browser: hostile replies stay text, nothing moves out of its place, everything can be read.

Needs a Chromium: the one that CARRARA_CHROMIUM names, a system's, or playwright's own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from carrara.answers.status import STATUSES
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.files import save
from carrara.report.comparison import write_comparison
from carrara.report.memory_page import page as memory_page
from carrara.report.page import write_report
from carrara.results.comparison import Side, compare
from carrara.results.result import FATES, NO_REPLY, FactTrace, ItemSource, ReadingCost, Result
from carrara.results.summary import Summary
from tests.helpers.results import reply

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: `make env-all` installs it"
)

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = ("/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium", "/snap/bin/chromium")

PAGES = ("hostile", "plain", "many", "empty", "errors", "single", "readers", "reader", "submissions", "compared",
         "memory", "figure")  # fmt: skip
HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "</style></title></pre></main><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "<img src=http://203.0.113.1/pixel.png><link rel=stylesheet href=http://203.0.113.1/s.css>",
    "<iframe src=http://203.0.113.1></iframe><meta http-equiv=refresh content='0;url=http://203.0.113.1'>",
    '" onmouseover="window.pwned = 1" x="',
    "' autofocus onfocus='window.pwned = 1",
    "<svg onload='window.pwned = 1'><a href='javascript:window.pwned = 1'>x</a></svg>",
    "<style>* { display: none !important }</style>",
    "]]><!-- --!><details open ontoggle='window.pwned = 1'>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "\u202etxt.exe \u2066\u2067\u200f turned \u061c",
    "null \x00 bell \x07 escape \x1b[31m delete \x7f next \x85 \r return",
    "lone \ud800 surrogates \udfff",
    "marks Z" + "\u0301\u0320" * 2000,
    "W" * 1_000_000,
    "שלום עולם مرحبا بالعالم " * 60,
    "wide ﷽﷽﷽𒐫𒐫𒐫 " * 40,
    "\n" * 5000 + "deep",
)


def chromium() -> str | None:
    named = os.environ.get("CARRARA_CHROMIUM")
    if named:
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None) or next((p for p in PLACES if Path(p).exists()), None)
    if found:
        return found
    with sync_api.sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium is found: install chromium-headless-shell, or name one in CARRARA_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {
        "hostile": [
            *(result(i, word, 0, hostile=True) for i, word in enumerate(HOSTILE)),
            *(replace(result(i, word, 4096, hostile=True), status="ok", score=1.0) for i, word in enumerate(HOSTILE)),
        ],
        "plain": [
            replace(result(i, "plain", length), model=f"lab/model-{m}", task=task, score=float((i + m) % 3 == 0))
            for m in range(4)
            for task in ("suite/one", "suite/two", "suite/three")
            for length in (0, 1024, 4096, 8192, 16384, 32768, 65536, 131072)
            for i in range(4)
        ],
        "many": [replace(result(0, "many", length), model=f"lab/{m:02}") for m in range(20) for length in (0, 1024)],
        "empty": [],
        "errors": [replace(result(i, "late", 0), status="error", reply="") for i in range(3)],
        "single": [result(0, "one", 4096)],
        "readers": [one for reader in ("", "notes:chunk=4k,size=1k", "search") for one in readings(reader)],
        "reader": readings("notes:chunk=4k,size=1k"),
    }
    for name, results in made.items():
        write_report(Summary(results), folder / f"{name}.html", HOSTILE[1] if name == "hostile" else f"A run: {name}")
    made["submissions"] = submissions()
    write_report(Summary(made["submissions"]), folder / "submissions.html", "A leaderboard", sources=SOURCES)
    sides = [
        Side(f"{HOSTILE[m]} {m}", [one for one in made["plain"] if one.model == f"lab/model-{m}"]) for m in range(3)
    ]
    write_comparison(compare(sides), 0.1, folder / "compared.html")
    points = list(range(0, 40, 2))
    falling = [1 - n / 40 for n in points]
    facts = [(3, "Mary went to the kitchen.", True), (17, HOSTILE[0], False)]
    memory = memory_page(
        title="Inside a memory",
        segments=40,
        points=points,
        facts=facts,
        distances=[[abs(one - other) / 40 for one in points] for other in points],
        gates=[[value] for value in falling],
        answers=[(HOSTILE[0], ["kitchen"] * 20, falling, falling, [[value] for value in falling])],
        attention=[("layer 4", ["memory"], [f"token {n}" for n in points], [falling])],
        probes=[("Where is Mary?", 0.8, 0.3)],
    )
    (folder / "memory.html").write_text(memory)
    marks = [Mark(f"model {m}", length, m / 9) for m in range(10) for length in (0, 4096, 131072)]
    save(Figure("test", "A figure", "curves", marks, notes=["A note."]), folder / "figure.html")
    return {name: folder / f"{name}.html" for name in PAGES}


def result(i: int, word: str, length: int, *, hostile: bool = False) -> Result:
    """A failure. A hostile one bears the word wherever a word goes that a model or a user chose."""
    said = word if hostile else ""
    return reply(
        i,
        0.0,
        length=length,
        model=f"lab/model {said}"[:3000] if i % 3 == 0 else "lab/model",
        status=STATUSES[i % len(STATUSES)],
        scores={"paper": 0.0},
        labels={"kind": f"{said}{i % 3}", "other": str(i % 2)},
        ask=f"ask {word}",
        gold=f"gold {word}",
        answer=f"answer {word}",
        reply=f"reply {i}: {word}",
        excerpt=f"excerpt {word}",
        error=f"error {said}" if i % len(STATUSES) > 4 else None,
        input_tokens=length or 100,
    )


SOURCES = [
    ItemSource(f"{word}.jsonl"[:3000], word[:3000], 24, 20, 24, n, word[:3000] if n % 2 else "", word)
    for n, word in enumerate(HOSTILE)
]


def submissions() -> list[Result]:
    """Replies of two models, and of one that a stranger named and that lacks some."""
    models = ("lab/one", "lab/two", f"stranger/{HOSTILE[1]}{HOSTILE[4]}")
    found = [
        replace(result(i, "sent", length), model=model, task=task, status="ok", score=float((i + len(model)) % 3 == 0))
        for model in models
        for task in ("suite/one", "other/two")
        for length in (0, 4096)
        for i in range(6)
    ]
    return [
        replace(one, status="empty", score=0.0, error=NO_REPLY) if one.model == models[2] and n % 2 else one
        for n, one in enumerate(found)
    ]


def readings(reader: str) -> list[Result]:
    """Replies with hostile facts and notes, by a reader if one is named."""
    plain = [
        replace(result(i, "read", length), task=task, model="lab/model", status="ok", score=float(i % 3 == 0))
        for task in ("suite/one", "suite/two")
        for length in (0, 4096, 131072)
        for i in range(len(HOSTILE))
    ]
    if not reader:
        return plain
    return [
        replace(
            one,
            settings={"reader": reader},
            input_tokens=10 ** (2 + i % 5),
            output_tokens=40,
            seconds=1.5,
            reading=ReadingCost(1 + i % 9, 900),
            facts=tuple(
                FactTrace(n, n / 7, FATES[(i + n) % 7], n, HOSTILE[i % len(HOSTILE)], HOSTILE[(i + n) % len(HOSTILE)])
                for n in range(7)
            ),
        )
        for i, one in enumerate(plain)
    ]


class Watched:
    """A page with all that it says and asks for."""

    def __init__(self, page: Page) -> None:
        self.page, self.said, self.asked = page, list[str](), list[str]()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(dialog.message))
        page.on("request", lambda request: self.asked.append(request.url))


def opened(browser: Browser, path: Path, width: int = 1280, **context: Any) -> Watched:
    watched = Watched(browser.new_context(viewport={"width": width, "height": 900}, **context).new_page())
    watched.page.goto(path.as_uri())
    return watched


def check_inert(watched: Watched, path: Path) -> None:
    """A page ran nothing that it was given, and asked for nothing but itself."""
    page = watched.page
    assert page.evaluate("window.pwned") is None
    assert (watched.said, watched.asked) == ([], [path.as_uri()])
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, link, object, embed, form, details[ontoggle], [onload]").count() == 0


def test_hostile_replies_are_text(browser: Browser, pages: dict[str, Path]) -> None:
    watched = opened(browser, pages["hostile"])
    page = watched.page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    for element in page.locator("summary, button, .failure dd").all()[:200]:
        element.dispatch_event("mouseover")
    page.wait_for_timeout(200)
    check_inert(watched, pages["hostile"])
    assert page.locator("a").count() == page.locator(".contents a[href^='#']").count()
    text = page.inner_text("#failures >> xpath=..")
    for shown in (
        "<script>window.pwned = 1</script>",
        "onerror='window.pwned = 1'",
        "⟦U+202E⟧txt.exe",
        "null ␀ bell ␇",
    ):
        assert shown in text
    for shown in ("⟦U+D800⟧", "998,010 more characters", "{{ 7 * 7 }}", "שלום"):
        assert shown in page.content()
    page.context.close()


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_screen(browser: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    watched = opened(browser, pages[name], width)
    page = watched.page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    past = page.evaluate(PAST_THE_EDGE, width)
    assert past == []
    assert watched.said == []
    page.context.close()


PAST_THE_EDGE = """(width) => [...document.querySelectorAll("main *")].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.width && (box.right > width + 1 || box.left < -1)
    && !element.matches("g") && !element.closest(".scroll, pre, svg .clip, .hidden, .brief, .ornament");
}).map((element) => element.outerHTML.slice(0, 200))"""


def test_the_page_is_whole_without_scripts(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["plain"], java_script_enabled=False).page
    assert page.locator("svg.chart >> visible=true").count() == 3
    assert page.locator("section[aria-labelledby=glance] tbody tr[data-series] >> visible=true").count() == 12
    assert page.locator(".legend button").count() == 0
    assert page.locator(".legend li >> visible=true").count() >= 4
    page.context.close()


def test_hostile_facts_are_text(browser: Browser, pages: dict[str, Path]) -> None:
    watched = opened(browser, pages["readers"])
    page = watched.page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    page.wait_for_timeout(200)
    check_inert(watched, pages["readers"])
    assert "onerror='window.pwned = 1'" in page.inner_text("#failures >> xpath=..")
    page.context.close()


def test_a_page_of_submissions_begins_with_the_leaderboard(browser: Browser, pages: dict[str, Path]) -> None:
    """It asks for nothing, names and verdicts of strangers are text, and lacking replies are told."""
    watched = opened(browser, pages["submissions"])
    page = watched.page
    page.wait_for_timeout(200)
    check_inert(watched, pages["submissions"])
    headings = page.locator("h2").all_inner_texts()
    assert headings.index("Leaderboard") < headings.index("Effective length")
    lacking = page.locator("section[aria-labelledby=leaderboard] td.trouble >> visible=true")
    assert lacking.all_inner_texts() == ["12 of 24"]
    assert page.locator("section[aria-labelledby=sources] tbody tr").count() == len(SOURCES)
    page.context.close()


def test_series_are_hidden_and_shown(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["plain"]).page
    lines = page.locator("svg.chart g.series:visible")
    buttons = page.locator(".legend button")
    assert lines.count() == 12
    buttons.nth(1).click()
    assert lines.count() == 9
    assert buttons.nth(1).get_attribute("aria-pressed") == "false"
    assert page.locator("section[aria-labelledby=glance] tr[data-series]:visible").count() == 9
    page.wait_for_timeout(600)  # two clicks of their own, not a double one
    buttons.nth(1).click()
    assert lines.count() == 12
    buttons.nth(2).dblclick()
    assert lines.count() == 3
    buttons.nth(2).dblclick()
    assert lines.count() == 12
    page.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_reader_switches_between_the_scores(browser: Browser, pages: dict[str, Path], scripts: bool) -> None:
    """Without scripts too; and what is chosen stays chosen further down the page."""
    page = opened(browser, pages["plain"], java_script_enabled=scripts).page
    best = page.locator("section[aria-labelledby=leaderboard] tbody tr:first-child td:nth-child(3) b >> visible=true")
    assert best.count() == 1
    assert float(best.inner_text()) == 0.5
    page.get_by_label("the papers' own").check()
    assert best.count() == 1
    assert float(best.inner_text()) == 0  # all of the paper's scores are 0 here
    page.locator("#changes").scroll_into_view_if_needed()
    assert page.get_by_label("the papers' own").is_checked()
    assert page.get_by_label("the papers' own").is_visible()
    page.context.close()


def test_what_is_not_looked_for_can_be_hidden(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["plain"]).page
    glance = "section[aria-labelledby=glance] "
    replies, rows = page.locator(".failure:visible"), page.locator(f"{glance} tbody tr[data-series]:visible")
    columns = page.locator(f"{glance} thead th[data-length]:visible")
    before, charts = replies.count(), page.locator("svg.chart:visible").count()
    assert (rows.count(), columns.count(), charts) == (12, 8, 3)
    page.locator(".menu", has_text="Tasks").locator("summary").click()
    page.get_by_role("checkbox", name="suite/one").uncheck()
    assert (rows.count(), page.locator("svg.chart:visible").count()) == (8, 2)
    assert page.locator(".menu", has_text="Tasks").locator("output").inner_text() == "2 of 3"
    page.keyboard.press("Escape")
    assert not page.get_by_role("checkbox", name="suite/one").is_visible()
    page.locator(".menu", has_text="Lengths").locator("summary").click()
    page.locator(".menu", has_text="Lengths").get_by_text("none").click()
    page.get_by_label("128k", exact=True).check()
    assert columns.count() == 1
    assert 0 < replies.count() < before
    assert page.locator(".failure:visible .what", has_text="at 128k").count() == replies.count()
    page.get_by_text("Show all").click()
    assert (rows.count(), columns.count(), replies.count()) == (12, 8, before)
    page.context.close()


def test_tables_are_sorted_by_any_column(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["plain"]).page
    table = page.locator("section[aria-labelledby=scores] table").first

    def column(n: int) -> list[str]:
        return [row.locator("th, td").nth(n).inner_text() for row in table.locator("tbody tr").all()]

    head = table.locator("thead th", has_text="Length")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert column(1)[:5] == [*["128k"] * 4, "64k"]
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    assert column(1)[:5] == [*["0"] * 4, "1k"]
    table.locator("thead th", has_text="Score").first.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    scores = list(map(float, column(2)))
    assert scores == sorted(scores, reverse=True)
    page.context.close()


def test_labels_do_not_cover_each_other(browser: Browser, pages: dict[str, Path]) -> None:
    for name, width in (("many", 1280), ("plain", 400), ("hostile", 1280), ("readers", 400), ("reader", 1280)):
        page = opened(browser, pages[name], width).page
        assert page.evaluate(OVERLAPS) == []
        page.context.close()


OVERLAPS = """() => [...document.querySelectorAll("svg.chart")].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll("text.tick:not(.halo), text.axis, text.name")].map((text) => {
    const box = (text.closest(".clip") ?? text).getBoundingClientRect();
    const inner = text.getBoundingClientRect();
    return { text: text.textContent, left: box.left, right: Math.min(box.right, inner.right),
             top: inner.top + inner.height * 0.2, bottom: inner.bottom - inner.height * 0.2 };
  });
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map((b) => [a.text, b.text]));
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "readers", "submissions", "compared", "memory", "figure"])
def test_contrast_is_enough(browser: Browser, pages: dict[str, Path], name: str, scheme: str) -> None:
    """WCAG AA: 4.5 for text, 3 for what is drawn."""
    page = opened(browser, pages[name], color_scheme=scheme).page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    low = page.evaluate(CONTRAST)
    assert low == []
    page.context.close()


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const over = (top, below, alpha) => below.map((part, i) => top[i] * alpha + part * (1 - alpha));
  const light = ([r, g, b]) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const part = [r, g, b][i];
    return sum + weight * (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const ground = (element) => {
    const path = [];
    for (let e = element; e; e = e.parentElement) path.unshift(e);
    return path.reduce((below, e) => {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      return over(colour, below, colour[3]);
    }, [1, 1, 1]);
  };
  const low = [];
  for (const element of document.querySelectorAll("main *")) {
    if (!element.checkVisibility() || element.closest(".hidden, title, desc, script")) continue;
    const style = getComputedStyle(element), behind = ground(element);
    const drawn = element.matches(".line, .marker");
    const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!drawn && !said) continue;
    const colour = rgb(drawn || !element.closest("svg") ? style.color : style.fill);
    const found = ratio(over(colour, behind, colour[3] * style.opacity), behind);
    if (found < (drawn ? 3 : 4.5)) low.push([found.toFixed(2), element.outerHTML.slice(0, 120)]);
  }
  return low.slice(0, 10);
}"""


def test_a_long_page_has_contents(browser: Browser, pages: dict[str, Path]) -> None:
    """Folded up, each line leads somewhere, and all sections and tasks are in it. Without scripts."""
    page = opened(browser, pages["plain"], 390, java_script_enabled=False).page
    lines = page.locator(".contents a")
    assert lines.locator("visible=true").count() == 0
    page.locator(".contents summary").click()
    assert lines.locator("visible=true").count() == lines.count()
    shown = lines.all_inner_texts()
    tasks = ["suite/one", "suite/three", "suite/two"]
    assert shown[5:9] == ["Every score", *tasks]
    assert len(shown) == page.locator("h2").count() + len(tasks)
    for line in lines.all():
        href = line.get_attribute("href") or ""
        assert page.locator(href).inner_text() == line.inner_text()
    lines.filter(has_text="suite/two").click()
    box = page.locator("summary", has_text="suite/two").first.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 450
    page.context.close()
    page = opened(browser, pages["errors"]).page
    assert page.locator(".contents").count() == 0
    page.context.close()


def test_it_can_be_told_by_those_who_do_not_see_it(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["plain"]).page
    for chart in page.locator("svg.chart").all():
        assert chart.get_attribute("role") == "img"
        assert "model-0: 0: 0." in (chart.locator("> desc").text_content() or "")
        assert "mean score against context length" in (chart.locator("> title").text_content() or "")
    for table in page.locator("table").all():
        assert table.locator("> caption").count() == 1
        assert table.locator("thead th:not([scope])").count() == 0
        assert table.locator("tbody th[scope]").count() > 0
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"
    page.context.close()
