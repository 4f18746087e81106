"""Proper names: first names, surnames, cities and countries."""

from __future__ import annotations

FEMALE = """
Anna Emma Mia Lea Lena Laura Julia Sarah Lisa Hannah Sophie Marie Clara Paula Nina Eva Petra Sabine
Monika Ursula Birgit Heike Karin Renate Ingrid Helga Gisela Greta Frieda Ida Ella Mila Nora Elena
Maria Sofia Isabella Olivia Amelia Charlotte Alice Emily Lucy Jane Kate Helen Linda Susan Nancy
Betty Carol Diana Sandra Angela Rebecca Rachel Judith Esther Miriam Naomi Deborah Tamara Natalia
Svetlana Olga Irina Tatiana Ludmila Vera Galina Anastasia Katarina Ivana Jana Milena Zuzana
Agnieszka Magdalena Ewa Joanna Dorota Beata Aleksandra Giulia Chiara Francesca Paola Lucia
Valentina Martina Alessia Bianca Carmen Dolores Pilar Rosalia Marta Raquel Juana Camila Gabriela
Daniela Mariana Fernanda Beatriz Catarina Leonor Amelie Chloe Camille Juliette Manon Elodie Claire
Aurelie Brigitte Sylvie Nathalie Simone Astrid Freya Sigrid Ingeborg Linnea Elsa Maja Saga Tove
Signe Kirsten Annika Britta Silke Antje Ulrike Anja Katja Tanja Sonja Melanie Stefanie Nicole
Bettina Claudia Andrea Yuki Sakura Haruka Aiko Naoko Keiko Mei Ling Xiu Priya Anjali Lakshmi Kavita
Meera Sunita Deepa Fatima Aisha Leila Yasmin Amina Zahra Samira Nadia Farida Aylin Elif Zeynep
Emine Ayse Fatma Selma Chiamaka Amara Zainab Nia Imani Adama Abena Akua Thandi Lerato Naledi Hilda
Edith Martha Theresa Lotte Jule Pia Tilda Wilma Zoë Renée Inès Jördis
"""

MALE = """
Ben Paul Leon Finn Jonas Elias Noah Felix Lukas Tim Jan Tom Max Moritz Anton Emil Oscar Karl Otto
Hugo Peter Stefan Andreas Martin Wolfgang Dieter Klaus Uwe Bernd Rainer Manfred Helmut Gerhard Ralf
Sven Torsten Matthias Tobias Sebastian Florian Daniel David Michael Robert Richard Thomas James
John William George Henry Charles Edward Arthur Harry Jacob Oliver Samuel Benjamin Adam Simon
Andrew Kevin Brian Steven Kenneth Ronald Gary Eric Stephen Patrick Sean Liam Connor Declan Ryan
Dylan Owen Gareth Rhys Angus Duncan Malcolm Ivan Dmitri Sergei Boris Igor Oleg Viktor Vladimir Yuri
Pavel Marek Piotr Tomasz Jakub Wojciech Kacper Milos Luka Marko Goran Zoran Stjepan Marco Luca
Matteo Lorenzo Giovanni Antonio Francesco Alessandro Roberto Stefano Pietro Enzo Carlo Carlos
Miguel Javier Pablo Diego Alejandro Fernando Manuel Rafael Ricardo Eduardo Tiago Bruno Pedro Rui
Gustavo Louis Lucas Hugues Pierre Jean Jacques Antoine Guillaume Philippe Olivier Laurent Thierry
Lars Erik Nils Anders Gunnar Magnus Olaf Harald Leif Knut Jesper Mikkel Rasmus Kasper Hiroshi Kenji
Takeshi Akira Haruto Ren Daichi Wei Jun Hao Chen Raj Arjun Vikram Sanjay Rahul Anil Ravi Suresh
Omar Ali Hassan Ahmed Khalid Yusuf Ibrahim Tariq Karim Samir Mustafa Mehmet Emre Murat Kemal Deniz
Kwame Kofi Chidi Emeka Tunde Sipho Thabo Jabari Malik Hamza Reza Darius Cyrus Nikos Dimitris Kostas
Georg Konrad Ludwig Oskar Theodor Valentin Vincent Gabriel Julian Fabian Dominik Jürgen Björn André
José
"""

