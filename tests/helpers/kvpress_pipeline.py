"""Ask a tiny model by kvpress' own pipeline, and print what it read and how its replies are scored, as JSON.

    python -m tests.helpers.kvpress_pipeline FOLDER chat|base

The tokenizer is trained on the items and breaks text as GPT-2's does. The model is random.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from benchmarks.kvpress_presses import ask, same_prompts

from carrara.export import kvpress as export
from carrara.export.config import ExportConfig
from carrara.export.kvpress_scores import calculate_metrics
from carrara.items.item import context_of
from carrara.options import ItemOptions
from carrara.types import Style

TASKS = {"chat": "niah,qa1,json_kv,sync/graph", "base": "niah,qa1,json_kv,minerva/key_value"}
TEMPLATE = (
    "{{ bos_token }}{% for one in messages %}<|start|>{{ one['role'] }}\n{{ one['content'] | trim }}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
SPECIAL = ["<|bos|>", "<|start|>", "<|end|>"]
RATIO = 0.5


def save_model(folder: Path, texts: list[str], template: str | None) -> None:
    """Write a tokenizer that knows these texts, and a model."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=SPECIAL[0], eos_token=SPECIAL[2], chat_template=template
    )
    words.save_pretrained(folder)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        num_key_value_heads=1,
        max_position_embeddings=8192,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=2,
        **shape,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


def main(place: str, style: str) -> None:
    kvpress, transformers, datasets = map(import_module, ("kvpress", "transformers", "datasets"))
    folder, model = Path(place) / "rows", str(Path(place) / "model")
    known = ItemOptions(style=cast(Style, style), tokenizer="gpt2").item_ids(TASKS[style], [0])
    texts = [item.text for first in known for item in context_of(first).items]
    save_model(Path(model), texts, TEMPLATE if style == "chat" else None)
    pipe = transformers.pipeline("kv-press-text-generation", model=model, device="cpu")
    options: dict[str, Any] = {"lengths": "2k", "n": 2, "tokenizer": f"hf:{model}", "style": style}
    export.write(ExportConfig(TASKS[style], out=folder, workers=1, **options), max_tokens=6)
    rows = datasets.load_dataset(str(folder), data_dir="2k", split="test").to_pandas()
    prefills, forward = list[int](), pipe._forward

    def count_prefill(inputs: Any, **given: Any) -> Any:
        prefills.append(inputs["context_ids"].shape[1])
        return forward(inputs, **given)

    pipe._forward = count_prefill
    presses = {"none": None, **{name: getattr(kvpress, name)(RATIO) for name in ("KnormPress", "SnapKVPress")}}
    metrics = {name: ask(pipe, press, rows) for name, press in presses.items()}
    cache = transformers.DynamicCache()
    pipe(rows["context"][0], question="x", press=kvpress.KnormPress(RATIO), cache=cache, max_new_tokens=1)
    found = {
        "rows": len(rows),
        "same": same_prompts(pipe, rows),
        "contexts": rows["context"].nunique(),
        "prefills": len(prefills[:-1]) // len(presses),
        "metrics": metrics,
        "perfect": calculate_metrics(rows.assign(predicted_answer=rows["answer"])),
        "tokens": prefills[-1],
        "compressed": cache.get_seq_length(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
