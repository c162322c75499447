"""Training: stage after stage of stories without end, and the same weights whether it was stopped in between or not.

All that goes on from one step to the next is in the folder: weights, optimisers, the number of the next instance, and
what has been right of late. A step is decided by that alone, so a run that was killed goes on from where it last saved,
and comes to the same bits as one that was not.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from carrara import __version__
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.recurrent import checkpoint
from carrara.recurrent.batches import batch_of
from carrara.recurrent.checkpoint import Checkpoint, save_json, save_tensors, short
from carrara.recurrent.device import find_device, keep_freed_memory
from carrara.recurrent.muon import Muon
from carrara.recurrent.settings import Settings, Stage
from carrara.recurrent.stories import TOKENIZER, Stories
from carrara.recurrent.train_step import Lesson, StepResult
from carrara.recurrent.vocabulary import Ids, Vocabulary, build_vocabulary
from carrara.rng import Rng
from carrara.util.errors import RunError, UsageError

STATE, PROGRESS = "training.safetensors", "training.json"
MEMORY = 0.95
"""How much of what has been right of late is older than the last step."""
LEAST = 30
"""Steps of a stage before it can be learned."""
POINTS = 10
"""Steps between two points of the curve."""
SAVED = 60.0
"""Seconds between two savings."""
FITTING = 0.1
"""The share of a task's instances that must have room in a story, or the task waits for longer ones."""
FILLER = 400_000
"""Tokens of filler that a vocabulary is made from."""


@dataclass
class TrainProgress:
    """Where training is."""

    stage: int = 0
    step: int = 0
    """Of the stage."""
    total: int = 0
    tokens: int = 0
    loss: float = 0.0
    right: float = 0.0
    """Of late, of the questions after the last segment."""
    best: float = 0.0
    """Of the stage, the most that was right, and the step from which it was."""
    bettered: int = 0
    opened: float = 0.0
    """Of late, how far gates were open on segments that tell nothing."""
    seconds: float = 0.0
    """Of the processor, over all sessions."""
    indices: list[int] = field(default_factory=list[int])
    """Of the next instance of each task."""
    curve: list[list[float]] = field(default_factory=list[list[float]])
    """Step, loss, right, at each point."""
    learned: list[int] = field(default_factory=list[int])
    """The step at which each stage was."""


Watch = Callable[["Training"], None]


