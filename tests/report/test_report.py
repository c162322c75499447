"""The page: what it says, what it shows of everything, and that nothing in it is alive."""

import errno
import json
import os
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.answers.status import STATUSES
from carrara.cli.main import main
from carrara.export.harness import score_document
from carrara.items.item import make
from carrara.items.item_id import APART
from carrara.operations.results import Results
from carrara.report.html import environment
from carrara.report.outcomes import MEANING
from carrara.report.page import render, write_report
from carrara.report.readers import FATE_MEANING
from carrara.report.style import styles_of, tag
from carrara.results import summarize
from carrara.results.baselines import ShortcutFinding
from carrara.results.result import FATES, FactTrace, ReadingCost, Result
from carrara.results.summary import Summary
from carrara.runs.rescoring.scored import Scorer, ScorerConfig
from carrara.util.files import whole_file
from carrara.util.sanitize import clip, distinct, short, visible
from tests.helpers import results


def reply(instance: int, score: float = 0.0, *, length: int = 0, model: str = "lab/model", **more: Any) -> Result:
    return results.reply(
        instance,
        score,
        length=length,
        model=model,
        tokens=length or 120,
        chance_level=0.05,
        scores={"paper": score / 2},
        labels={"complexity": str((1, 5, 20)[instance % 3])},
        ask=f"len(a[{instance}:])",
        gold="7",
        answer="8",
        reply="It is 8.",
        excerpt=">> a = [1]\n…\nOutput:",
        input_tokens=length or 120,
        output_tokens=4,
        seconds=0.5,
        **more,
    )


def run(shares: dict[int, float], n: int = 20, **more: str) -> list[Result]:
    return [
        reply(i, float(i < round(share * n)), length=length, **more)
        for length, share in shares.items()
        for i in range(n)
    ]


def text_of_page(replies: Sequence[Result]) -> str:
    return text_of(render(Summary(replies), "t"))


ANY_TEXT = st.text(st.characters(), max_size=200)  # surrogates and controls are in it

CELLS = {"th", "td", "dt", "dd", "li", "p", "h1", "h2", "h3", "summary", "small"}


def text_of(page: str) -> str:
    """What a reader reads, spaces made even."""
    page = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S)
    words: list[str] = []
    parser = HTMLParser(convert_charrefs=True)
    parser.handle_data = words.append  # type: ignore[assignment,method-assign]
    parser.handle_starttag = lambda tag, _: words.append(" " * (tag in CELLS))  # type: ignore[assignment,method-assign]
    parser.feed(page)
    return " ".join("".join(words).split())


@pytest.mark.parametrize(
    ("replies", "key"),
    [
        (run({0: 1.0, 4096: 0.95}), "Effective length ≥ 4k, the longest that was run (95 % interval "),
        (run({0: 0.4, 4096: 0.4}), "0.40 at 0, 0.40 at 4k; chance level 0.05. Not usable: 40 %"),
        (run({0: 0.8, 4096: 0.8}), "Too few items to say: 80 % of 20 correct without filler; about 81 items"),
        (run({0: 0.05, 4096: 0.0}), "cannot be told from blind guessing"),
        (run(dict.fromkeys((0, 1, 2, 3, 4, 5), 1.0)), "model: 1.00 at 0, 1.00 at 5; chance level 0.05."),
        ([replace(reply(i), status="overflow") for i in range(3)], "no score: none of 3 replies attempts"),
        (
            run({0: 1.0, 2048: 0.5}) + run({0: 0.5, 2048: 0.4}, task="suite/other"),
            "suite/test: −0.50 from 0 to 2k (95 % interval −0.78 to −0.15, corrected for the 2 tasks). suite",
        ),
        (run({0: 1.0}) + run({2048: 0.4}, task="suite/other"), "2 tasks have no length in common"),
        (
            run({0: 1.0}) + [replace(r, status="overflow") for r in run({4096: 0.0})],
            "model: 1.00 at 0, no score at 4k (overflow); chance level 0.05.",
        ),
    ],
)
def test_verdicts_in_plain_words(replies: list[Result], key: str) -> None:
    assert key in text_of_page(replies)


