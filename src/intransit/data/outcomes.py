"""What the cells of a table say about a game: outcomes, switches, and who has the side.

Outcomes are words, numbers, score lines or graded preferences.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from intransit.data import vocabulary
from intransit.data.vocabulary import Marker, listed, plain, without_accents
from intransit.errors import InputError

SIGNED = re.compile(r"\[*\s*(\w+)\s*(>{1,3}|<{1,3}|={1,3}|~)\s*(\w+)\s*\]*")
FIRST_BETTER, SECOND_BETTER = (
    {
        f"{made}{who}"
        for made in ("", *listed("model assistant response answer output"))
        for who in side
    }
    for side in (("a", "1", "first", "left"), ("b", "2", "second", "right"))
)
WHICH = (  # the first one, response A, option 2
    r"(?:the )?(?:(?:model|response|answer|assistant|output|option|system|candidate|item|image|"
    r"version)[\s_]*)?(?P<who>a|b|1|2|first|second|left|right)\b"
    r"(?: (?:one|model|option|answer|response|item|image))?"
)
BETTER = re.compile(rf"{WHICH},?\s")
PREFERS = re.compile(
    r"(?:i )?(?:(?:very |much )?(?:strongly|slightly|somewhat|moderately|definitely|probably|"
    rf"clearly|weakly|much|greatly) )?prefer(?:red|s)?:? {WHICH}"
)
MUCH = re.compile(r"much|significant|strong|far|clear|a lot|considerabl|definite|>>")
SAID = re.compile(r"\b(?:better|preferred|wins|won|stronger|superior)\b")
WORSE = re.compile(r"\b(?:not|worse|less|isn't|wasn't)\b")
NOBODY = re.compile(r"\b(?:neither|none of|both|all|equal|same|tie|tied|draw|no difference)")


@dataclass(frozen=True)
class Meaning:
    """What an outcome column says."""

    kind: Literal["words", "names", "shares"]
    why: str
    understood: float  # share of filled cells that it has a meaning for
    values: Mapping[str, float] = field(default_factory=dict)
    margins: Mapping[str, float] = field(default_factory=dict)  # of score lines such as 3-1
    both_bad: frozenset[str] = frozenset()
    in_words: bool = False  # tells an outcome without the help of the column's name
    items: tuple[int, int] | None = None  # columns with ids, where it names those


def read_grades(texts: Sequence[str]) -> Meaning | None:
    """Return what texts such as ``A>>B`` or ``B is slightly better`` mean, or None."""
    margins = {text: grade for text in texts if (grade := _grade(text)) is not None}
    if not any(margins.values()):
        return None
    return _graded(margins, "graded preferences")


def _graded(margins: Mapping[str, float], why: str) -> Meaning:
    several = len({abs(m) for m in margins.values()} - {0.0}) > 1
    return Meaning("words", why, 1.0, _by_sign(margins), margins if several else {})


def _by_sign(margins: Mapping[str, float]) -> dict[str, float]:
    """Return the outcome that each margin stands for."""
    return {text: 0.5 + 0.5 * ((m > 0) - (m < 0)) for text, m in margins.items()}


TAGGED = re.compile(r"\[\[[^\[\]]+\]\]")
EMOJI = re.compile("^[\U0001f000-\U0001faff\ufe0f]+\\s*|\\s*[\U0001f000-\U0001faff\ufe0f]+$")


def _verdict(text: str) -> str:
    """Return the ``[[A]]`` that stands behind the reasons of a judge, or the text as it is."""
    found = TAGGED.findall(text)
    return found[0] if len(found) == 1 else EMOJI.sub("", text)


def _grade(text: str) -> float | None:
    said = " ".join(_verdict(text).casefold().replace("_", " ").split())
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
    better = prefers or BETTER.match(said)  # from its beginning: "Real Madrid B won" is a team
    unsaid = NOBODY.match(said) or not SAID.search(said) or WORSE.search(said)
    if better is None or (unsaid and not prefers):
        return None
    sign = 1.0 if better["who"] in FIRST_BETTER else -1.0
    return sign * (2.0 if MUCH.search(said) else 1.0)


def listed_grades(grades: Sequence[object], texts: Sequence[str]) -> Meaning:
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


def numbered_grades(numbers: Mapping[str, float]) -> Meaning | None:
    """Return the meaning of grades from 1 to 4, 5 or 7, of which 1 is the first's best.

    Of 1, 2 and 3 nobody can tell whether 2 or 3 is a tie.
    """
    found = set(numbers.values())
    most = int(max(found, default=0.0))
    order = range(1, most + 1)
    if most not in {4, 5, 7} or not found <= set(order):
        return None
    steps = _steps([str(x) for x in order])
    margins = {text: steps[f"{x:g}"] for text, x in numbers.items()}
    return _graded(margins, f"grades from 1, the first's best, to {most}, the second's")


BAD = re.compile(r"bad|poor|wrong|fail|los[et]|incorrect|unaccept|unsatisf|terrible|useless|worse")
GOOD = re.compile(r"good|fine|great|accept|correct|satisf|win|equal|same")
MOST_WORDS = 15  # of a verdict; more are reasons, in which both may be called good


def _said(text: str) -> str:
    """Return a verdict in small letters, with single spaces instead of signs; empty for reasons."""
    said = re.sub(r"[_()\-]+", " ", _verdict(text).casefold()).split()
    return " ".join(said) if len(said) <= MOST_WORDS else ""


def is_both_bad(text: str) -> bool:
    """Return whether a verdict says that neither is any good, in whatever words."""
    said = _said(text)
    if re.match(r"neither\b", said):
        return not re.search(r"better|prefer", said)
    return bool(re.search(r"(?:\b|tie)(both|all)", said) and BAD.search(said))


def is_both_good(text: str) -> bool:
    """Return whether a verdict says that both are equally good."""
    said = _said(text)
    said = re.sub(r"^((?:\w+ )?(they|[ab]) (are|is)|it is|about|roughly|almost|the|\s)+", "", said)
    both = re.search(r"\b(both|all)", said) or re.match(r"(tie|equal|same|no difference)", said)
    return bool(both and not BAD.search(said) and GOOD.search(said))


FIRST_WORDS = listed(
    "win won first true yes w/l win/loss w-wo 1-0 firstwins firstwon victory sieg victoria "
    "victoire vitoria vittoria winst wygrana galibiyet победа 勝 勝ち 胜 승 heimsieg"
)
SECOND_WORDS = listed(
    "loss lose lost second false no l/w loss/win l-wo 0-1 secondwins secondwon defeat niederlage "
    "derrota defaite sconfitta verlies porazka maglubiyet поражение 負 負け 负 패 auswartssieg"
)
TIE_WORDS = listed(
    "tie draw drawn tied halved equal d/d draw/draw 1/2-1/2 ½-½ 0.5-0.5 1/2 ½ = matchdrawn "
    "matchtied nopreference nopref undecided jigo can'tdecide cantdecide cannotdecide can'tsay "
    "cantsay indifferent nodifference same thesame aboutthesame unentschieden remis empate egalite "
    "nul nulle pareggio gelijk beraberlik ничья 引分 引き分け 千日手 持将棋 平 平局 무"
)
# Letters for won, drawn and lost, in several languages: where V is a victory, D is a defeat.
ENGLISH = ("wdtxl", "yn")
SIGNS = ("+=-", "○△●", "○△×", "✓✗")  # of chess, of Japanese tables, of forms
LETTERS = (*ENGLISH, *listed("vnd ved vd gep vnp vps sun wgv wrp vof vut vth gbm внп"), *SIGNS)
TIE_LETTERS = {  # beside those of two sides, such as L and V of local and visitante
    **dict.fromkeys(("visitante", "fora"), "ex"),
    **dict.fromkeys(("trasferta", "ospite"), "nxp"),
    **dict.fromkeys(("gast", "auswarts", "ude", "borte"), "ux"),
    "exterieur": "nx",
    "uit": "gx",
    "borta": "ox",
}
YES = listed("true yes y t 1 1.0")
NO = listed("false no n f 0 0.0")
AHEAD = listed("1 1.0 +1 first home h a white w host true yes vs vs.")
BEHIND = listed("-1 -1.0 second away b black visitor guest false no @ at")
NEITHER = listed("0 0.0 neutral n none")
# Of chess sites, beside the words of outcomes: how a game was lost, and how it was drawn.
LOST_IN_CHESS = listed("0 checkmated resigned timeout abandoned lose kingofthehill threecheck")
MANGLED = re.compile(r"(?i)\d\d?-(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
DRAW = re.compile(r"^(?:majority|split|unanimous|technical|[must])?-?draw\b|^matchdrawn|\(draw\)$")
DRAWN_IN_CHESS = listed("0.5 agreed repetition stalemate insufficient 50move timevsinsufficient")
DRAWN_BY_STATUS = DRAWN_IN_CHESS | listed("draw drawn tie tied halved")
OUT_OF_TIME = "outoftime"  # a draw too, where nobody is named as the winner


def draws_in(texts: Iterable[str], winner_named: bool) -> tuple[str, ...]:
    """Return the texts that tell draws, as the status of a game of chess does."""
    bare = {text: re.sub(r"[\s_]+", "", text.casefold()) for text in texts}
    known = DRAWN_BY_STATUS | (set() if winner_named else {OUT_OF_TIME})
    return tuple(text for text, word in bare.items() if word in known or DRAW.search(word))


ONE_SIDE = {
    **dict.fromkeys(LOST_IN_CHESS | SECOND_WORDS | NO, 0.0),
    **dict.fromkeys(DRAWN_IN_CHESS | TIE_WORDS, 0.5),
    **dict.fromkeys(FIRST_WORDS | YES, 1.0),
    "w": 1.0,
    "l": 0.0,
    "d": 0.5,
}


def of_one_side(texts: Iterable[str], *more: str) -> dict[str, float]:
    """Return what texts say of their own side: 1 won, 0 lost, 0.5 neither; `more` say won too."""
    told = {text: re.sub(r"[\s_]+", "", text.casefold()) for text in texts}
    known = ONE_SIDE | dict.fromkeys(more, 1.0)
    found = {text: known.get(word, number(word)) for text, word in told.items()}
    return {text: x for text, x in found.items() if x is not None and x in {0.0, 0.5, 1.0}}


NAMED_SIDE = re.compile(r"\d|/|first|second|heim|auswart|true|false|yes|no")
WON, LOST = ({w for w in o if not NAMED_SIDE.search(w)} for o in (FIRST_WORDS, SECOND_WORDS))


def is_own(texts: Iterable[str]) -> bool:
    """Return whether texts begin with won and with lost, and so tell the result of some one."""
    begins = (re.match(r"[^\W\d_]+", text.strip().casefold()) for text in texts)
    said = {without_accents(word[0]) for word in begins if word}
    return bool(said & (WON | {"w"}) and said & (LOST | {"l"}))


# Words that tell places and switches as well, so that no column is an outcome by them alone.
NOT_TELLING = listed("true false yes no y home away h a b w n neutral left right white black x r")
TYPO = 0.05  # a 2 among 0 and 1 that is rarer than this is a slip of the pen


def number(text: str, decimal_comma: bool = False) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float((text.replace(",", ".") if decimal_comma else text).replace("−", "-"))
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
    names_one: bool = False,  # whether it speaks of who won, so that a number is one of the two
    by_hand: bool = False,  # whether the caller says that it tells outcomes, as the first sees them
) -> Meaning:
    """Return what words and numbers in an outcome column mean; names of items are not looked at."""
    filled = [(text, count) for text, count in cells if text.strip()]
    total = sum(count for _, count in filled)
    texts = [text for text, _ in filled]
    if rated and (percent := _percent(filled, total, decimal_comma)):
        return percent
    preferences = read_grades(texts) if grades is None else listed_grades(grades, texts)
    scorelines = None if preferences else _scorelines(filled)
    if scorelines:
        return scorelines
    go = any(re.match(r"\s*[BW]\+", text) for text in texts)
    bare = {text: "jigo" if go and text.strip() == "0" else _as_word(text) for text in texts}
    words: dict[str, float | None] = {**(_begun(headers, bare) if names_one else {})}
    words |= _words_of(headers, marker)
    signs = {*bare.values()} <= {*"".join(SIGNS)}  # beside results, + is a game without play
    single = {word for word in bare.values() if len(word) == 1 and (signs or word.isalpha())}
    letters = _letters(single, headers, marker)
    words |= letters
    quiet = NOT_TELLING if {0.0, 1.0} <= set(letters.values()) else NOT_TELLING | set(letters)
    quiet -= {"w"} if "l" in letters else set()  # white has black beside it
    values: dict[str, float] = {}
    numbers: dict[str, float] = {}
    both_bad = set()
    for text, word in bare.items():
        if preferences and text in preferences.values:
            values[text] = preferences.values[text]
        elif is_both_bad(text):
            both_bad.add(text)
            values[text] = 0.5
        elif (value := number(word, decimal_comma)) is not None:
            numbers[text] = value
        elif (told := words.get(word, words.get(word.replace("-", "")))) is not None:
            values[text] = told
        elif is_both_good(text) or (preferences and word == "neutral"):
            values[text] = 0.5
    by_words = sum(count for text, count in filled if text in values)
    telling = sum(n for t, n in filled if t in values and bare[t] not in quiet)
    numbered = numbered_grades(numbers) if graded and grades is None else None
    if numbered:
        numeric, why = dict(numbered.values), numbered.why
    else:
        counts_from = marker.first if marker is not None and names_one else ""
        numeric, why = _numbers(numbers, dict(filled), counts_from, names_one and not by_hand)
    lone = {0.0, 1.0} <= {*values.values()} and {*numbers.values()} == {0.0}
    values |= {} if lone else numeric  # beside words for both, 0 may be a tie
    margins = dict(numbered.margins) if numbered else {}
    if preferences and preferences.margins:  # ties in other words have a margin too
        margins = {t: preferences.margins.get(t, 0.0) for t in values if t not in numeric}
    understood = sum(count for text, count in filled if text in values)
    if by_words:
        why = (preferences.why if preferences else "words") + (f", {why}" if numbers else "")
    return Meaning(
        "words",
        why,
        understood / total if total else 0.0,
        values,
        margins,
        both_bad=frozenset(both_bad),
        in_words=2 * telling > total,
    )


INTERVAL = re.compile(  # 55.2% ± 2.1, 55% [51-59], 55% (51% to 59%)
    r"([\d.,]+\s*%?)\s*"
    r"(?:(?:±|\+/?-)\s*[\d.,]+\s*%?"
    r"|[(\[]\s*([\d.]+)\s*%?\s*(?:[-–,;]|to)\s*([\d.]+)\s*%?\s*[)\]])"
)


def without_interval(text: str) -> str:
    """Return a rate without how sure it is; 33% (20-40) are games won and lost, and stay."""
    found = INTERVAL.fullmatch(text.strip())
    if found is None:
        return text
    rate, low, high = (number((found[k] or "0").rstrip("% "), True) or 0.0 for k in (1, 2, 3))
    record = "(" in text and abs(rate * (low + high) - 100.0 * low) <= 0.51 * (low + high)
    return found[1] if found[2] is None or (low < rate < high and not record) else text


def _percent(filled: list[tuple[str, int]], total: int, decimal_comma: bool) -> Meaning | None:
    """Return the meaning of win rates out of 100, with or without the sign, or None."""
    bare = {text: without_interval(text).strip() for text, _ in filled}
    rates = {text: number(rate.rstrip("% "), decimal_comma) for text, rate in bare.items()}
    fine = {text: x for text, x in rates.items() if x is not None and 0 <= x <= 100}
    part = {t for t, x in fine.items() if 0 < x < 1 and not bare[t].endswith("%")}  # of 1, perhaps
    values = {t: x / 100.0 for t, x in fine.items() if t not in part or len(part) == len(fine)}
    known = sum(count for text, count in filled if text in values)
    signed = any(bare[text].endswith("%") for text in values)
    if not values or (not signed and max(values.values()) <= 0.01):
        return None
    return Meaning("words", "percent of games that the first won", known / total, values)


def _words_of(headers: tuple[str, str], marker: Marker | None) -> dict[str, float]:
    """Return word to outcome, the pair's own words last so that they prevail."""
    words = (
        dict.fromkeys(FIRST_WORDS, 1.0)
        | dict.fromkeys(SECOND_WORDS, 0.0)
        | dict.fromkeys(TIE_WORDS, 0.5)
    )
    words |= {"left": 1.0, "right": 0.0, "white": 1.0, "black": 0.0, "home": 1.0, "away": 0.0}
    words |= {"modela": 1.0, "modelb": 0.0}
    sides = {"a": 1.0, "b": 0.0}
    if marker:
        sides |= {marker.first: 1.0, marker.second: 0.0}
        for item in vocabulary.ITEMS | {"p", "t"}:  # Team 1, where the column is "Team 1 Name"
            words |= {f"{item}{marker.first}": 1.0, f"{item}{marker.second}": 0.0}
        if marker.first == "r":
            sides |= {"red": 1.0, "blue": 0.0}
    sides |= {plain(headers[1]): 0.0, plain(headers[0]): 1.0}
    sides.pop("", None)
    for word, value in sides.items():  # win_A, white wins, model_b_won
        called = (
            f"win{word}",
            f"{word}win",
            f"{word}wins",
            f"{word}won",
            f"{word}team",
            f"{word}勝ち",
        )
        words |= dict.fromkeys(called, value)
    return words | sides