class Training:
    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        asked = Selection(",".join(settings.tasks), settings.params)
        firsts = item_ids(asked, Sampling(settings.seed, "train"), None, TOKENIZER)
        self.stories = [Stories(first, strewn=settings.strewn) for first in firsts]
        self.at = TrainProgress(indices=[0] * len(self.stories))
        self.device = find_device(settings.device)
        if not self._resume():
            torch.manual_seed(settings.seed)
            segment = max(stage.size for stage in settings.stages)
            words = None if settings.backbone else self._vocabulary()
            about = {"carrara": __version__, **settings.as_json()}
            self._begin(checkpoint.make(settings.kind, segment, settings.model, about, words, settings.backbone))
            self.save()

    # --- made, saved, found again ---

    def _vocabulary(self) -> Vocabulary:
        return build_vocabulary(
            (text for one in self.stories for text in one.texts()),
            (text for one in self.stories for text in one.filler(FILLER)),
        )

    def _begin(self, made: Checkpoint) -> None:
        settings = self.settings
        self.made, self.tongue = made, made.tongue
        self.model = made.model.to(self.device).train()
        self.lesson = Lesson(self.model, settings, self.device)
        inner = [p for name, p in self.model.named_parameters() if settings.muon and _inner(name, p)]
        ids = {id(p) for p in inner}
        rest = [p for p in self.model.parameters() if id(p) not in ids and p.requires_grad]
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(rest, settings.adam, betas=(0.9, 0.95), weight_decay=settings.decay)
        ]
        if inner:
            self.optimisers.append(Muon(inner, settings.muon))
        self._rates = [one.param_groups[0]["lr"] for one in self.optimisers]

    def save(self) -> None:
        """All of it, so that nothing is lost by whatever comes next."""
        self.at.indices = [one.index for one in self.stories]
        state = {f"model.{name}": tensor for name, tensor in checkpoint.weights(self.model).items()}
        for n, optimiser in enumerate(self.optimisers):
            for m, parts in optimiser.state_dict()["state"].items():
                state |= {f"optimiser.{n}.{m}.{name}": torch.as_tensor(part) for name, part in parts.items()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            checkpoint.save(self.folder, self.made)
            save_tensors(self.folder / STATE, state)
            save_json(self.folder / PROGRESS, {"settings": self.settings.as_json(), "at": asdict(self.at)})
        except OSError as error:
            raise RunError(
                f"{self.folder} cannot be written: {error.strerror or error}; what was saved before is still there"
            ) from None

    def _json(self) -> dict[str, Any]:
        """The settings as they are read again."""
        found: dict[str, Any] = json.loads(json.dumps(self.settings.as_json()))
        return found

    def _resume(self) -> bool:
        file = self.folder / PROGRESS
        if not file.exists():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} has other files in it: give a folder that is empty or not yet there")
            return False
        try:
            self._restore(file)
        except (AttributeError, LookupError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
            raise UsageError(
                f"the training in {self.folder} cannot be gone on with ({short(error)}): give another folder, or "
                f"remove this one to begin anew"
            ) from None
        return True

    def _restore(self, file: Path) -> None:
        read = json.loads(file.read_text("utf-8"))
        if read["settings"] != self._json():
            changed = [
                name
                for name, value in json.loads(json.dumps(self.settings.as_json())).items()
                if read["settings"].get(name) != value
            ]
            raise UsageError(
                f"{self.folder} was begun with other settings ({', '.join(changed)}): give them as they were, or "
                f"another folder"
            )
        self._begin(checkpoint.load(self.folder))
        self.at = TrainProgress(**read["at"])
        for one, index in zip(self.stories, self.at.indices, strict=True):
            one.index = index
        state = load_file(self.folder / STATE)
        own = {name.removeprefix("model."): tensor for name, tensor in state.items() if name.startswith("model.")}
        checkpoint.set_weights(self.model, own)
        for n, optimiser in enumerate(self.optimisers):
            whole = optimiser.state_dict()
            parts: dict[int, dict[str, Tensor]] = {}
            for name, tensor in state.items():
                if name.startswith(f"optimiser.{n}."):
                    _, _, m, part = name.split(".", 3)
                    parts.setdefault(int(m), {})[part] = tensor
            optimiser.load_state_dict({**whole, "state": parts})

    # --- one step after the other ---

    @property
    def done(self) -> bool:
        return self.at.stage >= len(self.settings.stages)

    def run(self, watch: Watch, most: int | None = None) -> None:
        """To the end of the course, or for so many steps."""
        keep_freed_memory()
        saved = time.monotonic()
        while not self.done and most != 0:
            self.step()
            most = None if most is None else most - 1
            watch(self)
            if time.monotonic() - saved > SAVED:
                self.save()
                saved = time.monotonic()
        self.save()

    @cached_property
    def _sizes(self) -> list[Ids]:
        return [one.sizes(self.tongue) for one in self.stories]

    def _fitting(self, tokens: int) -> list[Stories]:
        """The tasks of which enough instances have room in so many: the others wait for longer stories."""
        if len(self.stories) == 1:
            return self.stories
        found = [
            one for one, sizes in zip(self.stories, self._sizes, strict=True) if (sizes <= tokens).mean() >= FITTING
        ]
        return found or self.stories

    def step(self) -> None:
        began = time.process_time()
        at, stage = self.at, self.settings.stages[self.at.stage]
        rng = Rng("training", self.settings.seed, at.total)
        for optimiser, rate in zip(self.optimisers, self._rates, strict=True):
            first, last = stage.rate
            grown = min(1.0, (at.step + 1) / max(1, stage.warm))
            optimiser.param_groups[0]["lr"] = rate * grown * (first + (last - first) * at.step / max(1, stage.steps))
        count = rng.between(*stage.segments)
        fitting = self._fitting(count * stage.size)
        told = (rng.choice(fitting) for _ in range(stage.batch))
        batch = batch_of([one.sample(self.tongue, count, stage.size, self.settings.between) for one in told])
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        result = self.lesson.learn(batch, stage)
        if not math.isfinite(result.loss):
            raise RunError(
                f"the loss is no number at step {at.total}: what was saved before is in {self.folder}; take smaller "
                f"learning rates (`muon`, `adam`)"
            )
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        for optimiser in self.optimisers:
            optimiser.step()
        self._note(result, stage, count * stage.size * stage.batch, time.process_time() - began)

    def _note(self, result: StepResult, stage: Stage, tokens: int, seconds: float) -> None:
        at = self.at
        kept = min(MEMORY, at.step / (at.step + 1))
        at.loss = kept * at.loss + (1 - kept) * result.told
        at.right = kept * at.right + (1 - kept) * result.right
        if result.opened is not None:
            at.opened = kept * at.opened + (1 - kept) * result.opened
        at.step, at.total = at.step + 1, at.total + 1
        at.tokens, at.seconds = at.tokens + tokens, at.seconds + seconds
        if at.total % POINTS == 0:
            at.curve.append([at.total, round(at.loss, 4), round(at.right, 4)])
        if at.right > at.best or at.step <= LEAST:
            at.best, at.bettered = at.right, at.step
        still = bool(stage.patience) and at.step - at.bettered >= stage.patience
        if at.step >= stage.steps or still or (at.step >= LEAST and at.right >= stage.until):
            at.learned.append(at.total)
            at.stage, at.step, at.best, at.bettered = at.stage + 1, 0, 0.0, 0


def _inner(name: str, p: nn.Parameter) -> bool:
    """The matrices inside a model: not embeddings, places, gates or what says the answer."""
    outer = ("embedding", "places", "start", "reading", "writing", "gate", "head", "strength", "forget", "take")
    return p.ndim == 2 and min(p.shape) > 8 and not any(part in name for part in outer)
