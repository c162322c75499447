"""The provenance of results: how each model was run, and what was verified of folders that others submitted.

How a model was run is its settings, its tokenizer, and whether the server counted as many tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from carrara.constants import READER
from carrara.report.style import SeriesStyle, Styles
from carrara.results import Series, series_of
from carrara.results.result import WITHIN, Result
from carrara.results.series import item_id_of
from carrara.util.errors import RunError, UsageError
from carrara.util.quantities import count, natural, write_length
from carrara.util.sanitize import short

TOLERATED = 0.02
"""The difference of the server's count of tokens, as a share, from which lengths are doubted."""
TEMPLATE_SPREAD = 4
"""Tokens by which the excess of two prompts may differ if a chat template around one message explains it."""


@dataclass(frozen=True)
class Provenance:
    """One series with one tokenizer."""

    style: SeriesStyle
    tokenizer: str
    prompt_style: str
    settings: str
    """The settings that differ from the default."""
    tasks: str
    """The tasks, with their settings that differ from the default."""
    lengths: str
    replies: int
    exact: str
    """Whether prompts are as long as their length says, by the tokenizer's own count."""
    server: str
    """The difference of the server's count of prompt tokens."""
    counts: tuple[tuple[float, float], ...]
    """The mean tokens of a prompt at each length, as they were sent and as the server counted them. Empty where these
    are about the same, or differ by a constant."""
    output: str
    seconds: str
    warnings: tuple[str, ...]


def provenance(results: Sequence[Result], styles: Styles) -> list[Provenance]:
    series_for = series_of(results)
    groups: dict[tuple[Series, str], list[Result]] = {}
    for result in results:
        groups.setdefault((series_for(result), result.tokenizer), []).append(result)
    order = sorted(groups, key=lambda key: (styles[key[0]].number, key[1]))
    return [_describe(styles[key[0]], key[1], groups[key]) for key in order]


def _describe(style: SeriesStyle, tokenizer: str, results: Sequence[Result]) -> Provenance:
    prompt_styles = sorted({_prompt_style(result) for result in results})
    whole = [result for result in results if result.status != "shortened"]
    server, server_warning = _describe_server_counts(style, tokenizer, whole)
    cut = [result for result in results if result.status == "shortened"]
    exact, exact_warning = _describe_length_errors(style, tokenizer, results)
    outputs = [result.output_tokens for result in results if result.output_tokens is not None]
    seconds = [result.seconds for result in results if result.seconds is not None]
    settings = sorted({pair for result in results for pair in result.settings.items()})
    return Provenance(
        style=style,
        tokenizer=short(tokenizer),
        prompt_style=", ".join(filter(None, prompt_styles)) or "–",
        settings="\n".join(short(f"{name}={value}", 160) for name, value in settings) or "–",
        tasks="\n".join(short(task, 160) for task in sorted({_task_label(result) for result in results}, key=natural)),
        lengths=", ".join(write_length(length) for length in sorted({result.length for result in results})),
        replies=len(results),
        exact=exact,
        server="; ".join(filter(None, (f"cut {count(len(cut), 'prompt')}" if cut else "", server))),
        counts=_curve_of_counts(results) if cut or server_warning else (),
        output=f"{sum(outputs) / len(outputs):,.0f}" if outputs else "–",
        seconds=f"{sum(seconds) / len(seconds):,.1f}" if seconds else "–",
        warnings=tuple(filter(None, (_describe_cut(style, cut), exact_warning, server_warning))),
    )


def _describe_length_errors(style: SeriesStyle, tokenizer: str, results: Sequence[Result]) -> tuple[str, str]:
    """Return whether prompts have their length, and a warning if they do not.

    A length of 0 claims nothing, and published items have lengths of their own. The longest question on a context has
    the length, and the others are shorter.
    """
    claimed = [result for result in results if result.length and not result.task.startswith("published/")]
    if not claimed:
        return "–", ""
    longest: dict[str, Result] = {}
    for result in claimed:
        longest_so_far = longest.setdefault(result.context_id, result)
        if result.tokens > longest_so_far.tokens:
            longest[result.context_id] = result
    worst = max(longest.values(), key=lambda result: abs(result.tokens - _expected_tokens(result)))
    excess = worst.tokens - _expected_tokens(worst)
    before = ", of the whole prompt" if READER in worst.settings else ""
    before += ", the answer's room beside it" if WITHIN in worst.settings else ""
    if not excess:
        return f"exact{before}", ""
    return (
        f"off by up to {abs(excess):,} tokens{before}",
        f"Prompts of {style.name} are off their length by up to {abs(excess):,} tokens of {short(tokenizer)} "
        f"(at {write_length(worst.length)}).",
    )


