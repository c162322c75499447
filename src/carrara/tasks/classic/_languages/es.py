"""Spanish: data only. Adjectives follow the noun, and have one form for both genders."""

_ASKS_FOR = "Responde con una sola línea y nada más, con este formato: FINAL ANSWER: <{}>"
_INSTRUCTION = (
    "En el texto siguiente se ocultan una o varias frases que indican qué está guardado para cierto nombre. "
    "Léelo entero: al final se te preguntará por ellas.\n\n"
)

NIAH = {
    "wording": {
        "instruction of one": _INSTRUCTION,
        "instruction of several": _INSTRUCTION,
        "one": "¿Qué {word} está guardado para {names}?",
        "several": "¿Qué {word} están guardados para {names}?",
        "noise": "\n".join(
            (
                "El agua ya está hirviendo.",
                "Pasó un autobús, y luego otro.",
                "Alguien ha dejado la ventana abierta.",
                "Hay pan en la mesa.",
                "Quizá llueva más tarde.",
            )
        ),
        "and": " y ",
        "number of one": "número",
        "number of several": "números",
        "code of one": "código",
        "code of several": "códigos",
        "name of one": "nombre",
        "name of several": "nombres",
        "rule of one": _ASKS_FOR.format("ese valor"),
        "rule of several": _ASKS_FOR.format("todos esos valores, separados por comas"),
    },
    "needles": {
        "needle of number": "Un número guardado para {name} es {value}.",
        "needle of code": "Un código guardado para {name} es {value}.",
        "needle of name": "Un nombre guardado para {name} es {value}.",
    },
    "pattern": r"(?:número|código|nombre) guardado para ([\w-]+) es ([\w-]+)\.",
    "harmful": r"\b(?:número|código|nombre) guardado para\b",
    "joints": ", | y ",
}
JSON_KV = {
    "instruction": "A continuación hay un objeto JSON. Busca una de sus claves.\n\n",
    "ask": '¿Cuál es el valor de la clave "{key}"?',
    "rule": _ASKS_FOR.format("ese valor"),
}
ADJECTIVES = """
ágil alegre amable ardiente audaz azul brillante breve caliente capaz celeste central constante cruel débil difícil
distante doble dulce elegante enorme estable fácil feliz feroz fértil fiel final firme flexible formal frágil fuerte
gentil gigante grande grave gris humilde ideal igual invisible joven leal leve libre local lunar marrón móvil natural
noble normal notable paciente pobre polar popular precoz prudente real reciente regular rural salvaje sensible silvestre
simple solar suave sutil tenaz tenue terrestre total transparente triste útil valiente veloz verde
visible
"""
NOUNS = """
águila ancla anillo árbol arco arena avión balcón balsa banco bandera barco barril bastón bola bolsa bosque bota botella
botón brújula buque cabaña cable cadena caja calle camello camino campana canal canasta candado canoa cañón capa
carpeta carreta carro carta casa cascada castillo cesta cielo cima círculo ciudad clavo cofre collar columna concha
copa corona cortina cuadro cubo cuchara cuerda cueva cúpula dado dedal diamante disco dragón ducha elefante embudo
escalera escoba escudo espada espejo esquina estatua estrella estufa farol flauta flecha flor fogata foto fuente gaita
ganso garza gato girasol globo gorra grillo grúa guante guitarra halcón hacha hamaca harina hebilla helado hoja horno
huerto jabón jarra jarrón jaula joya lago lámpara lana lápiz lazo lechuza león letra libro limón linterna lobo luna
llave maceta maleta manta mapa mar marco mariposa martillo máscara mesa molino moneda montaña muelle muralla nave nido
nube nuez ola olivo olla oveja pala palma pan pañuelo papel pared parque patio pato pelota peine perla piano piedra
pino pintura pipa plato playa pluma pozo puente puerta puerto queso radio raíz ramo rana red regla reja reloj río roca
rosa rueda sal sapo semilla sierra silla sobre sofá sol sombrero tambor tapete taza teatro techo tela templo tigre
torre trébol tren trompeta tronco túnel vaca valle vaso vela velero ventana vestido viento viña violín zapato zorro
"""
