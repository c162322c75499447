"""Replies are kept with the hash of the prompt that they were given to: it tells that a test has changed."""

import time
from collections.abc import Mapping
from itertools import groupby

from inspect_ai.dataset import Sample

from carrara.core.errors import UsageError
from carrara.core.metadata import REQUEST
from carrara.logs.replies import Reply
from carrara.prompt.prompt import fingerprint
from carrara.readers.prompts import prompt_of

SECONDS = 10.0
"""For comparing, the shortest prompts first; after that one of each test and length, for rendering them takes time."""


def check_unchanged(known: Mapping[str, Reply], samples: Mapping[str, Sample]) -> None:
    """Refuse to go on with replies that were given to other prompts."""
    begun = time.monotonic()
    both = [(sample, known[id]) for id, sample in samples.items() if id in known and known[id].sha256]
    both.sort(key=lambda pair: (pair[1].result.length, pair[1].result.task))
    for _, cell in groupby(both, key=lambda pair: (pair[1].result.length, pair[1].result.task)):
        for n, (sample, reply) in enumerate(cell):
            if n and time.monotonic() - begun > SECONDS:
                break
            wanted = {"id": str(sample.id), REQUEST: reply.request}
            if fingerprint(prompt_of(wanted)) != reply.sha256:
                test = reply.result
                raise UsageError(
                    f"{test.task} asks in other words now than when its replies were given, and is still version "
                    f"{test.version} ({test.id}): raise the version of a test that was changed, or give another `out`"
                )
