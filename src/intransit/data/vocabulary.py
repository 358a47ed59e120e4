"""The words of tables: what names of columns say they are for.

Names are compared without case, spaces and underscores.  What cells mean is in `outcomes`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from unicodedata import normalize

MOST_VALUES = 10_000  # distinct texts looked at one by one
CLEAR = 0.95  # share of cells that must make sense before a column is taken by content alone
ENOUGH = 0.5  # where something else speaks for it; with less, most rows could not be used


def in_turn(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order."""
    return tuple(text.split())


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


def _markers(text: str) -> tuple[Marker, ...]:
    """Return the markers of a list such as ``home* : away guest``, each first with each second.

    A star says that the first has a side, a minus that the words alone name no column.
    """
    found = []
    for part in text.split(","):
        firsts, seconds = (side.strip("*- \n").split() for side in part.split(":"))
        marks = {"sided": "*" in part, "bare": "-" not in part}
        found += [Marker(first, second, **marks) for first in firsts for second in seconds]
    return tuple(found)


MARKERS = _markers("""
    first : second, a : b, t1 : t2, 1- : 2, one- : two, left : right, i : j,
    home* : away visitor visiting guest, host* : guest visitor, white* : black,
    weiss* : schwarz, blancs* : noirs, blancas* : negras, bianco* : nero, wit* : zwart,
    белые* : черные,
    player team item model club name character deck archetype hero fighter : opponent,
    champion pokemon civilization country squad school user agent bot : opponent,
    boxer wrestler athlete driver competitor contestant : opponent,
    player team deck hero tm : opp, team country player club : opposition,
    home* : vis, heim* : gast auswarts, local mandante casa* : visitante,
    casa* : trasferta ospite fora, domicile* : exterieur, thuis* : uit, hemma* : borta,
    hjemme* : ude borte, koti* : vieras, domaci* : hoste, domacin* : gost gosti,
    gospodarze* : goscie, gospodarz* : gosc, evsahibi* : deplasman, hazai* : vendeg,
    gazde* : oaspeti, γηπεδουχοσ* : φιλοξενουμενοσ, tuanrumah* : tamu, equipe : adversaire,
    mannschaft team spieler : gegner, equipo : rival, squadra : avversario, h*- : a v g,
    主队* : 客队, 主隊* : 客隊, ホーム* : アウェイ, 홈팀* : 원정팀, 先手* : 後手, хозяева* : гости,
    господарі* : гості, blue : red orange, r- : b, radiant : dire, 0- : 1, control : treatment,
    champion : challenger, favorite favourite : underdog, pro : con, aff : neg,
    affirmative : negative, government proposition : opposition, prop- : opp,
    initiator : recipient, attacker : defender, ns : ew
""")
OPPONENTS = listed("opponent opp opposition gegner adversaire rival avversario")
WINNER = Marker("winner", "loser")
WINNERS = _markers("""
    winner : loser, winning- : losing, w- : l, chosen preferred- : rejected,
    chosen : notchosen unchosen, winner champion : runnerup, ganador vencedor : perdedor,
    sieger gewinner : verlierer, vainqueur : perdant vaincu battu,
    vincitore : perdente sconfitto, winnaar : verliezer, kazanan : kaybeden,
    dominant : subordinate, zwyciezca : przegrany, победитель : проигравший,
    勝者 : 敗者 負者, 胜者 : 负者, 승자 : 패자, killer : victim, eliminatedby : eliminated,
    beatenby : beaten, defeatedby : defeated
""")