def test_a_loss_whose_interval_holds_zero_is_not_named() -> None:
    """From 0.60 to 0.52 on the same instances, of which some are won and more are lost."""
    n, lost, won = 25, {0, 1, 2, 3}, {15, 16}
    results = [
        reply(i, float((i < 15) != (length > 0 and i in lost | won)), length=length, task=task)
        for task in ("classic/niah", "classic/vt")
        for length in (0, 4096)
        for i in range(n)
    ]
    text = text_of_page(results)
    assert "0.60 at 0, 0.52 at 4k; chance level 0.05 (mean of 2 tasks)." in text
    assert "largest loss" not in text


def test_tables_hold_score_interval_chance_level_published_and_statuses() -> None:
    results = run({0: 0.5, 4096: 0.25})
    results[0] = replace(results[0], status="refused")
    text = text_of_page(results)
    assert "model 0 0.450 0.258–0.658 0.050 0.225 20 20 19 1 19 0.474" in text
    assert "Paper score: paper" in text
    assert "Paper scores grade" in text
    assert "Own scores" not in text


def test_parts_of_our_score_are_no_paper_scores() -> None:
    text = text_of_page([replace(result, scores={"rules": 1.0, "focus": 0.5}) for result in run({0: 0.5})])
    assert "Own score: rules Own score: focus" in text
    assert "Own scores are parts" in text
    assert "Paper score" not in text


def test_a_conversation_is_no_prompt_of_another_length() -> None:
    """The server counts the prompt once more with each further message."""
    replies = [replace(result, input_tokens=4096 * 5) for result in run({4096: 0.5})]
    text = text_of_page([replace(result, requests=5) for result in replies])
    assert "20,480 for an item, in all its requests" in text
    assert "lengths are not what they claim" not in text
    for requests, repeated in ((1, 0), (2, 1)):
        counted = [replace(result, requests=requests, repeated=repeated) for result in replies]
        assert "lengths are not what they claim" in text_of_page(counted)


def test_every_status_is_shown() -> None:
    results = [replace(reply(i, 1.0), status=status) for i, status in enumerate(STATUSES)]
    page = render(Summary(results), "t")
    text = text_of(page)
    for status in STATUSES:
        assert f"status-{status}" in page
        assert f"1 {status}" in text
    assert "No answer was read from 8 of 12 replies, which score 0 (" in text


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"input_tokens": 4300}, "4,300 prompt tokens where smollm2 counted 4,096 (+5.0 %)"),
        ({"input_tokens": 3000}, "(−26.8 %), so lengths are not what they claim"),
        ({"tokens": 4000, "input_tokens": 4000}, "off their length by up to 96 tokens of smollm2 (at 4k)"),
        ({"error": "Connection refused", "status": "error"}, "(1 time): Connection refused"),
    ],
)
def test_notes_before_the_numbers(change: dict[str, object], note: str) -> None:
    results = [replace(result, tokenizer="smollm2") for result in run({0: 1.0, 4096: 1.0})]
    assert "Before you believe it" not in render(Summary(results), "t")
    results[-1] = replace(results[-1], **change)  # type: ignore[arg-type]
    text = text_of_page(results)
    assert note in text
    assert text.index("Before you believe it") < text.index("Score against length")


