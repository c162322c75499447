"""carrara profile: estimate effective lengths by capability, at the least cost."""

import sys
from typing import TYPE_CHECKING, Annotated

from carrara.cli._flags import Json, Model
from carrara.cli._output import print_json, show
from carrara.options import ServerOptions, merged, text
from carrara.profiling.config import ProfileConfig, ProfileOptions

if TYPE_CHECKING:
    from carrara.profiling.adaptive import Card

CAPABILITIES_HELP = (
    "Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By "
    "default all seven."
)


def profile(
    capabilities: Annotated[str, text("CAPABILITIES", help=CAPABILITIES_HELP)] = "",
    /,
    *,
    model: Model,
    out: Annotated[str, text("DIR", help="Folder of the run. The same command resumes a profile that was stopped.")],
    options: ProfileOptions | None = None,
    server: ServerOptions | None = None,
    as_json: Json = False,
) -> int:
    """Estimate the effective length for each capability, with as few tokens as possible.

    Example: carrara profile --model carrara/smollm2 --upto 4k --out runs/profile
    """
    from carrara.profiling.adaptive import profiled, record, said

    given = merged(options, server)
    cards = profiled(ProfileConfig(model, capabilities=capabilities, out=out, **given), _show_progress)
    if as_json:
        print_json([record(card) for card in cards])
        return 0
    for line in said(cards):
        show(line)
    return 0


def _show_progress(cards: "list[Card]") -> None:
    done = sum(card.settled for card in cards)
    prompts, tokens = (sum(getattr(card, name) for card in cards) for name in ("prompts", "tokens"))
    print(
        f"carrara: {prompts:,} prompts, {tokens:,} tokens; {done} of {len(cards)} settled", file=sys.stderr, flush=True
    )
