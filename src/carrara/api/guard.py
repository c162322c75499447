"""Guards in Python."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from carrara.api.coerce import File, Lengths, lengths_of, whole
from carrara.api.run import beside_loop
from carrara.core.places import here
from carrara.guard import checks as guarding
from carrara.guard import guard_file as files

if TYPE_CHECKING:
    from carrara.models.function import Function


@dataclass(frozen=True, repr=False)
class Checked(guarding.Checked):
    """A check; it prints as `carrara guard check` does.

    `verdict` is `fine`, `broken`, `open` (it cannot be told yet) or `unchecked` (the server did not answer; `reason`
    says why). `code` is the exit code of the command.
    """

    def __repr__(self) -> str:
        return "\n".join(guarding.said(self))


def make_guard(
    model: "str | Function",
    /,
    *,
    out: File,
    capabilities: str = "",
    lengths: Lengths = "8k,32k,128k",
    n: int = 5,
    times: int = 3,
    work: File | None = None,
    tokenizer: str = "",
    base_url: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
    connections: int | None = None,
) -> files.Guard:
    """Items that a reference server answers reliably, written to the file `out`: `n` of each capability at each length.

    Its runs are kept in `work`, a folder beside the file: stopped at any moment, the same call goes on.
    """
    name, own = _whom(model)
    path = here(out)
    found = beside_loop(
        lambda: guarding.made(
            name,
            here(work) if work else path.with_name(path.name + ".runs"),
            capabilities=capabilities,
            lengths=lengths_of(lengths),
            wanted=whole("n", n, 1),
            times=whole("times", times, 2),
            tokenizer=tokenizer,
            base_url=base_url,
            model_args=model_args or {},
            max_tokens=max_tokens,
            connections=connections,
            own=own,
        )
    )
    files.write(found, path)
    return found


def check_guard(
    guard: files.Guard | File,
    model: "str | Function | None" = None,
    /,
    *,
    out: File | None = None,
    base_url: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    connections: int | None = None,
    most: int | None = None,
) -> Checked:
    """Whether a server is broken: a guard's items are asked again until that is known, or `most` prompts were."""
    known = guard if isinstance(guard, files.Guard) else files.read(here(guard))
    name, own = _whom(known.model if model is None else model)
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        found = beside_loop(
            lambda: guarding.checked(
                known,
                here(out or aside),
                model=name,
                base_url=base_url,
                model_args=model_args or {},
                connections=connections,
                most=None if most is None else whole("most", most, 1),
                own=own,
            )
        )
    return Checked(**{field.name: getattr(found, field.name) for field in fields(found)})


def _whom(model: "str | Function") -> tuple[str, Any]:
    if isinstance(model, str):
        return model, None
    from carrara.models.function import model_of, name_of

    return name_of(model), partial(model_of, model)