def test_notes_are_single_sentences_the_most_important_first() -> None:
    results = run({0: 1.0, 4096: 0.2}, n=5)
    results[-1] = replace(results[-1], tokens=4000, input_tokens=4000)
    results[5:9] = [replace(one, status="empty" if i < 3 else "unparsed") for i, one in enumerate(results[5:9])]
    overflown = [replace(reply(i, length=8192), status="overflow") for i in range(5)]
    findings = [ShortcutFinding("suite/test", "", "the last word", 0.45, 0.05, "As in the paper.", 0.3, 0.45)]
    page = render(Summary([*results, *overflown], shortcuts=findings), "t")
    notes = re.findall(r"<li>(.*?)</li>", page.partition('class="notes"')[2].partition("</aside>")[0], re.S)
    starts = [
        "model at 8k in suite/test has no score (overflow)",
        "Prompts of model are off their length by up to 96 tokens of gpt2 (at 4k)",
        "No answer was read from 9 of 15 replies",
        "model gives no answer in 4 of 5 replies at 4k in suite/test, 3 of them empty",
        "Some scores rest on only 5 replies",
        "model at 4k in suite/test is no better than a shortcut",
    ]
    assert len(notes) == len(starts)
    for note, start in zip(notes, starts, strict=True):
        assert text_of(note).startswith(start)
        assert not re.search(r"[a-z)]\. [A-Z]", note)


Report = Callable[..., tuple[int, str, str]]
"""Runs `carrara report` on a folder with these results: the exit code, and what is printed."""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Report:
    def call(replies: list[Result], *words: str) -> tuple[int, str, str]:
        found = {tmp_path: replies}
        monkeypatch.setattr("carrara.runs.replies.read_results", lambda directory, _=None: found.get(directory, []))
        code = main(["report", str(tmp_path), *words])
        return code, *capsys.readouterr()

    return call


def test_every_count_is_the_same_wherever_it_stands(report: Report, tmp_path: Path) -> None:
    """The table, the page, JSON, `Results` and the export for lm-eval say alike how many answers were read."""
    item = make("babilong/qa1", length=0, index=0, tokenizer="gpt2")
    texts = [f"FINAL ANSWER: {item.gold}", "FINAL ANSWER: moon", "", "I cannot tell", f"FINAL ANSWER: {item.gold}"]
    scorer = Scorer(ScorerConfig("lab/model"))
    own = [replace(scorer.reply(item.id, text, "ok"), context_id=str(i)) for i, text in enumerate(texts)]
    assert [result.status for result in own] == ["ok", "ok", "empty", "unparsed", "ok"]
    harness = [score_document({"id": item.id, "prompts": ""}, [text]) for text in texts]
    assert sum(scores["answers_read"] for scores in harness) == 3
    replies = [*own, replace(own[2], status="refused")]
    lines = report(replies)[1].splitlines()
    assert lines[0].split()[-5:] == ["n", "answers", "read", "other", "replies"]
    assert lines[2].endswith("6             3  1 unparsed, 1 empty, 1 refused")
    text = text_of((tmp_path / "report.html").read_text("utf-8"))
    assert " 5 6 3 1 1 1 5 0.400" in text
    assert "from 3 of 6 replies, which score 0 (1 empty, 1 unparsed, 1 refused)." in text
    [row] = json.loads(report(replies, "--json")[1])
    assert (row["n"], row["answers_read"], row["attempts"]) == (6, 3, 5)
    assert row["statuses"] == {"ok": 3, "unparsed": 1, "empty": 1, "refused": 1}
    assert row["mean"] == pytest.approx(sum(scores["score"] for scores in harness) / 6)
    assert len(Results(replies).where(status="ok")) == 3
    assert "1 unparsed, 1 empty, 1 refused" in Results(replies).table()


def test_a_cell_of_few_replies_does_not_look_like_a_full_one() -> None:
    def cells(page: str) -> list[tuple[str, str]]:
        return re.findall(r'<td class="num (heat[^"]*)"[^>]*><b>[0-9.]+</b><small>([^<]*)', page)

    other = run({0: 1.0, 4096: 1.0}, n=1, model="lab/few")
    found = cells(render(Summary([*run({0: 1.0, 4096: 1.0}), *other]), "t"))
    assert ("heat h10", "0.84–1.00") in found
    assert ("heat h10 few", "0.21–1.00, n 1") in found
    assert (".heat.few {") in render(Summary(other), "t")