def _begun(headers: tuple[str, str], bare: Mapping[str, str]) -> dict[str, float]:
    """Return words that are the beginning of one of the two names, as Prop is of Proposition."""
    first, second = map(plain, headers)
    begun = {word: [name.startswith(word) for name in (first, second)] for word in bare.values()}
    return {w: float(a) for w, (a, b) in begun.items() if len(w) > 2 and a != b}


def _as_word(text: str) -> str:
    """Return a cell without case, spaces and accents, and without by how much somebody won.

    ``[[A]]`` is A, ``B+3.5`` is B, ``OTL`` and ``L (OT)`` are L, ``Won by 5 wickets`` is won.
    """
    word = re.sub(r"[\s_]+", "", _verdict(text).casefold()).replace("–", "-")
    word = re.sub(r"(?<=[\d½]):(?=[\d½])", "-", word)
    word = vocabulary.without_marks(word)
    for form in (
        r"\[\[([abc])\]\]",
        r"([bw])\+.*",
        r"(?:\d?ot|so)[-/]?([wl])",
        r"([wl])[-/(]*(?:\d?ot|so)\)?",
        r"([wldt])\([+−-]?\d+\)",  # by how much, in brackets
        r"([wldt])[-/(]*(?:ud|sd|md|t?ko|rtd|td|nws|pts|sub|dec)\)?",  # of boxing
        r"((?:white|black)?(?:won|lost|wins?|loss)|draw)(?:by|on).+",
        r"\d[\d-]*([a-z]{3,})",  # 2-1 AFF
    ):
        if match := re.fullmatch(form, word):
            return "tie" if match[0] == "[[c]]" else match[1]
    return word


