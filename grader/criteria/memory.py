"""memory: correct, and the checked run of the same shape finds nothing."""

from . import Lost, Seen, correct

TITLE = "memory"
PHRASE = "a memory fault, or the result is not correct"
COUNTS = False


def judge(seen: Seen) -> Lost | None:
    if seen.checked is not None and seen.checked.finding:
        return Lost(correct.headline(seen.checked.finding))
    if lost := correct.judge(seen):
        return lost
    why = correct.unexamined(seen) if seen.checked else "its loads and stores were not examined"
    return Lost(why) if why else None