def _expected_tokens(result: Result) -> int:
    """Return the tokens that a prompt should have.

    Its id says how many are reserved if the length includes the answer.
    """
    item_id = item_id_of(result.id)
    return item_id.length if item_id and WITHIN in result.settings else result.length


def _describe_cut(style: SeriesStyle, cut: Sequence[Result]) -> str:
    """Return a warning about prompts that the server cut. Empty if it cut none."""
    if not cut:
        return ""
    most = max(cut, key=lambda result: result.tokens)
    shown = "" if most.reading else f": it counted {most.input_tokens or 0:,} tokens where {most.tokens:,} were sent"
    return (
        f"The server of {style.name} cut {count(len(cut), 'prompt')} and did not say so{shown}. The replies are no "
        "answers of the model (shortened)."
    )


def _curve_of_counts(results: Sequence[Result]) -> tuple[tuple[float, float], ...]:
    by_length: dict[int, list[tuple[int, int]]] = {}
    for result in results:
        if result.input_tokens and result.tokens and READER not in result.settings and _is_one_prompt(result):
            by_length.setdefault(result.length, []).append((result.tokens, result.input_tokens))
    return tuple(
        (fmean(sent for sent, _ in pairs), fmean(counted for _, counted in pairs))
        for _, pairs in sorted(by_length.items())
    )


def _describe_server_counts(style: SeriesStyle, tokenizer: str, results: Sequence[Result]) -> tuple[str, str]:
    """Return whether the server counted as many tokens, and a warning if not.

    If a reader shortens the context or asks several times, or if all are conversations of several questions, return the
    server's count alone.
    """
    counted = [(result, result.input_tokens) for result in results if result.input_tokens and result.tokens]
    if not counted:
        return "not reported", ""
    if any(READER in result.settings for result, _ in counted):
        return (
            f"{sum(server_tokens for _, server_tokens in counted) / len(counted):,.0f} for an item, by its reader",
            "",
        )
    counts_of_all = [server_tokens for _, server_tokens in counted]
    counted = [pair for pair in counted if _is_one_prompt(pair[0])]
    if not counted:
        return f"{fmean(counts_of_all):,.0f} for an item, in all its requests", ""
    lengths_claimed = [pair for pair in counted if pair[0].length]
    result, server_tokens = max(lengths_claimed or counted, key=lambda pair: abs(_share_off(*pair)))
    if all(server_tokens == result.tokens for result, server_tokens in counted):
        return "the same", ""
    difference, cause = _share_off(result, server_tokens), _cause(tokenizer, counted)
    text = f"{difference:+.2%} at most"
    if cause.is_added:
        return _typeset(f"{text}: {cause.name}"), _typeset(
            f"The server of {style.name} counted {cause.name}. `carrara server` shows what its template adds."
        )
    if abs(difference) < TOLERATED:
        return _typeset(f"{text}: {cause.name}" if cause.is_template else text), ""
    if cause.is_template and not lengths_claimed:
        return _typeset(f"{text}: {cause.name}"), ""
    return _typeset(f"{text}: {cause.name}"), _typeset(
        f"The server of {style.name} counted {server_tokens:,} prompt tokens where {short(tokenizer)} counted "
        f"{result.tokens:,} ({difference:+.1%}), so lengths are not what they claim: {cause.evidence}, which points to "
        f"{cause.name}."
    )


def _is_one_prompt(result: Result) -> bool:
    """Return whether the server counted one prompt. A conversation sends the prompt again with each further message."""
    return (result.requests or 1) - result.repeated <= 1


def _typeset(text: str) -> str:
    return re.sub(r"(^|\()-(?=[0-9])", r"\1−", text).replace("%", " %")


