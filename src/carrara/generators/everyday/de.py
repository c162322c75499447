"""The parts of everyday German sentences: data only."""

SUBJECTS = """
der Bäcker
die Nachbarin
der Lehrer
die Gärtnerin
die Ärztin
der Bürgermeister
der Schuster
die Bibliothekarin
der Fischer
die Köchin
der Maler
die Schneiderin
der Tischler
die Krankenschwester
der Bauer
die Sängerin
der Uhrmacher
die Journalistin
der Müller
die Studentin
der Fährmann
die Vermieterin
der Richter
die Floristin
der Schmied
die Ingenieurin
der Schaffner
die Schauspielerin
der Metzger
die Übersetzerin
der Nachtwächter
die Tante
der Onkel
die Großmutter
der Großvater
die Apothekerin
der Imker
die Pianistin
der Tourist
die Sekretärin
"""
ACTS = """
reparierte|das alte Fahrrad
fegte|den Gehweg
zählte|die Münzen
goss|die Tulpen
strich|das Geländer
backte|einen Pflaumenkuchen
erzählte|einen langen Witz
wartete|auf den Bus
lernte|ein neues Lied
fütterte|die Enten
sprach|über das Wetter
schrieb|ein Rezept auf
hackte|das Brennholz
schippte|den Schnee
kaufte|frische Brötchen
putzte|die Schuhe
plante|eine lange Wanderung
hörte|dem Chor zu
kochte|Linsensuppe
übte|die Tonleitern
verlor|eine Wette
gewann|beim Kartenspiel
flickte|das Dach
pflanzte|junge Bäume
studierte|den Fahrplan
summte|einen Walzer
schlief|im Lehnstuhl ein
stritt|über die Preise
bewunderte|die neuen Häuser
putzte|die Fenster
unterschrieb|den Vertrag
vergaß|den Termin
lachte|über den Clown
fotografierte|die Störche
grüßte|die Passanten
sammelte|Pilze
las|einen alten Roman
löste|das Kreuzworträtsel
striegelte|das Pferd
schärfte|die Messer
bügelte|die Hemden
stapelte|die Stühle
träumte|vom Meer
klagte|über den Lärm
kostete|den neuen Käse
strickte|ein Paar Socken
wog|die Kirschen
klingelte|am falschen Haus
verpasste|die Straßenbahn
lud|die ganze Straße ein
"""
TIMES = """
am Montag
am Dienstag
am Mittwoch
am Donnerstag
am Freitag
am Samstag
am Sonntag
am Morgen
vor dem Frühstück
am Mittag
nach dem Mittagessen
am Nachmittag
am Abend
in der Nacht
im Frühling
im Sommer
im Herbst
im Winter
letzte Woche
letzten Monat
am ersten Mai
nach den Ferien
während des Jahrmarkts
neulich
"""
ENDINGS = (
    "",
    ", obwohl es regnete",
    ", ohne ein Wort zu sagen",
    ", wie jedes Jahr",
    ", und niemand wunderte sich",
    ", während die Glocken läuteten",
    ", und das dauerte lange",
    ", zur Freude aller",
)
ORDERS = ("{Subject} {first} {time} {rest}{ending}.", "{Time} {first} {subject} {rest}{ending}.")
