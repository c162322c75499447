"""carrara profile: estimate effective lengths by capability with as few tokens as possible."""

from typing import Annotated

from carrara.cli._flags import Json, Model
from carrara.cli._output import print_json, show
from carrara.options import Folder, ServerOptions, merge_options, text
from carrara.profiling.config import ProfileConfig, ProfileOptions
from carrara.readers.options import ReaderOptions

CAPABILITIES_HELP = (
    "Some of finding, tracking, telling, surveying, reasoning, knowing, copying, separated by commas; or tasks. By "
    "default all seven."
)


def profile(
    capabilities: Annotated[str, text("CAPABILITIES", help=CAPABILITIES_HELP)] = "",
    /,
    *,
    model: Model,
    out: Annotated[Folder, text("DIR", help="Folder of the run. The same command resumes a profile that was stopped.")],
    options: ProfileOptions | None = None,
    reader: ReaderOptions | None = None,
    server: ServerOptions | None = None,
    as_json: Json = False,
) -> int:
    """Estimate the effective length for each capability, with as few tokens as possible.

    Example: carrara profile --model carrara/smollm2 --upto 4k --out runs/profile
    """
    from carrara.profiling.profile import profile
    from carrara.profiling.score_card import lines

    cards = profile(ProfileConfig(model, capabilities=capabilities, out=out, **merge_options(options, reader, server)))
    if as_json:
        print_json([card.to_dict() for card in cards])
    else:
        for line in lines(cards):
            show(line)
    return int(any(card.failures and not card.settled for card in cards))