def _share_off(result: Result, server_tokens: int) -> float:
    return (server_tokens - result.tokens) / result.tokens


class _Cause(NamedTuple):
    """The probable cause of a difference between the server's counts and ours, and what shows it."""

    name: str
    evidence: str
    is_template: bool = False
    is_added: bool = False
    """Whether the server adds the same text to each prompt."""


_ADDED = "text that the server adds, such as a system prompt, a second begin-of-text token, or the template twice"
_TOKENIZER = _Cause(
    "another tokenizer", "a chat template only adds tokens, and the difference grows evenly with the length"
)
_TOKENIZER_OR_CUT = _Cause("another tokenizer, or cut prompts", "a chat template only adds tokens")


def _cause(tokenizer: str, counted: Sequence[tuple[Result, int]]) -> _Cause:
    """Return the probable cause of a difference, from its sign and from how it grows with the length.

    A chat template adds the same number of tokens to each prompt of one message. Another tokenizer changes the count by
    about the same share at each length. Prompts that were cut for certain are not among these.
    """
    lacks_template = _prompt_style(counted[0][0]) == "chat" and not _knows_chat(tokenizer)
    by_length: dict[int, list[tuple[Result, int]]] = {}
    for result, server_tokens in counted:
        by_length.setdefault(result.length, []).append((result, server_tokens))
    groups = [by_length[length] for length in sorted(by_length)]
    if sum(server_tokens - result.tokens for result, server_tokens in groups[-1]) < 0:
        return _cause_of_fewer(groups)
    excess = [server_tokens - result.tokens for result, server_tokens in counted]
    name = f"the chat template, which {short(tokenizer)} does not count" if lacks_template else _ADDED
    if len(groups) == 1:
        return _Cause(f"{name}, or another tokenizer", "there is only one length", is_template=lacks_template)
    if min(excess) > 0 and max(excess) - min(excess) <= TEMPLATE_SPREAD:
        name = name if lacks_template else f"{count(min(excess), 'token')} in each prompt: {name}"
        return _Cause(name, "the excess is the same at each length", lacks_template, is_added=not lacks_template)
    if min(excess) < 0:
        return _Cause("another tokenizer", "it counts fewer tokens in some prompts, and more in others")
    messages = ", or the chat template around each of many messages" if lacks_template else ""
    return _Cause(f"another tokenizer{messages}", "the difference changes with the length")


def _cause_of_fewer(groups: Sequence[Sequence[tuple[Result, int]]]) -> _Cause:
    """Return why a server counted fewer tokens, though not so few that it cut prompts.

    Args:
        groups: The prompts of each length with the server's counts, the longest last.
    """
    points = [
        (fmean(result.tokens for result, _ in group), fmean(server_tokens for _, server_tokens in group))
        for group in groups
    ]
    growth = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points) if b[0] > a[0]]
    if len(growth) > 1:
        return _TOKENIZER if growth[-1] > 0.8 * growth[0] else _TOKENIZER_OR_CUT
    return _TOKENIZER if growth and points[0][1] <= (1 - TOLERATED) * points[0][0] else _TOKENIZER_OR_CUT


def _task_label(result: Result) -> str:
    """Return a task with its version, and with its settings that differ from the default."""
    name = f"{result.task}@{result.version}"
    item_id = item_id_of(result.id)
    if item_id is None:
        return name
    split = "" if item_id.split == "test" else f"split {item_id.split}"
    seed = f"seed {item_id.seed}" if item_id.seed else ""
    pack = f"prompts {item_id.pack[:8]}" if item_id.pack else ""
    changed_settings = ", ".join(filter(None, [*item_id.params.split(";"), split, seed, pack]))
    return f"{name} ({changed_settings})" if changed_settings else name


def _prompt_style(result: Result) -> str:
    item_id = item_id_of(result.id)
    return item_id.style if item_id else ""


def _knows_chat(tokenizer: str) -> bool:
    """Return whether a tokenizer has a chat template. Tokenizers that are not bundled are assumed to have one."""
    from carrara import tokenizers

    if tokenizer not in dict(tokenizers.names()):
        return True
    try:
        return tokenizers.get(tokenizer).chat is not None
    except (UsageError, RunError):
        return True
