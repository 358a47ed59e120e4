"""The words that tell what a column is for: names compared without case, spaces, underscores."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
    *(Marker(word, "opponent") for word in ("squad", "school", "user", "agent", "bot")),
    *(Marker(word, "opp") for word in ("player", "team", "deck", "hero")),
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
    "fighter contestant archetype country club type user participant choice entrant"
)
SAMPLES = listed("answer response image")  # what an item made, beside its name if there is one
THINGS = listed(  # items too, where nothing above names any
    "p boxer wrestler pokemon champion champ hero character char variant treatment movie film song "
    "photo picture product brand design driver horse card food artist book language strategy "
    "policy method algorithm engine program version"
)
SCORES = listed("score scores points pts goals runs sets finalscore ftscore scored goalsscored")
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
    "mapwinner matchwinner gamewinner serieswinner fightwinner roundwinner"
)
PREFERENCES = listed(
    "preference preferred label choice vote verdict judgment judgement decision grade"
)
SHARES = listed("winrate winshare share winfraction winprobability winpct winpercent winpercentage")
WINNER_WORDS = frozenset(name for name in OUTCOMES if name.startswith(("winn", "whowon")))
MARGINS = listed(
    "margin scorediff scoredifference pointdiff goaldiff diff difference marginofvictory"
)
TIES = listed("tie tied draw drawn istie isdraw")
TIMES = listed(
    "time date datetime timestamp tstamp ts day when playedat playedon createdat matchdate "
    "gamedate eventdate kickoff starttime startdate utcdate dateutc unixtime unix epoch "
    "timestampms unixms epochms matchtime gametime playeddate"
)
PERIODS = listed("year season month week period t step yearmonth quarter matchday gameweek")
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
    r"^(ts|tstamp|.*timestamp.*|.*unix.*|.*epoch.*|.*(?:time|date)ms|\w+(?:ed|start|end)at)$"
)
GROUNDS = listed("venue ground site place where")  # may hold a side, or the name of a stadium
SIDES = GROUNDS | listed(
    "homeaway homeoraway ha side home ahome athome ishome firsthome firstathome homea team1home "
    "player1home firstiswhite awhite firsthasside shownfirst location homeadvantage"
)
SIDE_FLAGS = listed("home ishome athome firsthome firstathome team1home player1home firstiswhite")
NEUTRALS = listed("neutral neutralground neutralsite neutralvenue isneutral neutralfield")
COUNTS = listed(
    "count counts n ngames games numgames nmatches matches trials total gamesplayed matchesplayed "
    "numberofgames samplesize samples nvotes numvotes totalgames totalmatches"
)
WEIGHTS = listed("weight weights")


def plain(name: str) -> str:
    """Return a name without case, spaces, underscores, hyphens and dots."""
    return re.sub(r"[\s_\-.]+", "", name.casefold())


def tokens_of(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name: ``blueTopChamp`` has three, ``winner1_name`` too."""
    spaced = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(re.findall(r"[a-z]+|\d+", spaced.casefold()))


def short_names(names: Sequence[str]) -> list[str]:
    """Return names that came from nested data without what only tells where they were nested.

    ``winner.name`` is a winner, and ``result.winner`` is one too, if nothing else ends so;
    ``slots.entrant.name.1`` is the first entrant.
    """
    numbers = [(re.search(r"\.\d+$", name) or [""])[0] for name in names]
    bare = [name.removesuffix(number) for name, number in zip(names, numbers, strict=True)]
    short = [re.sub(r"\.(name|title|value)$", "", name) for name in bare]
    parts = [name.split(".") for name in short]
    ends = Counter(
        ".".join(words[k:]) + number
        for words, number in zip(parts, numbers, strict=True)
        for k in range(len(words))
    )
    found = []
    for words, number in zip(parts, numbers, strict=True):
        whole = ".".join(words) + number
        tails = (".".join(words[k:]) + number for k in range(len(words) - 1, -1, -1))
        own = (tail for tail in tails if ends[tail] == 1 and tail and not tail[0].isdigit())
        found.append(next(own, whole))  # the shortest end that no other name has
    return found


def stem(name: str, word: str) -> str | None:
    """Return what is left of a plain name without a marker's word at either end."""
    if name.startswith(word):
        return name[len(word) :]
    return name[: -len(word)] if name.endswith(word) else None


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
    return rest in SCORES or any(
        rest in {item + "score", item + "sscore", "score" + item} for item in ITEMS
    )


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
