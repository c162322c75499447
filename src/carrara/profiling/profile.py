"""Estimate effective lengths adaptively: batch after batch, in an ordinary run folder.

Each batch asks more instances at the length that adds most information. A profile that was stopped resumes from the
replies in the folder.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from attrs import evolve

from carrara.constants import READER
from carrara.items.item_id import RunJob
from carrara.options import ServerOptions, settings_of
from carrara.profiling.capabilities import select
from carrara.profiling.config import ProfileConfig
from carrara.profiling.score_card import SHORTEST, Card
from carrara.profiling.subject import FIXED, Subject, subject_of
from carrara.readers.options import ReaderOptions
from carrara.readers.reader import Reader
from carrara.results.curve import Rule
from carrara.results.result import Result
from carrara.runs.config import RunConfig, model_name
from carrara.runs.replies import LOGS, read_results
from carrara.runs.run import describe_failures, run
from carrara.servers.model_names import check_model, tokenizer_for
from carrara.tokenizers.gguf import logged_name, split_digest
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger, warn_once
from carrara.util.quantities import write_length


def profile(config: ProfileConfig) -> list[Card]:
    """Ask until every interval is as narrow as required, or the budget is spent.

    Raises:
        UsageError: The settings are wrong.
        RunError: Every request failed.
    """
    if config.upto < SHORTEST:
        raise UsageError(
            f"`upto={write_length(config.upto)}` is no longer than a puzzle without filler: give 1k at least"
        )
    rule, selected = Rule.parse(config.rule), select(config.capabilities)
    model = model_name(config.model)
    check_model(model)
    counter = config.tokenizer or tokenizer_for(model)
    subjects = [
        subject_of(capability, counter, config.upto, config.min_base_score, rule, config.width)
        for capability in selected
    ]
    job = RunJob(subjects[0].first, 0)
    options = settings_of(config, ServerOptions) | settings_of(config, ReaderOptions)
    run_config = RunConfig([job], config.model, out=config.out, **options)
    return _ask(run_config, subjects, config.step, config.budget)


def _ask(config: RunConfig, subjects: Sequence[Subject], batch: int, budget: int | None) -> list[Card]:
    results = _replies_of(config, read_results(config.out)) if (config.out / LOGS).is_dir() else []
    last, is_silent = list[Result](), False
    while True:
        for subject in subjects:
            subject.add(results, last)
        cards = [subject.card() for subject in subjects]
        prompts, tokens = sum(card.prompts for card in cards), sum(card.tokens for card in cards)
        settled = sum(card.settled for card in cards)
        logger.info(f"{prompts:,} prompts, {tokens:,} tokens; {settled} of {len(cards)} settled")
        if is_silent:
            if not prompts:
                raise RunError(f"{describe_failures(last)}; the same command asks them again")
            return cards
        jobs = _next_jobs(subjects, config.context_reader, batch, math.inf if budget is None else budget - tokens)
        if not jobs:
            if not prompts:
                raise UsageError(f"a budget of {budget:,} tokens has no room for the first {batch} prompts: give more")
            return cards
        before, outcome = len(results), run(evolve(config, tasks=jobs))
        if outcome.cut:
            warn_once(outcome.cut)
        results, last = _replies_of(config, outcome.folder), outcome.results
        is_silent = len(results) <= before


def _next_jobs(subjects: Sequence[Subject], reader: Reader, batch: int, budget: float) -> tuple[RunJob, ...]:
    """Return the next batch of each subject, as far as the budget has room for it."""
    jobs = list[RunJob]()
    for subject in subjects:
        if (step := subject.next_batch(batch)) is None:
            continue
        length, n = step
        sent = reader.estimate(max(length, subject.bare_tokens) + FIXED, FIXED, 0).sent
        cost = n * subject.questions * sent
        if cost <= budget:
            budget -= cost
            jobs.append(RunJob(replace(subject.first, length=length), subject.count_instances(length) + n))
    return tuple(jobs)


def _replies_of(config: RunConfig, results: Sequence[Result]) -> list[Result]:
    """Return the replies of this model by this reader, in a folder that others may share.

    Failed requests are made again.
    """
    name, _ = split_digest(logged_name(config.model))
    reader = config.setting_of_reader
    model_results = [result for result in results if result.model == name and result.settings.get(READER, "") == reader]
    return [result for result in model_results if result.status != "error"]
