"""qa18, size reasoning: which of two things is bigger, by way of a third.

BABILong's eighteenth task (arXiv:2406.10149). One item without a haystack, after its instruction, examples and rule:

>>> from carrara.items.item import make
>>> print(make("babilong/qa18", index=44).text.rpartition("<context> ")[2].replace(". ", ".\\n"))
The box is bigger than the box of chocolates.
The suitcase is bigger than the container.
The chest is bigger than the chocolate.
The box of chocolates is bigger than the chocolate.
The box fits inside the suitcase.
</context>
<BLANKLINE>
Question: Is the box bigger than the chocolate?
"""

from collections.abc import Sequence

from carrara.rng import Rng
from carrara.tasks.babilong._answers import Verdict
from carrara.tasks.babilong._facts import Fits, IsBigger, Solution
from carrara.tasks.babilong._story import History, Story, StoryBuilder
from carrara.tasks.babilong._task import Babilong, prompt
from carrara.tasks.babilong._words import CONTAINERS, Cast
from carrara.types import UndecidableError

BLOCK = 5
QUESTIONS = 5
AGAIN = 0.012
"""How often a story breaks off after three or four questions, writes another block and asks the rest."""


class Sizes(Babilong[IsBigger]):
    version = 5
    number = 18
    title = "qa18: size reasoning"
    capability = "chaining comparisons"
    cast = CONTAINERS
    queries = (IsBigger,)
    unordered = True
    answer = Verdict("yes", "no")
    marker = r"The (?P<subject>[\w ]+?) (?:fits inside|is bigger than) the (?P<value>[\w ]+)\.$"
    wording = prompt(
        "The context contains sentences about the sizes of things, hidden among unrelated sentences. A thing that "
        "fits inside another is smaller than it, and of two things the smaller fits inside the bigger. Sizes form "
        "chains: whatever is bigger than a thing is also bigger than everything smaller than that thing.",
        "one word: yes or no",
        "The matchbox fits inside the shoebox. The caravan is bigger than the shoebox.\n"
        "Question: Does the matchbox fit in the caravan?\nFINAL ANSWER: yes",
        "The caravan is bigger than the shoebox. The caravan fits inside the lorry. The lorry is bigger than the "
        "matchbox.\n"
        "Question: Is the shoebox bigger than the lorry?\nFINAL ANSWER: no",
    )

    def guesses(self, query: IsBigger, cast: Cast) -> Sequence[str]:
        """Return the answer that the two things give away, since boxes are larger than chocolates in every story."""
        smallest, _, *containers = cast.sizes
        if query.large in containers and query.small in containers:
            return self.options(query, cast)
        return ("yes" if query.small == smallest or query.large in containers else "no",)

    def story(self, rng: Rng, cast: Cast) -> Story:
        """Write what is bigger than what, in blocks of five until two facts make a chain, and ask five questions on it.

        A sound story has no fact and no question twice. Each question needs both facts of the one chain that answers
        it, and is about containers, any of which may be the bigger one: that a box holds more than a chocolate is known
        without the story.
        """
        builder = StoryBuilder(rng, self.find_answer)
        order = [*cast.sizes[:2], *rng.shuffled(cast.sizes[2:])]
        if self.sound:
            facts, pairs = _one_block(rng, order)
            builder.add_all(facts)
            queries = [
                IsBigger(large, small, fits)
                for pair in pairs
                for large, small in (pair, pair[::-1])
                for fits in (False, True)
            ]
            for query in rng.sample(queries, min(QUESTIONS, len(queries))):
                builder.ask(query)
            return builder.build(cast)
        fits: list[tuple[int, Fits]] = []
        quota = [QUESTIONS]
        if rng.chance(AGAIN):
            quota = [QUESTIONS - rng.between(1, 2), QUESTIONS]
        for questions in quota:
            chained: list[tuple[str, str]] = []
            while not chained:
                fits += [(builder.add(fact), fact) for fact in _block(rng, order)]
                chained = _chain_pairs(fits, order)
            for _ in range(questions):
                builder.ask(_draw_question(rng, *rng.choice(chained)))
        return builder.build(cast)

    def find_answer(self, history: History, query: IsBigger) -> Solution:
        """Look for a chain of two facts, and for one fact or a longer chain where there is none.

        In the official files any chain may be the support; here it is the first one. The support of a yes begins at the
        large end of the chain, that of a no at the small end.
        """
        fits = history.all(Fits)
        for find in (_first_chain, _climb):
            for answer, small, large in (("yes", query.small, query.large), ("no", query.large, query.small)):
                if up := find(fits, small, large):
                    return Solution(answer, up if answer == "no" else up[::-1])
        raise UndecidableError(f"nothing compares the {query.large} with the {query.small}")


def _block(rng: Rng, order: list[str]) -> list[Fits]:
    facts: list[Fits] = []
    for _ in range(BLOCK):
        small, large = sorted(rng.sample(range(len(order)), 2))
        facts.append(Fits(order[small], order[large]))
    return facts


def _chain_pairs(fits: list[tuple[int, Fits]], order: list[str]) -> list[tuple[str, str]]:
    """Return the pairs that a chain of two facts joins, once for each chain."""
    return [
        (small, large) for i, small in enumerate(order) for large in order[i + 1 :] for _ in chains(fits, small, large)
    ]


def chains(fits: list[tuple[int, Fits]], small: str, large: str) -> list[tuple[int, int]]:
    """Return all pairs of facts that lead from the small thing over a third to the large one, earliest first."""
    return [
        (i, j)
        for i, lower in fits
        if lower.small == small
        for j, upper in fits
        if lower.large == upper.small and upper.large == large
    ]


def _first_chain(fits: list[tuple[int, Fits]], small: str, large: str) -> tuple[int, ...]:
    return next(iter(chains(fits, small, large)), ())


def _draw_question(rng: Rng, small: str, large: str) -> IsBigger:
    """Return a question whose answer is yes or no, in either wording."""
    if rng.chance(0.5):
        small, large = large, small
    return IsBigger(large, small, fits=rng.chance(0.5))


def _one_block(rng: Rng, order: list[str]) -> tuple[list[Fits], list[tuple[str, str]]]:
    """Return facts, and the pairs of things that one chain of two facts compares, and no other fact or chain."""
    while True:
        facts = list(dict.fromkeys(_block(rng, order)))
        pairs = [
            (lower.small, upper.large)
            for lower in facts
            for upper in facts
            if lower.large == upper.small
            and _count_chains(facts, lower.small, upper.large) == 1
            and lower.small in order[2:]
        ]
        if pairs and len(facts) == BLOCK:
            return facts, pairs


def _count_chains(facts: list[Fits], small: str, large: str) -> int:
    """Return how many chains of facts lead from the small thing to the large one."""
    return sum(
        1 if fact.large == large else _count_chains(facts, fact.large, large) for fact in facts if fact.small == small
    )


def _climb(fits: list[tuple[int, Fits]], small: str, large: str) -> tuple[int, ...]:
    """Return the facts of a shortest chain from small to large, breadth first; none if there is no chain."""
    previous: dict[str, tuple[str, int]] = {}
    queue = [small]
    for here in queue:
        for index, fact in fits:
            if fact.small == here and fact.large not in previous and fact.large != small:
                previous[fact.large] = here, index
                queue.append(fact.large)
    up: list[int] = []
    here = large
    while here in previous:
        here, index = previous[here]
        up.append(index)
    return tuple(up[::-1])