# First names that occur in the test split only.
HELD_OUT_FEMALE = """
Matilda Ottilie Rosa Violetta Carla Luisa Henriette Johanna Dagmar Hedwig Ramona Corinna Vanessa
Jasmin Adela Paloma Noemi Ksenia Larisa Marlene Josephine Genoveva Harriet Cecilia Bronwyn Kamala
Nasrin Shirin Tomoko Solveig
"""
HELD_OUT_MALE = """
Leopold Gregor Ferdinand Hannes Ruben Jonathan Nathan Walter Albert Norbert Volker Detlef Armin
Ansgar Gilbert Marcel Fabio Salvatore Rodrigo Esteban Bogdan Radek Anatol Renato Haakon Torben
Ismail Faruk Naveen Kazuo
"""

SURNAMES = """
Weber Wagner Becker Hoffmann Keller Richter Krüger Neumann Zimmermann Hartmann Kaiser Vogel Winkler
Lehmann Huber Mayer Steiner Brandt Peters Baumann Lorenz Kowalski Novak Rossi Silva Garcia Smith
Johnson Brown Miller Taylor Wilson Walker Parker Campbell Nakamura Tanaka Kim Nguyen Singh Okafor
Jansen Larsen Dubois Moreau
"""


def pairs(table: str) -> tuple[tuple[str, str], ...]:
    """Split a table of `english=german` entries."""
    return tuple((en, de) for en, _, de in (entry.partition("=") for entry in table.split()))


# English name, German name.
CITIES = pairs("""
Berlin=Berlin Hamburg=Hamburg Munich=München Cologne=Köln Vienna=Wien Zurich=Zürich Geneva=Genf
Nuremberg=Nürnberg Hanover=Hannover Leipzig=Leipzig Dresden=Dresden Bremen=Bremen
Stuttgart=Stuttgart Salzburg=Salzburg Rome=Rom Milan=Mailand Venice=Venedig Naples=Neapel
Florence=Florenz Paris=Paris London=London Madrid=Madrid Lisbon=Lissabon Athens=Athen Prague=Prag
Warsaw=Warschau Krakow=Krakau Copenhagen=Kopenhagen Brussels=Brüssel Moscow=Moskau Oslo=Oslo
Stockholm=Stockholm Helsinki=Helsinki Dublin=Dublin Budapest=Budapest Amsterdam=Amsterdam
Tokyo=Tokio Cairo=Kairo Boston=Boston Chicago=Chicago
""")

COUNTRIES = pairs("""
Germany=Deutschland Austria=Österreich France=Frankreich Italy=Italien Spain=Spanien Poland=Polen
Sweden=Schweden Norway=Norwegen Denmark=Dänemark Greece=Griechenland Portugal=Portugal
Ireland=Irland Japan=Japan China=China India=Indien Canada=Kanada Brazil=Brasilien Mexico=Mexiko
Egypt=Ägypten Kenya=Kenia Hungary=Ungarn Belgium=Belgien Finland=Finnland Iceland=Island
Croatia=Kroatien Australia=Australien Russia=Russland Scotland=Schottland Bulgaria=Bulgarien
Romania=Rumänien
""")

LANGUAGES = pairs("""
English=Englisch German=Deutsch French=Französisch Italian=Italienisch Spanish=Spanisch
Polish=Polnisch Swedish=Schwedisch Greek=Griechisch Japanese=Japanisch Chinese=Chinesisch
Russian=Russisch Turkish=Türkisch Portuguese=Portugiesisch
""")


def first_names(female: str, male: str) -> tuple[tuple[str, str], ...]:
    """First names with their pronoun ("she" or "he")."""
    return tuple((n, "she") for n in female.split()) + tuple((n, "he") for n in male.split())


TRAIN_NAMES = first_names(FEMALE, MALE)
HELD_OUT_NAMES = first_names(HELD_OUT_FEMALE, HELD_OUT_MALE)