def test_a_minimum_of_ones_own_counts_in_table_json_page_and_results(report: Report, tmp_path: Path) -> None:
    replies = run({0: 0.6, 4096: 0.6}, n=100, task="babilong/qa1")
    for least, shown, status in (("0.75", "not usable", "not usable"), ("0.4", "≥ 4k", "usable")):
        assert shown in report(replies, "--min-base-score", least)[1]
        rows = json.loads(report(replies, "--json", "--min-base-score", least)[1])
        assert {row["effective_length"]["status"] for row in rows} == {status}
        assert f"has to lie above {float(least):.2f}" in (tmp_path / "report.html").read_text("utf-8")
        [length] = Results(replies).effective_lengths(min_base_score=float(least))
        assert (length.usability, str(length)) == (status, shown)
        assert shown in Results(replies).table(min_base_score=float(least))


def test_a_tokenizer_without_chat_template_is_not_blamed_for_the_template() -> None:
    results = [replace(result, input_tokens=result.tokens + 30) for result in run({0: 1.0, 4096: 1.0})]
    text = text_of_page(results)
    assert "lengths are not what they claim" not in text
    assert "+0.73 % at most: the chat template, which gpt2 does not count" in text


def counted_by_server(
    lengths: tuple[int, ...], share: float = 1.0, template: int = 0, window: int = 1 << 30
) -> list[Result]:
    """Results of a server whose tokenizer gives about this share of gpt2's tokens, and which cuts prompts."""
    results = run(dict.fromkeys(lengths, 1.0), n=5)
    return [
        replace(one, input_tokens=min(window, round(one.tokens * (share + (i % 5 - 2) * (1 - share) / 10)) + template))
        for i, one in enumerate(results)
    ]


@pytest.mark.parametrize(
    ("replies", "cause"),
    [
        (counted_by_server((0, 1024), template=30), "the same at each length, which points to the chat"),
        (counted_by_server((1024,), template=30), "only one length, which points to the chat template"),
        (counted_by_server((0, 4096), 0.92, 20), "only adds tokens, which points to another tokenizer"),
        (counted_by_server((0, 1024, 4096), 0.92, 20), "grows evenly with the length, which points to another"),
        (counted_by_server((0, 1024, 4096), 1.1, 20), "changes with the length, which points to another"),
        (counted_by_server((1024,), 0.92) + counted_by_server((4096,), 1.08), "in some prompts, and more in others"),
    ],
)
def test_sign_and_growth_of_the_servers_count_tell_the_cause(replies: list[Result], cause: str) -> None:
    text = text_of_page(replies)
    notes = text.partition("Before you believe it")[2]
    assert re.search(f", so lengths are not what they claim: [^:]*{cause}", notes)
    assert "own tokenizer counts" not in text
    if replies[-1].input_tokens < replies[-1].tokens:  # type: ignore[operator]
        assert "does not count the chat template" not in text
        assert "chat template, which gpt2 does not count" not in text


def test_cut_prompts_are_counted_and_drawn() -> None:
    """The others agree, so nothing else is said of the server's counts."""
    results = counted_by_server((0, 1024, 8192), 1, 0, 4000)
    cut = [replace(one, status="shortened") if one.length == 8192 else one for one in results]
    page = render(Summary(cut), "t")
    text = text_of(page)
    assert "cut 5 prompts and did not say so: it counted 4,000 tokens where 8,192 were sent" in text
    assert "no answers of the model (shortened)" in text
    assert "cut 5 prompts; the same" in text
    assert "<title>4,000 of 8,192</title>" in page
    assert "<title>4,000 of 8,192</title>" not in render(Summary(cut[:10]), "t")


def test_a_constant_surplus_is_named_with_its_size() -> None:
    results = counted_by_server((0, 1024, 8192), 1, 2)
    with_template = [replace(one, id=one.id.replace("gpt2", "smollm2"), tokenizer="smollm2") for one in results]
    assert "counted 2 tokens in each prompt: text that the server adds" in text_of_page(with_template)


