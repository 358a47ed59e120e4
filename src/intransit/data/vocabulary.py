"""The words of tables: what names of columns say they are for, and what outcomes in cells mean.

Names are compared without case, spaces and underscores.  Outcomes are words, numbers, score lines
or graded preferences.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from unicodedata import combining, normalize

from intransit.errors import InputError


def listed(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Marker:
    """Two words that tell the first from the second item, as in home_team and away_team."""

    first: str
    second: str
    sided: bool = False  # whether the first has a side: home, white
    bare: bool = True  # whether the words alone name a column


MARKERS = (
    Marker("first", "second"),
    Marker("a", "b"),
    Marker("1", "2", bare=False),
    Marker("one", "two", bare=False),
    Marker("left", "right"),
    Marker("i", "j"),
    *(Marker("home", word, sided=True) for word in ("away", "visitor", "visiting", "guest")),
    *(Marker("host", word, sided=True) for word in ("guest", "visitor")),
    Marker("white", "black", sided=True),
    *(Marker(word, "opponent") for word in ("player", "team", "item", "model", "club", "name")),
    *(Marker(word, "opponent") for word in ("character", "deck", "archetype", "hero", "fighter")),
    *(Marker(word, "opponent") for word in ("champion", "pokemon", "civilization", "country")),
    *(Marker(word, "opponent") for word in ("squad", "school", "user", "agent", "bot")),
    *(Marker(word, "opp") for word in ("player", "team", "deck", "hero", "tm")),
    Marker("home", "vis", sided=True),
    *(Marker("heim", word, sided=True) for word in ("gast", "auswarts")),
    *(Marker(word, "visitante", sided=True) for word in ("local", "mandante", "casa")),
    *(Marker("casa", word, sided=True) for word in ("trasferta", "ospite", "fora")),
    Marker("domicile", "exterieur", sided=True),
    Marker("thuis", "uit", sided=True),
    Marker("hemma", "borta", sided=True),
    *(Marker("hjemme", word, sided=True) for word in ("ude", "borte")),
    *(Marker(word, "gegner") for word in ("mannschaft", "team", "spieler")),
    *(Marker("equipe", "adversaire"), Marker("equipo", "rival"), Marker("squadra", "avversario")),
    Marker("h", "a", sided=True, bare=False),
    Marker("h", "v", sided=True, bare=False),
    Marker("blue", "red"),
    Marker("r", "b", bare=False),
    Marker("radiant", "dire"),
    Marker("0", "1", bare=False),
    Marker("control", "treatment"),
    Marker("champion", "challenger"),
)
WINNER = Marker("winner", "loser")
WINNERS = (
    *(WINNER, Marker("winning", "losing", bare=False), Marker("w", "l", bare=False)),
    *(Marker("chosen", "rejected", bare=False), Marker("preferred", "rejected", bare=False)),
)

ITEMS = listed(
    "name item player team model option deck agent bot competitor candidate system entity "
    "fighter contestant archetype country club type user participant choice entrant generator pl "
    "mannschaft verein spieler equipo jugador equipe joueur squadra giocatore ploeg speler lag"
)
AFTER_ITEMS = listed("1 2 a b one two")  # as in player1_score
SAMPLES = listed("answer response image")  # what an item made, beside its name if there is one
THINGS = listed(  # items too, where nothing above names any
    "p boxer wrestler pokemon champion champ hero character char variant treatment movie film song "
    "photo picture product brand design driver horse card food artist book language strategy "
    "policy method algorithm engine program version"
)
SCORES = listed(
    "score scores points pts goals runs sets finalscore ftscore scored goalsscored goalcount "
    "mapswon setswon gameswon roundswon frameswon legswon sc "
    "tore punkte goles puntos buts gols placar pontos gol reti punti doelpunten"
)
LAST_SCORES = listed("games frames maps rounds legs rating ratings")  # where nothing else tells
BEFORE_MARKS = re.compile("|".join(sorted({*ITEMS, "p", "t", "pl"}, key=len, reverse=True)))
HOME_SCORES = (("fthg", "ftag"), ("hg", "ag"))  # football-data.co.uk
OWN_SCORES = (  # as the first sees the game
    *(("gf", "ga"), ("goalsfor", "goalsagainst"), ("pf", "pa"), ("pointsfor", "pointsagainst")),
    *(("rf", "ra"), ("runsfor", "runsagainst"), ("scorefor", "scoreagainst"), ("for", "against")),
    *(("scored", "conceded"), ("goalsscored", "goalsconceded"), ("score", "opponentscore")),
    *(("score", "oppscore"), ("points", "opponentpoints"), ("pts", "opppts"), ("pts", "oppts")),
    *(("teamscore", "oppscore"), ("points", "opppoints"), ("goals", "opponentgoals")),
)

OUTCOMES = listed(
    "outcome result res ftr winner winnername winnerid winnermodel winningteam winningplayer "
    "whowon won win label preference preferred choice chosen vote verdict judgment judgement "
    "decision grade gameresult matchresult target score firstwon firstwins awon awins "
    "player1won team1won homewin homewon 1x2 fulltimeresult finalresult ftresult wl winloss "
    "mapwinner matchwinner gamewinner serieswinner fightwinner roundwinner "
    "ergebnis resultat resultado risultato uitslag"
) | (WINNERS_ABROAD := listed("sieger gewinner ganador vainqueur vencedor vincitore winnaar"))
PREFERENCES = listed(
    "preference preferred label choice vote verdict judgment judgement decision grade"
)
SHARES = listed("winrate winshare share winfraction winprobability winpct winpercent winpercentage")
WINNER_WORDS = WINNERS_ABROAD | {name for name in OUTCOMES if name.startswith(("winn", "whowon"))}
MARGINS = listed(
    "margin scorediff scoredifference pointdiff goaldiff diff difference marginofvictory plusminus"
)
TIES = listed("tie tied draw drawn istie isdraw")
TIMES = listed(
    "created played started completed startedat completedat endedat finishedat "
    "time date datetime timestamp tstamp ts day when playedat playedon createdat matchdate "
    "gamedate eventdate kickoff starttime startdate utcdate dateutc unixtime unix epoch "
    "timestampms unixms epochms matchtime gametime playeddate gameday datum fecha"
)
SEASONS = listed("season saison temporada stagione seizoen sasong")
YEARS = SEASONS | listed("year jahr")
WEEKS_A_YEAR = 53  # as calendars count them
PARTS_OF_A_YEAR = {"month": 12, "quarter": 4} | dict.fromkeys(
    listed("week matchday gameweek matchweek gw spieltag jornada journee giornata rodada"),
    WEEKS_A_YEAR,
)  # about a week from one matchday to the next, and the rest of the year without games
PERIODS = YEARS | set(PARTS_OF_A_YEAR) | listed("period t step yearmonth")
VERSIONS = listed("patch version build release gameversion patchversion patchnumber update")
STAGES = listed("set expansion edition generation gen era cardset block")  # periods with names
DATED = re.compile(r"date|timestamp|kickoff")  # in the name of a column of dates
OTHER_DATES = re.compile(r"birth|dob|born|debut|found|regist|updat|expir|death|last|next|hire|join")
TOURNAMENTS = listed(
    "tournament tournamentid tournamentname tourney tourneyid tourneyname event eventid eventname "
    "competition league cup comp competitionid division group series"
)
ROUNDS = listed("round rd roundname matchround roundnumber roundno")
UNIX = re.compile(
    r"^(ts|tstamp|.*timestamp.*|.*unix.*|.*epoch.*|.*(?:time|date)ms|\w+(?:ed|start|end)at|"
    r"created|played|started|completed)$"
)
GROUNDS = listed("venue ground site place where")  # may hold a side, or the name of a stadium
SIDES = GROUNDS | listed(
    "homeaway homeoraway ha side home ahome athome ishome firsthome firstathome homea team1home "
    "player1home firstiswhite awhite firsthasside shownfirst location homeadvantage wloc"
)
SIDE_FLAGS = listed("home ishome athome firsthome firstathome team1home player1home firstiswhite")
NEUTRALS = listed("neutral neutralground neutralsite neutralvenue isneutral neutralfield")
# Games that were not played, and what says so: in a result, as a status, as a name, by a flag.
OF_RESULTS = listed(
    "score scores result results finalscore ft outcome comment comments note notes remark remarks "
    "resulttype wintype victorytype winby wonby decidedby ergebnis bemerkung bemerkungen"
)
UNPLAYED = (
    r"(?:(?:w|l|win|won|loss|lost|victory|defeat)\b[\s,:(\-–]*(?:by|via|on|due to)?\s*|"
    r"[\d½.:–\-\s/]*)"
    r"\(?(?:walk[\s-]?overs?|forfeit(?:s|ed|ure)?|forf\.?|ff|bye|no[\s-]?show|awarded|awd\.?|dq|"
    r"not[\s-]?played|kampflos)\)?"
    r"|[\d½.:–\-\s/]*\(?(?:w/o|w\.\s?o\.?|wo)\)?"  # and not W-wo, a walk-off
    r"|\+\s?[-–:/]\s?[-–]|[-–]\s?[-–:/]\s?\+|[01½]f?\s?[-–:]\s?[01½]\s?f+"
)
STATUSES = listed("status matchstatus gamestatus fixturestatus")
NOT_YET = (
    r"scheduled|timed|not[\s_-]?started|upcoming|postponed|pst|ppd|cancell?ed|canc|nostart|"
    r"aborted|in[\s_-]?play|in[\s_-]?progress|pending"
)
FORFEITS = listed(
    "forfeit forfeited isforfeit forfeits walkover iswalkover wo bye isbye noshow dq isdq"
)
COUNTS = listed(
    "count counts n ngames games numgames nmatches matches trials total gamesplayed matchesplayed "
    "numberofgames samplesize samples nvotes numvotes totalgames totalmatches"
)
WEIGHTS = listed("weight weights")


def plain(name: str) -> str:
    """Return a name without case, accents, spaces, underscores, hyphens, dots and strokes.

    ``Winner/tie`` and ``Home/Neutral`` are who won and who was at home, if anybody.
    """
    return without_accents(re.sub(r"(?i)/(tie|neutral)$", "", name))


SIGNS = re.compile(r"[\s_\-./]+")
STROKES = str.maketrans({"đ": "d", "ø": "o", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})


def without_accents(name: str) -> str:
    """Return a name without case and accents, and without what stands between its letters."""
    bare = SIGNS.sub("", name.casefold())
    if bare.isascii():
        return bare
    bare = bare.translate(STROKES)
    return "".join(sign for sign in normalize("NFKD", bare) if not combining(sign))


def tokens_of(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name: ``blueTopChamp`` has three, ``winner1_name`` too."""
    spaced = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(re.findall(r"[a-z]+|\d+", spaced.casefold()))


