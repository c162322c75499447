"""No secret of an address or the environment is in any file that a run leaves, however it is packed."""

import base64
import gzip
import io
import json
import os
import re
import signal
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
import zstandard
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from carrara.runs.replies import read_results
from carrara.servers.providers import make_model
from tests.helpers.open_files import files
from tests.helpers.process import KEY, Ended, begun, carrara, in_file
from tests.helpers.server import Address, serving

QUERY, USER, WORD = "QSECRET99", "user-secret-98", "word/secret-97"
BASIC = base64.b64encode(f"{USER}:{WORD}".encode()).decode()
SECRET = re.compile(
    rb"QSECRET99|user.{0,3}secret.98|word.{0,3}secret.97|other.secret.96|"
    + b"|".join(re.escape(one.encode()) for one in (BASIC, KEY, KEY.upper(), KEY[::-1], KEY.encode().hex()))
    + rb"|header.{0,3}secret.9|"
    + re.escape(base64.b64encode(KEY.encode())[:-4])
)


HEADERS = {
    "X-Auth": "header/secret-95",
    "X-Session": "header/secret-94 of me",
    "Authorization": "Bearer header/secret-93",
}


def with_secrets(base_url: str) -> str:
    """The address with a key in its query and a user's name and password before its host."""
    user, word = USER, WORD.replace("/", "%2F")
    return base_url.replace("//", f"//{user}:{word}@") + f"?api_key={QUERY}"


def command(way: str, address: str | None, out: Path, *other: str) -> list[str]:
    asked = ["run", "latent_list", "-p", "complexity=1", "-p", "view=print", "--lengths", "0,512", "-n", "4"]
    asked += ["--model", f"openai-api/test/{way}", "--tokenizer", "gpt2", "--out", str(out), *other]
    return [*asked, "--base-url", address] if address else asked


def at_home(home: Path) -> Mapping[str, str]:
    """An environment in which whatever is written outside the run's folder is written into `home`."""
    places = {"HOME": home, "TMPDIR": home / "tmp", "XDG_DATA_HOME": home / "data", "XDG_CACHE_HOME": home / "cache"}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    return {"EMBEDDINGS_API_KEY": "other-secret-96", **{name: str(place) for name, place in places.items()}}


def found(folder: Path) -> list[str]:
    """The files below a folder that have a secret in them, or in their names."""
    return [name for name, content in files(folder) if SECRET.search(content) or SECRET.search(name.encode())]


def said(ended: Ended) -> bool:
    return SECRET.search((ended.stdout + ended.stderr).encode()) is not None


