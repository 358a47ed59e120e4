"""Graded preferences: what ``A>>B``, ``B is slightly better`` and 1 to 5 mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intransit.errors import InputError

SIGNED = re.compile(r"\[*\s*(\w+)\s*(>{1,3}|<{1,3}|={1,3}|~)\s*(\w+)\s*\]*")
FIRST_BETTER = frozenset(
    (
        "a",
        "1",
        "first",
        "left",
        "modela",
        "assistanta",
        "responsea",
        "response1",
        "answera",
        "answer1",
        "output1",
        "model1",
    )
)
SECOND_BETTER = frozenset(
    (
        "b",
        "2",
        "second",
        "right",
        "modelb",
        "assistantb",
        "responseb",
        "response2",
        "answerb",
        "answer2",
        "output2",
        "model2",
    )
)
BETTER = re.compile(
    r"(?:the )?(?:(?:model|response|answer|assistant|output|option|system|candidate)[\s_]*)?"
    r"(?P<who>a|b|1|2|first|second|left|right)\b(?: (?:one|model|option|answer|response))?,?\s"
)
PREFERS = re.compile(
    r"(?:i )?(?:(?:very |much )?(?:strongly|slightly|somewhat|moderately|definitely|probably|"
    r"clearly|weakly|much|greatly) )?prefer(?:red|s)?:? (?:the )?(?:(?:model|response|answer|"
    r"assistant|output|option|system|candidate|item|image|version)[\s_]*)?"
    r"(?P<who>a|b|1|2|first|second|left|right)(?: (?:one|model|option|answer|response|item|image))?"
)
MUCH = re.compile(r"much|significant|strong|far|clear|a lot|considerabl|definite|>>")
SAID = re.compile(r"\b(?:better|preferred|wins|won|stronger|superior)\b")
WORSE = re.compile(r"\b(?:not|worse|less|isn't|wasn't)\b")
NOBODY = re.compile(r"\b(?:neither|none of|both|all|equal|same|tie|tied|draw|no difference)")


@dataclass(frozen=True)
class Graded:
    """What graded texts mean: outcome and margin of each."""

    values: Mapping[str, float]
    margins: Mapping[str, float]
    why: str


def read_grades(texts: Sequence[str]) -> Graded | None:
    """Return what texts such as ``A>>B`` or ``B is slightly better`` mean, or None."""
    margins = {text: grade for text in texts if (grade := _grade(text)) is not None}
    if not any(margins.values()):
        return None
    return _graded(margins, "graded preferences")


def _graded(margins: Mapping[str, float], why: str) -> Graded:
    several = len({abs(m) for m in margins.values()} - {0.0}) > 1
    return Graded(by_sign(margins), margins if several else {}, why)


def by_sign(margins: Mapping[str, float]) -> dict[str, float]:
    """Return the outcome that each margin stands for."""
    return {text: 0.5 + 0.5 * ((m > 0) - (m < 0)) for text, m in margins.items()}


def _grade(text: str) -> float | None:
    said = " ".join(text.casefold().split())
    signed = SIGNED.fullmatch(said)
    if signed:
        left, sign, right = signed.groups()
        straight = left in FIRST_BETTER and right in SECOND_BETTER
        if not straight and not (left in SECOND_BETTER and right in FIRST_BETTER):
            return None
        if sign[0] in "=~":
            return 0.0
        return float(len(sign)) * (1.0 if straight == (sign[0] == ">") else -1.0)
    prefers = PREFERS.fullmatch(said)
    if prefers:
        side = 1.0 if prefers["who"] in FIRST_BETTER else -1.0
        return side * (2.0 if MUCH.search(said) else 1.0)
    better = BETTER.match(said)  # from its beginning: "Real Madrid B won" is about a team
    if better is None or NOBODY.match(said) or not SAID.search(said) or WORSE.search(said):
        return None
    sign = 1.0 if better["who"] in FIRST_BETTER else -1.0
    return sign * (2.0 if MUCH.search(said) else 1.0)


def listed_grades(grades: Sequence[object], texts: Sequence[str]) -> Graded:
    """Return the meaning of grades that the caller lists, from the first's best to the second's."""
    order = [str(grade).strip() for grade in grades]
    if len(order) < 2 or len(set(order)) < len(order):
        raise InputError(
            "grades: list them from the one best for the first item to the one best for the "
            "second, each once."
        )
    steps = _steps(order)
    bare = {text: re.sub(r"^(-?\d+)\.0+$", r"\1", text.strip()) for text in texts}
    margins = {text: steps[grade] for text, grade in bare.items() if grade in steps}
    return _graded(margins, "graded preferences, as listed")


def _steps(order: Sequence[str]) -> dict[str, float]:
    """Return how far each grade is from the middle, which is a tie, on the first's side."""
    middle = (len(order) - 1) / 2.0
    steps = {grade: middle - k for k, grade in enumerate(order)}
    if len(order) % 2:
        return steps
    # No grade stands in the middle, and the first step decides.
    return {grade: step + (0.5 if step > 0 else -0.5) for grade, step in steps.items()}


def numbered_grades(numbers: Mapping[str, float]) -> Graded | None:
    """Return the meaning of grades from 1 to 3, 4, 5 or 7, of which 1 is the first's best."""
    found = set(numbers.values())
    most = int(max(found, default=0.0))
    order = range(1, most + 1)
    if most not in {3, 4, 5, 7} or not found <= set(order):
        return None
    steps = _steps([str(x) for x in order])
    margins = {text: steps[f"{x:g}"] for text, x in numbers.items()}
    return _graded(margins, f"grades from 1, the first's best, to {most}, the second's")