def test_servers_that_agree_or_say_nothing() -> None:
    results = run({0: 1.0, 4096: 1.0})
    assert "exact the same" in text_of_page(results)
    assert "not reported" in text_of_page([replace(result, input_tokens=None) for result in results])
    assert "+0.02 % at most" in text_of_page([*results[:-1], replace(results[-1], input_tokens=4097)])


def test_incomplete_runs_are_named() -> None:
    text = text_of_page([*run({0: 1.0, 4096: 1.0}), *run({0: 1.0, 4096: 0.5}, model="lab/other")[:-3]])
    assert "Incomplete: other has 17 of 20 replies at 4k in suite/test." in text


def test_subsets_are_complete_by_themselves() -> None:
    """Two subsets share one of their lengths, which has twice as many replies."""
    later = [reply(APART + i, length=length) for length in (4096, 8192) for i in range(20)]
    text = text_of_page([*run({0: 1.0, 4096: 1.0}), *later])
    assert "Incomplete" not in text
    assert "Incomplete: " in text_of_page([*run({0: 1.0, 4096: 1.0}), *later[:-1]])


def test_failures_show_everything_and_how_much_more() -> None:
    bad = replace(reply(3), reply="word " * 1000, error="late", answer=None, status="truncated")
    text = text_of_page([*run({0: 1.0}), bad])
    for part in (
        "len(a[3:])",
        "Right answer 7",
        "Read from the reply nothing",
        "late",
        "complexity 1",
        ">> a = [1]",
        bad.id,
    ):
        assert part in text
    assert "… 3,000 more characters" in text
    assert "1 of 21 replies" in text


def test_failures_come_from_every_corner() -> None:
    """More corners than room: no length, model or task is left out."""
    results = [
        result
        for model in ("a", "b", "c")
        for task in ("s/x", "s/y", "s/z")
        for result in run({0: 0.0, 1024: 0.0, 4096: 0.0}, n=6, model=model, task=task)
    ]
    text = text_of_page(results).rpartition("Replies to read")[2].partition("How it was run")[0]
    assert "Here are 60" in text
    for part in ("s/x at", "s/y at", "s/z at", "at 0", "at 1k", "at 4k"):
        assert part in text


@pytest.mark.parametrize(
    ("results", "said", "unsaid"),
    [
        ([], "There are no results here.", "Score against length"),
        ([replace(reply(i), status="error") for i in range(4)], "There is nothing to draw", "<figure><svg"),
        (run({4096: 1.0}), "Only one length was run, 4k", "Effective length"),
        ([reply(0, 1.0)], "Some scores rest on only 1 reply", "What length changes"),
        (run({0: 1.0, 1024: 1.0}), "Every reply is wholly right.", "Before you believe it"),
    ],
)
def test_honest_empty_states(results: list[Result], said: str, unsaid: str) -> None:
    page = render(Summary(results), "t")
    assert said in text_of(page)
    assert unsaid not in page


def test_slices_by_label_and_their_limit() -> None:
    results = [replace(reply(i, float(i % 2)), labels={"hops": str(i), "same": "x"}) for i in range(40)]
    text = text_of_page(results)
    assert "By kind of question" in text
    assert "16 more values of hops are not shown." in text
    assert "more values of same" not in text


def test_two_settings_of_a_model_have_names_of_their_own() -> None:
    text = text_of_page([*run({0: 0.9, 1024: 0.8}), *run({0: 0.2, 1024: 0.1}, tokenizer="o200k")])
    assert "lab/model with 2 settings" in text
    assert " gpt2: 0.90 at 0" in text
    assert " o200k: 0.20 at 0" in text


def test_models_of_one_name_keep_their_makers() -> None:
    shares = {"a/m": 1.0, "b/m": 0.5, "c/n": 0.2, 'd/o {"at": "/v1"}': 0.1}
    text = text_of_page([r for model, share in shares.items() for r in run({0: share}, model=model)])
    assert "a/m: 1.00" in text
    assert "b/m: 0.50" in text
    assert " n: 0.20" in text
    assert ' o {"at": "/v1"}: 0.10' in text


LOCAL = "by=openai:m@http://127.0.0.1:18431/v1"


