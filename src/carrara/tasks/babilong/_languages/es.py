"""Spanish: data only."""

OFFICIAL_PEOPLE = "Daniel Juan María Sandra"
OFFICIAL_WOMEN = "María Sandra"
OFFICIAL_PLACES = "el baño, el dormitorio, el jardín, el pasillo, la cocina, la oficina"
OFFICIAL_THINGS = "la manzana, el balón, la leche"

WOMEN = """
Adela Alba Alicia Amalia Ana Ángela Beatriz Blanca Carla Carmen Carolina Catalina Cecilia Celia Clara Claudia Cristina
Diana Dolores Elena Elisa Elvira Emilia Estela Esther Eva Fátima Gabriela Gloria Graciela Inés Irene Isabel Jimena
Josefa Juana Julia Laura Leonor Leticia Lola Lorena Lucía Luisa Magdalena Manuela Marina Marta Mercedes Mónica Natalia
Noelia Nuria Olga Patricia Paula Pilar Raquel Rebeca Rocío Rosa Sara Silvia Sofía Sonia Susana Teresa Valeria Verónica
Victoria Yolanda
"""
MEN = """
Adrián Agustín Alberto Alejandro Alfonso Álvaro Andrés Antonio Arturo Benito Bernardo Bruno Camilo Carlos César
Cristóbal Diego Eduardo Emilio Enrique Ernesto Esteban Federico Felipe Félix Fermín Fernando Francisco Gabriel Gerardo
Gonzalo Gregorio Guillermo Gustavo Hugo Ignacio Iván Jaime Javier Joaquín Jorge José Julio Leandro Lorenzo Lucas Luis
Manuel Marcelo Marcos Mario Martín Mateo Mauricio Miguel Nicolás Óscar Pablo Pedro Rafael Ramón Raúl Ricardo Roberto
Rodrigo Salvador Samuel Santiago Sebastián Sergio Tomás Vicente Víctor
"""
PLACES = """
el sótano, el garaje, el estudio, el salón, la bodega, la biblioteca, el museo, el supermercado, la panadería,
la farmacia, el hospital, la escuela, el teatro, el cine, el hotel, el restaurante, el café, la iglesia, la capilla,
el convento, la torre, el castillo, el palacio, el establo, el parque, el bosque, el viñedo, la cueva, el túnel,
la fábrica, el laboratorio, el archivo, la galería, el ayuntamiento, el juzgado, la cárcel, el cuartel, el gimnasio,
la piscina, la sauna, el invernadero, el patio, el almacén, el trastero, la lavandería, la despensa, el vestíbulo,
el ascensor, el taller, el molino, la imprenta, la herrería, el circo, el zoológico, el acuario, el observatorio,
el puerto, la estación, el aeropuerto, la librería, el banco, la terraza, el balcón, la azotea, el huerto
"""
THINGS = """
el martillo, la sierra, la escoba, el cubo, la olla, la sartén, la taza, el plato, el tenedor, la cuchara, la botella,
el vaso, la jarra, el jarrón, la vela, la lámpara, la linterna, el espejo, el peine, el cepillo, el jabón, la toalla,
la almohada, la manta, la alfombra, la maleta, la mochila, el bolso, la cesta, el sombrero, la gorra, la bufanda,
el abrigo, la chaqueta, el guante, el cinturón, la bota, el anillo, el collar, la corona, la llave, la carta,
el paquete, el periódico, el libro, el cuaderno, el lápiz, el pincel, la regla, el mapa, la cámara, la radio,
el violín, la flauta, la guitarra, la trompeta, la muñeca, el dado, el tablero, la cometa, la cuerda, la escalera,
la pala, la azada, la regadera, el paraguas, la pera, el limón, la calabaza, la patata, la cebolla, el pan,
el chocolate, la concha, la pluma, la piedra, la espada, el casco, la máscara, el reloj
"""

