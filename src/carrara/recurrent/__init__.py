"""Recurrent models: small ones from nothing, published ones around a backbone, and how both are trained and probed.

    from carrara.recurrent import RMT, Delta, train

Everything here needs the extra `carrara[recurrent]`: PyTorch, and for backbones transformers.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from carrara.recurrent.armt import ARMT, Delta
    from carrara.recurrent.dataset import StoryDataset
    from carrara.recurrent.protocol import Memory
    from carrara.recurrent.rmt import RMT
    from carrara.recurrent.ssm import SSM
    from carrara.recurrent.streams import Window

__all__ = ["ARMT", "RMT", "SSM", "Delta", "Memory", "StoryDataset", "Window", "memory", "probe", "train"]

_PLACES = {
    "ARMT": "recurrent.armt",
    "Delta": "recurrent.armt",
    "Memory": "recurrent.protocol",
    "RMT": "recurrent.rmt",
    "SSM": "recurrent.ssm",
    "StoryDataset": "recurrent.dataset",
    "Window": "recurrent.streams",
    "memory": "operations.recurrent",
    "probe": "operations.recurrent",
    "train": "operations.recurrent",
}
"""The module of each name. Operations are made of everything, and are found by their names here."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'carrara.recurrent' has no attribute {name!r}")
    require_torch()
    return getattr(import_module(f"carrara.{_PLACES[name]}"), name)


def require_torch() -> None:
    """Raise `UsageError` if PyTorch or safetensors is not installed."""
    if find_spec("torch") is None or find_spec("safetensors") is None:
        raise UsageError("recurrent models need PyTorch: pip install 'carrara[recurrent]'")
