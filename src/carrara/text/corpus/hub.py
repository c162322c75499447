"""Data sets on the Hugging Face hub: `hf:NAME[:config][:split]`, from the Parquet or JSONL files that they are.

The files are fetched by `huggingface_hub` and read as any table is (tables.py). Data sets that have only a script, as
PG-19 has, are taken from the Parquet branch that the hub makes of each. A folder of that shape may stand for NAME.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from carrara.core.errors import UsageError
from carrara.text.corpus.sources import files_below, state_of
from carrara.text.corpus.tables import SUFFIXES, Table, listed

_SPLITS = re.compile(r"(?:partial-)?(?:train|test|validation|valid|dev)")
_SPLIT_OF_STEM = re.compile(rf"({_SPLITS.pattern})(?:[-_.].*)?")
_BRANCHES = ("main", "refs/convert/parquet")


@dataclass(frozen=True)
class HubDataset:
    """One split of one configuration of a data set."""

    name: str
    config: str
    split: str

    @property
    def spec(self) -> str:
        return ":".join(filter(None, ["hf", self.name, self.config, self.split]))

    @property
    def folder(self) -> Path | None:
        path = Path(self.name).expanduser()
        return path if os.path.isdir(path) else None

    @staticmethod
    def parse(spec: str) -> "HubDataset":
        """
        >>> d = HubDataset.parse("hf:wikimedia/wikipedia:20231101.en"); (d.name, d.config, d.split)
        ('wikimedia/wikipedia', '20231101.en', '')
        >>> d = HubDataset.parse("hf:deepmind/pg19:test"); (d.name, d.config, d.split)
        ('deepmind/pg19', '', 'test')
        """
        name, *rest = spec.removeprefix("hf:").split(":")
        if not name or len(rest) > 2 or not all(rest):
            raise UsageError(f"{spec} is not hf:NAME, hf:NAME:CONFIG, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT")
        if len(rest) == 1 and _SPLITS.fullmatch(rest[0]):
            return HubDataset(name, "", rest[0])
        return HubDataset(name, *[*rest, "", ""][:2])

    def state(self) -> str:
        """What was indexed from the hub once is not looked up there again."""
        return state_of(self._files()) if self.folder else ""

    def documents(self) -> Iterator[str]:
        yield from Table(self.spec, self._files(), self._column).documents()

    def _column(self, columns: Sequence[str], file: str) -> str:
        if "text" in columns:
            return "text"
        if len(columns) == 1:
            return columns[0]
        raise UsageError(
            f"{self.spec} has no column 'text'; {file} has {listed(columns)}: download it, name its column"
        )

    def _files(self) -> list[Path]:
        folder = self.folder
        if folder is None:
            return self._fetched()
        files = [path.relative_to(folder).as_posix() for path in files_below(folder, SUFFIXES)]
        return [folder / file for file in self._chosen(files)]

    def _fetched(self) -> list[Path]:
        from huggingface_hub import HfApi, hf_hub_download

        from carrara.tokens.hub import resolves

        try:
            if not resolves():
                raise ConnectionError("its address is not known on this network")
            for branch in _BRANCHES:
                files = HfApi().list_repo_files(self.name, repo_type="dataset", revision=branch)
                tables = [file for file in files if PurePosixPath(file).suffix in SUFFIXES]
                if tables:
                    return [
                        Path(hf_hub_download(self.name, file, repo_type="dataset", revision=branch))
                        for file in self._chosen(tables)
                    ]
        except UsageError:
            raise
        except Exception as error:  # of any library beneath the hub's client
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UsageError(
                f"the data set {self.spec} could not be fetched from the hub ({reason}); give a folder with its files"
            ) from error
        raise UsageError(f"{self.spec} has no Parquet or JSONL files on the hub: download its text, and add the folder")

    def _chosen(self, files: Sequence[str]) -> list[str]:
        """The files of the configuration and split, in order."""
        placed = [(_config(file), _split(file), file) for file in sorted(files)]
        configs = sorted({config for config, _, _ in placed})
        config = self.config or (configs[0] if len(configs) == 1 else "default" if "default" in configs else "")
        if config not in configs:
            raise UsageError(f"which configuration of hf:{self.name}? It has {listed(configs)}; write hf:NAME:CONFIG")
        splits = sorted({split for at, split, _ in placed if at == config})
        split = self.split or (splits[0] if len(splits) == 1 else "train")
        if split not in splits:
            part = f" (of {split} the hub has only a part)" if f"partial-{split}" in splits else ""
            raise UsageError(f"hf:{self.name} has no split {split!r}; it has {listed(splits)}{part}")
        return [file for at, of, file in placed if (at, of) == (config, split)]


def _config(file: str) -> str:
    """`20231101.en/train-00000-of-00041.parquet`, `default/test/0000.parquet`, `data/train.parquet`."""
    folders = [part for part in PurePosixPath(file).parts[:-1] if part != "data" and not _SPLITS.fullmatch(part)]
    return "/".join(folders) or "default"


def _split(file: str) -> str:
    path = PurePosixPath(file)
    if _SPLITS.fullmatch(path.parent.name):
        return path.parent.name
    found = _SPLIT_OF_STEM.fullmatch(path.stem)
    return found[1] if found else "train"
