"""Training: stage after stage of stories without end. A training that was stopped resumes to the same weights.

The folder has everything that changes from one step to the next: weights, optimizers, the number of the next instance,
and the recent accuracy. A step depends on nothing else. So a killed training resumes from where it was saved last, and
ends with the same bits as one that was not killed.
"""

import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from carrara._version import __version__
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.recurrent import checkpoint
from carrara.recurrent.checkpoint import Checkpoint, error_line, save_json, save_tensors
from carrara.recurrent.dataset import batch_of
from carrara.recurrent.device import find_device, keep_freed_memory
from carrara.recurrent.settings import Settings, Stage
from carrara.recurrent.stories import TOKENIZER, Stories
from carrara.recurrent.train_step import StepResult, TrainStep
from carrara.recurrent.vocabulary import Ids, build_vocabulary
from carrara.rng import Rng
from carrara.util.errors import RunError, UsageError


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """Return the nearest matrix whose singular values are all near 1, by Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x: Tensor = matrix / (matrix.norm() + 1e-7)
    is_tall = x.shape[0] > x.shape[1]
    if is_tall:
        x = x.T
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if is_tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, params: Iterable[nn.Parameter], lr: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                momentum = state["momentum"].mul_(group["momentum"]).add_(p.grad)
                update = orthogonal(p.grad.add(momentum, alpha=group["momentum"]))
                p.add_(update, alpha=-group["lr"] * max(1, p.shape[0] / p.shape[1]) ** 0.5)


STATE, PROGRESS = "training.safetensors", "training.json"
MEMORY = 0.95
"""The weight of earlier steps in the recent loss and accuracy."""
LEAST = 30
"""The fewest steps of a stage that ends early."""
POINTS = 10
"""The steps between two points of the curve."""
SAVED = 60.0
"""The seconds between two checkpoints."""
FITTING = 0.1
"""The share of a task's instances that must fit into a story. A task with fewer waits for longer stories."""
FILLER = 400_000
"""The tokens of filler from which a vocabulary is made."""


@dataclass
class TrainState:
    """The progress of a training."""

    stage: int = 0
    step: int = 0
    """Steps of the stage."""
    total: int = 0
    """Steps of all stages."""
    tokens: int = 0
    loss: float = 0.0
    accuracy: float = 0.0
    """The recent share of right answers to the questions after the last segment."""
    best: float = 0.0
    """The greatest accuracy in the stage."""
    best_step: int = 0
    """The step of the stage with the greatest accuracy."""
    gate: float = 0.0
    """The recent mean opening of the gates on segments without facts."""
    seconds: float = 0.0
    """Processor time of all sessions."""
    indices: list[int] = field(default_factory=list[int])
    """The number of the next instance of each task."""
    curve: list[list[float]] = field(default_factory=list[list[float]])
    """Step, loss and accuracy at each point."""
    stage_ends: list[int] = field(default_factory=list[int])
    """The last step of each stage that has ended."""


Watch = Callable[["Training"], None]