ITEMS = listed(
    "name item player team model option deck agent bot competitor candidate system entity pl hold "
    "fighter contestant archetype country club type user participant choice entrant generator lag "
    "选手 队伍 球队 チーム 選手 팀 선수 mannschaft verein spieler equipo equipa jugador equipe "
    "joueur squadra giocatore ploeg speler"
)
AFTER_ITEMS = listed("1 2 3 a b c h one two")  # as in player1_score
SAMPLES = listed("answer response image")  # what an item made, beside its name if there is one
THINGS = listed(  # items too, where nothing above names any
    "p boxer wrestler pokemon champion champ hero character char variant treatment movie film song "
    "title photo picture product brand design driver horse card food artist book language strategy "
    "policy method algorithm engine program version sample stimulus stim submission essay paper"
)
ATTRIBUTES = listed(  # of an item, where another pair of columns says which it is
    "rank ranking seed title elo age gender sex hand stance corner nationality nationalities ioc "
    "country countries flag state city region club league conference division coach manager "
    "captain race civ color colour formation pitcher url link"
)
SCORES = listed(
    "score scores points pts goals runs sets finalscore ftscore scored goalsscored goalcount "
    "mapswon setswon gameswon roundswon frameswon legswon touches sc imps 得分 分数 득점 mal "
    "doelpunten tore punkte satze spiele matchpunkte goles puntos buts gols golos placar pontos "
    "gol reti punti set"
)
LAST_SCORES = listed("games frames maps rounds legs rating ratings")  # where nothing else tells
BEFORE_MARKS = re.compile("|".join(sorted({*ITEMS, "p", "t", "pl"}, key=len, reverse=True)))
HOME_SCORES = (("fthg", "ftag"), ("hg", "ag"), ("ft1", "ft2"), ("ga", "gb"))  # of football
OWN_SCORES = (  # as the first sees the game
    *(
        ("gf", "ga"),
        ("pf", "pa"),
        ("rf", "ra"),
        ("scored", "conceded"),
        ("scored", "missed"),
        ("pts", "oppts"),
    ),
    *(("goalsscored", "goalsconceded"), ("teamscore", "oppscore"), ("owngoals", "opponentgoals")),
    *(
        (f"{word}for", f"{word}against")
        for word in ("", *listed("goals points runs score rounds sets"))
    ),
    *((word, whose + word) for word in sorted(SCORES) for whose in ("opponent", "opp")),
)

