"""The kinds of models by name."""

import inspect
from collections.abc import Mapping
from typing import Any

from torch import nn

from carrara.core.errors import UsageError, nearest
from carrara.recurrent.armt import ARMT, Delta
from carrara.recurrent.rmt import RMT
from carrara.recurrent.ssm import SSM
from carrara.recurrent.vocabulary import Vocabulary
from carrara.recurrent.window import Window

SMALL: Mapping[str, type[nn.Module]] = {"rmt": RMT, "armt": ARMT, "delta": Delta, "ssm": SSM, "window": Window}


def build(kind: str, vocabulary: Vocabulary, segment: int, arguments: Mapping[str, Any]) -> nn.Module:
    """A new model of a kind, from nothing."""
    made = SMALL[kind]
    known = [name for name in inspect.signature(made).parameters if name not in ("vocabulary", "said", "segment")]
    for name in arguments:
        if name not in known:
            raise UsageError(f"a model of kind {kind} has no {name!r}{nearest(name, known)}; it has {', '.join(known)}")
    return made(len(vocabulary), vocabulary.said, segment, **arguments)
