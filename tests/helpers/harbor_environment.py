"""An environment of Harbor without containers: commands run on this machine, in mount namespaces of their own.

    harbor run -p FOLDER -a oracle --env tests.helpers.harbor_environment:NamespaceEnvironment

`/app`, `/logs`, `/tests` and `/solution` are folders of the environment, and all else is that of this machine. Of a
Dockerfile, the lines `COPY` alone are executed. Without a network, a command runs in a network namespace too. The
interpreter of Harbor imports this file, so it imports nothing of Carrara.
"""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult  # type: ignore[import-not-found]
from harbor.environments.capabilities import EnvironmentCapabilities  # type: ignore[import-not-found]

FOLDERS = ("app", "logs", "tests", "solution")
_ENTER = """set -e
mount -t tmpfs none "$NEW_ROOT"
for path in /*; do
  if [ -L "$path" ]; then cp -a "$path" "$NEW_ROOT$path"
  elif [ -d "$path" ]; then mkdir -p "$NEW_ROOT$path"; mount --rbind "$path" "$NEW_ROOT$path"; fi
done
for name in app logs tests solution; do
  mkdir -p "$NEW_ROOT/$name"; mount --bind "$OWN_ROOT/$name" "$NEW_ROOT/$name"
done
exec chroot "$NEW_ROOT" /bin/sh -c 'cd "$1" && exec /bin/sh -c "$2"' sh "$0" "$1"
"""


class NamespaceEnvironment(BaseEnvironment):  # type: ignore[misc]
    """A folder as the root of an environment."""

    @staticmethod
    def type() -> str:
        return "namespace"

    @property
    def capabilities(self) -> Any:
        return EnvironmentCapabilities(disable_internet=True, dynamic_network_policy=True)

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(self.environment_dir / "Dockerfile")

    async def _apply_network_policy(self, network_policy: Any) -> None:
        """Do nothing: each command asks for the policy of its time."""

    async def start(self, force_build: bool) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="carrara-harbor-"))
        for name in FOLDERS:
            (self._root / name).mkdir()
        for name in ("agent", "verifier", "artifacts"):
            (self._root / "logs" / name).mkdir()
        for line in (self.environment_dir / "Dockerfile").read_text("utf-8").splitlines():
            if line.startswith("COPY "):
                source, target = line.split()[1:]
                await self._copy(self.environment_dir / source, self._place(target))

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self._copy(Path(source_path), self._place(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self._copy(Path(source_dir), self._place(target_dir))

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._copy(self._place(source_path), Path(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self._copy(self._place(source_dir), Path(target_dir))

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> Any:
        flags = ["--map-root-user", "--mount", *(["--net"] if self._network_disabled else [])]
        with tempfile.TemporaryDirectory(prefix="carrara-harbor-") as root:
            process = await asyncio.create_subprocess_exec(
                *("unshare", *flags, "/bin/sh", "-c", _ENTER, cwd or "/app", command),
                env={**os.environ, **(env or {}), "NEW_ROOT": root, "OWN_ROOT": str(self._root)},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, errors = await asyncio.wait_for(process.communicate(), timeout_sec)
        return ExecResult(stdout=out.decode(), stderr=errors.decode(), return_code=process.returncode)

    def _place(self, path: str) -> Path:
        """Return where a path of the environment is on this machine."""
        place = (self._root / path.lstrip("/")).resolve()
        if not place.is_relative_to(self._root.resolve()):
            raise ValueError(f"{path} is outside of the environment")
        return place / "" if path.endswith("/") else place

    async def _copy(self, source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