def retrieved(results: list[Result], retrieve: str, recall: float = 1.0) -> list[Result]:
    return [
        replace(
            result,
            settings={"reader": f"retrieval:{retrieve}"},
            scores={**result.scores, "recall": recall, "recall, share": recall},
            input_tokens=210,
        )
        for result in results
    ]


def test_retrieval_is_named_and_lengths_are_before_it() -> None:
    plain, setting = run({4096: 0.5}), f"sentences;{LOCAL},top=5,order=score"
    assert "etriev" not in text_of_page(plain)
    text = text_of_page([*plain, *retrieved(plain, setting, 0.25)])
    assert " retrieval:sentences: 0.50 at 4k" in text
    assert f"chat reader=retrieval:{setting} suite/test@1 4k 20 exact, of the whole prompt 210 for an item" in text
    assert "0.050 0.250 – – 20" in text
    assert "0.050 0.250 0.250 0.250 20" in text


def test_retrievals_of_one_model_have_names_of_their_own() -> None:
    ways = [f"sentences;{LOCAL},top={top},order={order}" for top in (5, 20) for order in ("score", "position")]
    for model in ("lab/model", "lab/" + "a-long-name-" * 9, "lab/wide" + "\u3000" * 90):
        results = [result for way in ways for result in retrieved(run({0: 0.5}, model=model), way)]
        styles = styles_of(summarize(results))
        for names in ({style.name for style in styles.values()}, {style.full for style in styles.values()}):
            assert len(names) == 4
            assert all("order=" in name and "top=" in name for name in names)


def test_names_in_a_chart_keep_their_ends() -> None:
    ways = [f"sentences;{LOCAL},top=5,order={order}" for order in ("score", "position")]
    page = render(Summary([r for way in ways for r in retrieved(run({0: 0.5, 1024: 0.5}), way)]), "t")
    assert set(re.findall(r'class="name">([^<]+)<', page)) == {
        "retrieval:…rder=score",
        "retrieval:…r=position",
    }


@given(st.lists(ANY_TEXT, max_size=5, unique=True), st.integers(8, 40))
def test_short_names_are_short_and_stay_apart(names: list[str], limit: int) -> None:
    shown = distinct(names, limit)
    assert set(shown) == set(names)
    assert all(len(name) <= limit and "\n" not in name for name in shown.values())
    alike = [f"{'x' * 40}{n}{'y' * 40}" for n in range(12)]
    assert len(set(distinct(alike, limit).values())) == 12


def test_what_is_not_the_default_is_said_of_how_it_was_run() -> None:
    results = [
        replace(
            r, id=r.id.replace("@1/test-0-", "@1;vocab=fresh;haystack=others/train-7-"), settings={"max_tokens": "9"}
        )
        for r in run({0: 1.0})
    ]
    text = text_of_page(results)
    assert "chat max_tokens=9 suite/test@1 (vocab=fresh, haystack=others, split train, seed 7) 0 20" in text
    assert "chat – suite/test@1 0 20" in text_of_page(run({0: 1.0}))


def test_one_file_the_same_each_time_and_without_addresses(tmp_path: Path) -> None:
    results = run({0: 0.5, 4096: 0.25}) + run({0: 0.9, 4096: 0.75}, model="lab/other")
    write_report(Summary(results), tmp_path / "deep" / "report.html", "Twice")
    write_report(Summary(results), tmp_path / "again.html", "Twice")
    page = (tmp_path / "deep" / "report.html").read_text(encoding="utf-8")
    assert page == (tmp_path / "again.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["again.html", "deep", "report.html"]
    assert not re.search(r"(?i)\b(?:src|action|data|poster|srcset)\s*=|url\(|@import|https?:", page)
    assert not re.search(r"(?i)\bhref\s*=(?!\"#)", page)
    assert page.count("<script>") == page.count("</script>") == 1
    assert not re.search(r"<[^>]*\son\w+\s*=", page)
    assert "default-src 'none'" in page


@pytest.mark.slow
def test_a_large_run_stays_light() -> None:
    rng = random.Random(0)
    results = [
        replace(reply(i, float(rng.random() < 0.5), length=length, model=model, task=task), reply="x" * 10**5)
        for model in ("a", "b", "c", "d")
        for task in ("s/x", "s/y", "s/z")
        for length in (0, 1024, 4096, 8192, 16384, 32768, 65536, 131072)
        for i in range(50)
    ]
    assert len(render(Summary(results), "t")) < 900_000


@given(ANY_TEXT)
def test_shown_text_is_inert(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    assert "\n" not in short(text)
    assert len(short(text, 40)) <= 40
    str(tag("text", text, name=text, label=text)).encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], max_codepoint=0x2FFF), max_size=200))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