def stem(name: str, word: str) -> str | None:
    """Return what is left of a plain name without a marker's word at either end.

    In ``player1_score`` and ``team_a_goals`` it may also stand behind a word for the item.
    """
    if name.startswith(word):
        return name[len(word) :]
    if name.endswith(word):
        return name[: -len(word)]
    if word in AFTER_ITEMS and (item := BEFORE_MARKS.match(name)):
        rest = name[item.end() :]
        return item[0] + rest[len(word) :] if rest.startswith(word) else None
    return None


@dataclass(frozen=True)
class Pair:
    """Two columns that belong together."""

    marker: Marker
    first: int
    second: int


def name_pairs(names: list[str], *kinds: tuple[Marker, ...]) -> list[Pair]:
    """Return columns that may name the two items, by markers of the first kind that finds some.

    Names of competitors come before those of what they made, and both before mere numbers.
    """
    for wanted in (_is_item, _is_sample, _is_thing, _is_id):
        for markers in kinds:
            found = [pair for marker in markers for pair in _pairs(names, marker, wanted)]
            whole = _against(names, wanted) if markers is MARKERS else []
            better = {pair.first for pair in whole}  # for deck, opponent_deck beats opponent
            found = [p for p in found if p.first not in better or p.marker.second[:3] != "opp"]
            if found or whole:
                return _without_repeats([*found, *whole])
    return []


