"""Heuristics on lines: each finds texts that are solved by its operation, and by no understanding."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from carrara.generators import vocabulary
from carrara.rng import Rng
from carrara.verify.shortcuts.lines import Example, learn, longest_run
from carrara.verify.shortcuts.surface_features import Form, TextView, words

Text = tuple[list[str], str, str]
"""Lines, a question, and the right answer."""
ITEMS = 30


def scores(draw: Callable[[Rng, list[str]], Text], lead: str = "", separator: str | None = None) -> dict[str, float]:
    """How often each heuristic is right about texts, after it has learned from others."""

    def texts(split: str) -> Iterator[Text]:
        for n in range(ITEMS):
            rng = Rng(split, n)
            yield draw(rng, vocabulary.some(vocabulary.supply("dictionary", rng), 40))

    train, test = ([*texts(split)] for split in ("train", "test"))
    golds = [gold.removeprefix(lead) for _, _, gold in train]
    several = Counter(len(gold.split(separator)) for gold in golds).most_common(1)[0][0] if separator else 1
    form = Form(Counter(golds), lead, separator, several, frozenset())
    options = form.closed

    def view(text: Text) -> TextView:
        return TextView(text[0], text[1], options, tuple(words(text[1])))

    learned = learn([Example(view(text), text[2].removeprefix(lead)) for text in train], form)
    right = Counter[str]()
    for text in test:
        for heuristic in learned:
            for name, reply in heuristic.replies(view(text), form).items():
                if reply is not None:
                    right[name] += sorted(words(form.reply(reply))) == sorted(words(text[2]))
    return {name: number / ITEMS for name, number in right.items()}


def taken_and_dropped(rng: Rng, drawn: list[str]) -> tuple[list[str], list[str]]:
    taken = drawn[: rng.between(6, 9)]
    return taken, rng.sample(taken, rng.between(2, 4))


def written(verb: str, several: list[str], who: str = "She") -> list[str]:
    return [f"{who} {verb} {word}." for word in several]


def test_words_that_are_never_removed() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        taken, dropped = taken_and_dropped(rng, drawn)
        gold = ", ".join(word for word in taken if word not in dropped)
        return [*written("took", taken), *written("dropped", dropped)], "What has she?", gold

    found = scores(draw, separator=", ")
    assert found["words that are never removed"] == found["words added more often than removed"] == 1
    assert found.get("words added in the last 4 lines", 0) < 0.5


def test_words_that_are_added_more_often_than_removed() -> None:
    """Some are taken twice and dropped once."""

    def draw(rng: Rng, drawn: list[str]) -> Text:
        taken, dropped = taken_and_dropped(rng, drawn)
        lines = [*written("took", taken), *written("dropped", dropped), *written("took", dropped[:1])]
        return lines, "What has she?", ", ".join(word for word in taken if word not in dropped[1:])

    found = scores(draw, separator=", ")
    assert found["words added more often than removed"] == 1
    assert found["words that are never removed"] == 0


def test_words_by_their_owner() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        hands = {who: taken_and_dropped(rng, part) for who, part in (("Ada", drawn[:20]), ("Ben", drawn[20:]))}
        lines = [line for who, (taken, _) in hands.items() for line in written("took", taken, who)]
        lines += [line for who, (_, dropped) in hands.items() for line in written("dropped", dropped, who)]
        left = {who: [word for word in taken if word not in dropped] for who, (taken, dropped) in hands.items()}
        return lines, "Who has what?", "\n".join(f"{who}: {', '.join(several)}" for who, several in left.items())

    assert scores(draw, lead="Ada: ", separator=", ")["words that are never removed"] == 1


def test_words_of_the_last_lines() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        taken, dropped = taken_and_dropped(rng, drawn)
        return [*written("dropped", dropped), *written("took", taken)], "What was last?", ", ".join(taken[-4:])

    assert scores(draw, separator=", ")["words added in the last 4 lines"] == 1


def test_numbers_of_lines_of_a_kind() -> None:
    def counted(rng: Rng, drawn: list[str]) -> Text:
        taken, dropped = taken_and_dropped(rng, drawn)
        return rng.shuffled([*written("took", taken), *written("dropped", dropped)]), "How many?", str(len(taken))

    def left(rng: Rng, drawn: list[str]) -> Text:
        lines, ask, taken = counted(rng, drawn)
        return lines, ask, str(2 * int(taken) - len(lines))

    assert scores(counted)["how many lines are of a kind"] == 1
    assert scores(left)["how many more lines are of a kind than of another"] == 1


def test_the_share_of_a_kind_of_lines() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        gold, number = rng.choice(("yes", "no")), rng.between(10, 30)
        taken = round(number * (rng.between(55, 90) if gold == "yes" else rng.between(10, 45)) / 100)
        lines = [*written("took", drawn[:taken]), *written("dropped", drawn[taken:number])]
        return rng.shuffled(lines), "Did she take more than she dropped?", gold

    assert scores(draw)["the share of a kind of lines"] > 0.8


@pytest.mark.parametrize(("factor", "more"), [(1, 3), (1, -2), (4, 0)])
def test_numbers_that_are_all_changed_alike(factor: int, more: int) -> None:
    """A third of the items are changed in another way."""

    def draw(rng: Rng, drawn: list[str]) -> Text:
        numbers = [rng.between(1, 99) for _ in range(6)]
        times, plus = (factor, more) if rng.chance(0.7) else (1, 7)
        return list(map(str, numbers)), "Change each.", ", ".join(str(times * number + plus) for number in numbers)

    assert scores(draw, separator=", ")["all numbers, changed as is done most often"] > 0.5


@pytest.mark.parametrize("usual", ["add", "subtract", "multiply"])
def test_numbers_that_are_changed_by_the_number_of_the_question(usual: str) -> None:
    """A third of the items are changed in another way."""

    def draw(rng: Rng, drawn: list[str]) -> Text:
        numbers, by = [rng.between(1, 99) for _ in range(6)], rng.between(2, 9)
        verb = usual if rng.chance(0.7) else "raise"
        results = {
            "add": [number + by for number in numbers],
            "subtract": [number - by for number in numbers],
            "multiply": [number * by for number in numbers],
            "raise": [number**by for number in numbers],
        }
        return list(map(str, numbers)), f"{verb} by {by}", ", ".join(map(str, results[verb]))

    found = scores(draw, separator=", ")
    assert found["all numbers, changed by the number of the question"] > 0.5
    assert found["all numbers, changed as is done most often"] < 0.4


def test_lines_in_which_words_of_the_question_stand_closest() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        asked, others, codes = drawn[:2], drawn[3:13], drawn[13:19]
        lines = [f"{code}: {asked[0]} {' '.join(rng.sample(others, 3))} {asked[1]}" for code in codes]
        places = rng.sample(range(len(lines)), 2)
        for place in places:
            lines[place] = f"{codes[place]}: {' '.join([*rng.sample(others, 3), *rng.shuffled(asked)])}"
        return lines, f"Which are about {' and '.join(asked)}?", ", ".join(codes[place] for place in places)

    found = scores(draw, separator=", ")
    assert found["the lines in which words of the question stand closest"] == 1
    assert found.get("the lines with most words of the question", 0) < 0.5


def test_lines_with_words_of_the_question() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        asked, others, codes = drawn[:3], drawn[3:13], drawn[13:19]
        lines = [f"{code}: {asked[0]} {rng.choice(others)} {rng.choice(others)}" for code in codes]
        places = rng.sample(range(len(lines)), 2)
        for place, shared in zip(places, (3, 2), strict=True):
            lines[place] = f"{codes[place]}: {' '.join([*asked[:shared], *others][:3])}"
        gold = ", ".join(codes[place] for place in places)
        return lines, f"Which are about {' and '.join(asked)}?", gold

    found = scores(draw, separator=", ")
    assert found["the lines with most words of the question"] == 1
    assert found["the lines with most rare words of the question"] == 1


def test_a_word_of_each_line() -> None:
    def draw(rng: Rng, drawn: list[str]) -> Text:
        lines = [drawn[4 * n : 4 * n + rng.between(2, 4)] for n in range(6)]
        return [" ".join(line) for line in lines], "What is last?", ", ".join(line[-1] for line in lines)

    assert scores(draw, separator=", ")["a word of each line, at the same place"] == 1


def test_lines_that_are_like_the_question() -> None:
    """The answer stands behind a request that the question repeats, with a number or as the last one."""

    def drafts(rng: Rng, drawn: list[str], number: str) -> Text:
        requests = rng.shuffled([f"Write a {kind} about {drawn[0]}." for kind in ("poem", "poem", "poem", "song")])
        texts = [" ".join(rng.choice(drawn[1:]) for _ in range(50)) for _ in requests]
        lines = [line for pair in zip(requests, texts, strict=True) for line in pair]
        poems = [text for request, text in zip(requests, texts, strict=True) if "poem" in request]
        gold = poems[{"first": 0, "second": 1, "3rd": 2, "last": -1}[number]]
        return lines, f"the {number} poem about {drawn[0]}", gold

    found = scores(lambda rng, drawn: drafts(rng, drawn, rng.choice(("first", "second", "3rd"))))
    assert found["the numbered line like the question"] == 1
    assert found["the last line like the question"] < 0.6
    assert scores(lambda rng, drawn: drafts(rng, drawn, "last"))["the last line like the question"] == 1


def test_the_longest_run() -> None:
    assert longest_run(["a", "b", "c", "d"], ["x", "b", "c", "y", "c", "d"]) == 2
    assert longest_run(["a", "b"], ["c", "d"]) == longest_run([], ["a"]) == 0
