"""What the cells of an outcome column mean: words, numbers, scorelines and graded preferences.

A grade tells who won and, where there are several, by how much: 2 is much better, 1 is better.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from intransit.data.vocabulary import Marker, listed, plain
from intransit.errors import InputError

SIGNED = re.compile(r"\[*\s*(\w+)\s*(>{1,3}|<{1,3}|={1,3}|~)\s*(\w+)\s*\]*")
FIRST_BETTER = listed(
    "a 1 first left modela assistanta responsea response1 answera answer1 output1 model1"
)
SECOND_BETTER = listed(
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
        left, sign, right = signed.groups()
        straight = left in FIRST_BETTER and right in SECOND_BETTER
        if not straight and not (left in SECOND_BETTER and right in FIRST_BETTER):
            return None
        if sign[0] in "=~":
            return 0.0
        return float(len(sign)) * (1.0 if straight == (sign[0] == ">") else -1.0)
    better = BETTER.match(plain)  # from its beginning: "Real Madrid B won" is about a team
    if better is None or NOBODY.match(plain) or not SAID.search(plain) or WORSE.search(plain):
        return None
    sign = 1.0 if better["who"] in FIRST_BETTER else -1.0
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
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text.strip())


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


FIRST = listed("win w won first true yes 1-0 firstwins firstwon victory v")
SECOND = listed("loss l lose lost second false no 0-1 secondwins secondwon defeat")
TIE = listed("tie draw d t drawn tied equal x 1/2-1/2 ½-½ 0.5-0.5 1/2 ½ =")
BOTH_BAD = listed("tie(bothbad) bothbad tiebothbad botharebad bothlose")
LETTERS = {word: word[0] for word in listed("home away white black blue red visitor")}  # H, D, A
SCORELINE = re.compile(
    r"(?:[WLDT]\s*)?(\d+)\s*[-:–]\s*(\d+)"
    r"(?:\s*\(?(?:aet|a\.e\.t\.?|ot|so|et|ap|pens?)\)?|\s*\(\d+\s*[-:–]\s*\d+\s*(?:p|pens?)?\.?\)"
    r"\s*(?:p|pens?)?\.?)?",  # after extra time; beside the half-time score, or that of a shoot-out
    re.IGNORECASE,
)
RECORD = re.compile(r"(\d)\s*[-–]\s*(\d)\s*[-–]\s*\d")  # games won, lost and drawn of a match
YES = listed("true yes y t 1 1.0")
NO = listed("false no n f 0 0.0")
AHEAD = listed("1 1.0 +1 first home h a white w host true yes")
BEHIND = listed("-1 -1.0 second away b black visitor guest false no")
NEITHER = listed("0 0.0 neutral n none")
# Words that tell places and switches as well, so that no column is an outcome by them alone.
NOT_TELLING = listed("true false yes no home away h a b w n neutral left right white black x")
TYPO = 0.05  # a 2 among 0 and 1 that is rarer than this is a slip of the pen
MOST_VALUES = 10_000  # distinct texts looked at one by one


@dataclass(frozen=True)
class Meaning:
    """What an outcome column says."""

    kind: Literal["words", "names", "shares"]
    why: str
    understood: float  # share of filled cells
    values: Mapping[str, float] = field(default_factory=dict)
    margins: Mapping[str, float] = field(default_factory=dict)  # of score lines such as 3-1
    both_bad: frozenset[str] = frozenset()
    in_words: bool = False  # tells an outcome without the help of the column's name


def number(text: str, decimal_comma: bool = False) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_outcomes(
    cells: list[tuple[str, int]],  # distinct texts and how often they occur
    headers: tuple[str, str],
    marker: Marker | None,
    decimal_comma: bool = False,
    *,
    grades: Sequence[object] | None = None,
    graded: bool = False,  # whether the column's name speaks of preferences
    rated: bool = False,  # whether it speaks of a win rate
) -> Meaning:
    """Return what words and numbers in an outcome column mean; names of items are not looked at."""
    filled = [(text, count) for text, count in cells if text.strip()]
    total = sum(count for _, count in filled)
    texts = [text for text, _ in filled]
    if rated and (percent := _percent(filled, total, decimal_comma)):
        return percent
    preferences = read_grades(texts) if grades is None else listed_grades(grades, texts)
    scorelines = None if preferences else _scorelines(filled, total)
    if scorelines:
        return scorelines
    words = _words(headers, marker)
    values: dict[str, float] = {}
    numbers: dict[str, float] = {}
    both_bad = set()
    for text, _ in filled:
        word = re.sub(r"[\s_]+", "", text.casefold())
        if preferences and text in preferences.values:
            values[text] = preferences.values[text]
        elif word in BOTH_BAD or is_both_bad(text):
            both_bad.add(text)
            values[text] = 0.5
        elif (value := number(word, decimal_comma)) is not None:
            numbers[text] = value
        elif word in words:
            values[text] = words[word]
        elif is_both_good(text):
            values[text] = 0.5
    by_words = sum(count for text, count in filled if text in values)
    telling = sum(count for t, count in filled if t in values and t.casefold() not in NOT_TELLING)
    numbered = numbered_grades(numbers) if graded and grades is None else None
    if numbered:
        numeric, why = dict(numbered.values), numbered.why
    else:
        numeric, why = _numbers(numbers, dict(filled))
    values |= numeric
    margins = dict(numbered.margins) if numbered else {}
    if preferences and preferences.margins:  # ties in other words have a margin too
        margins = {t: preferences.margins.get(t, 0.0) for t in values if t not in numeric}
    understood = sum(count for text, count in filled if text in values)
    if by_words:
        told = preferences.why if preferences else "words"
        why = told + (f", {why}" if numbers else "")
    return Meaning(
        "words",
        why,
        understood / total if total else 0.0,
        values,
        margins,
        both_bad=frozenset(both_bad),
        in_words=2 * telling > total,
    )


def _percent(filled: list[tuple[str, int]], total: int, decimal_comma: bool) -> Meaning | None:
    """Return the meaning of win rates out of 100, with or without the sign, or None."""
    rates = {text: number(text.strip().rstrip("% "), decimal_comma) for text, _ in filled}
    values = {text: x / 100.0 for text, x in rates.items() if x is not None and 0 <= x <= 100}
    known = sum(count for text, count in filled if text in values)
    signed = any(text.strip().endswith("%") for text in values)
    if not values or (not signed and max(values.values()) <= 0.01):
        return None
    return Meaning("words", "percent of games that the first won", known / total, values)


def _words(headers: tuple[str, str], marker: Marker | None) -> dict[str, float]:
    """Return word to outcome, the pair's own words last so that they prevail."""
    words = dict.fromkeys(FIRST, 1.0) | dict.fromkeys(SECOND, 0.0) | dict.fromkeys(TIE, 0.5)
    words |= {"left": 1.0, "right": 0.0, "white": 1.0, "black": 0.0, "home": 1.0, "away": 0.0}
    words |= {"a": 1.0, "b": 0.0, "modela": 1.0, "modelb": 0.0, "h": 1.0}
    if marker:
        for word, value in ((marker.first, 1.0), (marker.second, 0.0)):
            words[word] = value
            if word in LETTERS:
                words[LETTERS[word]] = value
        if marker.first == "r":
            words |= {"red": 1.0, "blue": 0.0}
    words |= {plain(headers[1]): 0.0, plain(headers[0]): 1.0}
    sides = {"a", "b", plain(headers[0]), plain(headers[1])} - {""}
    sides |= set() if marker is None else {marker.first, marker.second}
    for word in sides & words.keys():  # win_A, white wins, model_b_won
        words |= dict.fromkeys(
            (f"win{word}", f"{word}win", f"{word}wins", f"{word}won"), words[word]
        )
    return words


