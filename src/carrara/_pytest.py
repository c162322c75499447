"""A pytest plugin that checks a guard: `pytest --carrara-guard guard.json --carrara-base-url http://127.0.0.1:8000/v1`.

With `--carrara-baseline-url` it also compares the server with another one, on the items of the guard.

pytest loads this module wherever Carrara is installed, so it imports nothing until a guard is named.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from carrara.guard._check import CheckResult
    from carrara.guard.server_comparison import ServerComparisons


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("carrara", "a guard of Carrara's: has the server broken?")
    group.addoption("--carrara-guard", metavar="FILE", help="the guard to check, of `carrara guard make`")
    group.addoption("--carrara-base-url", metavar="URL", help="where the model is served")
    group.addoption("--carrara-baseline-url", metavar="URL", help="a server that it is compared with")
    group.addoption(
        "--carrara-margin", metavar="SHARE", type=float, help="the difference of scores that is equal (default: 0.05)"
    )
    group.addoption("--carrara-model", metavar="M", help="the model (default: the one that the guard was made with)")


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    guard, baseline = config.getoption("--carrara-guard"), config.getoption("--carrara-baseline-url")
    if guard:
        items.append(Check.from_parent(session, name=f"guard {guard}", nodeid=f"carrara::{guard}"))
    if guard and baseline:
        if not (config.getoption("--carrara-base-url") or config.getoption("--carrara-model")):
            raise pytest.UsageError(
                "--carrara-baseline-url needs the server that is compared with it: give --carrara-base-url, or "
                "--carrara-model for a provider's own address"
            )
        items.append(Compare.from_parent(session, name=f"compare {guard}", nodeid=f"carrara::compare::{guard}"))
    elif baseline:
        raise pytest.UsageError("--carrara-baseline-url needs a guard, whose items are asked: give --carrara-guard")


class GuardError(Exception):
    """Raised if a server is broken, differs, or could not be asked. The message is the text of the result."""


class ServerItem(pytest.Item):
    """A test that passes with one verdict and is skipped if the replies do not decide."""

    good = ""
    """The verdict with which it passes."""

    def ask(self) -> "CheckResult | ServerComparisons":
        raise NotImplementedError

    def runtest(self) -> None:
        found = self.ask()
        if found.verdict == "open":
            pytest.skip(str(found))
        if found.verdict != self.good:
            raise GuardError(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from carrara.util.errors import CarraraError

        if isinstance(excinfo.value, GuardError | CarraraError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        return self.path, None, self.name


class Check(ServerItem):
    good = "fine"

    def ask(self) -> "CheckResult":
        from carrara import guard

        given = self.config.getoption
        return guard.check(given("--carrara-guard"), given("--carrara-model"), base_url=given("--carrara-base-url"))


class Compare(ServerItem):
    good = "equivalent"

    def ask(self) -> "ServerComparisons":
        from carrara import guard

        given = self.config.getoption
        model = given("--carrara-model")
        margin = {} if given("--carrara-margin") is None else {"margin": given("--carrara-margin")}
        return guard.compare(
            given("--carrara-baseline-url"),
            given("--carrara-base-url") or model,
            guard=given("--carrara-guard"),
            model=model,
            **margin,
        )