def _letters(
    found: set[str], headers: tuple[str, str], marker: Marker | None
) -> dict[str, float | None]:
    """Return what single letters mean together; None for all where they can be read in two ways.

    L beside W is lost, and beside R it is left, where a column is called so; alone it may be both.
    """
    ways = []
    for letters in LETTERS:
        ends = {letters[0], letters[-1]} & found
        if found <= set(letters) and len(ends) >= (1 if letters in ENGLISH else 2):
            ways.append({letters[0]: 1.0, letters[-1]: 0.0} | dict.fromkeys(letters[1:-1], 0.5))
    if found <= set("dtx"):
        ways.append(dict.fromkeys("dtx", 0.5))
    sides = [(plain(headers[0]), plain(headers[1])), ("h", "a"), ("a", "b")]
    ties = "dtx"
    if marker is not None and marker.second not in vocabulary.OPPONENTS:
        sides.insert(1, (marker.first[0], marker.second[0]))
        ties = TIE_LETTERS.get(marker.second, ties)
    for first, second in sides:
        both = {first, second}
        if len(both) == 2 and both & found and found <= both | set(ties):
            way = dict.fromkeys(ties, 0.5) | {first: 1.0, second: 0.0}
            ways = [way] if both <= found else [*ways, way]
            break
    told = {letter: {way.get(letter) for way in ways} for letter in found}
    agreed = all(len(values) == 1 for values in told.values())
    return {letter: values.pop() if agreed else None for letter, values in told.items()}