def _against(names: list[str], wanted: Callable[[str], bool]) -> list[Pair]:
    """Return columns such as ``deck`` and ``opponent_deck``."""
    return [
        Pair(Marker(name, "opponent"), names.index(name), names.index(other))
        for name in names
        for other in (f"opponent{name}", f"opp{name}", f"{name}opponent")
        if name and wanted(name) and other in names
    ]


def score_pairs(names: list[str], markers: tuple[Marker, ...]) -> list[Pair]:
    """Return columns that may hold the two scores."""
    found = _score_pairs(names, markers)
    if not found:  # beside scores at half-time
        found = _score_pairs([re.sub("^(fulltime|ft|final)", "", name) for name in names], markers)
    return _without_repeats(found)


def _score_pairs(names: list[str], markers: tuple[Marker, ...]) -> list[Pair]:
    found = [pair for marker in markers for pair in _pairs(names, marker, _is_score)]
    home, own = Marker("home", "away", sided=True), Marker("player", "opponent")
    for marker, pairs in ((home, HOME_SCORES), (own, OWN_SCORES)):
        for first, second in pairs:
            if first in names and second in names:
                found.append(Pair(marker, names.index(first), names.index(second)))
    return found


def last_score_pairs(names: list[str], markers: tuple[Marker, ...]) -> list[Pair]:
    """Return columns with the games that each won, or ratings of each."""
    found = [pair for marker in markers for pair in _pairs(names, marker, _is_last_score)]
    return _without_repeats(found)


