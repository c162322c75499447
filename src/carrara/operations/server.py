"""Show what a server supports."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, field, frozen

from carrara.operations.printed import Recorded
from carrara.options import ConnectionOptions, Flag, is_flag, is_text, length_of, text
from carrara.signature import takes
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.servers.server_info import ServerInfo
    from carrara.servers.window_report import WindowReport


@frozen(kw_only=True, slots=False)
class ServerConfig(ConnectionOptions):
    """The server to probe."""

    model: Annotated[str, text("MODEL")] = field(validator=is_text)
    """Name of the model, as for `carrara run`."""
    window: Flag = field(default=False, validator=is_flag)
    """Measure the largest prompt that is read whole, for each endpoint. It sends long prompts, whose cost is printed
    before."""
    upto: int | None = field(default=None, converter=converters.optional(length_of))
    """The longest prompt of `window`, in tokens. By default the window that the server states, or 128k."""


LEAST_UPTO = 1024
"""The least longest prompt of `window`: shorter prompts teach how the server counts."""


@dataclass(frozen=True, repr=False)
class ServerReport(Recorded):
    """What a server supports."""

    info: "ServerInfo"
    window: "WindowReport | None" = None
    """The windows of its endpoints, if they were measured."""

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if the server answered no request, or a window could not be measured."""
        return int(self.info.trouble is not None or (self.window is not None and not self.window.is_measured))

    def lines(self) -> Iterator[str]:
        from carrara.servers.server_info import server_info_lines

        yield from server_info_lines(self.info)
        if self.window:
            yield ""
            yield from self.window.lines()

    def record(self) -> dict[str, Any]:
        return asdict(self.info) | ({"window": asdict(self.window)} if self.window else {})


@takes(ServerConfig)
def server(config: ServerConfig) -> ServerReport:
    """Show what a server supports: its models, context window, token counts, prefill and log-probabilities.

    It sends some short requests. If the server answers none of them, the exit code is 1. With `window` it sends long
    prompts too, and shows the largest that each endpoint reads whole; if that cannot be measured, the exit code is 1.
    """
    from carrara.servers.probe import probe_server
    from carrara.servers.window import measure_windows

    if config.upto is not None and not config.window:
        raise UsageError("`upto` bounds the prompts of `window`: give both")
    if config.upto is not None and config.upto < LEAST_UPTO:
        raise UsageError(f"`upto={config.upto}` leaves no room to measure a window: give at least {LEAST_UPTO:,}")
    info = probe_server(config.model, config.base_url, config.model_args)
    if not config.window or info.trouble:
        return ServerReport(info)
    return ServerReport(info, measure_windows(config.model, config.base_url, config.model_args, info, config.upto))
