"""qa16, basic induction: which colour somebody has, concluded from another of the same kind.

BABILong's sixteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa16", index=3).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
Lily is a frog.
Lily is yellow.
Brian is a lion.
Julius is a swan.
Greg is a swan.
Bernhard is a lion.
Bernhard is gray.
Brian is yellow.
Julius is green.
</context>
<BLANKLINE>
Question: What color is Greg?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Label
from carrara.tasks.babilong._facts import ColourOf, Fact, Is, IsA, Solution
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import COLOURED, Cast
from carrara.types import UndecidableError

OWN_KIND = 0.68
"""How often an individual has its kind's colour and not any: fitted (60 % of pairs agree officially)."""
GROUPS = (2, 4, 5)
"""How many of a kind there are when one of them is asked about; officially never three."""


class Induction(Babilong[ColourOf]):
    number = 16
    title = "qa16: basic induction"
    capability = "inferring a property from another member of the kind"
    known_shortcuts = dict.fromkeys(
        ("strings", "learned"),
        "Few colors are said, and the last one is often right, as in bAbI.",
    )
    cast = COLOURED
    queries = (ColourOf,)
    answer = Label("colours")
    wording = prompt(
        "The context contains sentences about animals, their names, kinds and colours, hidden among unrelated "
        "sentences. The colour of one animal is not given: infer that it has the colour of another animal of its "
        "kind. If there are several others of its kind, only the one whose kind was stated last counts, whatever "
        "colours the rest have.",
        "the name of the colour",
        "Anders is a tapir. Noor is a gecko. Anders is olive. Noor is cream. Priya is a tapir.\n"
        "Question: What color is Priya?\nFINAL ANSWER: olive",
        "Kofi is a gecko. Priya is a gecko. Anders is a gecko. Priya is coral. Noor is a puffin. Kofi is cream. Noor "
        "is olive.\n"
        "Question: What color is Anders?\nFINAL ANSWER: coral",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write the kind and the colour of each animal, except for the colour of one, and ask for this colour.

        Officially the answer is the colour of the animal of the kind that was named last. Others may have another
        colour. In a sound story all animals of the kind have the same colour.
        """
        while True:
            kinds = {who: rng.choice(cast.animals) for who in cast.people}
            usual = {animal: rng.choice(cast.colours) for animal in cast.animals}
            facts: list[Fact] = []
            stage = dict.fromkeys(cast.people, 0)
            coloured: list[tuple[str, str]] = []
            while len(facts) < 2 * len(cast.people) - 1:
                who = rng.choice([who for who in cast.people if stage[who] < 2])
                if stage[who] == 0:
                    facts.append(IsA(who, kinds[who]))
                else:
                    colour = usual[kinds[who]] if rng.chance(OWN_KIND) else rng.choice(cast.colours)
                    facts.append(Is(who, colour))
                    coloured.append((kinds[who], colour))
                stage[who] += 1
            # The question is about the one animal without a colour.
            who = next(who for who in cast.people if stage[who] < 2)
            of_kind = {colour for kind, colour in coloured if kind == kinds[who]}
            if sum(kind == kinds[who] for kind in kinds.values()) in GROUPS and not (self.sound and len(of_kind) > 1):
                break
        builder = StoryBuilder(rng, self.find_answer)
        builder.add_all(facts)
        builder.ask(ColourOf(who))
        return builder.build(cast)

    def find_answer(self, history: History, query: ColourOf) -> Solution:
        """Return the colour of the animal of the same kind that was named last, as in the official files."""
        kinds = history.all(IsA)
        kind_fact = next(((index, fact.kind) for index, fact in reversed(kinds) if fact.who == query.who), None)
        if kind_fact is None:
            raise UndecidableError(f"what {query.who} is, is not told")
        kind_index, kind = kind_fact
        colours = {fact.who: (index, fact.quality) for index, fact in history.all(Is)}
        for index, fact in reversed(kinds):
            if fact.kind == kind and fact.who != query.who and fact.who in colours:
                colour_index, colour = colours[fact.who]
                return Solution(colour, (kind_index, index, colour_index))
        raise UndecidableError(f"no other {kind} has a colour")
