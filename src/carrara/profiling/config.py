"""`ProfileConfig`: the model, the capabilities and the precision of a profile."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import field, frozen
from cyclopts import Group, Parameter

from carrara.options import ServerOptions, at_least, folder_of, is_text, length_of, number, text
from carrara.readers.options import ReaderOptions
from carrara.results.result import MIN_BASE_SCORE
from carrara.runs.budget import read_budget
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.servers.function_model import Function


def _tokens_of(budget: Annotated[str | int | None, text("5Mtok")]) -> int | None:
    if budget is None or budget == "":
        return None
    if isinstance(budget, int) and not isinstance(budget, bool) and budget > 0:
        return budget
    try:
        parsed = read_budget(str(budget))
    except UsageError:
        parsed = None
    if not parsed or parsed.kind != "tokens":
        raise UsageError(f"{budget!r} is no budget of a profile: give tokens of prompts, such as 5Mtok or 800ktok")
    return int(parsed.most)


@frozen(kw_only=True, slots=False)
class ProfileConfig(ReaderOptions, ServerOptions):
    """Settings of a profile: the model, the capabilities, the precision of effective lengths, and limits."""

    group = Group("Profile", sort_key=20)
    model: "str | Function" = field(kw_only=False)
    """Name of the model, as for `carrara run`; or in Python a function."""
    capabilities: Annotated[str, text("CAPABILITIES")] = field(default="", validator=is_text, kw_only=False)
    """Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By
    default all seven."""
    out: Path = field(converter=folder_of)
    """Folder of the run. The same command resumes a profile that was stopped."""
    upto: int = field(default=128 << 10, converter=length_of)
    """The longest context that is asked, by default 128k."""
    rule: Annotated[str, text("RULE", shows_default=True)] = field(default="base:0.85", validator=is_text)
    """The score that counts as reached. The rule `base:0.85` is a share of the score without filler, `above:0.85` a
    score, `half` half of the way from the base score to the chance level."""
    width: float = field(default=2.0, validator=number(lambda width: 1 < width < math.inf, "a factor above 1"))
    """Stop when the upper end of each interval is at most this many times its lower end."""
    budget: int | None = field(default=None, converter=_tokens_of)
    """Send at most this many tokens of prompts."""
    step: int = field(default=8, validator=at_least(1))
    """The number of instances that are asked before the next length is chosen."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default the model's own."""
    min_base_score: Annotated[float, Parameter(metavar="SCORE")] = MIN_BASE_SCORE
    """The score that the 95 % interval at the shortest length has to exceed for an effective length."""
