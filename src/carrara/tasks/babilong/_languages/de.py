"""German: data only."""

OFFICIAL_PEOPLE = "Daniel Johannes Maria Sandra"
OFFICIAL_WOMEN = "Maria Sandra"
OFFICIAL_PLACES = "das Badezimmer, das Schlafzimmer, der Garten, der Flur, die Küche, das Büro"
OFFICIAL_THINGS = "der Apfel, der Fußball, die Milch"

WOMEN = """
Anna Anja Antje Astrid Barbara Beate Bettina Birgit Brigitte Carla Charlotte Christa Claudia Cornelia Dagmar Doris Edith
Elke Ella Emma Erika Eva Franziska Frieda Gabriele Gerda Greta Gudrun Hanna Heike Helga Hilde Ilse Ines Inga Ingrid
Irene Jana Johanna Julia Karin Katharina Kerstin Klara Lena Lotte Luise Magdalena Margarete Marlene Martina Monika Nina
Paula Petra Renate Sabine Silke Sophie Susanne Tanja Ulrike Ursula Vera Waltraud
"""
MEN = """
Achim Albert Alexander Andreas Anton Arno Axel Benedikt Bernd Bruno Christian Christoph Detlef Dieter Dirk Eberhard Emil
Erich Ernst Felix Florian Franz Friedrich Fritz Georg Gerhard Gustav Günter Hans Harald Hartmut Heinrich Heinz Helmut
Herbert Hermann Holger Hugo Ingo Jakob Jens Joachim Jochen Jürgen Karl Klaus Konrad Kurt Lars Ludwig Lukas Manfred
Markus Martin Matthias Max Michael Moritz Norbert Oskar Otto Paul Peter Rainer Ralf Rolf Rudolf Sebastian Stefan Thomas
Tobias Uwe Volker Walter Werner Wilhelm Wolfgang
"""
PLACES = """
der Keller, die Garage, das Arbeitszimmer, das Wohnzimmer, das Esszimmer, das Kinderzimmer, das Gästezimmer,
die Waschküche, die Speisekammer, die Werkstatt, die Bibliothek, das Museum, der Supermarkt, die Bäckerei,
die Apotheke, das Krankenhaus, die Schule, das Theater, das Kino, das Hotel, das Restaurant, das Café, die Kirche,
die Kapelle, das Kloster, der Turm, das Schloss, die Burg, der Stall, der Park, der Wald, die Höhle, der Tunnel,
die Fabrik, die Gießerei, das Labor, das Archiv, die Galerie, das Rathaus, das Gericht, das Gefängnis, die Kaserne,
die Turnhalle, das Schwimmbad, die Sauna, das Gewächshaus, die Orangerie, der Wintergarten, der Innenhof, das Lager,
der Abstellraum, das Treppenhaus, der Aufzug, das Foyer, der Ballsaal, der Thronsaal, das Atelier, die Mühle,
die Brauerei, die Druckerei, die Schmiede, der Zoo, das Aquarium, die Sternwarte
"""
THINGS = """
der Hammer, die Zange, die Säge, der Besen, der Eimer, der Topf, die Pfanne, die Tasse, der Teller, die Gabel,
der Löffel, die Flasche, das Glas, der Krug, die Vase, die Kerze, die Lampe, die Laterne, der Spiegel, der Kamm,
die Bürste, die Seife, das Handtuch, das Kissen, die Decke, der Teppich, der Koffer, der Rucksack, die Tasche,
der Korb, der Hut, die Mütze, der Schal, der Mantel, die Jacke, der Handschuh, der Gürtel, der Stiefel, die Brille,
der Ring, die Kette, die Krone, der Schlüssel, der Brief, das Paket, die Zeitung, das Buch, das Heft, der Stift,
der Pinsel, die Schere, das Lineal, die Landkarte, der Kompass, das Fernglas, die Kamera, das Radio, die Geige,
die Flöte, die Gitarre, die Trompete, die Puppe, der Ball, der Würfel, das Schachbrett, der Drachen, das Seil,
die Leiter, die Schaufel, die Hacke, die Gießkanne, der Regenschirm, die Birne, die Zitrone, der Kürbis,
die Kartoffel, die Zwiebel, das Brot, die Schokolade, die Muschel, die Feder, der Stein, das Schwert, der Helm,
die Maske
"""