def _numbers(  # noqa: PLR0911  one for each way to number outcomes
    numbers: dict[str, float], counts: dict[str, int], counts_from: str, asked: bool
) -> tuple[dict[str, float], str]:
    """Return what numbers mean, by which of them occur, and that in words.

    Beside columns such as player_1 and player_2, which `counts_from` tells, 1 and 2 are those, and
    0 is nobody; beside model_0 and model_1, 0 and 1 are, and -1 is nobody.  Where it is `asked` who
    won, and nothing but 0 and 1 answers, 1 may be the first, or the second of two counted from 0.
    """
    found = set(numbers.values())
    if asked and counts_from == "0" and found <= {-1.0, 0.0, 1.0}:
        named = {text: 0.5 if x < 0.0 else 1.0 - x for text, x in numbers.items()}
        return named, f"0 is the first, 1 the second{', -1 a tie' * (-1.0 in found)}"
    if asked and found <= {0.0, 1.0} and 0.0 in found:
        return {}, "1 may be the first, or the second"
    if counts_from == "1" and found == {0.0, 1.0, 2.0}:
        named = {text: 0.5 if x == 0.0 else 2.0 - x for text, x in numbers.items()}
        return named, "1 is the first, 2 the second, 0 a tie"
    twos = sum(counts[text] for text, x in numbers.items() if x == 2)
    below = sum(counts[text] for text, x in numbers.items() if x < 0 and x != -1)
    rare = TYPO * sum(counts[text] for text in numbers)
    if (0.0 in found and rare <= twos) or below > rare:
        # Is 0 a tie, or the second's win?  Is -3 the first's best, or its worst?  Nobody can tell.
        return {}, "numbers of several meanings"
    if found and max(found) > 1.0 and all(1.0 <= x <= 2.0 for x in found):
        between = found - {1.0, 2.0}
        why = "from 1, the first, to 2, the second" if between else "1 is the first, 2 the second"
        return {text: 2 - x for text, x in numbers.items()}, why
    inside = {text: x for text, x in numbers.items() if (-1 if -1.0 in found else 0) <= x <= 1}
    beyond = sum(counts[text] for text, x in numbers.items() if text not in inside and x != 2)
    if inside and beyond > rare and 0.5 not in found:  # of 3, 1 and 0 points, 1 is for a draw
        return {}, "numbers of several meanings"
    if -1.0 in found:
        signed = {text: (x + 1) / 2 for text, x in numbers.items() if x in {-1.0, 0.0, 1.0}}
        return signed, "1, 0, -1: as -1 occurs, 0 is a tie"
    if set(inside.values()) <= {0.0, 0.5, 1.0}:
        return inside, "1 the first won, 0 the second, 0.5 a tie"
    return inside, "share of games that the first won"


