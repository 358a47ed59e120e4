"""Which column plays which role: as the user says, else by its name, else by what it holds.

Where two columns could play a role and nothing decides, the table is refused with the options.
"""

import itertools
from dataclasses import dataclass, field

from intransit.errors import InputError
from intransit.tables import vocabulary as words
from intransit.tables.columns import find_column, list_names
from intransit.tables.facts import Facts
from intransit.tables.files import shorten
from intransit.tables.moments import Moments, read_moments
from intransit.tables.reading import Column
from intransit.tables.values import Meaning, read_outcomes, read_sides, read_switch
from intransit.tables.vocabulary import MARKERS, WINNERS, Marker, Pair, plain

CLEAR = 0.95  # share of cells that must make sense before a column is taken by content alone


@dataclass
class Roles:
    """Columns by role; what is None the table does not have."""

    first: int = -1
    second: int = -1
    marker: Marker | None = None
    winner_first: bool = False  # the first column names the winner
    tie: int | None = None
    outcome: int | None = None
    meaning: Meaning | None = None
    scores: tuple[int, int] | None = None
    margin: int | None = None
    time: int | None = None
    moments: Moments | None = None
    side: int | None = None
    side_always: float | None = None
    neutral: int | None = None
    count: int | None = None
    weight: int | None = None
    by: tuple[int, ...] = ()
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def taken(self) -> set[int]:
        """Columns that have a role."""
        single = (self.first, self.second, self.tie, self.outcome, self.margin, self.time)
        more = (self.side, self.neutral, self.count, self.weight, *(self.scores or ()), *self.by)
        return {column for column in (*single, *more) if column is not None}


