"""The nouns of the sample corpus, grouped by meaning.

One entry per line: `english[/plural]: article noun[, plural[, genitive]]`. A noun without a plural
is a mass noun. A star marks a weak noun, whose other singular cases look like its plural.
"""

from __future__ import annotations

TABLES: dict[str, str] = {
    "fruit": """
apple: der Apfel, Äpfel
pear: die Birne, Birnen
banana: die Banane, Bananen
orange: die Orange, Orangen
lemon: die Zitrone, Zitronen
peach: der Pfirsich, Pfirsiche
plum: die Pflaume, Pflaumen
strawberry: die Erdbeere, Erdbeeren
cherry: die Kirsche, Kirschen
tomato/tomatoes: die Tomate, Tomaten
carrot: die Karotte, Karotten
potato/potatoes: die Kartoffel, Kartoffeln
onion: die Zwiebel, Zwiebeln
cucumber: die Gurke, Gurken
mushroom: der Pilz, Pilze
grape: die Traube, Trauben
nut: die Nuss, Nüsse
bean: die Bohne, Bohnen
""",
    "dish": """
pizza: die Pizza, Pizzen
cake: der Kuchen, Kuchen
salad: der Salat, Salate
soup: die Suppe, Suppen
sausage: die Wurst, Würste
pancake: der Pfannkuchen, Pfannkuchen
egg: das Ei, Eier
""",
    "snack": """
roll: das Brötchen, Brötchen
cookie: der Keks, Kekse
""",
    "mass_food": """
bread: das Brot
cheese: der Käse
butter: die Butter
rice: der Reis
meat: das Fleisch
fish: der Fisch
honey: der Honig
chocolate: die Schokolade
ice cream: das Eis
jam: die Marmelade
sugar: der Zucker
flour: das Mehl
salt: das Salz
""",
    "drink": """
water: das Wasser
milk: die Milch
tea: der Tee
coffee: der Kaffee
apple juice: der Apfelsaft
orange juice: der Orangensaft
beer: das Bier
wine: der Wein
lemonade: die Limonade
cocoa: der Kakao
""",
    "reading": """
book: das Buch, Bücher
newspaper: die Zeitung, Zeitungen
letter: der Brief, Briefe
story: die Geschichte, Geschichten
novel: der Roman, Romane
poem: das Gedicht, Gedichte
magazine: die Zeitschrift, Zeitschriften
report: der Bericht, Berichte
message: die Nachricht, Nachrichten
fairy tale: das Märchen, Märchen
article: der Artikel, Artikel
postcard: die Postkarte, Postkarten
""",
    "clothes": """
coat: der Mantel, Mäntel
jacket: die Jacke, Jacken
shirt: das Hemd, Hemden
dress: das Kleid, Kleider
skirt: der Rock, Röcke
hat: der Hut, Hüte
cap: die Mütze, Mützen
scarf/scarves: der Schal, Schals
sweater: der Pullover, Pullover
blouse: die Bluse, Blusen
tie: die Krawatte, Krawatten
suit: der Anzug, Anzüge
belt: der Gürtel, Gürtel
""",
    "pair": """
shoe: der Schuh, Schuhe
boot: der Stiefel, Stiefel
glove: der Handschuh, Handschuhe
sock: die Socke, Socken
""",
    "carried": """
bag: die Tasche, Taschen
umbrella: der Regenschirm, Regenschirme
suitcase: der Koffer, Koffer
backpack: der Rucksack, Rucksäcke
basket: der Korb, Körbe
box: die Kiste, Kisten
parcel: das Paket, Pakete
bottle: die Flasche, Flaschen
bucket: der Eimer, Eimer
""",
    "pocket": """
key: der Schlüssel, Schlüssel
phone: das Handy, Handys
watch: die Uhr, Uhren
wallet: der Geldbeutel, Geldbeutel
ring: der Ring, Ringe
pencil: der Bleistift, Bleistifte
ticket: die Fahrkarte, Fahrkarten
passport: der Pass, Pässe
notebook: das Heft, Hefte
""",
    "device": """
computer: der Computer, Computer
camera: die Kamera, Kameras
radio: das Radio, Radios
lamp: die Lampe, Lampen
washing machine: die Waschmaschine, Waschmaschinen
fridge: der Kühlschrank, Kühlschränke
television: der Fernseher, Fernseher
printer: der Drucker, Drucker
""",
    "tableware": """
cup: die Tasse, Tassen
glass: das Glas, Gläser
plate: der Teller, Teller
bowl: die Schüssel, Schüsseln
knife/knives: das Messer, Messer
fork: die Gabel, Gabeln
spoon: der Löffel, Löffel
pot: der Topf, Töpfe
pan: die Pfanne, Pfannen
""",
    "home": """
picture: das Bild, Bilder
photo: das Foto, Fotos
mirror: der Spiegel, Spiegel
vase: die Vase, Vasen
candle: die Kerze, Kerzen
towel: das Handtuch, Handtücher
blanket: die Decke, Decken
pillow: das Kissen, Kissen
""",
    "gift": """
ball: der Ball, Bälle
doll: die Puppe, Puppen
present: das Geschenk, Geschenke
toy: das Spielzeug, Spielzeuge
kite: der Drachen, Drachen
necklace: die Kette, Ketten
""",
    "flower": """
flower: die Blume, Blumen
rose: die Rose, Rosen
tulip: die Tulpe, Tulpen
sunflower: die Sonnenblume, Sonnenblumen
""",
    "furniture": """
table: der Tisch, Tische
chair: der Stuhl, Stühle
bed: das Bett, Betten
sofa: das Sofa, Sofas
cupboard: der Schrank, Schränke
shelf/shelves: das Regal, Regale
desk: der Schreibtisch, Schreibtische
carpet: der Teppich, Teppiche
armchair: der Sessel, Sessel
bench: die Bank, Bänke
""",
    "instrument": """
piano: das Klavier, Klaviere
guitar: die Gitarre, Gitarren
violin: die Geige, Geigen
trumpet: die Trompete, Trompeten
flute: die Flöte, Flöten
drum: die Trommel, Trommeln
""",
    "vehicle": """
car: das Auto, Autos
bike: das Fahrrad, Fahrräder
boat: das Boot, Boote
truck: der Lastwagen, Lastwagen
motorbike: das Motorrad, Motorräder
tractor: der Traktor, Traktoren
""",
    "transport": """
bus: der Bus, Busse, Busses
train: der Zug, Züge
tram: die Straßenbahn, Straßenbahnen
ship: das Schiff, Schiffe
taxi: das Taxi, Taxis
ferry: die Fähre, Fähren
""",
    "building": """
house: das Haus, Häuser
school: die Schule, Schulen
church: die Kirche, Kirchen
hotel: das Hotel, Hotels
museum: das Museum, Museen
restaurant: das Restaurant, Restaurants
shop: das Geschäft, Geschäfte
supermarket: der Supermarkt, Supermärkte
library: die Bibliothek, Bibliotheken
station: der Bahnhof, Bahnhöfe
hospital: das Krankenhaus, Krankenhäuser
theatre: das Theater, Theater
cinema: das Kino, Kinos
bakery: die Bäckerei, Bäckereien
pharmacy: die Apotheke, Apotheken
castle: das Schloss, Schlösser
town hall: das Rathaus, Rathäuser
café: das Café, Cafés
swimming pool: das Schwimmbad, Schwimmbäder
bookshop: die Buchhandlung, Buchhandlungen
factory: die Fabrik, Fabriken
office: das Büro, Büros
farm: der Bauernhof, Bauernhöfe
""",
    "structure": """
bridge: die Brücke, Brücken
tower: der Turm, Türme
wall: die Mauer, Mauern
fence: der Zaun, Zäune
street: die Straße, Straßen
gate: das Tor, Tore
""",
    "house_part": """
roof: das Dach, Dächer
door: die Tür, Türen
window: das Fenster, Fenster
""",
    "room": """
kitchen: die Küche, Küchen
bathroom: das Badezimmer, Badezimmer
bedroom: das Schlafzimmer, Schlafzimmer
living room: das Wohnzimmer, Wohnzimmer
cellar: der Keller, Keller
garage: die Garage, Garagen
garden: der Garten, Gärten
balcony: der Balkon, Balkons
room: das Zimmer, Zimmer
flat: die Wohnung, Wohnungen
""",
    "landscape": """
forest: der Wald, Wälder
lake: der See, Seen
river: der Fluss, Flüsse
mountain: der Berg, Berge
beach: der Strand, Strände
park: der Park, Parks, Parks
village: das Dorf, Dörfer
town: die Stadt, Städte
island: die Insel, Inseln
meadow: die Wiese, Wiesen
field: das Feld, Felder
valley: das Tal, Täler
""",
    "tree": """
tree: der Baum, Bäume
apple tree: der Apfelbaum, Apfelbäume
""",
    "pet": """
dog: der Hund, Hunde
cat: die Katze, Katzen
rabbit: das Kaninchen, Kaninchen
horse: das Pferd, Pferde
bird: der Vogel, Vögel
""",
    "farm_animal": """
cow: die Kuh, Kühe
duck: die Ente, Enten
chicken: das Huhn, Hühner
sheep/sheep: das Schaf, Schafe
goat: die Ziege, Ziegen
pig: das Schwein, Schweine
donkey: der Esel, Esel
""",
    "wild_animal": """
bear: der Bär*, Bären
fox: der Fuchs, Füchse
elephant: der Elefant*, Elefanten
lion: der Löwe*, Löwen
monkey: der Affe*, Affen
wolf/wolves: der Wolf, Wölfe
mouse/mice: die Maus, Mäuse
snake: die Schlange, Schlangen
""",
    "person": """
man/men: der Mann, Männer
woman/women: die Frau, Frauen
boy: der Junge*, Jungen
girl: das Mädchen, Mädchen
child/children: das Kind, Kinder
teacher: der Lehrer, Lehrer
doctor: der Arzt, Ärzte
neighbour: der Nachbar*, Nachbarn
baker: der Bäcker, Bäcker
farmer: der Bauer*, Bauern
waiter: der Kellner, Kellner
policeman/policemen: der Polizist*, Polizisten
guest: der Gast, Gäste
student: der Student*, Studenten
tourist: der Tourist*, Touristen
customer: der Kunde*, Kunden
colleague: der Kollege*, Kollegen
boss: der Chef, Chefs, Chefs
gardener: der Gärtner, Gärtner
mechanic: der Mechaniker, Mechaniker
driver: der Fahrer, Fahrer
""",
    "kin": """
brother: der Bruder, Brüder
sister: die Schwester, Schwestern
mother: die Mutter, Mütter
father: der Vater, Väter
son: der Sohn, Söhne
daughter: die Tochter, Töchter
aunt: die Tante, Tanten
uncle: der Onkel, Onkel
grandmother: die Großmutter, Großmütter
grandfather: der Großvater, Großväter
nephew: der Neffe*, Neffen
niece: die Nichte, Nichten
wife/wives: die Frau, Frauen
husband: der Mann, Männer
""",
    "event": """
party: die Party, Partys
film: der Film, Filme, Films
concert: das Konzert, Konzerte
game: das Spiel, Spiele
exam: die Prüfung, Prüfungen
trip: die Reise, Reisen
wedding: die Hochzeit, Hochzeiten
meeting: die Besprechung, Besprechungen
course: der Kurs, Kurse
""",
    "abstract": """
question: die Frage, Fragen
answer: die Antwort, Antworten
problem: das Problem, Probleme, Problems
mistake: der Fehler, Fehler
plan: der Plan, Pläne
word: das Wort, Wörter
sentence: der Satz, Sätze
text: der Text, Texte
idea: die Idee, Ideen
song: das Lied, Lieder
language: die Sprache, Sprachen
exercise: die Übung, Übungen
""",
}