# Scores written as one text, as in ``3-1``, ``2-1 aet`` and ``L 5-3``; and what only looks so.
LINE = r"\d+\s*[-:–]\s*\d+"
HALVES = r"(?:\d+(?:\.\d|,5|½)?|½)"  # 5.5, 1½
LATE = r"aet|a\.e\.t\.?|ot|so|et|ap|pens?|n\.?\s?[vpe]\.?"  # after extra time, or a shoot-out
SCORELINE = re.compile(
    r"(?:(?P<told>[WLDT]|win|won|loss|lost|draw|tie)[\s,:(]*)?"
    rf"(?P<x>{HALVES})\s*[-:–]\s*(?P<y>{HALVES})"
    rf"(?:[\s/]*\(?\d?(?:{LATE})\d?\)?)?"
    rf"(?:\s*\({LINE}(?:[,;\s]+{LINE})*\s*(?:p|pens?)?\.?\)\s*(?:p|pens?)?\.?)?"  # half-time, sets
    r"\)?(?:[\s,]+(?P<after>[WLDT]))?\s*(?:[*†‡]+|\[\w+\])?",  # 3-1 W; marks of footnotes
    re.IGNORECASE,
)
SCORES = "scores, first - second"
RECORD = re.compile(r"(\d)\s*[-–]\s*(\d)\s*[-–]\s*\d")  # games won, lost and drawn of a match
SET = re.compile(r"\[?(\d+)\s?[-:–/]\s?(\d+)\]?(?:\s?\(\d+(?:[-:–]\d+)?\))?")  # 7-6(5), [10-8]