GENDERS = {"el": "m", "la": "f"}
FORMS = {
    "the": {"m": "el *", "f": "la *"},
    "to": {"m": "al *", "f": "a la *"},
    "in": {"m": "en el *", "f": "en la *"},
}
"""The forms of nouns; `*` is the noun."""
NAME = (
    r"(?!(?:El|La|Los|Las|Un|Una|Unos|Unas|Él|Ella|Ello|Ellos|Ellas|Yo|Tú|Usted|Nosotros|Esto|Eso|Este|Ese|Esta|Esa"
    r"|Alguien|Nadie|Todo|Todos|Quien|Que|Donde|Cuando|Luego|Entonces|Después|Allí|Aquí|Mi|Tu|Su|Nuestro|Y|Pero|O|Así"
    r"|Ahora|Se|No|Uno|Otro|Cada)\b)"
    r"[A-ZÁÉÍÓÚÑ][\w'’-]*(?: [A-ZÁÉÍÓÚÑ][\w'’-]*)?"
)
NOUN = r"[^\W\d_][\w'’-]*"
WENT = (
    "{who} fue {place:to}.",
    "{who} volvió {place:to}.",
    "{who} regresó {place:to}.",
    "{who} se fue {place:to}.",
    "{who} se trasladó {place:to}.",
)
GOT = (
    "{who} tomó {thing:the}[ allí].",
    "{who} agarró {thing:the}[ allí].",
    "{who} recogió {thing:the}[ allí].",
    "{who} levantó {thing:the}[ allí].",
)
DROPPED = (
    "{who} dejó {thing:the}[ allí].",
    "{who} soltó {thing:the}[ allí].",
    "{who} dejó caer {thing:the}[ allí].",
    "{who} abandonó {thing:the}[ allí].",
)
WHERE_IS = "¿Dónde está {who}?"
WHERE_THING = "¿Dónde está {thing:the}?"
THING_BEFORE = "¿Dónde estaba {thing:the} antes de estar {place:in}?"
QUESTION = r"¿[^¿?\n]*\?"
STOP, SPACE = "[.!?…]+[\"'”’»)\\]}_*]*+", r"\s++"
MARK = r"</?(?:context|example)\b|\b(?:Pregunta|Respuesta|FINAL ANSWER):"

_INSTRUCTION = (
    "El contexto contiene frases sobre {}, ocultas entre otras frases que no tienen nada que ver. {} Responde a la "
    "pregunta usando solo las frases ocultas."
)
SHARED = {
    "rule": (
        "Responde con una sola línea y nada más, con este formato: FINAL ANSWER: <nombre del lugar, tal como aparece "
        "en el contexto>"
    ),
    "question": "Pregunta: {question}",
}
WORDING = {
    1: {
        "instruction": _INSTRUCTION.format(
            "dónde están varias personas",
            "Las personas se mueven: cada una está en el último lugar al que fue.",
        ),
        "examples": (
            "Anders se trasladó al comedor. Ramesh fue al desván. Anders volvió al mercado.\n"
            "Pregunta: ¿Dónde está Anders?\nFINAL ANSWER: mercado",
            "Ramesh se fue al granero. Anders regresó al comedor. Noor fue al desván.\n"
            "Pregunta: ¿Dónde está Ramesh?\nFINAL ANSWER: granero",
        ),
    },
    2: {
        "instruction": _INSTRUCTION.format(
            "adónde van varias personas y qué llevan consigo",
            "Una cosa que alguien ha tomado está siempre donde va esa persona. Si la deja, la suelta, la deja caer o "
            "la abandona, se queda donde la persona estaba en ese momento.",
        ),
        "examples": (
            "Noor fue al desván. Noor recogió el tambor allí. Noor se trasladó al comedor. Noor dejó caer el tambor. "
            "Noor se fue al granero.\nPregunta: ¿Dónde está el tambor?\nFINAL ANSWER: comedor",
            "Kofi se fue al comedor. Kofi tomó la brújula allí. Noor fue al desván. Kofi volvió al mercado.\n"
            "Pregunta: ¿Dónde está la brújula?\nFINAL ANSWER: mercado",
        ),
    },
    3: {
        "instruction": _INSTRUCTION.format(
            "adónde van varias personas y qué llevan consigo",
            "Una cosa que alguien ha tomado va a todas partes con esa persona; si la deja, la suelta, la deja caer o "
            "la abandona, se queda donde está. Dónde estaba una cosa antes de estar en un lugar significa desde dónde "
            "fue llevada allí; si llegó allí más de una vez, cuenta la última.",
        ),
        "examples": (
            "Noor agarró el tambor. Noor fue al desván. Noor se trasladó al comedor. Kofi volvió al desván. Noor se "
            "fue al granero. Noor dejó el tambor allí.\n"
            "Pregunta: ¿Dónde estaba el tambor antes de estar en el comedor?\nFINAL ANSWER: desván",
            "Kofi levantó la brújula. Kofi se trasladó al comedor. Kofi fue al desván. Kofi se fue al mercado. Kofi "
            "regresó al desván.\n"
            "Pregunta: ¿Dónde estaba la brújula antes de estar en el desván?\nFINAL ANSWER: mercado",
        ),
    },
}