def _pairs(names: list[str], marker: Marker, wanted: Callable[[str], bool]) -> list[Pair]:
    sides: list[list[tuple[str, int]]] = []
    for word in (marker.first, marker.second):
        stems = [(stem(name, word), i) for i, name in enumerate(names)]
        fits = [(s, i) for s, i in stems if s is not None and wanted(s)]
        sides.append([(s, i) for s, i in fits if s or marker.bare])
    return [Pair(marker, i, j) for s, i in sides[0] for u, j in sides[1] if s == u and i != j]


def _is_item(rest: str) -> bool:
    rest = rest.removesuffix("name") if rest != "name" else rest
    return rest in ITEMS | {""} or rest.removesuffix("s") in ITEMS


def _is_sample(rest: str) -> bool:
    return rest in SAMPLES or rest.removesuffix("s") in SAMPLES


def _is_thing(rest: str) -> bool:
    return rest in THINGS or rest.removesuffix("name") in THINGS


def _is_id(rest: str) -> bool:
    return rest == "id" or (rest.endswith("id") and rest[:-2] in ITEMS | THINGS)


def _is_score(rest: str) -> bool:
    item = BEFORE_MARKS.match(rest)
    whose = "" if item is None else rest[item.end() :]
    behind = rest.startswith("score") and rest.removeprefix("score") in ITEMS
    return rest in SCORES or whose in SCORES or whose.removeprefix("s") in SCORES or behind


def _is_last_score(rest: str) -> bool:
    """Return whether a name without its marker speaks of games won, or of a rating."""
    item = BEFORE_MARKS.match(rest)
    return rest in LAST_SCORES or (item is not None and rest[item.end() :] in LAST_SCORES)


def is_score(name: str) -> bool:
    """Return whether a name speaks of a score, of whichever side."""
    own = {word for pair in (*HOME_SCORES, *OWN_SCORES) for word in pair}
    known = {word for marker in MARKERS for word in (marker.first, marker.second)}
    stems = (stem(name, word) for word in known)
    return name in SCORES | own or any(rest is not None and rest in SCORES for rest in stems)