WINNERS_ABROAD = listed(
    "sieger gewinner ganador vainqueur vencedor vincitore winnaar победитель 勝者 胜者 승자"
)
OUTCOMES = WINNERS_ABROAD | listed(
    "outcome result res ftr winner winnername winnerid winnercode winnercolor winnercolour "
    "winnerside winnermodel winningteam winningplayer whowon won win label preference preferred "
    "choice chosen vote verdict judgment judgement decision grade gameresult matchresult target "
    "score firstwon firstwins awon awins player1won team1won homewin homewon 1x2 fulltimeresult "
    "finalresult ftresult wl winloss mapwinner matchwinner gamewinner serieswinner fightwinner "
    "roundwinner better betterresponse betterresponseid ergebnis endstand resultat resultado "
    "risultato scoretime uitslag eredmeny rezultat αποτελεσμα результат 結果 结果 결과 比分"
)
PREFERENCES = listed(
    "preference preferred label choice vote verdict judgment judgement decision grade"
)
SHARES = listed(
    "winrate winshare share winfraction winprobability winpct winpercent winpercentage win% "
    "winrate% wr wr%"
)
WINNER_WORDS = WINNERS_ABROAD | {name for name in OUTCOMES if name.startswith(("winn", "whowon"))}
# Names with the word of a side left out (won, share), of answers, ids, and other scores.
tells = re.compile(
    r"(team|player|model)?(win|wins|won|winner|result|outcome|res|label|victory)"
    r"|(winner|label|result)(model|team|player)"
).fullmatch
FLAG = re.compile(r"(team|player|model|side)?(win|wins|won|victory|iswinner|better|isbetter)")
LAST_FLAG = "iswin"  # where no scores tell draws, of which it says no
RATE = re.compile(
    r"(%|pct|percent|percentage|share|prop|proportion|fraction)(prefer|preferring|preferred|for)?"
    r"|(prefer|preferred|chose|votes?|win)(%|pct|percent|share)|winrate|wr"
)
CALLED = re.compile(
    r".*(choice|chosen|winner|preference|preferred|prefere|prefer|preferido|vote|verdict|outcome|victor|"
    r"better|best|stronger|advance[sd]|qualified)"
    rf"({'|'.join(ITEMS | SAMPLES | THINGS)})?\??"
)
ANSWERED = re.compile(r".*(response|answer|selected|selection|picked|pick|keypress|key|clicked)")
ID = re.compile("(id|code|abbr|tag)$")
NO_RESULT = re.compile(  # at half-time, or before the game
    r"(score|result)?(ht|halftime|half|1sthalf|firsthalf|h1|1h|ruststand|halbzeit|pausenstand|mitemps)"
    r"(r|score|result)?|.*(predict|forecast|projected|expected|simulated|handicap|spread|odds).*|ats.*|g\d"
    r"|.*(record|expert|firstpick|bet(?!ter)|toss|half|quarter|first(set|map|game|blood)|(set|map|game|period|inning)\d).*"
)
SHOOT_OUT = re.compile(r"pens$|^pens|penalt|shootout|^pso")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MARGINS = listed(
    "margin scorediff scoredifference pointdiff goaldiff diff difference marginofvictory plusminus"
)
TIES = listed("tie tied draw drawn istie isdraw")
TIMES = listed(
    "created played started completed startedat completedat endedat finishedat time date datetime "
    "timestamp tstamp ts day when playedat playedon createdat matchdate gamedate eventdate "
    "battleat battletime battledate kickoff starttime startdate utcdate dateutc unixtime unix "
    "epoch timestampms unixms epochms matchtime gametime playeddate gameday datum fecha"
)
SEASONS = listed("season saison temporada stagione seizoen sasong")
YEAR = re.compile(r"(?:19|20)\d\d")
YEARS = SEASONS | listed("year jahr")
WEEKS_A_YEAR = 53  # as calendars count them
PARTS_OF_A_YEAR = {"month": 12, "quarter": 4, "daynum": 366, "dayofyear": 366} | dict.fromkeys(
    listed("week wk matchday gameweek matchweek gw spieltag jornada journee giornata rodada"),
    WEEKS_A_YEAR,
)  # about a week from one matchday to the next, and the rest of the year without games
PERIODS = YEARS | set(PARTS_OF_A_YEAR) | listed("period t step yearmonth")
VERSIONS = listed("patch version build release gameversion patchversion patchnumber update")
STAGES = listed("set expansion edition generation gen era cardset block")  # periods with names
DATED = re.compile(  # in the name of a column of dates
    r"date|timestamp|kickoff|^data$|tarih|tanggal|ημερομηνια|дата|日期|日付|날짜"
)
DATE_PARTS = (  # columns with the year, the month and the day
    *(listed("year yr jahr annee ano anno"), listed("month mon monat mois mes mese")),
    listed("day dayofmonth tag jour dia giorno"),
)
OTHER_DATES = re.compile(r"birth|dob|born|debut|found|regist|updat|expir|death|last|next|hire|join")
TOURNAMENTS = listed(
    "tournament tournamentid tournamentname tourney tourneyid tourneyname event eventid eventname "
    "competition league cup comp competitionid division group series"
)
COUNTED_IN = ("tournament", "tourney", "event", "cup", "basho")  # days, from 1 in each
ROUNDS = listed("round rd roundname matchround roundnumber roundno")
UNIX = re.compile(
    r"^(ts|tstamp|.*timestamp.*|.*unix.*|.*epoch.*|.*(?:time|date)ms|\w+(?:ed|start|end)at|"
    r"battleat|created|played|started|completed)$"
)
GROUNDS = listed("venue loc ground site place where")  # may hold a side, or the name of a stadium
SIDE_FLAGS = listed("home ishome athome firsthome firstathome team1home player1home firstiswhite")
SIDES = (GROUNDS | SIDE_FLAGS) | listed(
    "homeaway homeoraway ha side ahome homea awhite firsthasside shownfirst location homeadvantage "
    "wloc"
)
NEUTRALS = listed("neutral neutralground neutralsite neutralvenue isneutral neutralfield")
# Games that were not played, and what says so: in a result, as a status, as a name, by a flag.
OF_RESULTS = listed(
    "score scores result results finalscore ft outcome comment comments note notes remark remarks "
    "resulttype wintype victorytype winby wonby decidedby ergebnis bemerkung bemerkungen"
) | (METHODS := listed("method winmethod methodofvictory finish finishtype decisiontype"))
UNPLAYED = (
    r"(?:(?:w|l|win|won|loss|lost|victory|defeat)\b[\s,:(\-–]*(?:by|via|on|due to)?\s*|"
    r"[\d½.:–\-\s/]*)"
    r"\(?(?:walk[\s-]?overs?|forfeit(?:s|ed|ure)?|forf\.?|ff|bye|no[\s-]?show|awarded|awd\.?|dq|"
    r"not[\s-]?played|kampflos|no[\s-]?contest|n\.?c\.?|no[\s-]?result|n/?r|abandoned|abd\.?|"
    r"void(?:ed)?|overturned(?:/nc)?)\)?"
    r"|[\d½.:–\-\s/]*\(?(?:w/o|w\.\s?o\.?|wo)\)?"  # and not W-wo, a walk-off
    r"|(?:match |game )?(?:abandoned|awarded|walk[\s-]?over|not played|no result)"
    r"[\s,;:(–-]+(?:after|at|by|due|in|on|to|as|because|without|\d).*"
    r"|(?:ff|dq)\s?[-–:]\s?w|w\s?[-–:]\s?(?:ff|dq)"
    r"|[bw]\+f(?:orfeit)?|\+\s?[-–:/]\s?[-–]|[-–]\s?[-–:/]\s?\+|[01½]f?\s?[-–:]\s?[01½]\s?f+"
)
STATUSES = listed(
    "status matchstatus gamestatus fixturestatus statusshort state gamestate resultstatus"
)
NOT_YET = (
    r"(?:status_)?(?:scheduled|timed|not[\s_-]?started|upcoming|postponed|pst|ppd|cancell?ed|canc|nostart|"
    r"aborted|in[\s_-]?play|in[\s_-]?progress|pending|ns|tbd|pre|fut|live|susp(?:ended)?|[12]h)"
)
PLAYED = listed(
    "valid isvalid played completed finished isplayed iscompleted isfinished final isfinal isover"
)
EXCLUDED = listed("exclude excluded isexcluded invalid deleted isdeleted practice ispractice")
FORFEITS = EXCLUDED | listed(
    "forfeit forfeited isforfeit forfeits walkover iswalkover wo bye isbye noshow dq isdq "
    "cancelled iscancelled postponed ispostponed abandoned isabandoned void voided isvoid "
    "nocontest"
)
BYES = re.compile(
    r"\W*(?:bye|byes|freilos|spielfrei|exempt|no[\s-]opponent)\s*\d*\W*", re.IGNORECASE
)
TOTALS = listed("total totals subtotal grandtotal all overall gesamt")  # of rows, and no items
SUMS = TOTALS | listed("sum average avg mean")  # of columns; rows may be methods of that name
NO_NAMES = listed(
    "n/a #n/a nan unknown null <na> nat tbd tba ? - – — #ref! #value! #name? (blank) (null) \\n"
)
COUNTS = listed(
    "count counts n ngames games numgames nmatches matches trials total gamesplayed matchesplayed "
    "numberofgames samplesize samples nvotes numvotes totalgames totalmatches freq frequency "
    "occurrences respondents nrespondents"
)
OF_WINS = listed("wins nwins numwins winsfor")  # counts too, beside a winner and a loser
OF_SHARES = listed("base basesize")  # and beside shares, as market research calls it
LENGTHS = listed(  # counts, or of a single game
    "games matches trials total samples numberofgames totalgames totalmatches"
)
WEIGHTS = listed("weight weights")


