"""Which weights are the best, and when training stops, on typical and on recorded curves."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from nmt.runs.selection import Selection, noise

PATIENCE = 3


@dataclass(frozen=True)
class Curve:
    """Validations on a number of pairs, and what two rules make of them.

    validations: BLEU and loss; former, now: the validation whose weights the highest BLEU selects,
    and the one that `Selection` selects, each with the number of validations until training stops
    """

    pairs: int
    validations: list[tuple[float, float]]
    former: tuple[int, int]
    now: tuple[int, int]


CURVES = {
    "a small corpus, BLEU of a few words": Curve(
        100,
        [(0.22, 5.50), (0, 5.3), (0, 5.1), (0.21, 4.91), (0, 4.6), (0.3, 4.29), (0, 3.9), (2, 3.6)],
        (1, 4),
        (8, 8),
    ),
    "a hard corpus, BLEU below 1": Curve(
        1000,
        [(0.1, 7.0), (0.3, 6.8), (0.2, 6.6), (0, 6.4), (0.1, 6.2), (0.05, 6.1)],
        (2, 5),
        (6, 6),
    ),
    "a large corpus, learning": Curve(
        1000, [(5, 4.1), (15, 3.0), (22, 2.4), (26, 2.1), (28, 2.0), (29, 1.95)], (6, 6), (6, 6)
    ),
    "overfitting": Curve(
        1000, [(10, 4.0), (14, 3.5), (16, 3.3), (15.5, 3.4), (14.8, 3.6), (14, 3.9)], (3, 6), (3, 6)
    ),
    "overconfident, but better translations": Curve(
        1000, [(20, 2.5), (24, 2.3), (26, 2.35), (28, 2.45), (30, 2.6)], (5, 5), (5, 5)
    ),
    "a plateau": Curve(
        500,
        [(30, 1.80), (30.3, 1.78), (30.1, 1.775), (30.4, 1.776), (30.2, 1.778), (30.2, 1.777)],
        (4, 6),
        (3, 6),
    ),
    "a lucky validation": Curve(
        200,
        [(25, 2.2), (26, 2.0), (26.9, 1.95), (26.3, 1.88), (26.2, 1.82), (26.5, 1.78)],
        (3, 6),
        (6, 6),
    ),
    "worse translations at a lower loss": Curve(
        1000,
        [(20, 3.0), (22, 2.8), (19, 2.75), (17, 2.745), (15, 2.74), (14, 2.735), (13, 2.73)],
        (2, 5),
        (2, 6),
    ),
    "a slow decline": Curve(
        1000, [(30, 1.9), (29.8, 1.895), (29.6, 1.89), (29.4, 1.888), (29.2, 1.887)], (1, 4), (2, 5)
    ),
    "divergence": Curve(1000, [(1.5, 5), (3, 4.5), (0, 9), (0, 9.5), (0, 9.4)], (2, 5), (2, 5)),
}


def by_highest_bleu(curve: Curve) -> tuple[int, int]:
    best = 0
    for number, (bleu, loss) in enumerate(curve.validations):
        if (bleu, -loss) > (curve.validations[best][0], -curve.validations[best][1]):
            best = number
        if number - best == PATIENCE:
            break
    return best + 1, number + 1


def by_selection(curve: Curve) -> tuple[int, int]:
    found = Selection()
    for number, (bleu, loss) in enumerate(curve.validations, 1):
        found.add(number, loss, bleu, curve.pairs)
        if found.stale == PATIENCE:
            break
    return found.best_update, number


@pytest.mark.parametrize("name", CURVES)
def test_the_weights_selected_are_better_or_as_good(name):
    curve = CURVES[name]
    assert by_highest_bleu(curve) == curve.former
    assert by_selection(curve) == curve.now
    (former, old_loss), (now, new_loss) = (
        curve.validations[number - 1] for number, _ in (curve.former, curve.now)
    )
    assert new_loss <= old_loss
    assert max(now, 1) >= max(former, 1) - noise(curve.pairs)


# The update whose weights the highest BLEU selects, and the one that `Selection` selects, each with
# the update after which training stops (the last one recorded if patience is not exhausted).
RECORDED = {
    "tatoeba-300": ((225, 300), (225, 300)),
    "dialogue-1000": ((880, 880), (840, 880)),
    "subtitles-3000": ((440, 560), (880, 880)),
    "prose-500": ((80, 200), (800, 800)),
    "restaurant-2500": ((720, 840), (880, 880)),
    "sample": ((800, 800), (800, 800)),
    "overfitting-400": ((175, 250), (175, 250)),
    "low-rate-3000": ((360, 480), (480, 480)),
    "warm-up-3000": ((810, 810), (810, 810)),
    "noise-8000": ((550, 700), (850, 900)),
}
RECORDING = json.loads(Path(__file__).with_name("recorded_curves.json").read_text("utf-8"))


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_curves(name):
    """Short runs on real corpora, recorded beyond the update after which training would stop.

    A validation is its update, BLEU and loss, and the chrF of its weights on a test set. The lab
    notes of November 2026 (ablations) describe the runs.
    """
    updates, bleus, losses, chrf = zip(*RECORDING[name]["validations"], strict=True)
    former, now = RECORDED[name]
    curve = Curve(RECORDING[name]["pairs"], list(zip(bleus, losses, strict=True)), former, now)
    old, new = by_highest_bleu(curve), by_selection(curve)
    assert tuple(updates[number - 1] for number in old) == former
    assert tuple(updates[number - 1] for number in new) == now
    assert chrf[new[0] - 1] > chrf[old[0] - 1] - 0.5


def test_the_loss_alone_decides_if_it_is_the_measure():
    found = Selection()
    for update, loss in enumerate([3.0, 2.0, 1.999, 2.5], 1):
        found.add(update, loss, None, 100)
    assert (found.best, found.best_update, found.stale) == (-1.999, 3, 1)


def test_patience_waits_while_bleu_rises_by_less_than_its_noise():
    found = Selection()
    for update in range(5):
        found.add(update, 2 + update / 10, 10 + update / 10, 100)
    assert (found.best_update, found.stale) == (0, 0)


def test_patience_does_not_wait_for_a_bleu_below_1():
    found = Selection()
    for update in range(5):
        found.add(update, 2 + update / 10, update / 10, 100)
    assert (found.best_update, found.stale) == (0, 4)


def test_without_the_number_of_pairs_any_higher_bleu_is_better():
    """Runs of earlier versions did not record it."""
    found = Selection()
    for update, (bleu, loss) in enumerate([(5.0, 2.0), (5.01, 3.0), (4.99, 1.99)], 1):
        found.add(update, loss, bleu)
    assert found.best_update == 2


def test_small_declines_of_bleu_do_not_add_up():
    found = Selection()
    for update in range(20):
        found.add(update, 2 - update / 1000, 30 - update / 10, 1000)
    assert found.best == pytest.approx(30 - 0.3)


def test_a_loss_that_falls_slowly_sets_a_clear_minimum_in_the_end():
    found = Selection()
    stale = []
    for update in range(6):  # BLEU has fallen clearly, so that no weights are better
        found.add(update, 2 - 0.008 * update, 30.0 if update == 0 else 20.0, 1000)
        stale.append(found.stale)
    assert stale == [0, 1, 2, 0, 1, 2]