def _without_repeats(pairs: list[Pair]) -> list[Pair]:
    seen: dict[tuple[int, int], Pair] = {}
    for pair in pairs:
        seen.setdefault((pair.first, pair.second), pair)
    return list(seen.values())


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
    return Graded(_by_sign(margins), margins if several else {}, why)


def _by_sign(margins: Mapping[str, float]) -> dict[str, float]:
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


BAD = re.compile(r"bad|poor|wrong|fail|los[et]|incorrect|unaccept|unsatisf|terrible|useless|worse")
GOOD = re.compile(r"good|fine|great|accept|correct|satisf|win")


def _said(text: str) -> str:
    """Return a verdict in small letters, with single spaces instead of signs."""
    return " ".join(re.sub(r"[_()\-]+", " ", text.casefold()).split())


def is_both_bad(text: str) -> bool:
    """Return whether a verdict says that neither is any good, in whatever words."""
    said = _said(text)
    if re.match(r"neither\b", said):
        return not re.search(r"better|prefer", said)
    return bool(re.search(r"\b(both|all)", said) and BAD.search(said))


def is_both_good(text: str) -> bool:
    """Return whether a verdict says that both are equally good."""
    said = _said(text)
    both = re.search(r"\b(both|all)", said) or re.match(r"(tie|equal|same|no difference)", said)
    return bool(both and not BAD.search(said) and (GOOD.search(said) or "equal" in said))


FIRST_WORDS = listed(
    "win w won first true yes w/l win/loss w-wo 1-0 "
    "firstwins firstwon victory v sieg victoria victoire vitoria "
    "vittoria"
)
SECOND_WORDS = listed(
    "loss l lose lost second false no l/w loss/win l-wo 0-1 "
    "secondwins secondwon defeat niederlage derrota defaite "
    "sconfitta"
)
TIE_WORDS = listed(
    "tie draw d t drawn tied equal x d/d draw/draw 1/2-1/2 ½-½ 0.5-0.5 1/2 ½ = "
    "nopreference nopref undecided "
    "can'tdecide cantdecide cannotdecide can'tsay cantsay indifferent nodifference same thesame "
    "aboutthesame unentschieden remis empate egalite nul nulle pareggio gelijk"
)
# Letters of other languages, for won, drawn and lost: where V is a victory, D is a defeat.
LETTERS_ABROAD = ("vnd", "ved", "vd", "gep", "vnp", "sun")
BOTH_BAD = listed("tie(bothbad) bothbad tiebothbad botharebad bothlose")
LETTERS = {word: word[0] for word in listed("home away white black blue red visitor")}  # H, D, A
YES = listed("true yes y t 1 1.0")
NO = listed("false no n f 0 0.0")
AHEAD = listed("1 1.0 +1 first home h a white w host true yes vs vs.")
BEHIND = listed("-1 -1.0 second away b black visitor guest false no @ at")
NEITHER = listed("0 0.0 neutral n none")
# Words that tell places and switches as well, so that no column is an outcome by them alone.
NOT_TELLING = listed("true false yes no home away h a b w n neutral left right white black x")
TYPO = 0.05  # a 2 among 0 and 1 that is rarer than this is a slip of the pen
MOST_VALUES = 10_000  # distinct texts looked at one by one
CLEAR = 0.95  # share of cells that must make sense before a column is taken by content alone
ENOUGH = 0.5  # where something else speaks for it; with less, most rows could not be used


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
    scorelines = None if preferences else _scorelines(filled, total)
    if scorelines:
        return scorelines
    words = _words_of(headers, marker) | _letters_abroad(texts)
    values: dict[str, float] = {}
    numbers: dict[str, float] = {}
    both_bad = set()
    for text, _ in filled:
        word = re.sub(r"[\s_]+", "", text.casefold()).replace("–", "-")
        if preferences and text in preferences.values:
            values[text] = preferences.values[text]
        elif word in BOTH_BAD or is_both_bad(text):
            both_bad.add(text)
            values[text] = 0.5
        elif (value := number(word, decimal_comma)) is not None:
            numbers[text] = value
        elif word in words:
            values[text] = words[word]
        elif is_both_good(text) or (preferences and word == "neutral"):
            values[text] = 0.5
    by_words = sum(count for text, count in filled if text in values)
    telling = sum(count for t, count in filled if t in values and t.casefold() not in NOT_TELLING)
    numbered = numbered_grades(numbers) if graded and grades is None else None
    if numbered:
        numeric, why = dict(numbered.values), numbered.why
    else:
        counts_from = marker.first if marker is not None and names_one else ""
        asked = names_one and not by_hand
        numeric, why = _numbers(numbers, dict(filled), counts_from, asked)
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