class Training:
    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        selection = Selection(",".join(settings.tasks), settings.params)
        firsts = item_ids(selection, Sampling(settings.seed, "train"), None, TOKENIZER)
        self.stories = [Stories(first, distractors=settings.distractors) for first in firsts]
        self.state = TrainState(indices=[0] * len(self.stories))
        self.device = find_device(settings.device)
        if not self._resume():
            torch.manual_seed(settings.seed)
            segment = max(stage.size for stage in settings.stages)
            words = None
            if not settings.backbone:
                texts = (text for stories in self.stories for text in stories.texts())
                filler = (sentence for stories in self.stories for sentence in stories.filler(FILLER))
                words = build_vocabulary(texts, filler)
            about = {"carrara": __version__, **settings.as_json()}
            self._begin(checkpoint.make(settings.kind, segment, settings.model, about, words, settings.backbone))
            self.save()

    # --- begin, save, resume ---

    def _begin(self, trained: Checkpoint) -> None:
        settings = self.settings
        self.checkpoint, self.codec = trained, trained.codec
        self.model = trained.model.to(self.device).train()
        self.train_step = TrainStep(self.model, settings, self.device)
        inner = [p for name, p in self.model.named_parameters() if settings.muon and _is_inner_matrix(name, p)]
        ids = {id(p) for p in inner}
        rest = [p for p in self.model.parameters() if id(p) not in ids and p.requires_grad]
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(rest, settings.adam, betas=(0.9, 0.95), weight_decay=settings.decay)
        ]
        if inner:
            self.optimizers.append(Muon(inner, settings.muon))
        self._rates = [optimizer.param_groups[0]["lr"] for optimizer in self.optimizers]

    def save(self) -> None:
        """Write the state of the training into its folder."""
        self.state.indices = [stories.index for stories in self.stories]
        state = {f"model.{name}": tensor for name, tensor in checkpoint.weights(self.model).items()}
        for n, optimizer in enumerate(self.optimizers):
            for m, parts in optimizer.state_dict()["state"].items():
                state |= {f"optimizer.{n}.{m}.{name}": torch.as_tensor(part) for name, part in parts.items()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            checkpoint.save(self.folder, self.checkpoint)
            save_tensors(self.folder / STATE, state)
            save_json(self.folder / PROGRESS, {"settings": self.settings.as_json(), "state": asdict(self.state)})
        except OSError as error:
            raise RunError(
                f"{self.folder} cannot be written: {error.strerror or error}; the last checkpoint is still there"
            ) from None

    def _json(self) -> dict[str, Any]:
        """Return the settings as they are read from the folder."""
        as_read: dict[str, Any] = json.loads(json.dumps(self.settings.as_json()))
        return as_read

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
                f"the training in {self.folder} cannot be resumed ({error_line(error)}): give another folder, or "
                f"remove this one to start again"
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
                f"{self.folder} was begun with other settings ({', '.join(changed)}): give the same settings, or "
                f"another folder"
            )
        self._begin(checkpoint.load(self.folder))
        self.state = TrainState(**read["state"])
        for stories, index in zip(self.stories, self.state.indices, strict=True):
            stories.index = index
        state = load_file(self.folder / STATE)
        weights = {name.removeprefix("model."): tensor for name, tensor in state.items() if name.startswith("model.")}
        checkpoint.set_weights(self.model, weights)
        for n, optimizer in enumerate(self.optimizers):
            saved = optimizer.state_dict()
            parts: dict[int, dict[str, Tensor]] = {}
            for name, tensor in state.items():
                if name.startswith(f"optimizer.{n}."):
                    _, _, m, part = name.split(".", 3)
                    parts.setdefault(int(m), {})[part] = tensor
            optimizer.load_state_dict({**saved, "state": parts})

    # --- steps ---

    @property
    def done(self) -> bool:
        return self.state.stage >= len(self.settings.stages)

    def run(self, watch: Watch, most: int | None = None) -> None:
        """Train to the end, or for a number of steps."""
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
        return [stories.sizes(self.codec) for stories in self.stories]

    def _fitting(self, tokens: int) -> list[Stories]:
        """Return the tasks of which enough instances fit into a number of tokens."""
        if len(self.stories) == 1:
            return self.stories
        fitting = [
            stories
            for stories, sizes in zip(self.stories, self._sizes, strict=True)
            if (sizes <= tokens).mean() >= FITTING
        ]
        return fitting or self.stories

    def step(self) -> None:
        began = time.process_time()
        state, stage = self.state, self.settings.stages[self.state.stage]
        rng = Rng("training", self.settings.seed, state.total)
        for optimizer, rate in zip(self.optimizers, self._rates, strict=True):
            first, last = stage.rate
            grown = min(1.0, (state.step + 1) / max(1, stage.warmup))
            optimizer.param_groups[0]["lr"] = rate * grown * (first + (last - first) * state.step / max(1, stage.steps))
        count = rng.between(*stage.segments)
        fitting = self._fitting(count * stage.size)
        chosen = (rng.choice(fitting) for _ in range(stage.batch))
        samples = [stories.sample(self.codec, count, stage.size, self.settings.ask_after_each) for stories in chosen]
        most = self.settings.microbatch_tokens
        part = max(1, most // (count * stage.size)) if most else stage.batch
        batches = [batch_of(samples[first : first + part]) for first in range(0, stage.batch, part)]
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        result = self.train_step.run(batches, stage)
        if not math.isfinite(result.loss):
            raise RunError(
                f"the loss is not a number at step {state.total}: the last checkpoint is in {self.folder}; take "
                f"smaller learning rates (`muon`, `adam`)"
            )
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        for optimizer in self.optimizers:
            optimizer.step()
        self._record_step(result, stage, count * stage.size * stage.batch, time.process_time() - began)

    def _record_step(self, result: StepResult, stage: Stage, tokens: int, seconds: float) -> None:
        state = self.state
        weight = min(MEMORY, state.step / (state.step + 1))
        state.loss = weight * state.loss + (1 - weight) * result.final_loss
        state.accuracy = weight * state.accuracy + (1 - weight) * result.accuracy
        if result.gate is not None:
            state.gate = weight * state.gate + (1 - weight) * result.gate
        state.step, state.total = state.step + 1, state.total + 1
        state.tokens, state.seconds = state.tokens + tokens, state.seconds + seconds
        if state.total % POINTS == 0:
            state.curve.append([state.total, round(state.loss, 4), round(state.accuracy, 4)])
        if state.accuracy > state.best or state.step <= LEAST:
            state.best, state.best_step = state.accuracy, state.step
        is_stalled = bool(stage.patience) and state.step - state.best_step >= stage.patience
        if state.step >= stage.steps or is_stalled or (state.step >= LEAST and state.accuracy >= stage.until):
            state.stage_ends.append(state.total)
            state.stage, state.step, state.best, state.best_step = state.stage + 1, 0, 0.0, 0


def _is_inner_matrix(name: str, p: nn.Parameter) -> bool:
    """Return whether a parameter is a matrix inside the model: no embedding, position, gate or output layer."""
    outer = ("embedding", "places", "start", "reading", "writing", "gate", "head", "strength", "forget", "take")
    return p.ndim == 2 and min(p.shape) > 8 and not any(part in name for part in outer)
