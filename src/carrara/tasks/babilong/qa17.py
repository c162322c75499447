"""qa17, positional reasoning: how two figures lie to each other, by way of a third.

BABILong's seventeenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa17", index=41).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The red square is to the left of the blue square.
The blue square is to the left of the pink rectangle.
</context>
<BLANKLINE>
Question: Is the pink rectangle to the left of the red square?
"""

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Verdict
from carrara.tasks.babilong._facts import SIDES, STEP, IsBeside, Lies, Solution, opposite
from carrara.tasks.babilong._map import find_steps
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import FIGURES, Cast

QUESTIONS = 8


class Positions(Babilong[IsBeside]):
    number = 17
    title = "qa17: positional reasoning"
    capability = "adding up positions on a grid"
    cast = FIGURES
    queries = (IsBeside,)
    unordered = True
    answer = Verdict("yes", "no")
    marker = r"The (?P<subject>\w+ \w+) is .*\bthe (?P<value>\w+ \w+)\.$"
    wording = prompt(
        "The context contains sentences about shapes and their positions relative to each other, hidden among "
        "unrelated sentences. Imagine a grid: each hidden sentence places one shape exactly one square straight "
        "above, below, left or right of another. One shape is above another if its row is higher, whatever its "
        "column, and likewise for the other directions; in the same row neither is above the other, and in the same "
        "column neither is to the left.",
        "one word: yes or no",
        "The olive chevron is above the coral trefoil. The cream zigzag is to the right of the coral trefoil.\n"
        "Question: Is the olive chevron above the cream zigzag?\nFINAL ANSWER: yes",
        "The coral trefoil is below the cream zigzag. The olive chevron is below the coral trefoil.\n"
        "Question: Is the cream zigzag below the olive chevron?\nFINAL ANSWER: no",
        "The cream zigzag is to the left of the olive chevron. The coral trefoil is to the right of the olive "
        "chevron.\n"
        "Question: Is the coral trefoil above the cream zigzag?\nFINAL ANSWER: no",
    )

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write how two figures lie to a third one, and ask eight questions about these two.

        A sound story asks each question once, and as many with a yes as with a no.
        """
        builder = StoryBuilder(rng, self.find_answer)
        first, middle, last = rng.sample(cast.figures, 3)
        way, other_way = rng.choice(SIDES), rng.choice(SIDES)
        while other_way == way:  # both ends on the same spot
            other_way = rng.choice(SIDES)
        for end, direction in rng.shuffled([(first, way), (last, other_way)]):
            builder.add(Lies(end, direction, middle) if rng.chance(0.5) else Lies(middle, opposite(direction), end))
        by_answer: dict[str, list[IsBeside]] = {"yes": [], "no": []}
        for subject, reference in ((first, last), (last, first)):
            for query in (IsBeside(subject, side, reference) for side in SIDES):
                by_answer[self.find_answer(builder.history, query).answer].append(query)
        if self.sound:
            count = min(map(len, by_answer.values()))
            queries = rng.shuffled([query for group in by_answer.values() for query in rng.sample(group, count)])
        else:
            queries = [rng.choice(by_answer["yes" if rng.chance(0.5) else "no"]) for _ in range(QUESTIONS)]
        for query in queries:
            builder.ask(query)
        return builder.build(cast)

    def find_answer(self, history: History, query: IsBeside) -> Solution:
        """Add up the steps on a unit grid, from the first figure on. In one row neither figure is above the other."""
        steps = find_steps(history, query.subject, query.reference)
        x, y = STEP[query.way]
        offset = sum(STEP[direction][0] * x + STEP[direction][1] * y for direction, _ in steps)
        return Solution("yes" if offset < 0 else "no", tuple(index for _, index in steps))
