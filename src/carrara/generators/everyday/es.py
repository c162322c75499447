"""The parts of everyday Spanish sentences: data only."""

SUBJECTS = """
el panadero
la vecina
el profesor
la jardinera
la doctora
el alcalde
el zapatero
la bibliotecaria
el pescador
la cocinera
el pintor
la modista
el carpintero
la enfermera
el granjero
la cantante
el relojero
la periodista
el molinero
la estudiante
el barquero
la casera
el juez
la florista
el herrero
la ingeniera
el revisor
la actriz
el carnicero
la traductora
el vigilante nocturno
la tía
el tío
la abuela
el abuelo
la farmacéutica
el apicultor
la pianista
el turista
la secretaria
"""
ACTS = """
reparó la vieja bicicleta
barrió la acera
contó las monedas
regó los tulipanes
pintó la barandilla
horneó un pastel de ciruelas
contó un chiste largo
esperó el autobús
aprendió una canción nueva
dio de comer a los patos
habló del tiempo
anotó una receta
cortó la leña
quitó la nieve
compró panecillos recién hechos
limpió los zapatos
planeó una larga excursión
escuchó al coro
preparó una sopa de lentejas
practicó las escalas
perdió una apuesta
ganó a las cartas
arregló el tejado
plantó árboles jóvenes
estudió el horario de los trenes
tarareó un vals
se durmió en el sillón
discutió sobre los precios
admiró las casas nuevas
limpió las ventanas
firmó el contrato
olvidó la cita
se rió del payaso
fotografió las cigüeñas
saludó a los transeúntes
buscó setas
leyó una vieja novela
resolvió el crucigrama
cepilló el caballo
afiló los cuchillos
planchó las camisas
apiló las sillas
soñó con el mar
se quejó del ruido
probó el queso nuevo
tejió un par de calcetines
pesó las cerezas
llamó a la casa equivocada
perdió el tranvía
invitó a toda la calle
"""
TIMES = """
el lunes
el martes
el miércoles
el jueves
el viernes
el sábado
el domingo
por la mañana
antes del desayuno
al mediodía
después de comer
por la tarde
al anochecer
por la noche
en primavera
en verano
en otoño
en invierno
la semana pasada
el mes pasado
el primero de mayo
después de las vacaciones
durante la feria
el otro día
"""
ENDINGS = (
    "",
    ", aunque llovía",
    " sin decir una palabra",
    ", como cada año",
    ", y nadie se sorprendió",
    ", mientras sonaban las campanas",
    ", y eso llevó mucho tiempo",
    ", para alegría de todos",
)
ORDERS = ("{Subject} {first} {time}{ending}.", "{Time}, {subject} {first}{ending}.")
