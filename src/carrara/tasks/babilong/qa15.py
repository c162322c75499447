"""qa15, basic deduction: what somebody is afraid of, because all of their kind are.

BABILong's fifteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa15", index=40).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Wolves are afraid of cats.
Cats are afraid of sheep.
Sheep are afraid of wolves.
Gertrude is a wolf.
Jessica is a cat.
Mice are afraid of sheep.
Emily is a mouse.
Winona is a mouse.
</context>
<BLANKLINE>
Question: What is gertrude afraid of?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Animal
from carrara.tasks.babilong._facts import FearOf, Fears, IsA, Solution
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import FEARFUL, Cast
from carrara.types import UndecidableError

QUESTIONS = 4


class Deduction(Babilong[FearOf]):
    version = 5
    number = 15
    title = "qa15: basic deduction"
    capability = "inferring a property of a member from its kind"
    known_shortcuts = {
        "the share of a kind of lines": "What many kinds fear is named often, as in bAbI.",
        "learned": "No kind is afraid of itself, and what many kinds fear is named often, as in bAbI.",
    }
    cast = FEARFUL
    queries = (FearOf,)
    unordered = True
    answer = Animal("animals")
    marker = r"(?P<subject>\w+) (?:are afraid of|is an?) (?P<value>\w+)"
    wording = prompt(
        "The context contains sentences about animals, their names and their fears, hidden among unrelated sentences. "
        "All animals of one kind, including those with names, are afraid of the same kind. Find out which kind the "
        "animal in the question is, and what that kind is afraid of.",
        "the kind of animal, in the singular",
        "Puffins are afraid of tapirs. Tapirs are afraid of stoats. Noor is a puffin. Priya is a tapir.\n"
        "Question: What is noor afraid of?\nFINAL ANSWER: tapir",
        "Geckos are afraid of puffins. Priya is a gecko. Stoats are afraid of geckos. Leilani is a stoat.\n"
        "Question: What is priya afraid of?\nFINAL ANSWER: puffin",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write what each kind is afraid of and who is of which kind, and ask what somebody is afraid of.

        A sound story asks about nobody twice.
        """
        builder = StoryBuilder(rng, self.find_answer)
        kinds: list[str] = []
        named_people: list[str] = []
        while len(kinds) < len(cast.animals) or len(named_people) < len(cast.people):
            # Draw blindly and again: the official order comes out of it.
            animal = rng.choice(cast.animals)
            if rng.chance(0.5):
                if animal not in kinds:
                    kinds.append(animal)
                    builder.add(Fears(animal, rng.choice([kind for kind in cast.animals if kind != animal])))
            else:
                who = rng.choice(cast.people)
                if who not in named_people and animal in kinds:
                    named_people.append(who)
                    builder.add(IsA(who, animal))
        for who in rng.shuffled(named_people) if self.sound else [rng.choice(named_people) for _ in range(QUESTIONS)]:
            builder.ask(FearOf(who))
        return builder.build(cast)

    def find_answer(self, history: History, query: FearOf) -> Solution:
        """Return what the kind of somebody is afraid of. Names in questions are in small letters."""
        for index, fact in reversed(history.all(IsA)):
            if fact.who.casefold() == query.who.casefold():
                for rule, fears in reversed(history.all(Fears)):
                    if fears.kind == fact.kind:
                        return Solution(fears.of, (index, rule))
                raise UndecidableError(f"what a {fact.kind} is afraid of, is not told")
        raise UndecidableError(f"what {query.who} is, is not told")
