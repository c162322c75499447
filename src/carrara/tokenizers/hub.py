"""Files of a repository on the Hugging Face hub, from the network or from the local cache."""

import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from carrara.util.errors import UsageError


def fetch(repository: str, file: str) -> Path | None:
    """Return the local path of a file. None if the repository is known not to have it."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        if not resolves():
            cached = try_to_load_from_cache(repository, file)
            if cached is None:
                raise ConnectionError("its address is not known on this network")
            return Path(cached) if isinstance(cached, str) else None  # else the file is known not to exist
        return Path(hf_hub_download(repository, file))
    except LocalEntryNotFoundError as error:
        raise _unreachable(repository, file, error) from error
    except EntryNotFoundError:
        return None
    except Exception as error:
        # The hub's client raises errors of every library below it; the remedy is the same.
        raise _unreachable(repository, file, error) from error


def resolves() -> bool:
    """Return whether the hub's address can be resolved. Its client would retry for half a minute before it gives up."""
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return False
    host = urlsplit(constants.ENDPOINT).hostname
    if host is None or getproxies():
        return True  # with a proxy, the proxy resolves it
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True


def _unreachable(repository: str, file: str, error: Exception) -> UsageError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return UsageError(
        f"the tokenizer hf:{repository} could not be had: there is no such path here, and {file} could not be fetched "
        f"from the hub ({reason}); give the path of a folder with a tokenizer.json"
    )
