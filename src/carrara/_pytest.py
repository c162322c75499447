"""A pytest plugin that checks a guard: `pytest --carrara-guard guard.json --carrara-base-url http://127.0.0.1:8000/v1`.

pytest loads this module wherever Carrara is installed, so it imports nothing until a guard is named.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from carrara.guard.check_result import CheckResult


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("carrara", "a guard of Carrara's: has the server broken?")
    group.addoption("--carrara-guard", metavar="FILE", help="the guard to check, of `carrara guard make`")
    group.addoption("--carrara-base-url", metavar="URL", help="where the model is served")
    group.addoption("--carrara-model", metavar="M", help="the model (default: the one that the guard was made with)")


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    if guard := config.getoption("--carrara-guard"):
        items.append(Check.from_parent(session, name=f"guard {guard}", nodeid=f"carrara::{guard}"))


class GuardCheckError(Exception):
    """Raised if the server is broken or could not be checked. The message is the text of the check."""


class Check(pytest.Item):
    def runtest(self) -> None:
        import carrara

        given = self.config.getoption
        found: CheckResult = carrara.check_guard(
            given("--carrara-guard"), given("--carrara-model"), base_url=given("--carrara-base-url")
        )
        if found.verdict == "open":
            pytest.skip(str(found))
        if found.verdict != "fine":
            raise GuardCheckError(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from carrara.util.errors import CarraraError

        if isinstance(excinfo.value, GuardCheckError | CarraraError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        return self.path, None, self.name
