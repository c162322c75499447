"""carrara probe-server: show what a server supports."""

from dataclasses import asdict

from carrara.cli._flags import Json, Model
from carrara.cli._output import print_json, show
from carrara.options import ConnectionOptions


def probe_server(*, model: Model, server: ConnectionOptions | None = None, as_json: Json = False) -> int:
    """Show what a server supports: its models, context window, token counts, prefill and log-probabilities.

    It sends some short requests. If the server answers none of them, the exit code is 1.

    Example: carrara probe-server --model openai-api/local/m --base-url http://127.0.0.1:8000/v1
    """
    from carrara.servers.probe import probe_server
    from carrara.servers.server_info import server_info_lines

    given = server or ConnectionOptions()
    info = probe_server(model, given.base_url, given.model_args)
    if as_json:
        print_json(asdict(info))
    else:
        for line in server_info_lines(info):
            show(line)
    return int(info.trouble is not None)
