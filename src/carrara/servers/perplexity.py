"""What a prompt's tokens cost a model, in nats each: the mean of the log-probabilities that its server tells of them.

A server tells one for every token, which for a long prompt is more than the prompt: of them their mean is kept.
"""

import math

from inspect_ai.model import ModelOutput

from carrara.core.metadata import NATS


def reduced(output: ModelOutput) -> ModelOutput:
    """The output with the mean in the place of the list. A server's figures are untrusted: they have to be ones."""
    found = [choice.prompt_logprobs for choice in output.choices if choice.prompt_logprobs]
    if not found:
        return output
    for choice in output.choices:
        choice.prompt_logprobs = None
    told = [one.logprob for one in found[0].content]
    if told and all(math.isfinite(one) and one <= 0 for one in told):
        output.metadata = {**(output.metadata or {}), NATS: -math.fsum(told) / len(told)}
    return output
