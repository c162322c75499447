"""`RunConfig`: the items, the model and the settings of a run."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from attrs import converters, field, frozen
from attrs.validators import optional
from cyclopts import Group, Parameter

from carrara.constants import MOST_ALTERNATIVES, LogprobsOf
from carrara.items.item_id import ALL, RunJob
from carrara.items.selection import Sampling, Selection
from carrara.options import (
    PYTHON_ONLY,
    Flag,
    LargeOptions,
    ServerOptions,
    at_least,
    check_whole,
    folder_of,
    is_flag,
    is_text,
    length_of,
    number,
    text,
)
from carrara.readers.options import ReaderOptions
from carrara.results.result import Result
from carrara.runs.budget import Budget, read_budget
from carrara.runs.jobs import RunItems, jobs_of, tasks_of
from carrara.runs.prices import Price, price_of
from carrara.servers.model_names import check_style, is_llama, tokenizer_for
from carrara.servers.secrets import refuse_secret
from carrara.util.errors import UsageError
from carrara.util.quantities import check_count

if TYPE_CHECKING:
    from attrs import Attribute
    from inspect_ai.model import Model

    from carrara.servers.function_model import Function


BATCHING = ("openai", "anthropic", "google", "grok", "together")
"""Providers whose batch interface Inspect supports."""


class Shard(NamedTuple):
    """One of several commands that share a run."""

    number: int
    """The number of this shard, from 1."""
    of: int

    @staticmethod
    def parse(text: str) -> "Shard":
        """
        >>> Shard.parse("2/4")
        Shard(number=2, of=4)
        """
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise UsageError(f"{text!r} is no shard: give its number and how many there are, such as 2/4")
        return Shard(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def _budget_of(value: Annotated[str | Budget, text("5Mtok|20usd|30min")]) -> Budget | None:
    if value == "":
        return None
    if isinstance(value, Budget):
        return value
    return read_budget(str(value))


def _shard_of(value: Annotated[str | Shard, text("I/N")]) -> Shard | None:
    if value == "":
        return None
    if isinstance(value, Shard):
        return value
    return Shard.parse(str(value))


def _check_alternatives(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    check_whole(attribute.name, value, 1)
    if value > MOST_ALTERNATIVES:
        raise UsageError(f"`logprobs={value}` is more than servers return: give at most {MOST_ALTERNATIVES}")


@frozen(kw_only=True, slots=False)
class RunConfig(RunItems, ServerOptions, ReaderOptions, LargeOptions):
    """Settings of a run, validated when they are made and fixed from then on."""

    group = Group("Run", sort_key=40)
    tasks: tuple[Selection | RunJob, ...] = field(converter=tasks_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or a preset, or PRESET:SELECTION for a part of
    one. `carrara tasks` lists them."""
    model_or_function: "str | Function" = field(alias="model", kw_only=False)
    """Name of an Inspect model (openai/…, vllm/…, openai-api/…), the embedded model carrara/smollm2, a local file
    carrara/gguf:PATH, or a reference (carrara/oracle, carrara/chance, carrara/majority, carrara/echo). The command
    takes several, and runs one after the other."""
    out: Path = field(converter=folder_of)
    """Folder of the run. By default runs/DATE-MODEL. On another day, name the folder to resume a run."""
    cot: Annotated[str, text("free|none|exactly:N")] = field(default="free", validator=is_text)
    """Chain of thought, free by default. With `none` the answer's first words are prefilled where the server supports
    it; with `exactly:N` the model reasons for N tokens."""
    within: bool | None = field(default=None, validator=optional(is_flag))
    """Lengths include the answer. Prompts are shorter by `max_tokens`, or by what plain answers take. By default true
    for presets `card:…` that make their items, and otherwise false."""
    perplexity: Flag = field(default=False, validator=is_flag)
    """Ask the server for the log-probabilities of each prompt (vLLM supports it)."""
    logprobs: Annotated[int | None, Parameter(metavar="N")] = field(
        default=None, validator=optional(_check_alternatives)
    )
    """Ask the server for the log-probabilities of each reply's tokens, and of the N most likely tokens in the place of
    each, at most 20."""
    measure_speed: Flag = field(default=False, validator=is_flag)
    """Send requests one at a time, and measure times to the first token and tokens a second from streamed replies."""
    likelihood: Flag = field(default=False, validator=is_flag)
    """Compare the likelihood of the right answer with that of wrong ones, for base models: the reply is the most
    probable of them. The prompts have the style `base`. The command runs the readers whole, none and evidence, unless
    you name one."""
    batch: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Send requests by the provider's batch interface, at most N at a time. Batches cost less and take up to a day
    (openai, anthropic, google, grok, together)."""
    budget: Budget | None = field(default=None, converter=converters.optional(_budget_of))
    """Stop before the run exceeds this many tokens, this much money or time. Tokens and money include earlier runs in
    the folder. The same command with a greater budget resumes."""
    price: Annotated[str | Price | Sequence[float] | None, text("IN,OUT[,CACHED]|FILE.toml")] = None
    """Money for a million tokens of prompts, of replies, and of prompts that are cached; or a TOML file that has
    input, output and cached for each model."""
    shard: Shard | None = field(default=None, converter=converters.optional(_shard_of))
    """Ask the I-th of N parts, so that several machines can share one folder."""
    progress: bool = field(default=False, metadata=PYTHON_ONLY)
    """Show progress on stderr."""
    anywhere: bool = field(default=False, metadata=PYTHON_ONLY)
    """Whether it does not matter at which address the model is, because parts of a run have servers of their own."""
    model: str = field(init=False)
    jobs: tuple[RunJob, ...] = field(init=False, repr=False)
    """The tasks at their lengths."""
    model_price: Price | None = field(init=False)
    """The price of the model, if it is known."""

    @property
    def sampling(self) -> Sampling:
        sampling = super().sampling
        return replace(sampling, style="base") if self.likelihood else sampling

    @out.default
    def _default_folder(self) -> Path:
        return default_folder(model_name(self.model_or_function))

    @model.default
    def _model_name(self) -> str:
        return model_name(self.model_or_function)

    @model_price.default
    def _price_of_model(self) -> Price | None:
        return price_of(self.price, self.model)

    @jobs.default
    def _jobs_of_tasks(self) -> tuple[RunJob, ...]:
        return jobs_of(self.tasks, self, self.model, self._measure_largest)

    def _measure_largest(self) -> int:
        """Return the length of the largest prompt that the model's server reads whole."""
        from carrara.servers.window import largest_prompt

        if self.in_process or not isinstance(self.model_or_function, str):
            raise UsageError("`lengths=max` is measured on a server, and this model has none: give lengths as numbers")
        tokenizer = self.tokenizer or tokenizer_for(self.model)
        return largest_prompt(self.model, self.base_url, self.model_args, tokenizer)

    def __attrs_post_init__(self) -> None:
        for name, value in self.model_args.items():
            refuse_secret(name, value, "`model_args`")
        if self.base_url and self.in_process:
            raise UsageError(f"{self.model} runs in this process and has no address: leave `base_url` out")
        if self.perplexity and self.in_process:
            raise UsageError(f"{self.model} gives no log-probabilities: `perplexity` needs a server that does")
        if self.logprobs and self.in_process and not is_llama(self.model):
            raise UsageError(f"{self.model} gives no log-probabilities: `logprobs` needs a server that does")
        if self.measure_speed:
            self._check_speed()
        if self.likelihood and (
            self.perplexity or self.logprobs or self.measure_speed or self.batch or self.cot not in ("", "free")
        ):
            raise UsageError(
                "`likelihood` compares given answers, and the model writes none: leave `perplexity`, `logprobs`, "
                "`measure_speed`, `batch` and `cot` out"
            )
        provider = self.model.partition("/")[0]
        if self.batch and provider not in BATCHING:
            raise UsageError(
                f"{provider} has no batch interface that Inspect supports; `batch` is for {', '.join(BATCHING)}"
            )
        if self.shard and self.budget and self.budget.kind != "time":
            raise UsageError(
                f"shards do not know what the others use, and would exceed `budget={self.budget}` together: "
                "leave it out, or give a time"
            )
        if self.holds_answer and any(job.first.task.startswith("published/") for job in self.jobs):
            raise UsageError("`within` makes prompts shorter, and published ones are unchanged: leave it out")
        check_style(self.model, self.jobs[0].first.style)
        check_count(sum(job.instances for job in self.jobs if job.instances < ALL), "instances", self.allow_large)
        for job in self.jobs:
            self.context_reader.check(job.first)

    def _check_speed(self) -> None:
        from carrara.servers.probe import is_probed

        if not is_llama(self.model) and not is_probed(self.model, self.base_url, self.model_args):
            raise UsageError(
                f"`measure_speed` takes times from the replies of a running server, and {self.model} has none: give "
                "the address of one (`base_url`), or name a local file, carrara/gguf:PATH"
            )
        others = {
            f"connections={self.connections}": (self.connections or 1) > 1,
            f"batch={self.batch}": self.batch is not None,
            f"shard={self.shard}": self.shard is not None,
            "perplexity": self.perplexity,
            "-M stream=false": False in (self.model_args.get("stream"), self.model_args.get("streaming")),
        }
        if option := next((name for name, is_given in others.items() if is_given), ""):
            raise UsageError(
                f"`measure_speed` streams one reply at a time, which `{option}` does not: leave one of them out"
            )

    @property
    def holds_answer(self) -> bool:
        """Whether lengths include the answer."""
        if self.within is not None:
            return self.within
        return any(job.card and not job.first.task.startswith("published/") for job in self.jobs)

    @property
    def in_process(self) -> bool:
        """Whether the model runs in this process."""
        return self.model.partition("/")[0] in ("carrara", "function")

    @property
    def requested_logprobs(self) -> tuple[LogprobsOf, ...]:
        """The log-probabilities that the server is asked for."""
        return (*(("prompt",) if self.perplexity else ()), *(("reply",) if self.logprobs else ()))

    def make_model(self) -> "Model":
        """Return a new instance of the model: HTTP connections belong to the event loop that opened them."""
        if isinstance(self.model_or_function, str):
            from carrara.servers.providers import make_model

            return make_model(self.model, self.base_url, self.model_args)
        from carrara.servers.function_model import model_of

        return model_of(self.model_or_function)


