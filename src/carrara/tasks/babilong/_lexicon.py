"""The words of the `fresh` vocabulary: data only.

None of them is an official bAbI word, none has two roles, and each fits every sentence of its role: one goes *to* and
is *in* the place, one takes and carries the thing, a container may be of any size.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


WOMEN = _words(
    """
    Abigail Adele Agatha Agnes Alba Alice Alma Amelia Anita Annika Arabella Astrid Aurelia Beatrice Benedetta Bertha
    Birgit Bridget Camilla Carla Carmen Caroline Cecilia Celeste Chiara Clara Claudia Clementine Cordelia Cornelia
    Dagmar Daphne Deborah Delia Diana Dolores Dora Dorothea Edith Eleanor Elena Elsa Elvira Emma Esther Eugenia Eva
    Evelyn Felicia Fernanda Fiona Flora Florence Frederica Gabriela Geraldine Gloria Greta Gudrun Hannah Harriet
    Hedwig Helen Helga Henrietta Hilda Hortense Ida Ilse Imogen Ines Ingrid Irene Isabel Isolde Janet Jemima Joanna
    Josephine Judith Juliana Karin Katarina Lavinia Leonora Letizia Linda Louisa Lucia Ludmila Lydia Magda Magnolia
    Marcella Margaret Mariana Marta Matilda Maud Meredith Mildred Minerva Miranda Monica Nadia Natalia Nora Octavia
    Odette Olga Olivia Ophelia Pamela Patricia Paula Penelope Petra Philippa Priscilla Ramona Rebecca Regina Renata
    Rosalind Roxana Sabina Selma Serena Sigrid Sofia Susanna Sylvia Tamara Tatiana Teresa Theodora Ulrike Ursula
    Valeria Veronica Victoria Viola Virginia Wilhelmina Xenia Yolanda Yvette Zelda Zuzana
    """
)

MEN = _words(
    """
    Aaron Achim Adrian Albert Aldo Alfred Alonso Ambrose Andreas Anselm Anton Archibald Armando Arnold Arthur August
    Axel Baldwin Barnaby Bartholomew Basil Benedict Benjamin Bernardo Boris Bruno Carlos Cedric Charles Christoph
    Clarence Claude Clement Conrad Cornelius Cyril Damian Dietrich Dimitri Dominic Donald Duncan Edgar Edmund Edward
    Egbert Elias Emil Enrico Ernest Eugene Fabian Felix Ferdinand Fernando Florian Francis Franz Frederick Gerald
    Gilbert Giovanni Godfrey Gordon Gregor Guido Gunther Gustav Hans Harald Harold Hector Heinrich Henry Herbert
    Hermann Horace Howard Hubert Hugo Humphrey Igor Isaac Ivan Jasper Jeremiah Joachim Johannes Jonathan Joseph
    Kasper Kenneth Klaus Konstantin Lambert Laurence Leonard Leopold Lionel Lorenzo Lothar Ludwig Luigi Magnus
    Malcolm Manfred Marcel Marcus Martin Matthias Maurice Maximilian Michael Milan Miles Mortimer Nathaniel Neville
    Nicholas Norbert Olaf Oliver Orlando Oscar Oswald Otto Pablo Patrick Percival Peter Philip Pierre Quentin Rafael
    Ralph Raymond Reginald Reinhard Richard Robert Roderick Roland Rupert Samuel Sebastian Siegfried Sigmund Simon
    Stanley Stefan Sylvester Thaddeus Theodore Thomas Tobias Tristan Ulrich Valentin Vernon Victor Vincent Vladimir
    Waldemar Walter Wenceslas Wendell Werner Wilfred Wilhelm William Winston Wolfgang Xavier Zachary
    """
)

PLACES = _phrases(
    """
    abbey, airport, alley, aquarium, arboretum, arcade, archive, armoury, arsenal, atrium, auditorium, aviary,
    bakery, ballroom, banquet hall, barn, basement, bazaar, boathouse, boiler room, bookshop, boutique,
    brewery, brickyard, bunker, butchery, cabin, casino, castle, cathedral, cave, cellar, cemetery, church,
    classroom, cloakroom, cloister, clubhouse, conservatory, convent, corridor, cottage, courthouse, courtyard,
    cowshed, crypt, dairy, darkroom, dining room, distillery, dockyard, dungeon, embassy, factory, farmhouse,
    forest, forge, fortress, foundry, foyer, gallery, garage, gatehouse, grain store, granary, greenhouse, grotto,
    guardroom, guest room, guildhall, hangar, hayloft, hospital, hostel, hothouse, hotel, ice rink, inn, jail,
    jungle, laboratory, larder, laundry, lighthouse, lobby, lodge, lounge, lumberyard, maze, meadow, mill, mine,
    monastery, mosque, museum, nunnery, orangery, orchard, outhouse, palace, parlour, pavilion, planetarium,
    playground, powder room, prison, pumping station, pub, quarry, reading room, rectory, refinery, restaurant,
    saloon, salon, sawmill, schoolyard, shed, shipyard, showroom, smithy, smokehouse, spa, stable, stadium,
    stairwell, station, steelworks, stockroom, storeroom, study, sunroom, synagogue, tannery, tavern, tea room,
    temple, throne room, toolshed, tower, town hall, toy shop, treasury, tunnel, valley, vault, vestry, vicarage,
    village, vineyard, waiting room, warehouse, watchtower, windmill, wine bar, winery, zoo
    """
)

THINGS = _phrases(
    """
    accordion, alarm clock, almanac, anchor, apron, atlas, banjo, banner, bassoon, bell, belt, blanket,
    bonnet, bracelet, bread knife, broom, brooch, cactus, calculator, calendar, camera, candle, candlestick, cello,
    chalk, chessboard, chisel, clarinet, cloak, coat hanger, coconut, colander, cork, corkscrew, crayon, crossbow,
    crowbar, crown, cucumber, cushion, dagger, diary, dictionary, doorknob, drum, duster, earring, encyclopedia,
    eraser, fan, feather, fiddle, fishing rod, flag, flashlight, flute, fork, frying pan, garlic, glove, goblet,
    gong, grapefruit, guitar, hairbrush, hairpin, hammock, handkerchief, harmonica, harp, hatchet,
    helmet, hoe, horseshoe, hourglass, ink, inkwell, jacket, javelin, kettle, keyboard, kite, ladder, ladle, lamp,
    lantern, laptop, lasso, leaflet, lemon, letter, lipstick, lute, magazine, magnet, magnifying glass, mandolin,
    map, marble, mattress, melon, microphone, microscope, mirror, mop, mug, napkin, necklace, needle, newspaper,
    notebook, oar, oboe, onion, padlock, paddle, pamphlet, paperweight, parasol, parchment, parcel, passport, pear,
    pencil, pendulum, pickaxe, pineapple, pitchfork, plate, poker, portrait, postcard, potato, pumpkin,
    puppet, quill, quilt, radio, rake, raincoat, razor, recorder, ribbon, rope, rug, ruler, saddle, sandal,
    sandwich, saucepan, saw, saxophone, scarf, sceptre, screwdriver, scroll, shawl, shield, shovel, sickle, skillet,
    sledgehammer, slipper, spade, spanner, spatula, spear, spinning wheel, sponge, spoon, stapler, statue,
    stethoscope, stool, suit, sundial, sword, tablecloth, tambourine, tape measure, tapestry, teapot, tennis racket,
    thermometer, ticket, toaster, tomato, toothbrush, torch, tray, trombone, trophy, trowel, trumpet, turnip,
    tuxedo, typewriter, umbrella, vase, violin bow, waistcoat, walking stick, watch, watering can, watermelon, whip,
    whistle, wig, wreath, wrench, xylophone, yardstick
    """
)

ANIMALS = _words(
    """
    alligator alpaca ant antelope armadillo baboon badger bat bear beaver bee beetle bison boar buffalo butterfly
    camel caterpillar cheetah chicken chimpanzee cobra cockroach coyote crab cricket crocodile crow deer dingo dog
    dolphin donkey dormouse dove dragonfly duck eagle eel elephant falcon ferret flamingo fly fox gazelle gibbon
    giraffe goat goose gorilla grasshopper hamster hare hawk hedgehog heron hippo hornet horse hyena ibex iguana
    jackal jaguar kangaroo koala ladybird lemur leopard lizard llama lobster locust lynx magpie mole mongoose monkey
    moose moth mule newt ocelot octopus orangutan ostrich otter owl ox panda panther parrot peacock pelican penguin
    pig pigeon pony porcupine porpoise puma quail rabbit raccoon rat raven reindeer salamander scorpion seagull
    seahorse seal shark skunk sloth slug snail snake sparrow spider squid squirrel stork tiger toad tortoise turkey
    turtle vulture walrus wasp weasel whale wombat woodpecker yak zebra
    """
)

COLOURS = _words(
    """
    amber auburn azure beige black bronze brown burgundy charcoal chestnut cobalt copper crimson cyan ebony emerald
    fawn fuchsia ginger golden hazel indigo ivory jade khaki lilac magenta maroon mauve mustard navy ochre orange
    purple ruby russet scarlet sepia silver tan tawny teal turquoise ultramarine vermilion violet
    """
)

SHAPES = _words(
    """
    arch arrow circle cone crescent cross cube cuboid cylinder decagon diamond disc ellipse heart heptagon hexagon
    kidney lozenge nonagon obelisk octagon oval parallelogram pentagon polygon prism pyramid rhombus ring semicircle
    spiral star teardrop tetrahedron torus trapezium wedge
    """
)

SMALLS = _words(
    """
    acorn almond bead bean button cherry coin crumb die earplug grain gumdrop hazelnut jellybean lentil
    liquorice marshmallow mint nut pea peanut pearl pebble pill pin pip raisin seed sequin stud thimble toffee tooth
    truffle
    """
)

MEDIUMS = _phrases(
    """
    bag of sweets, bowl of cereal, bag of crisps, carton of eggs, case of pencils, cup of tea, deck of cards,
    jar of honey, jar of jam, jar of olives, jug of cream, pack of gum, packet of biscuits, packet of seeds,
    pot of glue, pot of ink, pot of paint, pouch of tobacco, purse, roll of tape, set of keys, spool of thread,
    tin of beans, tin of sardines, tin of soup, tub of butter, tube of toothpaste, wallet of stamps
    """
)

CONTAINERS = _phrases(
    """
    backpack, barrel, basin, basket, bathtub, bin, bookcase, briefcase, bucket, cabinet, cage, carpetbag, cart,
    cask, cauldron, coffer, coop, crate, cupboard, cradle, drawer, dresser, duffel bag, freezer, handbag, hamper,
    hatbox, haversack, holdall, hutch, kennel, keg, kitbag, laundry bag, locker, mailbag, oven, pail, picnic basket,
    playpen, pram, punnet, rucksack, sack, safe, satchel, shopping trolley, sideboard, stroller, strongbox, tank,
    tea chest, toolbox, tote bag, toy box, travel bag, trough, trunk, tub, vat, wardrobe, washtub, wheelbarrow,
    wine rack
    """
)

OFFICIAL_MOTIVES = {
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "bored": ("garden", "football"),
    "tired": ("bedroom", "pajamas"),
}
FRESH_MOTIVES = {
    "adventurous": ("harbour", "compass"),
    "artistic": ("studio", "paintbrush"),
    "athletic": ("gymnasium", "skipping rope"),
    "chilly": ("sauna", "bathrobe"),
    "curious": ("observatory", "telescope"),
    "devout": ("chapel", "hymn book"),
    "dirty": ("washroom", "soap"),
    "drowsy": ("dormitory", "pillow"),
    "famished": ("pantry", "loaf"),
    "feverish": ("infirmary", "medicine"),
    "festive": ("nightclub", "balloon"),
    "greedy": ("bank", "banknote"),
    "homesick": ("post office", "stamp"),
    "hot": ("swimming pool", "snorkel"),
    "industrious": ("workshop", "hammer"),
    "musical": ("concert hall", "violin"),
    "nostalgic": ("attic", "photo album"),
    "parched": ("bar", "lemonade"),
    "playful": ("nursery", "toy train"),
    "scruffy": ("barbershop", "comb"),
    "studious": ("library", "textbook"),
    "theatrical": ("theatre", "mask"),
}
MOTIVES = OFFICIAL_MOTIVES | FRESH_MOTIVES
"""Where a mood leads, and what is fetched there: knowledge of the world that no story tells."""
