"""A `carrara.Task` as the rest of the package calls it, until all of it calls tasks as they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from carrara.core.errors import Unsuited
from carrara.core.keys import Dice, Key
from carrara.core.types import Drawn, Fault, Frame, Message, Piece, Question, Room, Style, Tap, Test, Unit, World
from carrara.parts.layout import Told
from carrara.parts.plugin import described
from carrara.task import Instance, Rng, Task, opening_of


class Dealt(NamedTuple):
    """An instance, and the task with the values of its sweeps that made it."""

    task: Task
    instance: Instance


class Bridged(Test[Any, Dealt, Any]):
    def __init__(self, made: type[Task]) -> None:
        if missing := [
            name for name in ("version", "title", "capability", "answer", "wording") if not hasattr(made, name)
        ]:
            raise TypeError(f"{made.__name__} does not say its {', '.join(missing)}")
        self.made, self.parameters = made, made
        self.task = made()
        self.version, self.title, self.capability = made.version, made.title, made.capability  # type: ignore[misc]
        self.category, self.guesser, self.inherent = made.category, made.guesser, made.known_shortcuts  # type: ignore[misc]
        self.wording, self.keeps = made.wording, made.marks  # type: ignore[misc]
        self.verbatim, self.echoes = made.verbatim, made.echo_limit  # type: ignore[misc]
        self.sized = made.generate_sized is not Task.generate_sized  # type: ignore[misc]
        self.answers = made.answer

    def world(self, key: Key, params: Any, room: Room | None) -> World[Dealt]:
        task = params.dealt(key)
        instance = task.generate_sized(Rng(key), room)
        checked(instance)
        facts = instance.facts
        filler = instance.filler
        if filler is None and type(task).filler is not Task.filler:
            filler = lambda dice, _: _stream(task, dice)  # noqa: E731
        return World(
            structure=Dealt(task, instance),
            opening=opening_of(instance),
            updates=Told(facts) if facts and isinstance(facts[0], str) else facts,
            filler=filler,
            grit=instance.fine_filler,
            depths=instance.depths,
            timeless=instance.unordered,
            window=instance.window,
            spread=instance.spread,
        )

    def shortcuts(self, params: Any) -> Mapping[str, str]:
        return params.shortcuts()  # type: ignore[no-any-return]

    def given(self, params: Any, length: int) -> int | None:
        return params.given_count(length)  # type: ignore[no-any-return]

    def divided(self, params: Any) -> bool:
        return params.is_divided()  # type: ignore[no-any-return]

    def questions(self, world: World[Dealt], key: Key, params: Any) -> Sequence[Question[Any]]:
        return world.structure.task.questions(world.structure.instance)

    def frame(self, world: World[Dealt], question: Question[Any], wording: Mapping[str, str], style: Style) -> Frame:
        task, instance = world.structure
        return task.prompt(instance, question, wording, style)

    def solve(self, messages: Sequence[Message], wording: Mapping[str, str] | None = None) -> Any:
        return self.task.solve_prompt(messages, wording or self.wording)

    def write(self, answer: Any) -> str:
        return self.task.write(answer)

    def said_back(self, question: Question[Any]) -> Sequence[str]:
        return self.task.not_answers(question)

    def parse(self, reply: str, question: Question[Any]) -> Any:
        return self.task.parse(reply, question)

    def guess(self, dice: Dice, world: World[Dealt], question: Question[Any]) -> Any:
        task, instance = world.structure
        return task.guess(dice, instance, question)

    def score(self, answer: Any, question: Question[Any]) -> float:
        return self.task.score(answer, question)

    def trivial(self, question: Question[Any]) -> Mapping[str, str]:
        return self.task.trivial_baselines(question)

    def tricks(self, world: World[Dealt], question: Question[Any]) -> Mapping[str, str]:
        task, instance = world.structure
        return task.heuristics(instance, question)

    def drawn(self, world: World[Dealt]) -> Iterable[Drawn]:
        task, instance = world.structure
        draws = getattr(task, "draws", None)
        return draws(instance) if draws else ()

    def fault(self, answer: Any, question: Question[Any]) -> Fault | None:
        return self.task.error_type(answer, question)

    def published(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        return self.task.paper_scores(reply, question)


def checked(instance: object) -> None:
    """Raise unless what becomes text in an instance is text."""
    if not isinstance(instance, Instance):
        raise Unsuited(f"`generate` returned {described(instance)}, where a carrara.Instance is expected")
    texts = {"options": instance.options, "names": list(instance.names.values())}
    if not isinstance(instance.opening, tuple):
        texts["opening"] = [instance.opening]
    if instance.facts and not isinstance(instance.facts[0], tuple):
        texts["facts"] = instance.facts  # type: ignore[assignment]
    for name, values in texts.items():
        if wrong := [value for value in values if not isinstance(value, str)]:
            raise Unsuited(f"`{name}` of an Instance has {described(wrong[0])}, where a text is expected")
    if beyond := [one for one in instance.evidence or () if not 0 <= one < len(instance.facts)]:
        raise Unsuited(
            f"`evidence` of an Instance names fact {beyond[0]}, and there are {len(instance.facts)} (from 0)"
        )


def _stream(task: Task, dice: Dice) -> Tap:
    def stream(gap: int) -> Unit:
        if not isinstance(sentence := task.filler(dice), str):
            raise Unsuited(f"`filler` returned {described(sentence)}, where a text is expected")
        return (Piece(sentence),)

    return stream