def model_name(model: "str | Function") -> str:
    """Return the name of a model, or of a function that serves as one."""
    if isinstance(model, str):
        return model
    if not callable(model):
        raise UsageError(f"{model!r} is no model: give its name, such as 'openai/gpt-4o', or a function")
    from carrara.servers.function_model import name_of

    return name_of(model)


def default_folder(model: str) -> Path:
    """Return the default folder of a run, which is the same for the same model on the same day."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model.rpartition("/")[2]).strip("-.") or "model"
    return Path("runs") / f"{date.today().isoformat()}-{name}"


def _like_of(value: Annotated[Path | str | Sequence[Result], text("DIR")]) -> Path | Sequence[Result]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else folder_of(value)


@frozen(kw_only=True, slots=False)
class EstimateOptions:
    """Sources for the estimate of cost and time."""

    group = Group("Estimate", sort_key=50)
    like: Path | Sequence[Result] | None = field(default=None, converter=converters.optional(_like_of))
    """Take the length of replies and the speed from an earlier run of the model."""
    speed: float | None = field(default=None, validator=number(lambda speed: speed > 0, "a number of tokens a second"))
    """Tokens a second, from which the time is estimated."""
    window: int | None = field(default=None, converter=converters.optional(length_of))
    """The context window of the model: the most tokens of prompt and answer together."""


@frozen(kw_only=True, slots=False)
class PlanConfig(RunConfig, EstimateOptions):
    """Settings of an estimate: those of the run, and what the estimate is made from."""

    def _measure_largest(self) -> int:
        raise UsageError("`lengths=max` is measured by prompts, and an estimate sends none: give lengths as numbers")
