"""Abbreviations and attached units are read in the form that training has."""

import re

import pytest

from nmt.corpus.text.abbreviations import spell_out
from nmt.corpus.text.placeholders import PlaceholderRules, fill_placeholders

KNOWN = frozenset(
    re.findall(
        r"\w+",
        "p m a am i don t you re are please for example that is number about as soon possible usa "
        "hour hours minutes pounds feet january february march june monday tuesday friday etc "
        "hrs vs approx page pages them because it was coming dollars pen pencil or per all "
        "about against prepaid chapter figure volume without under with against going to the open "
        "at and now coworker co tonight today forever pens in my opinion",
    )
)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        # Times
        *((f"at {form} now", "at 7 p.m. now") for form in ("7pm", "7 pm", "7PM", "7 PM", "7p.m.")),
        *((f"at {form} now", "at 7 p.m. now") for form in ("7 p.m.", "7P.M.", "7 P. M.")),
        ("at 10:30am.", "at 10:30 a.m."),
        ("9am-5pm", "9 a.m. to 5 p.m."),
        ("at 7 am I now", "at 7 am I now"),
        ("OPEN AT 7PM", "OPEN AT 7 P.M."),
        ("in the 1990's", "in the 1990s"),
        ("in the '90s and ’80s", "in the 90s and 80s"),
        # Units
        ("5km, 20kg, 3g", "5 km, 20 kg, 3 g"),
        ("80 sqm, 5 sq. m", "80 m², 5 m²"),
        ("30min, 2hrs, 1h, 11h", "30 minutes, 2 hours, 1 hour, 11 hours"),
        ("12lbs, 6 ft", "12 pounds, 6 feet"),
        ("60mph", "60 mph"),
        ("1st, 2nd, 3rd, 20th", "1st, 2nd, 3rd, 20th"),
        ("pencil(s), box(es), pen(s)", "pencil, box, pens"),
        # Abbreviations
        ("e.g. now", "for example now"),
        ("E.g. now", "For example now"),
        ("now, i.e. open", "now, that is open"),
        ("IMHO it was open", "In my opinion it was open"),
        ("No. 5, no.5", "Number 5, number 5"),
        ("No. I don't", "No. I don't"),
        ("Fig. 3, ch. 2, vol. 1", "Figure 3, chapter 2, volume 1"),
        ("a fig. A ch, eq. 4", "a fig. A ch, eq. 4"),
        ("I said no. 5 came, he says No. 5", "I said no. 5 came, he says Number 5"),
        ("the U.S. is", "the USA is"),
        ("in the U.S.", "in the USA."),
        ("approx. 5 etc. now", "about 5 etc. now"),
        ("Jan. 5, 5 Jan, on 5 Jan.", "5 January, 5 January, on 5 January."),
        ("Jan, 30, is open", "Jan, 30, is open"),
        ("on Mon. at 5", "on Monday at 5"),
        ("Jan is open", "Jan is open"),
        ("Mon. to Fri.", "Monday to Friday."),
        ("Mon., the 5th", "Monday, the 5th"),
        ("Mon-Fri, Monday-Friday", "Monday to Friday, Monday to Friday"),
        ("Tue", "Tuesday"),
        ("on Fri, Tue or Mon", "on Friday, Tuesday or Monday"),
        ("Mon/Tue, Mon. & Fri", "Monday or Tuesday, Monday and Friday"),
        ("it is Tue (every Mon, Tom)", "it is Tuesday (every Monday, Tom)"),
        ("Sat, but he sat", "Sat, but he sat"),
        ("Jan, 25, is. Jan 2 years now, Jan 2 is", "Jan, 25, is. Jan 2 years now, 2 January is"),
        ("In May 10-12 people", "In May 10-12 people"),
        ("on June 3-7 we", "on 3-7 June we"),
        ("on March 3, 2025, it", "on 3 March 2025, it"),
        ("March 3rd, 2025 10:15 AM", "3rd March 2025, 10:15 a.m."),
        ("on March 3, I", "on 3 March, I"),
        ("In May 10 people", "In May 10 people"),
        ("June 3-7 and June 3 – 7, 2025", "3-7 June and 3-7 June 2025"),
        ("Jan. 5 - Feb. 3, 2025", "5 January - 3 February 2025"),
        ("between 5pm-7pm, 5pm-7pm", "between 5 p.m. and 7 p.m., 5 p.m. to 7 p.m."),
        *((f"at {n}", f"under {n}") for n in ("555-1234", "0171/1234567", "(555) 123-4567")),
        ("on +49 30 123456", "under +49 30 123456"),
        *((f"on {n}", f"on {n}") for n in ("03/14/2025", "05-06-2025", "100-200", "2024-05-03")),
        ("between 5-7pm", "between 5 and 7 p.m."),
        ("w/ and w/o the", "with and without the"),
        ("Approx. 5, about vs. Usa", "About 5, about against Usa"),
        ("pp. 5-9, p. 3", "pages 5-9, page 3"),
        ("2 hrs 30 mins. open, 5 min.", "2 hours 30 minutes open, 5 minutes."),
        ("5 dollars/hour", "5 dollars per hour"),
        ("a pen and/or a pencil", "a pen or a pencil"),
        # Contractions
        ("Y'all are coming, 'cause 'em", "You all are coming, because them"),
        ("'Twas open", "It was open"),
        ("comin' now, begin'", "coming now, begin'"),
        # Chats
        ("u dont, asap pls", "you don't, as soon as possible please"),
        ("Dont! Im open", "Don't! I'm open"),
        ("I DONT", "I DON'T"),
        ("R&B and Plan U", "R&B and Plan U"),
        ("gonna open", "going to open"),
        ("2nite, 2day 4ever", "tonight, today forever"),
        ("pre-paid co-worker", "prepaid coworker"),
        # What training has, and what it lacks even in the long form, stays.
        ("etc", "etc"),
        ("thx, 5 yrs", "thx, 5 yrs"),
    ],
)
def test_what_training_lacks_is_spelled_out(typed: str, read: str) -> None:
    assert spell_out(typed, ("en", "de"), KNOWN.__contains__) == read
    assert spell_out(typed, ("de", "en"), KNOWN.__contains__) == typed


