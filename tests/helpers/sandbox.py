"""A type of sandbox for Inspect, `test_only`: a folder of this machine."""

from typing import ClassVar

from inspect_ai.util import SandboxEnvironment, SandboxEnvironmentConfigType, sandboxenv
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

TEST_ONLY = "test_only"


@sandboxenv(name=TEST_ONLY)
class OnlyForTests(LocalSandboxEnvironment):
    """A folder of this machine in place of a sandbox."""

    configs: ClassVar[list[object]] = []
    """What described each sandbox."""

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        cls.configs.append(config)
        return {"default": cls()}
