"""The parts of everyday English sentences: data only."""

SUBJECTS = """
the baker
the neighbour
the teacher
the gardener
the doctor
the mayor
the shoemaker
the librarian
the fisherman
the cook
the painter
the dressmaker
the carpenter
the nurse
the farmer
the singer
the clockmaker
the journalist
the miller
the student
the ferryman
the landlady
the judge
the florist
the blacksmith
the engineer
the conductor
the actress
the butcher
the translator
the night watchman
the aunt
the uncle
the grandmother
the grandfather
the pharmacist
the beekeeper
the pianist
the tourist
the secretary
"""
ACTS = """
repaired the old bicycle
swept the pavement
counted the coins
watered the tulips
painted the railings
baked a plum cake
told a long joke
waited for the bus
learned a new song
fed the ducks
talked about the weather
wrote down a recipe
chopped the firewood
shovelled the snow
bought fresh rolls
polished the shoes
planned a long hike
listened to the choir
cooked lentil soup
practised the scales
lost a bet
won at cards
mended the roof
planted young trees
studied the timetable
hummed a waltz
fell asleep in the armchair
argued about the prices
admired the new houses
cleaned the windows
signed the contract
forgot the appointment
laughed at the clown
photographed the storks
greeted the passers-by
picked mushrooms
read an old novel
solved the crossword
groomed the horse
sharpened the knives
ironed the shirts
stacked the chairs
dreamed of the sea
complained about the noise
tasted the new cheese
knitted a pair of socks
weighed the cherries
rang at the wrong house
missed the tram
invited the whole street
"""
TIMES = """
on Monday
on Tuesday
on Wednesday
on Thursday
on Friday
on Saturday
on Sunday
in the morning
before breakfast
at noon
after lunch
in the afternoon
in the evening
at night
in spring
in summer
in autumn
in winter
last week
last month
on the first of May
after the holidays
during the fair
the other day
"""
ENDINGS = (
    "",
    ", although it was raining",
    " without saying a word",
    ", as every year",
    ", and nobody was surprised",
    ", while the bells were ringing",
    ", and that took a long time",
    ", to everyone's delight",
)
ORDERS = ("{Subject} {first} {time}{ending}.", "{Time}, {subject} {first}{ending}.")