def test_a_model_that_knows_pm_reads_it() -> None:
    is_known = (KNOWN | {"pm"}).__contains__
    assert spell_out("7pm, at 7PM, 8 a.m.", ("en", "de"), is_known) == "7 pm, at 7 pm, 8 am"


def test_only_german_calls_under_a_number_and_gets_its_slashes_back() -> None:
    text = "a pen/pencil at 555-1234"
    assert spell_out(text, ("en", "fr"), KNOWN.__contains__) == text
    assert spell_out(text, ("en", "de"), KNOWN.__contains__) == "a pen or pencil under 555-1234"


@pytest.mark.parametrize(
    ("attached", "spaced"),
    [
        ("open at 7pm", "open at 7 p.m."),
        ("open at 4-6pm", "open at 4-6 p.m."),
        ("20kg", "20 kg"),
        ("a 10-kg", "a 10 kg"),
        ("8GB", "8 GB"),
        ("5EUR", "5 EUR"),
        ("EUR 5", "5 EUR"),
        ("100sqm", "100 m²"),
        ("100m2", "100 m2"),
        ("30min", "30 minutes"),
    ],
)
def test_attached_units_are_carried_like_others(attached: str, spaced: str) -> None:
    rules = PlaceholderRules(KNOWN, False, ("en", "de"), lambda text: True)
    first, second = rules.insert(attached), rules.insert(spaced)
    assert (first.text, first.written) == (second.text, second.written)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("9 to 5 pm", "9 to 17 p.m."),
        ("11-1pm", "11-13 p.m."),
        ("4:30-6pm", "16:30-18 p.m."),
        ("10 and 12 pm", "10 and 12 p.m."),
        ("10-12am, 9 to 12 a.m.", "10-12 a.m., 9 to 12 a.m."),
        ("between 9 and 12 a.m.", "between 9 and 12 a.m."),
        ("12-1am, 9 p.m. to 12 a.m.", "0-1 a.m., 21 p.m. to 0 a.m."),
        ("9 or 12 a.m.", "9 or 0 a.m."),
    ],
)
def test_a_range_of_times_ends_after_its_beginning(typed: str, written: str) -> None:
    found = PlaceholderRules(KNOWN, False, ("en", "de"), lambda text: True).insert(typed)
    assert fill_placeholders(found.text, found.written) == written