def plain(name: str) -> str:
    """Return a name without case, accents, spaces, underscores, hyphens, dots and strokes.

    ``Winner/tie`` and ``Home/Neutral`` are who won and who was at home, if anybody, ``Winner(s)``
    is a winner, ``# Games`` are games, ``Win (%)`` is ``Win %``, ``Equipa da casa`` ``equipacasa``.
    """
    return without_accents(PARTICLES.sub("", name))


PARTICLES = re.compile(
    r"(?i)/(tie|neutral)$|\(s\)$|^#\s*(?=\w)|\((?=%\))|(?<=\(%)\)|\sd(a|e|el|u)(?=\s)"
    r"|(?-i:^(?:str|int)(?=[A-Z][a-z]))"  # strHomeTeam, intHomeScore
)


SIGNS = re.compile(r"[\s_\-./]+")
STROKES = str.maketrans({"đ": "d", "ø": "o", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})
ACCENTS = re.compile("(?<!и)[\u0300-\u036f]")  # й is a letter of its own


def without_accents(name: str) -> str:
    """Return a name without case and accents, and without what stands between its letters."""
    bare = SIGNS.sub("", name.casefold())
    return bare if bare.isascii() else without_marks(normalize("NFKC", bare).translate(STROKES))


def without_marks(text: str) -> str:
    """Return letters without the accents on them."""
    return normalize("NFC", ACCENTS.sub("", normalize("NFD", text)))


