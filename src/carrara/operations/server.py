"""Show what a server supports."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from attrs import field, frozen

from carrara.operations.printed import Recorded
from carrara.options import ConnectionOptions, is_text, text
from carrara.signature import takes

if TYPE_CHECKING:
    from carrara.servers.server_info import ServerInfo


@frozen(kw_only=True, slots=False)
class ServerConfig(ConnectionOptions):
    """The server to probe."""

    model: Annotated[str, text("MODEL")] = field(validator=is_text)
    """Name of the model, as for `carrara run`."""


@dataclass(frozen=True, repr=False)
class ServerReport(Recorded):
    """What a server supports."""

    info: "ServerInfo"

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if the server answered no request."""
        return int(self.info.trouble is not None)

    def lines(self) -> Iterator[str]:
        from carrara.servers.server_info import server_info_lines

        yield from server_info_lines(self.info)

    def record(self) -> dict[str, Any]:
        return asdict(self.info)


@takes(ServerConfig)
def server(config: ServerConfig) -> ServerReport:
    """Show what a server supports: its models, context window, token counts, prefill and log-probabilities.

    It sends some short requests. If the server answers none of them, the exit code is 1.
    """
    from carrara.servers.probe import probe_server

    return ServerReport(probe_server(config.model, config.base_url, config.model_args))