def _words_of(headers: tuple[str, str], marker: Marker | None) -> dict[str, float]:
    """Return word to outcome, the pair's own words last so that they prevail."""
    words = (
        dict.fromkeys(FIRST_WORDS, 1.0)
        | dict.fromkeys(SECOND_WORDS, 0.0)
        | dict.fromkeys(TIE_WORDS, 0.5)
    )
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


def _letters_abroad(texts: Sequence[str]) -> dict[str, float]:
    """Return what single letters mean, where all of them are those of another language."""
    found = {text.strip().casefold() for text in texts}
    for letters in LETTERS_ABROAD:
        if letters[0] in found and letters[-1] in found and found <= set(letters):
            return {letters[0]: 1.0, letters[-1]: 0.0} | dict.fromkeys(letters[1:-1], 0.5)
    return {}


def _numbers(  # noqa: PLR0911  one for each way to number outcomes
    numbers: dict[str, float], counts: dict[str, int], counts_from: str, asked: bool
) -> tuple[dict[str, float], str]:
    """Return what numbers mean, by which of them occur, and that in words.

    Beside columns such as player_1 and player_2, which `counts_from` tells, 1 and 2 are those, and
    0 is nobody; beside model_0 and model_1, 0 and 1 are.  Where it is `asked` who won, and nothing
    but 0 and 1 answers, 1 may be the first, or the second of two that are counted from 0.
    """
    found = set(numbers.values())
    if asked and found <= {0.0, 1.0} and (counts_from == "0" or 0.0 in found):
        known = numbers if counts_from == "0" else {}
        return {text: 1.0 - x for text, x in known.items()}, "0 is the first, 1 the second"
    if counts_from == "1" and found == {0.0, 1.0, 2.0}:
        named = {text: 0.5 if x == 0.0 else 2.0 - x for text, x in numbers.items()}
        return named, "1 is the first, 2 the second, 0 a tie"
    twos = sum(counts[text] for text, x in numbers.items() if x == 2)
    below = sum(counts[text] for text, x in numbers.items() if x < 0 and x != -1)
    rare = TYPO * sum(counts[text] for text in numbers)
    if (0.0 in found and rare <= twos) or below > rare:
        # Is 0 a tie, or the second's win?  Is -3 the first's best, or its worst?  Nobody can tell.
        return {}, "numbers of several meanings"
    if -1.0 in found:
        signed = {text: (x + 1) / 2 for text, x in numbers.items() if x in {-1.0, 0.0, 1.0}}
        return signed, "1, 0, -1: as -1 occurs, 0 is a tie"
    if found and max(found) > 1.0 and all(1.0 <= x <= 2.0 for x in found):
        between = found - {1.0, 2.0}
        why = "from 1, the first, to 2, the second" if between else "1 is the first, 2 the second"
        return {text: 2 - x for text, x in numbers.items()}, why
    inside = {text: x for text, x in numbers.items() if 0 <= x <= 1}
    if set(inside.values()) <= {0.0, 0.5, 1.0}:
        return inside, "1 the first won, 0 the second, 0.5 a tie"
    return inside, "share of games that the first won"