def _read_sets(text: str) -> tuple[float, float] | None:
    """Return how many sets each won, of at least two: ``6-4 3-6 7-6(5)`` is 2 against 1."""
    parts = re.split(r"(?<=[\d\])])(?:[\s,;]+|\s+[/|]\s+)(?=[\d\[])", text.strip())
    sets = [SET.fullmatch(part) for part in parts]
    if len(sets) < 2 or not all(sets):
        return None
    ahead = [float(one[1]) - float(one[2]) for one in sets if one]
    return float(sum(x > 0 for x in ahead)), float(sum(x < 0 for x in ahead))


def _read_scoreline(text: str) -> tuple[float, float] | None:
    """Return the two scores of a text, the first's first; ``L 5-3`` is 3 against 5."""
    text = re.sub("[−－‒—]", "-", text)
    text = re.sub(r"^\s*(\d\d?)\s*[x×]\s*(\d\d?)\s*$", r"\1-\2", text)  # 2 x 1, in Brazil
    text = re.sub(r"^\s*\(\d+\)\s*(\S.*\S)\s*\(\d+\)\s*$", r"\1 (pens)", text)  # (4) 1–1 (2)
    text = re.sub(r"^\s*(\d+)\s*\(\d+\)\s*(\d+)\s*$", r"\1-\2", text)  # 18 (35) 9
    line = SCORELINE.fullmatch(text.strip())
    if line is None:
        record = RECORD.fullmatch(text.strip())
        return _read_sets(text) if record is None else (float(record[1]), float(record[2]))
    x, y = (float(line[k].replace(",", ".").replace("½", ".5")) for k in "xy")
    told = (line["told"] or line["after"] or "").casefold()[:1]
    if (told == "w" and x < y) or (told == "l" and x > y):  # the winner's score comes first
        return y, x
    return x, y


