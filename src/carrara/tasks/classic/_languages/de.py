"""German: data only. The first part of a name is one with which a compound may begin."""

_ASKS_FOR = "Antworte mit genau einer Zeile und nichts anderem, in dieser Form: FINAL ANSWER: <{}>"
_INSTRUCTION = (
    "Im folgenden Text sind ein oder mehrere Sätze versteckt, die angeben, was für einen bestimmten Namen "
    "hinterlegt ist. Lies ihn ganz: Am Ende wirst du nach ihnen gefragt.\n\n"
)

NIAH = {
    "wording": {
        "instruction of one": _INSTRUCTION,
        "instruction of several": _INSTRUCTION,
        "one": "{word} ist für {names} hinterlegt?",
        "several": "{word} sind für {names} hinterlegt?",
        "noise": "\n".join(
            (
                "Das Wasser kocht schon.",
                "Ein Bus fuhr vorbei, und dann noch einer.",
                "Jemand hat das Fenster offen gelassen.",
                "Auf dem Tisch liegt Brot.",
                "Vielleicht regnet es später.",
            )
        ),
        "and": " und ",
        "number of one": "Welche Zahl",
        "number of several": "Welche Zahlen",
        "code of one": "Welcher Code",
        "code of several": "Welche Codes",
        "name of one": "Welcher Name",
        "name of several": "Welche Namen",
        "rule of one": _ASKS_FOR.format("dieser Wert"),
        "rule of several": _ASKS_FOR.format("alle diese Werte, durch Kommas getrennt"),
    },
    "needles": {
        "needle of number": "Eine für {name} hinterlegte Zahl lautet {value}.",
        "needle of code": "Ein für {name} hinterlegter Code lautet {value}.",
        "needle of name": "Ein für {name} hinterlegter Name lautet {value}.",
    },
    "pattern": r"für ([\w-]+) hinterlegter? \w+ lautet ([\w-]+)\.",
    "harmful": r"\bhinterlegter? (?:Zahl|Code|Name)\b",
    "joints": ", | und ",
}
JSON_KV = {
    "instruction": "Unten steht ein JSON-Objekt. Schlage einen seiner Schlüssel nach.\n\n",
    "ask": 'Welchen Wert hat der Schlüssel "{key}"?',
    "rule": _ASKS_FOR.format("dieser Wert"),
}
ADJECTIVES = """
Abend Adler Ahorn Alpen Bambus Berg Birken Blei Blitz Blumen Bronze Buchen Dampf Diamant Donner Dorf Dünen Eichen Eis
Eisen Erlen Eulen Feld Feuer Fichten Flieder Fluss Frost Frühlings Gewitter Gipfel Gold Gras Hafer Hagel Haupt Heide
Herbst Holz Honig Hügel Insel Kiefern Kirsch Klee Korn Kristall Kupfer Küsten Laub Lavendel Leder Lehm Licht Linden
Luft Marmor Meer Messing Mittags Mond Moor Moos Morgen Nacht Nebel Nord Nuss Ost Papier Perlen Pfeffer Quell Rauch
Regen Reis Rosen Rubin Salz Samt Sand Schatten Schiefer Schilf Schnee See Seiden Silber Sommer Sonnen Stahl Stein
Sternen Strand Stroh Sturm Süd Tannen Tau Ton Torf Ufer Wachs Wald Wasser Weiden Wein Weizen West Wiesen Wind Winter
Wolken Woll Zedern Zimt Zinn Zitronen
"""
NOUNS = """
Amboss Anker Apfel Bach Bank Becher Besen Beutel Bild Blatt Boot Brett Brief Brille Brot Brücke Brunnen Buch Decke Dose
Drache Eimer Fächer Faden Fahne Falke Fass Feder Fenster Flasche Flöte Gabel Garten Geige Glocke Graben Gürtel Hafen
Halle Hammer Harfe Haus Helm Hemd Herd Hirsch Hof Hut Kamm Kanne Karte Kasten Kelch Kerze Kessel Kette Kiste Klinge
Knopf Koffer Korb Kran Kranz Kreis Krone Krug Kugel Laden Lampe Laterne Leiter Löffel Löwe Mantel Maske Mauer Messer
Mühle Nadel Nest Netz Ofen Otter Park Pfad Pfanne Pfeife Pfeil Pferd Pforte Platz Pult Rad Rahmen Regal Reiter Ring
Ritter Rucksack Säge Säule Schachtel Schal Schale Schere Schiff Schild Schirm Schloss Schlüssel Schrank Schuh Seil
Sessel Siegel Spaten Speer Spiegel Spindel Stab Stadt Stall Steg Stern Stiefel Straße Stube Stufe Stuhl Tafel Tasche
Tasse Taube Teich Teller Teppich Tisch Topf Tor Treppe Trommel Truhe Tuch Turm Uhr Vase Vogel Waage Wagen Wand Weg
Weste Wiege Wolf Zahn Zange Zaun Zelt Ziegel Zimmer Zweig
"""