def test_clipping_says_how_much() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("x" * 1_000_000, 2000) == "x" * 2000 + "… 998,000 more characters"


@given(ANY_TEXT)
def test_no_text_leaves_its_place(text: str) -> None:
    """Whatever is put into any field, the page's elements are the same."""

    class Elements(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[str, tuple[str, ...]]] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.append((tag, tuple(name for name, _ in attrs)))

    def elements(word: str) -> list[tuple[str, tuple[str, ...]]]:
        hostile = replace(
            reply(0), model="m" + word, task="t" + word, labels={"l" + word: "v" + word}, ask="a" + word,
            gold="g" + word, answer="a" + word, reply="r" + word, excerpt="e" + word, error="e" + word,
            scores={"s" + word: 0.0}, id="i" + word, tokenizer="k" + word,
        )  # fmt: skip
        parser = Elements()
        parser.feed(
            render(Summary([hostile, replace(hostile, length=4096, labels={"l" + word: "w" + word})]), "t" + word)
        )
        return parser.seen

    assert elements(text) == elements("")


def test_the_command_prints_a_table_and_the_path(report: Report, tmp_path: Path) -> None:
    code, out, _ = report(run({0: 0.5, 4096: 0.25}))
    lines = out.splitlines()
    assert code == 0
    assert lines[2].split() == ["lab/model", "suite/test", "0", "0.500", "0.299-0.701", "0.050", "20", "20"]
    assert lines[3].split()[2:4] == ["4k", "0.250"]
    assert lines[-1] == str(tmp_path / "report.html")
    assert tmp_path.name in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_command_prints_recall_also_of_many_rows(report: Report) -> None:
    plain = [r for n in range(9) for r in run({0: 0.5, 1024: 0.5, 4096: 0.25}, n=4, task=f"suite/test{n}")]
    setting = "sentences,by=bm25,top=5,order=score"
    lines = report([*plain[:12], *retrieved(plain[:12], setting, 0.75)])[1].splitlines()
    assert lines[0].split()[-1] == "recall"
    assert lines[5].startswith("lab/model (retrieval:sentences)  suite/test0")
    assert lines[5].split()[-1] == "0.750"
    recall = report([*plain, *retrieved(plain, setting, 0.75)])[1].partition("recall, how often")[2].splitlines()
    assert recall[1].split() == ["task", "0", "1k", "4k"]
    assert recall[3].split() == ["suite/test0", *["0.750"] * 3]
    assert recall[12].split() == ["mean", "of", "9", *["0.750"] * 3]