class Chooser:
    """Choose roles one after the other; later choices know the earlier ones."""

    def __init__(
        self, facts: Facts, wanted: dict[str, str | bool | None], by: tuple[int, ...] = ()
    ) -> None:
        self.facts = facts
        self.names = facts.table.names
        self.plain = [plain(name) for name in self.names]
        self.label = facts.table.engine.label
        self.wanted = wanted
        self.named = {role: self._find(role) for role in wanted}
        self.roles = Roles(by=by)

    def choose(self) -> Roles:
        """Return the roles."""
        self._items()
        self._scores()
        self._margin()
        self._outcome()
        self._time()
        self._side()
        self._counts()
        for column in self.roles.by:
            self._tell("by", column, "named")
        return self.roles

    # finding columns

    def _find(self, role: str) -> int | None:
        """Return the column that the user names for a role."""
        name = self.wanted[role]
        if name is None or name is False or (role == "side" and name in {"first", "second"}):
            return None
        return find_column(self.names, str(name), role, self.label)

    def _refuse(self, sentence: str) -> InputError:
        return InputError(f"{self.label}: {sentence}", source=self.label)

    def _listed(self, columns: list[int] | None = None, joint: str = ", ") -> str:
        return list_names(
            self.names if columns is None else [self.names[i] for i in columns], joint
        )

    def _free(self) -> list[int]:
        """Columns without a role, neither chosen nor named by the user."""
        used = self.roles.taken() | {i for i in self.named.values() if i is not None}
        return [i for i in range(len(self.names)) if i not in used]

    def _one(self, role: str, vocabulary: frozenset[str]) -> int | None:
        """Return the one free column whose name says this role; refuse when there are two."""
        if self.named.get(role) is not None or self.wanted.get(role) is False:
            return self.named.get(role)
        found = [i for i in self._free() if self.plain[i] in vocabulary]
        if len(found) > 1:
            raise self._two(role, found)
        return found[0] if found else None

    def _two(self, role: str, found: list[int]) -> InputError:
        return self._refuse(
            f"{self._listed(found, ' and ')} could each be the {role}; say which with "
            f"{role}=, or {role}=False for none."
        )

    def _why(self, role: str) -> str:
        return "named" if self.named.get(role) is not None else "by its name"

    def _tell(self, role: str, column: int, why: str) -> None:
        self.roles.columns.append(Column(role, self.names[column], why))

    # the two items

    def _items(self) -> None:
        roles, named = self.roles, self.named
        if named["winner"] is not None and named["loser"] is not None:
            pair, why = Pair(words.WINNER, named["winner"], named["loser"]), "named"
        elif named["first"] is not None and named["second"] is not None:
            marker = next((m for m in MARKERS if self._marked(m)), None)
            pair = Pair(marker or MARKERS[0], named["first"], named["second"])
            why = "named"
        elif any(named[role] is not None for role in ("first", "second", "loser")):
            raise self._refuse("name both items: first= and second=, or winner= and loser=.")
        else:
            pair, why = self._recognised_pair()
        roles.first, roles.second, roles.marker = pair.first, pair.second, pair.marker
        roles.winner_first = pair.marker in WINNERS
        if pair.first == pair.second:
            raise self._refuse(f'both items are in "{self.names[pair.first]}"; name two columns.')
        self._tell("winner" if roles.winner_first else "first", pair.first, why)
        self._tell("loser" if roles.winner_first else "second", pair.second, why)

    def _marked(self, marker: Marker) -> bool:
        """Return whether the columns that the user named carry a marker's words."""
        pair = Pair(marker, self.named["first"] or 0, self.named["second"] or 0)
        return pair in words.name_pairs(self.plain, (marker,))

    def _recognised_pair(self) -> tuple[Pair, str]:
        free = set(self._free())
        for markers in (MARKERS, WINNERS):
            pairs = words.name_pairs(self.plain, markers)
            pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
            if len(pairs) == 1:
                return pairs[0], "by its name"
            if pairs:
                raise self._refuse(f"{self._options(pairs)} could name the items; {HOW_TO_NAME}")
        pairs = self._alike(free)
        if len(pairs) == 1:
            return pairs[0], "the two columns share their values"
        if pairs:
            raise self._refuse(f"{self._options(pairs)} could name the items; {HOW_TO_NAME}")
        raise self._refuse(f"no two columns of {self._listed()} name the items; {HOW_TO_NAME}")

    def _options(self, pairs: list[Pair]) -> str:
        """Return the pairs in words; columns of the same name are refused instead."""
        names = [self.names[i] for i in {i for p in pairs for i in (p.first, p.second)}]
        for name in sorted(names):
            if names.count(name) > 1:
                raise self._refuse(f'two columns are called "{name}"; give each its own name.')
        return " or ".join(self._listed([p.first, p.second], " with ") for p in pairs[:4])

    def _alike(self, free: set[int]) -> list[Pair]:
        """Return pairs of text columns, of any name, that hold the same things."""
        known = words.OUTCOMES | words.TIMES | words.SIDES | words.NEUTRALS | words.TIES
        texts = [i for i in sorted(free) if self.facts.is_text(i) and self.plain[i] not in known]
        samples = {i: self.facts.sample(i) for i in self.facts.often_filled(texts)}
        pairs = []
        for (i, ours), (j, theirs) in itertools.combinations(samples.items(), 2):
            shared = len(ours & theirs)
            if shared >= 2 and 2 * shared >= min(len(ours), len(theirs)):
                told = read_outcomes([(text, 1) for text in ours], ("", ""), None)
                if told.understood < 0.8:
                    pairs.append(Pair(MARKERS[0], i, j))
        return pairs

    # what came out

    def _scores(self) -> None:
        named = self.named["first_score"], self.named["second_score"]
        if (named[0] is None) != (named[1] is None):
            raise self._refuse("name both scores: first_score= and second_score=.")
        if named[0] is not None and named[1] is not None:
            self.roles.scores = (named[0], named[1])
        elif self.wanted["first_score"] is not False:
            free = set(self._free())
            markers = WINNERS if self.roles.winner_first else MARKERS
            pairs = words.score_pairs(self.plain, markers)
            pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
            same = [pair for pair in pairs if pair.marker == self.roles.marker]
            pairs = same if len(same) == 1 else pairs
            if len(pairs) > 1:
                raise self._refuse(
                    f"{self._options(pairs)} could be the scores; name them with first_score= "
                    "and second_score=, or first_score=False for none."
                )
            self.roles.scores = (pairs[0].first, pairs[0].second) if pairs else None
        for column, role in zip(self.roles.scores or (), ("first", "second"), strict=False):
            self._tell(f"{role} score", column, self._why(f"{role}_score"))

    def _margin(self) -> None:
        column = self._one("margin", words.MARGINS)
        if column is not None and not self.facts.count(self.facts.filled(column))[1]:
            self.roles.notes.append(f'the column "{self.names[column]}" is empty')
            column = None
        self.roles.margin = column
        if column is not None:
            self._tell("margin", column, f"{self._why('margin')}, first minus second")

    def _outcome(self) -> None:
        roles = self.roles
        if roles.winner_first:
            roles.tie = self._one("tie", words.TIES)
            if roles.tie is not None:
                self._tell("tie", roles.tie, "by its name")
            return
        role = "winner" if self.named["winner"] is not None else "outcome"
        if self.named[role] is not None:
            roles.outcome = self.named[role]
            roles.meaning, why = self._meaning(self.named[role] or 0), "named"
            if not roles.meaning.understood:
                raise self._strange(self.named[role] or 0)
        elif self.wanted["outcome"] is not False:
            roles.outcome, roles.meaning, why = self._recognised_outcome()
        if roles.outcome is not None and roles.meaning is not None:
            self._tell("outcome", roles.outcome, f"{why}; {roles.meaning.why}")
        elif roles.scores is None and roles.margin is None:
            raise self._refuse(
                f"no column of {self._listed()} says who won; name it with outcome=, winner=, "
                "margin=, or first_score= and second_score=."
            )

    def _recognised_outcome(self) -> tuple[int | None, Meaning | None, str]:
        for vocabulary in (words.OUTCOMES, words.SHARES):
            named = [i for i in self._free() if self.plain[i] in vocabulary]
            told = {i: self._meaning(i) for i in named}
            clear = [i for i in named if told[i].understood >= 0.5]
            if len(clear) > 1:
                raise self._two("outcome", clear)
            if clear:
                return clear[0], told[clear[0]], "by its name"
            if named and self.roles.scores is None and self.roles.margin is None:
                raise self._strange(named[0])
            if self.roles.scores is not None or self.roles.margin is not None:
                return None, None, ""
        texts = [i for i in self._free() if self.facts.is_text(i)]
        told = {i: self._meaning(i) for i in self.facts.often_filled(texts)}
        clear = [i for i in told if told[i].understood >= CLEAR and told[i].in_words]
        if len(clear) > 1:
            raise self._two("outcome", clear)
        return (clear[0], told[clear[0]], "by what it holds") if clear else (None, None, "")

    def _strange(self, column: int) -> InputError:
        cells = self.facts.values(column) or []
        often = sorted(cells, key=lambda cell: (-cell[1], cell[0]))[:5]
        shown = ", ".join(f'"{shorten(text)}"' for text, _ in often) or "too many values"
        return self._refuse(
            f'the outcomes in "{self.names[column]}" are not understood ({shown}); write 1, 0 and '
            "0.5, win, loss and draw, or the winner's name."
        )

    def _meaning(self, column: int) -> Meaning:
        """Return what a column says as an outcome: words and numbers, or names of the items."""
        facts, roles = self.facts, self.roles
        headers = self.names[roles.first], self.names[roles.second]
        cells = facts.values(column)
        comma = facts.table.decimal_comma
        told = read_outcomes(cells or [], headers, roles.marker, comma)
        prefer = self.plain[column] in words.WINNER_WORDS or column == self.named["winner"]
        if told.understood == 1.0 and not prefer:
            return told
        text, x = facts.text(column), facts.number(column)
        is_name = f"{text} IN ({facts.text(roles.first)}, {facts.text(roles.second)})"
        _, filled, names, shares = facts.count(
            facts.filled(column), is_name, f"{x} BETWEEN 0 AND 1"
        )
        if not filled:
            return Meaning("words", "empty", 0.0)
        if cells is None and shares > names:
            return Meaning("shares", "share of games that the first won", shares / filled)
        ties = {text: value for text, value in told.values.items() if _is_tie(text, value)}
        n_ties = sum(count for text, count in cells or () if text in ties)
        by_name = (names + n_ties) / filled
        if names and (by_name > told.understood or (prefer and by_name == told.understood)):
            return Meaning(
                "names", "the winner's name", by_name, ties, both_bad=told.both_bad, in_words=True
            )
        return told

    # when, where, how often

    def _time(self) -> None:
        roles, facts = self.roles, self.facts
        if self.wanted["time"] is False:
            return
        if self.named["time"] is not None:
            candidates, why = [self.named["time"]], "named"
        else:
            candidates, why = self._time_candidates()
        told = {i: read_moments(facts, i) for i in candidates}
        clear = [i for i in candidates if told[i].understood >= 0.5]
        if not clear and candidates and (why != "by what it holds"):
            name = self.names[candidates[0]]
            raise self._refuse(
                f'the times in "{name}" are not understood; write dates as 2026-05-01, or '
                "numbers, or say time=False."
            )
        if len(clear) > 1:
            raise self._two("time", clear)
        if clear:
            roles.time, roles.moments = clear[0], told[clear[0]]
            self._tell("time", clear[0], f"{why}; {told[clear[0]].why}")

    def _time_candidates(self) -> tuple[list[int], str]:
        free = self._free()
        for vocabulary in (words.TIMES, words.PERIODS):
            found = [i for i in free if self.plain[i] in vocabulary]
            if len(found) > 1:  # a date beside the time of day
                found = [i for i in found if read_moments(self.facts, i).understood >= 0.5] or found
            if found:
                return found, "by its name"
        texts = self.facts.often_filled([i for i in free if not self.facts.is_number(i)])
        told = {i: read_moments(self.facts, i) for i in texts}
        dated = [i for i in texts if told[i].kind == "date" and told[i].understood >= CLEAR]
        return dated, "by what it holds"

    def _side(self) -> None:
        roles, said = self.roles, self.wanted["side"]
        if said in {"first", "second"}:
            roles.side_always = 1.0 if said == "first" else -1.0
            roles.notes.append(f"the {said} item always has the side")
        elif said is not False:
            roles.side = self._one("side", words.SIDES)
        if roles.side is not None and self.named["side"] is None:
            texts = [text for text, _ in self.facts.values(roles.side) or []]
            if not texts or len(read_sides(texts, self._headers())) < len(texts):
                roles.notes.append(
                    f'"{self.names[roles.side]}" is not used: it does not say who has the side'
                )
                roles.side = None
        if roles.side is not None:
            self._tell("side", roles.side, self._why("side"))
        elif roles.marker and roles.marker.sided and said is None:
            roles.side_always = 1.0
            self.roles.notes.append(f'"{self.names[roles.first]}" has the side')
        if roles.side is None and roles.side_always is None:
            return
        roles.neutral = self._one("neutral", words.NEUTRALS)
        if roles.neutral is not None:
            texts = [text for text, _ in self.facts.values(roles.neutral) or []]
            if len(read_switch(texts)) < len(texts) and self.named["neutral"] is None:
                name = self.names[roles.neutral]
                roles.notes.append(f'"{name}" is not used: it does not say yes or no')
                roles.neutral = None
            else:
                self._tell("neutral", roles.neutral, self._why("neutral"))

    def _headers(self) -> tuple[str, str]:
        return self.names[self.roles.first], self.names[self.roles.second]

    def _counts(self) -> None:
        roles = self.roles
        roles.count = self._one("count", words.COUNTS)
        roles.weight = self._one("weight", words.WEIGHTS)
        margins = roles.margin is not None or roles.scores is not None
        if roles.count is not None and self.named["count"] is None and margins:
            name = self.names[roles.count]
            roles.notes.append(
                f'"{name}" is not used: beside margins a row is one game, unless you say '
                f'count="{name}"'
            )
            roles.count = None
        for role, column in (("count", roles.count), ("weight", roles.weight)):
            if column is not None:
                self._tell(role, column, self._why(role))


HOW_TO_NAME = "name them with first= and second=, or winner= and loser=."


def _is_tie(text: str, value: float) -> bool:
    return value == 0.5 and not text.strip()[:1].isdigit()