def without_case(name: str) -> str:
    """Return a name in small letters, with single spaces."""
    return " ".join(name.casefold().split())


def without_rank(name: str) -> str:
    """Return a name without a rank or seed: ``Duke (5)``, ``[1] Duke`` and ``#3 Duke`` are Duke."""
    return RANKED.sub("", name.strip()).casefold() or name


RANKED = re.compile(r"^(?:\(\d{1,3}\)|\[\d{1,3}\]|#\d{1,3}\b)\s*|\s*(?:\(\d{1,3}\)|\[\d{1,3}\])$")


def in_any_order(name: str) -> str:
    """Return the members of a team sorted: ``b/a`` and ``a & b`` are the same."""
    return "/".join(sorted(re.split(r"\s*[/&+]\s*", without_case(name))))


def tokens_of(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name: ``blueTopChamp`` has three, ``winner1_name`` too."""
    spaced = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(re.findall(r"[a-z]+|\d+", spaced.casefold()))


@lru_cache(maxsize=1 << 14)  # of the columns of a table, every marker asks
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


PLACED = re.compile(  # in names of places, and of the third item or place of several
    r"pla?c|pos|finish|rank|standing|third|[3-9]"
    r"|(item|option|alt|concept|candidate|product|brand|message|model)\w*[c-h]$"
)
AGAINST = re.compile(r"^(?:vs?\.?|versus|against|gegen|contra|contre)\s+", re.IGNORECASE)
THIRD = {"1": "3", "a": "c"}  # what follows a marker's two words


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
    for wanted in NAMING:
        for markers in kinds:
            found = [pair for marker in markers for pair in pairs_by(names, marker, wanted)]
            whole = _against(names, wanted) if markers is MARKERS else []
            better = {pair.first for pair in whole}  # for deck, opponent_deck beats opponent
            found = [p for p in found if p.first not in better or p.marker.second[:3] != "opp"]
            if found or whole:
                return _without_repeats([*found, *whole])
    return []


def _against(names: list[str], wanted: Callable[[str], bool]) -> list[Pair]:
    """Return columns such as ``deck`` and ``opponent_deck``, ``my_deck`` and ``vs_deck``."""
    bare = {name: name.removeprefix("my") for name in names}
    return [
        Pair(Marker(name, "opponent"), names.index(name), names.index(other))
        for name, rest in bare.items()
        for other in (f"opponent{rest}", f"opp{rest}", f"{rest}opponent", f"vs{rest}")
        if rest and wanted(rest) and other in names
    ]


def score_pairs(names: list[str], markers: tuple[Marker, ...]) -> list[Pair]:
    """Return columns that may hold the two scores."""
    found = [pair for marker in markers for pair in pairs_by(names, marker, _is_score)]
    home, own = Marker("home", "away", sided=True), Marker("player", "opponent")
    for marker, pairs in ((home, HOME_SCORES), (own, OWN_SCORES)):
        for first, second in pairs:
            if first in names and second in names:
                found.append(Pair(marker, names.index(first), names.index(second)))
    whole = [re.sub("^(fulltime|ft|final)", "", name) for name in names]  # beside half-time
    return score_pairs(whole, markers) if not found and whole != names else _without_repeats(found)


def pairs_called(names: list[str], *called: str) -> list[Pair]:
    """Return columns with something that is called so of each: p1_games, rank2."""
    found = (pairs_by(names, marker, partial(is_called, called)) for marker in MARKERS)
    return _without_repeats([*chain(*found)])


def is_called(wanted: Collection[str], rest: str) -> bool:
    """Return whether what is left of a name is wanted, perhaps behind a word for the item."""
    item = BEFORE_MARKS.match(rest)
    return rest in wanted or (item is not None and rest[item.end() :] in wanted)


def pairs_by(names: list[str], marker: Marker, wanted: Callable[[str], object]) -> list[Pair]:
    """Return columns that differ by the marker's words; the first two of three are no pair."""
    together = "\n".join(names)
    if marker.first not in together or marker.second not in together:
        return []
    third = THIRD.get(marker.first)
    more = {stem(name, third) for name in names} if third else set()
    sides: list[list[tuple[str, int]]] = []
    for word in (marker.first, marker.second):
        stems = [(stem(name, word), i) for i, name in enumerate(names)]
        fits = [(s, i) for s, i in stems if s is not None and wanted(s)]
        sides.append([(s, i) for s, i in fits if s or marker.bare])
    both = [(s, i, j) for s, i in sides[0] for u, j in sides[1] if s == u and i != j]
    return [Pair(marker, i, j) for s, i, j in both if not s or s not in more]


def twins(names: Sequence[str], free: Iterable[int], name: str) -> list[int]:
    """Return the two free columns of one name, which tools may have numbered; else none."""
    found = [i for i in sorted(free) if re.fullmatch(rf"{re.escape(name)}\d*", names[i])]
    return found if len(found) == 2 else []


def _is_item(rest: str) -> bool:
    rest = rest.removesuffix("name") if rest != "name" else rest
    return rest in ITEMS | {""} or rest.removesuffix("s") in ITEMS


NAMING: tuple[Callable[[str], bool], ...] = (  # what is left of names of columns with items
    _is_item,
    lambda rest: rest in SAMPLES or rest.removesuffix("s") in SAMPLES,
    lambda rest: rest in THINGS or rest.removesuffix("name") in THINGS,
    lambda rest: rest == "id" or (rest.endswith("id") and rest[:-2] in ITEMS | THINGS),
    lambda rest: re.fullmatch("(team|player|club|user)[a-z]*id", rest) is not None,  # team_api_id
)


def _is_score(rest: str) -> bool:
    item = BEFORE_MARKS.match(rest)
    whose = "" if item is None else rest[item.end() :]
    whose = whose.removeprefix("s") if whose not in SCORES else whose
    return rest in SCORES or {whose, f"{whose}s"} & SCORES != set()


def is_score(name: str) -> bool:
    """Return whether a name speaks of a score, of whichever side."""
    own = {word for pair in (*HOME_SCORES, *OWN_SCORES) for word in pair}
    stems = (stem(name, word) for marker in MARKERS for word in (marker.first, marker.second))
    return name in own or any(rest is not None and rest in SCORES for rest in stems)


def _without_repeats(pairs: list[Pair]) -> list[Pair]:
    firsts = {(pair.first, pair.second): pair for pair in reversed(pairs)}
    return [pair for pair in pairs if firsts[pair.first, pair.second] is pair]