@pytest.mark.slow
@pytest.mark.parametrize("way", ["ok", "key", "key-error", "500-once", "garbled-once", "locked"])
def test_no_secret_of_an_address_is_in_any_file(way: str, tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        ended = carrara(*command(way, with_secrets(server.base_url), tmp_path / "run"), env=at_home(tmp_path / "home"))
    assert "Hooks:" not in ended.stderr
    assert server.asked()
    assert not said(ended)
    assert found(tmp_path) == []
    kept = [] if way in ("key-error", "locked") else ["cache"]  # an error is no reply to keep
    assert sorted(one.name for one in (tmp_path / "run").iterdir() if one.suffix != ".html") == [
        *(".lock", *kept, "logs", "plan.json")
    ]
    assert not any((tmp_path / "home" / "tmp").glob("carrara-*"))  # what was aside is gone


@pytest.mark.slow
@pytest.mark.parametrize("way", ["echo", "echo-error"])
def test_no_secret_among_a_models_arguments_is_in_any_file(way: str, tmp_path: Path) -> None:
    given = ["-M", f"default_headers={json.dumps(HEADERS)}", "-M", "organization=header/secret-92"]
    with serving(tmp_path / "journal.tsv") as server:
        asked = command(way, server.base_url, tmp_path / "run", *given)
        ended = carrara(*asked, env=at_home(tmp_path / "home"))
        again = carrara(*asked, env=at_home(tmp_path / "home"))
        probed = carrara("server", *asked[asked.index("--model") : asked.index("--tokenizer")], *given, "--json")
    assert server.asked() == (8 if way == "echo" else 16), ended.stderr  # failed requests are sent again
    assert not any(map(said, (ended, again, probed)))
    assert found(tmp_path) == []
    results = read_results(tmp_path / "run")
    assert {len(result.settings["-M default_headers"]) for result in results} == {
        len(json.dumps(dict.fromkeys(HEADERS, "[abcdef]")))
    }
    if way == "echo":
        assert "8 of 8 replies are there already" in again.stderr
        assert all("you sent [key] [key] [key]" in result.reply for result in results)


@pytest.mark.slow
def test_no_secret_of_an_address_in_the_environment_is_in_any_file(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        env = {**at_home(tmp_path / "home"), "TEST_BASE_URL": with_secrets(server.base_url)}
        ended = carrara(*command("key", None, tmp_path / "run"), env=env)
        again = carrara(*command("key", None, tmp_path / "run"), env=env)
    assert "8 of 8 replies are there already" in again.stderr
    assert not said(ended)
    assert found(tmp_path) == []


@pytest.mark.slow
def test_no_secret_is_in_any_file_of_a_run_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in at_home(tmp_path / "home").items():
        monkeypatch.setenv(name, place)
    with serving(tmp_path / "journal.tsv", latency=(0.4, 0.5)) as server:
        more = in_file(tmp_path / "settings", connections=1)
        asked = command("key", with_secrets(server.base_url), tmp_path / "run", *more)
        running = begun(*asked)
        while server.asked() < 4 and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        assert running.returncode == -signal.SIGKILL
        assert found(tmp_path) == []
        before = server.asked()
        ended = carrara(*asked)
        assert server.asked() - before <= 8 - before + 1  # the one that was under way, and those that were left
    assert len(read_results(tmp_path / "run")) == 8
    assert not said(ended)
    assert found(tmp_path) == []


def test_credentials_reach_the_server_and_no_request_that_is_shown(server: Address) -> None:
    api = make_model("openai-api/test/key", with_secrets(server.base_url), {}).api
    assert api.base_url == server.base_url
    urls = list[str]()

    async def note(response: object) -> None:
        urls.append(str(response.request.url))  # type: ignore[attr-defined]

    async def ask() -> object:
        api.client._client.event_hooks["response"].append(note)  # type: ignore[attr-defined]
        try:
            return await api.generate([ChatMessageUser(content="x")], [], "none", GenerateConfig())
        finally:
            await api.aclose()

    answer = anyio.run(ask)
    output = answer[0] if isinstance(answer, tuple) else answer
    assert isinstance(output, ModelOutput)
    assert output.completion == f"your key is Basic {BASIC} /v1/chat/completions?api_key={QUERY}"
    assert urls == [f"{server.base_url}/chat/completions"]


def test_packed_files_are_searched(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.gz", gzip.compress(QUERY.encode()))
    (tmp_path / "a.bin").write_bytes(zstandard.compress(packed.getvalue()))
    os.symlink("/no/where", tmp_path / "link")
    assert found(tmp_path) == [f"{tmp_path / 'a.bin'}!zst!inner.gz!gz"]


@pytest.mark.slow
def test_another_deployment_of_a_server_is_asked_for_its_own_replies(tmp_path: Path) -> None:
    """The query of an address is part of the server's identity."""
    with serving(tmp_path / "journal.tsv") as server:
        for name, asked in (("AAAA", 8), ("BBBB", 16), ("AAAA", 16)):
            ended = carrara(*command("ok", f"{server.base_url}?deployment={name}", tmp_path / "run"), check=True)
            assert name not in ended.stdout + ended.stderr
            assert server.asked() == len(read_results(tmp_path / "run")) == asked
    assert len({result.settings["server"] for result in read_results(tmp_path / "run")}) == 2