def _numbers(numbers: dict[str, float], counts: dict[str, int]) -> tuple[dict[str, float], str]:
    """Return what numbers mean, by which of them occur, and that in words."""
    found = set(numbers.values())
    twos = sum(counts[text] for text, x in numbers.items() if x == 2)
    below = sum(counts[text] for text, x in numbers.items() if x < 0 and x != -1)
    rare = TYPO * sum(counts[text] for text in numbers)
    if (0.0 in found and rare <= twos) or below > rare:
        # Is 0 a tie, or the second's win?  Is -3 the first's best, or its worst?  Nobody can tell.
        return {}, "numbers of several meanings"
    if -1.0 in found:
        signed = {text: (x + 1) / 2 for text, x in numbers.items() if x in {-1.0, 0.0, 1.0}}
        return signed, "1, 0, -1: as -1 occurs, 0 is a tie"
    if 2.0 in found and found <= {1.0, 2.0}:
        return {text: 2 - x for text, x in numbers.items()}, "1 is the first, 2 the second"
    if 2.0 in found and all(1.0 <= x <= 2.0 for x in found):
        return {text: 2 - x for text, x in numbers.items()}, "from 1, the first, to 2, the second"
    inside = {text: x for text, x in numbers.items() if 0 <= x <= 1}
    if set(inside.values()) <= {0.0, 0.5, 1.0}:
        return inside, "1 the first won, 0 the second, 0.5 a tie"
    return inside, "share of games that the first won"


def _scorelines(filled: list[tuple[str, int]], total: int) -> Meaning | None:
    """Return the meaning of texts such as 3-1, unless they are chess results or no scores."""
    lines = {text: match for text, _ in filled if (match := _scoreline(text))}
    chess = {"1-0", "0-1"}
    share = sum(count for text, count in filled if text in lines) / total if total else 0.0
    if share < 0.5 or {text.strip() for text in lines} <= chess:
        return None
    margins = {text: float(m[1]) - float(m[2]) for text, m in lines.items()}
    values = {text: 0.5 + 0.5 * ((m > 0) - (m < 0)) for text, m in margins.items()}
    return Meaning("words", "scores, first - second", share, values, margins, in_words=True)


def _scoreline(text: str) -> re.Match[str] | None:
    return SCORELINE.fullmatch(text.strip()) or RECORD.fullmatch(text.strip())


def read_switch(texts: Iterable[str]) -> dict[str, float]:
    """Return 1 for yes and 0 for no; other texts are left out."""
    told = {text: text.strip().casefold() for text in texts}
    return {text: float(word in YES) for text, word in told.items() if word in YES | NO}


def read_sides(
    texts: Sequence[str], headers: tuple[str, str], *, flag: bool = False
) -> dict[str, float]:
    """Return 1 where the first has the side, -1 where the second has it, 0 where neither.

    Of a `flag` such as is_home, 0 says that the second has it, unless -1 says so.
    """
    values = dict.fromkeys(NEITHER, 0.0) | dict.fromkeys(BEHIND, -1.0) | dict.fromkeys(AHEAD, 1.0)
    values |= {plain(headers[1]): -1.0, plain(headers[0]): 1.0}
    told = {text: re.sub(r"[\s_]+", "", text.casefold()) for text in texts}
    if flag and not {"-1", "-1.0"} & set(told.values()):
        values |= {"0": -1.0, "0.0": -1.0}
    return {text: values[word] for text, word in told.items() if word in values}
