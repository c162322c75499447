"""Kinds of things, and sentences about a thing whose other words say nothing of its kind.

No word is of two kinds, and no sentence names a second thing.
"""

import re
from functools import cache

from carrara.generators.people import CITIES, DAYS, MONTHS, NAMES
from carrara.rng import Rng


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


KINDS: dict[str, tuple[str, ...]] = {
    "birds": _split(
        "herons sparrows owls pelicans magpies finches ravens pigeons storks puffins woodpeckers starlings gulls "
        "wrens ostriches pheasants nightingales parrots vultures kingfishers"
    ),
    "fish": _split(
        "trout herring salmon mackerel sardines carp cod haddock tuna anchovies halibut catfish sturgeon piranhas "
        "minnows goldfish turbot swordfish barracudas eels"
    ),
    "mammals": _split(
        "badgers hedgehogs elephants giraffes wolves squirrels otters foxes rabbits zebras camels deer beavers "
        "leopards hamsters antelopes buffaloes lynxes porcupines kangaroos"
    ),
    "insects": _split(
        "beetles wasps ants moths butterflies grasshoppers ladybirds dragonflies mosquitoes termites cockroaches "
        "fleas hornets bumblebees earwigs mayflies houseflies aphids fireflies locusts"
    ),
    "trees": _split(
        "oaks birches willows maples elms poplars cedars larches spruces beeches sycamores cypresses alders "
        "aspens redwoods yews hornbeams firs pines lindens"
    ),
    "fruit": _split(
        "plums cherries apricots mangoes bananas raspberries pineapples grapes melons strawberries peaches pears "
        "figs papayas blueberries gooseberries lemons apples quinces tangerines"
    ),
    "vegetables": _split(
        "turnips carrots leeks cabbages onions spinach radishes cauliflowers parsnips asparagus broccoli celery "
        "lettuces potatoes artichokes beetroots kale kohlrabi shallots chard"
    ),
    "musical instruments": _split(
        "violins trumpets flutes cellos pianos clarinets harps trombones oboes banjos accordions bassoons "
        "xylophones mandolins saxophones tambourines tubas bagpipes harpsichords guitars"
    ),
    "clothes": _split(
        "trousers jackets scarves gloves skirts blouses socks pyjamas cardigans sweaters waistcoats kilts shirts "
        "dresses overcoats mittens stockings raincoats dungarees aprons"
    ),
    "tools": _split(
        "chisels hammers screwdrivers pliers saws spanners crowbars axes spades rakes sickles trowels pitchforks "
        "hacksaws mallets tweezers sledgehammers pickaxes shovels corkscrews"
    ),
    "furniture": _split(
        "wardrobes armchairs sofas bookcases stools cupboards desks benches sideboards cradles dressers "
        "footstools tables chairs beds couches nightstands bookshelves bedsteads deckchairs"
    ),
    "vehicles": _split(
        "lorries bicycles trams tractors ambulances taxis buses motorcycles helicopters canoes ferries scooters "
        "submarines vans hovercraft locomotives minibuses gliders rickshaws sailboats"
    ),
    "metals": _split(
        "zinc copper iron silver gold aluminium nickel platinum tungsten titanium cobalt chromium magnesium "
        "bronze steel manganese uranium lithium palladium bismuth"
    ),
    "parts of the body": _split(
        "elbows knees ankles shoulders thumbs eyebrows kidneys lungs wrists cheeks livers spines toes ribs "
        "foreheads fingernails thighs jaws noses ears"
    ),
    "professions": _split(
        "plumbers bakers dentists carpenters nurses pilots barbers lawyers shepherds firefighters butchers "
        "librarians surgeons electricians tailors gardeners accountants translators blacksmiths hairdressers"
    ),
    "drinks": _split(
        "cider coffee tea lemonade beer whisky cocoa champagne rum wine gin vodka milk mead brandy espresso "
        "sherry buttermilk cognac cappuccino"
    ),
    "weather": _split(
        "thunderstorms hail fog drizzle blizzards hurricanes frost sleet heatwaves tornadoes gales snowfall "
        "downpours typhoons monsoons mist cloudbursts sunshine breezes cyclones"
    ),
    "sports": _split(
        "tennis football rowing fencing badminton volleyball judo archery hockey rugby wrestling basketball "
        "skiing gymnastics golf handball boxing baseball karate snooker"
    ),
    "buildings": _split(
        "castles barns churches lighthouses warehouses cottages hospitals factories chapels skyscrapers windmills "
        "mosques prisons theatres bungalows palaces greenhouses synagogues museums cathedrals"
    ),
}
TEMPLATES = (
    "{who} gave a talk about {thing} in {city}.",
    "On {day} {who} read a book about {thing}.",
    "{who} and {other} talked about {thing} on {day}.",
    "In {city}, {who} asked a stranger about {thing}.",
    "{who} dreamt about {thing} in {month}.",
    "Nobody in {city} knows more about {thing} than {who}.",
    "{who} wrote to {other} about {thing} in {month}.",
    "A film about {thing} reminded {who} of {city}.",
    "{who} has collected pictures of {thing} since {month}.",
    "For {other}, {who} looked up some facts about {thing}.",
    "{who} told a joke about {thing} on the way to {city}.",
    "In {month}, {who} changed the subject to {thing}.",
)


def write_sentence(rng: Rng, thing: str) -> str:
    """Return a sentence about a thing."""
    who, other_name = rng.sample(NAMES, 2)
    return rng.choice(TEMPLATES).format(
        who=who,
        other=other_name,
        thing=thing,
        city=rng.choice(CITIES),
        day=rng.choice(DAYS),
        month=rng.choice(MONTHS),
    )


def kind_of(sentence: str) -> str:
    """Return the kind of the thing that a sentence is about. Empty if it names none.

    >>> kind_of("Nora gave a talk about herons in Yarrow.")
    'birds'
    """
    kinds = {_kinds()[word] for word in re.findall(r"[a-z]+", sentence) if word in _kinds()}
    return kinds.pop() if len(kinds) == 1 else ""


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind, words in KINDS.items() for word in words}
