"""Log-likelihoods of given answers: by servers that echo, by llama.cpp, and by a forward pass."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from carrara.constants import LIKELIHOOD, OPTIONS
from carrara.items.item import make
from carrara.items.rivals import options_of
from carrara.runs.tasks import continuations
from carrara.servers import embedded
from carrara.servers.likelihood import Measured, OptionScore, _by_grammar, answer_by_likelihood, check_likelihood, total
from carrara.servers.providers import make_model
from carrara.servers.retry import GarbledReplyError
from carrara.util.errors import UsageError
from tests.helpers.likelihood_server import likelihood_server, reference, tokens_of

PROMPT = "The key is in the hall. The cup is in the loft.\nWhere is the key? ANSWER:"
PLACES = (" hall", " loft", " cellar")


def asked(api: Any, prompt: str, options: tuple[str, ...]) -> ModelOutput:
    """Return the output of a provider that compares these options."""
    answer_by_likelihood(api)

    async def ask() -> Any:
        config = GenerateConfig(extra_body={OPTIONS: [*options]})
        try:
            return await api.generate([ChatMessageUser(content=prompt)], [], "none", config)
        finally:
            if hasattr(api, "client"):
                await api.aclose()

    output = anyio.run(ask)
    assert isinstance(output, ModelOutput)
    return output


def served(model: str, prompt: str, options: tuple[str, ...]) -> ModelOutput:
    with likelihood_server() as (address, _):
        return asked(make_model(f"openai-api-completions/test/{model}", address, {}).api, prompt, options)


# --- servers that echo ---


@pytest.mark.parametrize("model", ["rule", "bare", "uncounted"])
def test_the_sums_are_those_of_the_options_tokens(model: str) -> None:
    output = served(model, PROMPT, PLACES)
    found = (output.metadata or {})[LIKELIHOOD]
    assert found["logprobs"] == pytest.approx([reference(PROMPT, place) for place in PLACES])
    assert found["tokens"] == [1, 1, 1]
    assert output.usage is not None
    assert output.usage.input_tokens == 1 + len(tokens_of(PROMPT))  # with the token that the server puts first


def test_a_count_of_one_more_token_than_are_listed_shifts_nothing() -> None:
    found = (served("overcounted", PROMPT, PLACES).metadata or {})[LIKELIHOOD]
    assert found["logprobs"] == pytest.approx([reference(PROMPT, place) for place in PLACES])
    with pytest.raises(UsageError, match="gives no log-probabilities"):
        served("undercounted", PROMPT, PLACES)


def test_tokens_that_merge_prompt_and_option_count_for_all_options() -> None:
    options = (" hall", "loft")
    output = served("merging", PROMPT, options)
    found = (output.metadata or {})[LIKELIHOOD]
    assert found["tokens"] == [1, 2]  # ": hall", and ":" with "loft"
    assert found["logprobs"][0] == pytest.approx(reference(PROMPT, " hall", "merging"))
    assert found["logprobs"][1] == pytest.approx(reference(PROMPT[:-1], ":loft", "merging"))


@pytest.mark.parametrize("model", ["nan", "positive", "missing"])
def test_what_is_no_log_probability_is_an_error(model: str) -> None:
    with pytest.raises(GarbledReplyError, match="log-probability"):
        served(model, PROMPT * 2, PLACES)


def test_a_server_that_does_not_echo_is_refused_with_a_remedy() -> None:
    with likelihood_server() as (address, _):
        model = "openai-api-completions/test/silent"
        with pytest.raises(
            UsageError, match=r"gives no log-probabilities of given answers.* vLLM, SGLang or a recent llama\.cpp"
        ):
            check_likelihood(model, address, {}, make_model(model, address, {}).api)


@pytest.mark.parametrize("model", ["carrara/oracle", "mockllm/model"])
def test_a_model_without_log_probabilities_is_refused(model: str) -> None:
    with pytest.raises(UsageError, match=f"{model} gives no log-probabilities of given answers"):
        check_likelihood(model, None, {}, make_model(model, None, {}).api)


@pytest.mark.parametrize("values", [[], [None], [True], [math.nan], [math.inf], [-math.inf], [1e-9], ["-1"], [-3.4e38]])
def test_numbers_that_can_be_no_log_probability_are_refused(values: list[Any]) -> None:
    with pytest.raises(GarbledReplyError):
        total([-1.0, *values] if values else values)


@pytest.mark.parametrize(
    ("logprobs", "reply"), [((-1.0, -2.0), "right"), ((-2.0, -1.0), "wrong"), ((-1.0, -1.0), "wrong")]
)
def test_a_tie_is_not_right(logprobs: tuple[float, ...], reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def method(prompt: str, options: Any) -> Measured:
        return Measured(3, [OptionScore(logprob, 1) for logprob in logprobs])

    async def method_of(api: Any) -> Any:
        return method

    monkeypatch.setattr("carrara.servers.likelihood._method_of", method_of)
    api = SimpleNamespace(generate=None, model_name="m")
    assert asked(api, "?", (" right", " wrong")).completion == reply


# --- options behind a prompt ---


def test_the_space_belongs_to_the_option_as_in_the_examples() -> None:
    item = make("babilong/qa1", style="base")
    options = options_of(item)
    texts = continuations(item, options.texts)
    assert texts == [f" {option}" for option in options.texts]
    assert f"FINAL ANSWER:{texts[0][:1]}" in item.text


def test_an_option_that_another_begins_with_ends_its_line() -> None:
    item = make("babilong/qa1", style="base")
    assert continuations(item, ["List 1", "List 12"]) == [" List 1\n", " List 12\n"]


# --- llama.cpp ---


def test_another_token_than_the_forced_one_is_no_answer() -> None:
    async def complete(body: dict[str, Any]) -> Any:
        return {"choices": [{"logprobs": {"content": [{"id": 9, "logprob": -0.1}]}}]}

    async def tokenize(body: dict[str, Any]) -> Any:
        return {"tokens": [ord(sign) for sign in body["content"]]}

    with pytest.raises(GarbledReplyError, match="too old"):
        anyio.run(_by_grammar, complete, tokenize, "ab", ["c", "d"], True)


@pytest.fixture(scope="module")
def smollm2() -> Any:
    pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: `make env-all` installs it")
    if not embedded.DEMO.here():
        pytest.skip(embedded.DEMO.missing)
    model = make_model("carrara/smollm2", None, {"context": 512, "copies": 1}).api
    model.base = True  # type: ignore[attr-defined]
    return model


@pytest.mark.slow
def test_the_grammar_changes_no_log_probability(smollm2: Any) -> None:
    """The sums equal those of one request for each token, which a bias of the logits forces."""
    output = asked(smollm2, PROMPT, PLACES)
    found = (output.metadata or {})[LIKELIHOOD]
    llama = smollm2.idle.get()
    try:
        for place, logprob, tokens in zip(PLACES, found["logprobs"], found["tokens"], strict=True):
            assert _forced_by_bias(llama, place, tokens) == pytest.approx(logprob, abs=2e-3)
    finally:
        smollm2.idle.put(llama)


def _forced_by_bias(llama: Any, option: str, tokens: int) -> float:
    from carrara.tokenizers.server import Server

    server = Server(llama.listening_address)
    ids = server.post("/tokenize", {"content": PROMPT + option, "add_special": True})[1]["tokens"]
    logprobs = []
    for place in range(len(ids) - tokens, len(ids)):
        asked_for = {"prompt": ids[:place], "max_tokens": 1, "temperature": 0, "n_probs": 1, "cache_prompt": False}
        reply = llama.handle_completions({**asked_for, "logit_bias": [[ids[place], 1e6]]})
        [token] = reply["choices"][0]["logprobs"]["content"]
        assert token["id"] == ids[place]
        logprobs.append(token["logprob"])
    return math.fsum(logprobs)


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_what_was_asked_before(smollm2: Any) -> None:
    first = asked(smollm2, PROMPT, PLACES)
    asked(smollm2, PROMPT[:40] + " Anything else?", PLACES[::-1])
    assert asked(smollm2, PROMPT, PLACES).metadata == first.metadata


@pytest.mark.slow
def test_a_server_of_llama_cpp_gives_the_same_numbers(smollm2: Any) -> None:
    inside = asked(smollm2, PROMPT, PLACES)
    llama = smollm2.idle.get()
    try:
        api = make_model("openai-api-completions/local/m", f"{llama.listening_address}/v1", {}).api
        outside = asked(api, PROMPT, PLACES)
    finally:
        smollm2.idle.put(llama)
    expected, found = ((output.metadata or {})[LIKELIHOOD] for output in (inside, outside))
    assert found["tokens"] == expected["tokens"]
    assert found["logprobs"] == pytest.approx(expected["logprobs"], abs=0.05)  # read in other batches


@pytest.mark.slow
def test_a_prompt_that_is_too_long_overflows(smollm2: Any) -> None:
    assert asked(smollm2, PROMPT * 40, PLACES).stop_reason == "model_length"


# --- a forward pass ---


def _tiny(kind: str, folder: Path) -> Any:
    """Return a random model with a vocabulary of bytes, as Inspect's provider holds one."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: `make env-all` does it")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = {sign: number for number, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merged = {**alphabet, "ha": 256, "ll": 257, "hall": 258}
    bare = Tokenizer(models.BPE(merged, [("h", "a"), ("l", "l"), ("ha", "ll")]))
    bare.pre_tokenizer, bare.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    torch.manual_seed(7)
    sizes = {"vocab_size": 259, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096}
    if kind == "llama":
        config = transformers.LlamaConfig(**sizes, **heads)
    elif kind == "mamba":  # it has no keys and values
        config = transformers.MambaConfig(vocab_size=259, hidden_size=32, num_hidden_layers=2, state_size=8)
    else:  # its cache cannot be cropped
        config = transformers.MistralConfig(**sizes, **heads, sliding_window=48)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bare)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return make_model("hf/tiny", None, {"model_path": str(folder), "device": "cpu"}).api


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "items"), [("llama", 50), ("mistral", 50), ("mamba", 5)])
def test_items_equal_a_full_forward_pass(kind: str, items: int, tmp_path: Path) -> None:
    api = _tiny(kind, tmp_path)
    import torch

    compared = 0
    for index in range(items):
        item = make("babilong/qa1", style="base", index=index)
        options, prompt = options_of(item).texts, item.text[-400:]
        texts = tuple(continuations(item, options))
        found = (asked(api, prompt, texts).metadata or {})[LIKELIHOOD]
        for text, logprob, tokens in zip(texts, found["logprobs"], found["tokens"], strict=True):
            ids = api.tokenizer(prompt + text)["input_ids"]
            with torch.no_grad():
                each = torch.log_softmax(api.model(torch.tensor([ids]), use_cache=False).logits[0].double(), -1)
            expected = sum(float(each[place - 1, ids[place]]) for place in range(len(ids) - tokens, len(ids)))
            assert tokens == len(api.tokenizer(text)["input_ids"])
            assert logprob == pytest.approx(expected, abs=1e-4)
            compared += 1
    assert compared == 6 * items