GENDERS = {"der": "m", "die": "f", "das": "n"}
FORMS = {
    "the": {"m": "der *", "f": "die *", "n": "das *"},
    "object": {"m": "den *", "f": "die *", "n": "das *"},
    "into": {"m": "in den *", "f": "in die *", "n": "ins *"},
    "it": {"m": "er", "f": "sie", "n": "es"},
}
"""The forms of nouns; `*` is the noun."""
NAME = (
    r"(?!(?:Der|Die|Das|Den|Dem|Ein|Eine|Er|Sie|Es|Ich|Wir|Ihr|Man|Wer|Was|Wo|Dann|Da|Dort|Hier|Dieser|Diese|Dieses"
    r"|Jeder|Jede|Jemand|Niemand|Keiner|Alle|Mein|Dein|Sein|Unser|Und|Aber|Oder|Doch|So|Nun|Jetzt|Danach|Später)\b)"
    r"[A-ZÄÖÜ][\w'’-]*(?: [A-ZÄÖÜ][\w'’-]*)?"
)
NOUN = r"[A-ZÄÖÜ][\w'’-]*"
WENT = (
    "{who} ging {place:into}.",
    "{who} ging zurück {place:into}.",
    "{who} lief {place:into}.",
    "{who} begab sich {place:into}.",
    "{who} wechselte {place:into}.",
)
GOT = (
    "{who} nahm[ dort] {thing:object}.",
    "{who} holte[ dort] {thing:object}.",
    "{who} ergriff[ dort] {thing:object}.",
    "{who} hob[ dort] {thing:object} auf.",
)
DROPPED = (
    "{who} legte[ dort] {thing:object} ab.",
    "{who} ließ[ dort] {thing:object} liegen.",
    "{who} ließ[ dort] {thing:object} fallen.",
    "{who} warf[ dort] {thing:object} weg.",
)
WHERE_IS = "Wo ist {who}?"
WHERE_THING = "Wo ist {thing:the}?"
THING_BEFORE = "Wo war {thing:the}, bevor {thing:it} {place:into} kam?"
QUESTION = r"Wo [^.?!:\n]*\?"
STOP, SPACE = "[.!?…]+[\"'”’“»«)\\]}_*]*+", r"\s++"
MARK = r"</?(?:context|example)\b|\b(?:Frage|Antwort|FINAL ANSWER):"

_INSTRUCTION = (
    "Der Kontext enthält Sätze darüber, {}, versteckt zwischen anderen Sätzen, die nichts damit zu tun haben. {} "
    "Beantworte die Frage nur anhand der versteckten Sätze."
)
SHARED = {
    "rule": (
        "Antworte mit genau einer Zeile und nichts anderem, in dieser Form: FINAL ANSWER: <Name des Ortes, wie er im "
        "Kontext steht>"
    ),
    "question": "Frage: {question}",
}
WORDING = {
    1: {
        "instruction": _INSTRUCTION.format(
            "wo Personen sind",
            "Die Personen bewegen sich: Jede ist an dem Ort, an den sie zuletzt gegangen ist.",
        ),
        "examples": (
            "Anders wechselte in die Kantine. Ramesh ging ins Zelt. Anders lief in die Scheune.\n"
            "Frage: Wo ist Anders?\nFINAL ANSWER: Scheune",
            "Ramesh begab sich ins Zelt. Anders ging zurück in die Kantine. Noor ging in den Schuppen.\n"
            "Frage: Wo ist Ramesh?\nFINAL ANSWER: Zelt",
        ),
    },
    2: {
        "instruction": _INSTRUCTION.format(
            "wohin Personen gehen und was sie bei sich tragen",
            "Ein Gegenstand, den jemand genommen hat, ist immer dort, wohin diese Person geht. Wurde er abgelegt, "
            "liegen gelassen, fallen gelassen oder weggeworfen, bleibt er dort, wo die Person in diesem Moment war.",
        ),
        "examples": (
            "Noor ging in den Schuppen. Noor hob dort den Globus auf. Noor lief in die Kantine. Noor ließ den Globus "
            "fallen. Noor begab sich ins Zelt.\nFrage: Wo ist der Globus?\nFINAL ANSWER: Kantine",
            "Kofi begab sich in die Kantine. Kofi nahm dort die Trommel. Noor ging in den Schuppen. Kofi ging zurück "
            "in die Scheune.\nFrage: Wo ist die Trommel?\nFINAL ANSWER: Scheune",
        ),
    },
    3: {
        "instruction": _INSTRUCTION.format(
            "wohin Personen gehen und was sie bei sich tragen",
            "Ein Gegenstand, den jemand genommen hat, kommt überallhin mit, wohin diese Person geht; wurde er "
            "abgelegt, liegen gelassen, fallen gelassen oder weggeworfen, bleibt er, wo er ist. Wo ein Gegenstand war, "
            "bevor er an einen Ort kam, heißt: von wo er dorthin gebracht wurde; kam er mehrmals dorthin, zählt das "
            "letzte Mal.",
        ),
        "examples": (
            "Noor nahm den Globus. Noor ging in den Schuppen. Noor lief in die Kantine. Kofi wechselte in den "
            "Schuppen. Noor begab sich ins Zelt. Noor ließ dort den Globus liegen.\n"
            "Frage: Wo war der Globus, bevor er in die Kantine kam?\nFINAL ANSWER: Schuppen",
            "Kofi ergriff die Trommel. Kofi wechselte in die Kantine. Kofi ging in den Schuppen. Kofi lief in die "
            "Scheune. Kofi ging zurück in den Schuppen.\n"
            "Frage: Wo war die Trommel, bevor sie in den Schuppen kam?\nFINAL ANSWER: Scheune",
        ),
    },
}