def _are_no_scores(lines: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether texts like scores are times such as 29:00, seasons, or ranges as 18-24."""
    texts = [text.strip() for text in lines]
    of_day = all(re.fullmatch(r"\d{1,3}:[0-5]\d", text) for text in texts)
    seasons = all(y % 100 == (x + 1) % 100 and max(x, y) > 9 for x, y in lines.values())
    ranges = len(texts) > 1 and all(9 < x < y for x, y in lines.values())
    return of_day or seasons or ranges


WALKED_OVER = re.compile(vocabulary.UNPLAYED)


def _scorelines(filled: list[tuple[str, int]]) -> Meaning | None:
    """Return the meaning of texts such as 3-1, unless they are chess results or no scores."""
    if not any(re.search(r"\d\s*([-:–−－‒—/x×]|\(\d+\)\s*\d)", text) for text, _ in filled):
        return None
    lines = {text: line for text, _ in filled if (line := _read_scoreline(text)) is not None}
    clocks = {t for t in lines if re.fullmatch(r"(1\d|2[0-3])\s?:\s?[0-5][05]", t.strip())}
    others = {text: line for text, line in lines.items() if text not in clocks}
    if others and max(max(line) for line in others.values()) < 10:  # 15:00 among 2:1 and 0:3
        lines = others
    chess = {"1-0", "0-1", "½-½", "0.5-0.5", "0,5-0,5"}
    told = [t for t, _ in filled if t in lines or not WALKED_OVER.fullmatch(t.strip().casefold())]
    total = sum(count for text, count in filled if text in told)
    share = sum(count for text, count in filled if text in lines) / total if total else 0.0
    closed_up = {re.sub(r"[–:]", "-", re.sub(r"\s+", "", text)) for text in lines}
    if share < vocabulary.ENOUGH or closed_up <= chess:
        return None
    totals = {x + y for x, y in lines.values()}
    splits = {max(line) for line in lines.values()}
    if len(splits) > 1 and totals in ({10.0}, {100.0}):  # 6-4, 5-5, 7-3 of a matchup
        rates = {text: x / (x + y) for text, (x, y) in lines.items()}
        return Meaning("words", f"rates out of {totals.pop():g}", share, rates, in_words=True)
    margins = {text: x - y for text, (x, y) in lines.items()}
    why = SCORES
    if any(re.search(r"\(.*\).*p|\(.*p", text.casefold()) for text in lines):
        why += "; who won a shoot-out is not used"
    scores = not _are_no_scores(lines)
    return Meaning("words", why, share, _by_sign(margins), margins, in_words=scores)


def read_switch(texts: Iterable[str]) -> dict[str, float]:
    """Return 1 for yes and 0 for no; other texts are left out."""
    told = {text: text.strip().casefold() for text in texts}
    return {text: float(word in YES) for text, word in told.items() if word in YES | NO}


def is_switch(texts: Iterable[str]) -> bool:
    """Return whether every text that is not empty says yes or no, and there is one."""
    filled = [text for text in texts if text.strip()]
    return bool(filled) and len(read_switch(filled)) == len(filled)


def read_sides(
    texts: Sequence[str], headers: tuple[str, str], *, flag: bool = False
) -> dict[str, float]:
    """Return 1 where the first has the side, -1 where the second has it, 0 where neither.

    Of a `flag` such as is_home, 0 says that the second has it, unless -1 says so.
    """
    values = dict.fromkeys(NEITHER, 0.0) | dict.fromkeys(BEHIND, -1.0) | dict.fromkeys(AHEAD, 1.0)
    values |= {plain(headers[1]): -1.0, plain(headers[0]): 1.0}
    told = {text: re.sub(r"[\s_]+", "", text.casefold()) for text in texts}
    if {"h"} <= set(told.values()) <= {"h", "a", "n"}:
        values["a"] = -1.0  # home and away; alone, A is the first
    if flag and not {"-1", "-1.0"} & set(told.values()):
        values |= {"0": -1.0, "0.0": -1.0}
    return {text: values[word] for text, word in told.items() if word in values}
