"""Graded preferences: how much better the first was, from "A>>B" to "B>>A", in words or numbers.

A grade tells who won and, where there are several, by how much: 2 is much better, 1 is better.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intransit.errors import InputError
from intransit.tables.vocabulary import listed

SIGNED = re.compile(r"\[*\s*(\w+)\s*(>{1,3}|<{1,3}|={1,3}|~)\s*(\w+)\s*\]*")
FIRST = listed(
    "a 1 first left modela assistanta responsea response1 answera answer1 output1 model1"
)
SECOND = listed(
    "b 2 second right modelb assistantb responseb response2 answerb answer2 output2 model2"
)
BETTER = re.compile(
    r"(?:the )?(?:(?:model|response|answer|assistant|output|option|system|candidate)[\s_]*)?"
    r"(?P<who>a|b|1|2|first|second|left|right)\b(?: (?:one|model|option|answer|response))?,?\s"
)
MUCH = re.compile(r"much|significant|strong|far|clear|a lot|considerabl|definite|>>")
SAID = re.compile(r"\b(?:better|preferred|wins|won|stronger|superior)\b")
WORSE = re.compile(r"\b(?:not|worse|less|isn't|wasn't)\b")
NOBODY = re.compile(r"\b(?:neither|none of|both|all|equal|same|tie|tied|draw|no difference)")
BAD = re.compile(r"bad|poor|wrong|fail|los[et]|incorrect|unaccept|unsatisf|terrible|useless|worse")
GOOD = re.compile(r"good|fine|great|accept|correct|satisf|win")


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
    values = {text: 0.5 + 0.5 * ((m > 0) - (m < 0)) for text, m in margins.items()}
    several = len({abs(m) for m in margins.values()} - {0.0}) > 1
    return Graded(values, margins if several else {}, why)


def _grade(text: str) -> float | None:
    plain = " ".join(text.casefold().split())
    signed = SIGNED.fullmatch(plain)
    if signed:
        left, sign, right = signed[1], signed[2], signed[3]
        turned = 1.0 if left in FIRST and right in SECOND else -1.0
        if not ((left in FIRST and right in SECOND) or (left in SECOND and right in FIRST)):
            return None
        if sign[0] in "=~":
            return 0.0
        return turned * len(sign) * (1.0 if sign[0] == ">" else -1.0)
    better = BETTER.match(plain)  # from its beginning: "Real Madrid B won" is about a team
    if better is None or NOBODY.match(plain) or not SAID.search(plain) or WORSE.search(plain):
        return None
    sign = 1.0 if better["who"] in FIRST else -1.0
    return sign * (2.0 if MUCH.search(plain) else 1.0)


def is_both_bad(text: str) -> bool:
    """Return whether a verdict says that neither is any good, in whatever words."""
    plain = " ".join(re.sub(r"[_()\-]+", " ", text.casefold()).split())
    if re.match(r"neither\b", plain):
        return not re.search(r"better|prefer", plain)
    return bool(re.search(r"\b(both|all)", plain) and BAD.search(plain))


def is_both_good(text: str) -> bool:
    """Return whether a verdict says that both are equally good."""
    plain = " ".join(re.sub(r"[_()\-]+", " ", text.casefold()).split())
    both = re.search(r"\b(both|all)", plain) or re.match(r"(tie|equal|same|no difference)", plain)
    return bool(both and not BAD.search(plain) and (GOOD.search(plain) or "equal" in plain))


def listed_grades(grades: Sequence[object], texts: Sequence[str]) -> Graded:
    """Return the meaning of grades that the caller lists, from the first's best to the second's."""
    order = [str(grade).strip() for grade in grades]
    if len(order) < 2 or len(set(order)) < len(order):
        raise InputError(
            "grades: list them from the one best for the first item to the one best for the "
            "second, each once."
        )
    middle = (len(order) - 1) / 2.0
    steps = {grade: middle - k for k, grade in enumerate(order)}
    if len(order) % 2 == 0:  # no grade stands in the middle, and the first step decides
        steps = {grade: step + (0.5 if step > 0 else -0.5) for grade, step in steps.items()}
    margins = {text: steps[_bare(text)] for text in texts if _bare(text) in steps}
    return _graded(margins, "graded preferences, as listed")


def _bare(text: str) -> str:
    """Return a text without space, and without the fraction of a whole number."""
    return (
        re.sub(r"\.0+$", "", text.strip())
        if re.fullmatch(r"-?\d+\.0+", text.strip())
        else text.strip()
    )


def numbered_grades(numbers: Mapping[str, float]) -> Graded | None:
    """Return the meaning of grades from 1 to 3, 4, 5 or 7, of which 1 is the first's best."""
    found = set(numbers.values())
    most = max(found, default=0.0)
    if most not in {3.0, 4.0, 5.0, 7.0} or not found <= set(range(1, int(most) + 1)):
        return None
    texts = {f"{x:g}": x for x in range(1, int(most) + 1)}
    graded = listed_grades(list(texts), [f"{x:g}" for x in found])
    values = {text: graded.values[f"{x:g}"] for text, x in numbers.items()}
    margins = (
        {text: graded.margins[f"{x:g}"] for text, x in numbers.items()} if graded.margins else {}
    )
    return Graded(values, margins, f"grades from 1, the first's best, to {most:g}, the second's")
