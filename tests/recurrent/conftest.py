"""Recurrent models in tests: a few thousand numbers, one thread; backbones made at random."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrara.tokenizers import permission


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, and vocabularies of few instances and little filler."""
    monkeypatch.setattr("carrara.recurrent.stories.SAMPLED", 60)
    monkeypatch.setattr("carrara.recurrent.training.FILLER", 5000)
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def _speak(folder: Path) -> dict[str, int]:
    """A tokenizer of bytes, into a folder."""
    from transformers import PreTrainedTokenizerFast

    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = {letter: n for n, letter in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
    made = Tokenizer(models.BPE(letters, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>").save_pretrained(folder)  # type: ignore[no-untyped-call]
    return letters


@pytest.fixture(scope="session")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of a few thousand numbers, made at random."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("backbone")
    letters = _speak(folder)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(letters), n_positions=2048, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0,
        attn_pdrop=0, eos_token_id=letters["<end>"], bos_token_id=letters["<end>"],
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    permission.allow(f"hf:{folder}")
    return folder


@pytest.fixture(scope="session")
def mamba(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Mamba of as few."""
    import torch
    from transformers import MambaConfig, MambaForCausalLM

    folder = tmp_path_factory.mktemp("mamba")
    letters = _speak(folder)
    torch.manual_seed(0)
    config = MambaConfig(
        vocab_size=len(letters), hidden_size=16, state_size=4, num_hidden_layers=2, eos_token_id=letters["<end>"]
    )
    MambaForCausalLM(config).save_pretrained(folder)
    permission.allow(f"hf:{folder}")
    return folder
