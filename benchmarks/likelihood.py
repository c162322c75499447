"""Log-likelihoods by llama.cpp, and by transformers with the same weights dequantized to float32.

    python -m benchmarks.likelihood [--gguf FILE] [--items 50]

The items are those of qa1 and of niah with four values, alternating, without filler. transformers reads each prompt
with each option as a whole, without a cache, and the log-probabilities of the option's tokens are added. It needs the
package `gguf`. llama.cpp multiplies quantized weights with activations that it rounds to 8 bits, so its numbers differ
from those of dequantized weights; the last line says by how much, and how often the most probable option is the same.
"""

import argparse
from pathlib import Path
from statistics import fmean, median
from typing import Any

import anyio
import torch
import transformers
from inspect_ai.model import ChatMessageUser, GenerateConfig

from carrara.constants import LIKELIHOOD, OPTIONS
from carrara.items.item import make
from carrara.items.rivals import options_of
from carrara.runs.tasks import continuations
from carrara.servers.embedded import DEMO
from carrara.servers.likelihood import answer_by_likelihood
from carrara.servers.providers import make_model

TASKS: tuple[tuple[str, dict[str, str]], ...] = (("babilong/qa1", {}), ("classic/niah", {"variant": "multikey_1"}))


def whole(model: Any, tokenizer: Any, prompt: str, option: str) -> tuple[float, int]:
    """Return the log-likelihood of an option and its number of tokens, from one pass over the whole text."""
    start, ids = len(tokenizer(prompt)["input_ids"]), tokenizer(prompt + option)["input_ids"]
    with torch.inference_mode():
        each = model(torch.tensor([ids]), use_cache=False).logits[0].double().log_softmax(-1)
    return sum(float(each[place - 1, ids[place]]) for place in range(start, len(ids))), len(ids) - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--items", type=int, default=50)
    asked = parser.parse_args()
    file = asked.gguf or DEMO.file()
    name = f"carrara/gguf:{file}" if asked.gguf else "carrara/smollm2"
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    api = make_model(name, None, {"copies": 1}).api
    api.base = True  # type: ignore[attr-defined]
    answer_by_likelihood(api)
    deviations, same = list[float](), 0
    for index in range(asked.items):
        task, params = TASKS[index % len(TASKS)]
        item = make(task, style="base", index=index, params=params)
        texts = continuations(item, options_of(item).texts)

        async def ask(prompt: str = item.text, texts: list[str] = texts) -> Any:
            config = GenerateConfig(extra_body={OPTIONS: texts})
            return await api.generate([ChatMessageUser(content=prompt)], [], "none", config)

        found = anyio.run(ask).metadata[LIKELIHOOD]
        expected, tokens = zip(*(whole(model, tokenizer, item.text, text) for text in texts), strict=True)
        assert found["tokens"] == list(tokens)
        deviations += [abs(one - other) for one, other in zip(found["logprobs"], expected, strict=True)]
        same += max(range(len(texts)), key=found["logprobs"].__getitem__) == max(
            range(len(texts)), key=expected.__getitem__
        )
        print(f"{index + 1} items: {len(deviations)} options, largest deviation {max(deviations):.3f}", flush=True)
    print(
        f"{file.name}: {asked.items} items, {len(deviations)} options: deviation mean {fmean(deviations):.3f}, median "
        f"{median(deviations):.3f}, largest {max(deviations):.3f} nats; the same most probable option in {same}"
    )


if __name__ == "__main__":
    main()