def test_the_page_needs_results_and_the_name_of_a_file(report: Report, tmp_path: Path) -> None:
    for folder in (tmp_path, Path("/"), Path()):
        code, _, error = report(run({0: 0.5}), "--out", str(folder))
        assert code == 2
        assert "is a folder" in error
    assert report([])[0] == main(["report", str(tmp_path / "nowhere")]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_table_is_printed_where_the_page_cannot_be_written(
    more: tuple[str, ...], report: Report, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, out, error = report(run({0: 0.5}), *more, "--out", str(tmp_path / "file/page.html"))
    assert code == 1
    assert f"{tmp_path}/file/page.html" in error
    assert "0.5" in out
    assert "page.html" not in out


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left on device") as raised, whole_file(tmp_path / "page.html"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.filename == str(tmp_path / "page.html")
    with pytest.raises(FileNotFoundError) as other, whole_file(tmp_path / "page.html"):
        (tmp_path / "read.txt").read_text()
    assert other.value.filename == str(tmp_path / "read.txt")
    assert list(tmp_path.iterdir()) == []


def test_all_statuses_and_fates_have_a_colour_and_a_meaning() -> None:
    style = (files("carrara.report") / "templates/style.css").read_text()
    assert set(MEANING) == set(STATUSES)
    assert all(f".status-{status} {{" in style for status in STATUSES)
    assert list(FATE_MEANING) == list(FATES)
    assert all(f".fate-{fate.replace(' ', '-')} {{" in style for fate in FATES)


def by_notes(results: list[Result]) -> list[Result]:
    """The same results by a reader that loses the second of two facts of every wrong answer."""
    return [
        replace(
            result,
            settings={"reader": "notes:chunk=4k,size=1k"},
            input_tokens=2000,
            output_tokens=200,
            seconds=4.0,
            reading=ReadingCost(3, 1200),
            facts=(
                FactTrace(0, 0.1, "used" if result.score else "unused", text="Eve sat down."),
                FactTrace(1, 0.85, "used", text="Eve got up.")
                if result.score
                else FactTrace(1, 0.85, "dropped", 2, "Eve got up.", "Eve <b>is</b> up"),
            ),
        )
        for result in results
    ]


def test_readers_have_a_section_with_costs_and_fates() -> None:
    plain = run({0: 1.0, 4096: 0.5})
    assert 'id="readers"' not in render(Summary(plain), "t")
    page = render(Summary([*plain, *by_notes(plain)]), "t")
    text = text_of(page)
    assert "suite/test: mean score against tokens spent" in page
    assert "notes: 0: 1.00 (0.84 to 1.00, n = 20) for 2,200 tokens; 4k: 0.50" in page
    assert "notes 4k 0.500 3.0 2,000 – 200 1,200 4.0 4,400 8.0 20" in text
    assert "model 4k 0.500 1.0 4,096 – 4 4,100 0.5 8,200 1.0 20" in text
    assert "40 used, 10 unused, 10 dropped" not in text
    assert "notes suite/test 60 used, 10 unused, 10 dropped 75.0 12.5 12.5 80" in text
    assert "notes suite/test 4k 20 used, 10 unused, 10 dropped 50.0 25.0 25.0 40" in text
    assert "notes suite/test 80-100 % 30 used, 10 dropped 75.0 0.0 25.0 40" in text
    assert "dropped the model wrote the fact down and later left it out" in text
    assert "mutated" not in text  # it does not occur


def test_a_failure_shows_where_its_facts_were_lost() -> None:
    page = render(Summary(by_notes(run({4096: 0.5}))), "t")
    text = text_of(page)
    assert "Eve sat down. 10 % unused – –" in text
    assert "Eve got up. 85 % dropped 2 Eve <b>is</b> up" in text
    assert "<b>is</b>" not in page
    many = replace(by_notes(run({4096: 0.0}, n=1))[0], facts=tuple(FactTrace(n, 0.5, "unseen") for n in range(15)))
    assert "3 more facts are not shown." in text_of_page([many])


def test_a_right_answer_costs_as_much_as_the_score_that_counts_says() -> None:
    """The page shows both scores; a paper score of a half makes a right answer twice as dear."""
    text = text_of_page(by_notes(run({4096: 1.0})))
    assert "model (notes) 4k 1.000 3.0 2,000 – 200 1,200 4.0 2,200 4.0 20" in text
    assert "model (notes) 4k 0.500 3.0 2,000 – 200 1,200 4.0 4,400 8.0 20" in text


def test_the_template_has_one_gate_for_all_values() -> None:
    shown = environment().from_string("<p>{{ value }}</p>").render(value="<b>\x00\ud800")
    assert shown == "<p>&lt;b&gt;␀⟦U+D800⟧</p>"