# Scores written as one text, as in ``3-1``, ``2-1 aet`` and ``L 5-3``; and what only looks so.
SCORELINE = re.compile(
    r"(?:(?P<told>[WLDT])[\s,]*)?(\d+)\s*[-:–]\s*(\d+)"
    r"(?:\s*\(?(?:aet|a\.e\.t\.?|ot|so|et|ap|pens?)\)?|\s*\(\d+\s*[-:–]\s*\d+\s*(?:p|pens?)?\.?\)"
    r"\s*(?:p|pens?)?\.?)?",  # after extra time; beside the half-time score, or that of a shoot-out
    re.IGNORECASE,
)
RECORD = re.compile(r"(\d)\s*[-–]\s*(\d)\s*[-–]\s*\d")  # games won, lost and drawn of a match


SET = re.compile(r"\[?(\d+)\s?[-:–]\s?(\d+)\]?(?:\s?\(\d+(?:[-:–]\d+)?\))?")  # 7-6(5), [10-8]


def _read_sets(text: str) -> tuple[float, float] | None:
    """Return how many sets each won, of at least two: ``6-4 3-6 7-6(5)`` is 2 against 1."""
    sets = [
        SET.fullmatch(part) for part in re.split(r"(?<=[\d\])])[\s,;]+(?=[\d\[])", text.strip())
    ]
    if len(sets) < 2 or not all(sets):
        return None
    ahead = [float(one[1]) - float(one[2]) for one in sets if one]
    return float(sum(x > 0 for x in ahead)), float(sum(x < 0 for x in ahead))


def _closed_up(text: str) -> str:
    """Return a result without spaces, and with a plain dash: ``1 – 0`` is 1-0."""
    return re.sub(r"\s+", "", text).replace("–", "-")


def _read_scoreline(text: str) -> tuple[float, float] | None:
    """Return the two scores of a text, the first's first; ``L 5-3`` is 3 against 5."""
    line = SCORELINE.fullmatch(text.strip())
    if line is None:
        record = RECORD.fullmatch(text.strip())
        return _read_sets(text) if record is None else (float(record[1]), float(record[2]))
    x, y = float(line[2]), float(line[3])
    told = (line["told"] or "").casefold()
    if (told == "w" and x < y) or (told == "l" and x > y):  # the winner's score comes first
        return y, x
    return x, y


def _are_no_scores(lines: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether texts like scores are times of day, seasons, or ranges such as 18-24."""
    texts = [text.strip() for text in lines]
    of_day = all(re.fullmatch(r"[0-2]?\d:[0-5]\d", text) for text in texts)
    seasons = all(y % 100 == (x + 1) % 100 and max(x, y) > 9 for x, y in lines.values())
    ranges = len(texts) > 1 and all(9 < x < y for x, y in lines.values())
    return of_day or seasons or ranges


def _scorelines(filled: list[tuple[str, int]], total: int) -> Meaning | None:
    """Return the meaning of texts such as 3-1, unless they are chess results or no scores."""
    if not any(re.search(r"\d\s*[-:–]", text) for text, _ in filled):
        return None
    lines = {text: line for text, _ in filled if (line := _read_scoreline(text)) is not None}
    chess = {"1-0", "0-1"}
    share = sum(count for text, count in filled if text in lines) / total if total else 0.0
    if share < ENOUGH or {_closed_up(text) for text in lines} <= chess:
        return None
    margins = {text: x - y for text, (x, y) in lines.items()}
    why = "scores, first - second"
    if any(re.search(r"\(.*\).*p|\(.*p", text.casefold()) for text in lines):
        why += "; who won a shoot-out is not used"
    scores = not _are_no_scores(lines)
    return Meaning("words", why, share, _by_sign(margins), margins, in_words=scores)


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
    if {"h"} <= set(told.values()) <= {"h", "a", "n"}:
        values["a"] = -1.0  # home and away; alone, A is the first
    if flag and not {"-1", "-1.0"} & set(told.values()):
        values |= {"0": -1.0, "0.0": -1.0}
    return {text: values[word] for text, word in told.items() if word in values}
