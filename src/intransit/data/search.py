"""The search for the roles of columns: what was chosen so far, and how it is told."""

from dataclasses import dataclass, field

from intransit.data.facts import Facts, find_column, list_names
from intransit.data.outcomes import Meaning
from intransit.data.reading import Column, ReadOptions, how_to_say
from intransit.data.time_columns import TimeColumn
from intransit.data.vocabulary import Marker, plain, short_names
from intransit.errors import InputError


@dataclass(frozen=True)
class Sided:
    """Columns that tell of each side whether it won, and what their texts mean."""

    first: int
    second: int
    first_values: dict[str, float]
    second_values: dict[str, float]


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
    sided: Sided | None = None  # instead of an outcome: columns that tell of each side
    scores: tuple[int, int] | None = None
    margin: int | None = None
    time: int | None = None
    moments: TimeColumn | None = None
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
        told = () if self.sided is None else (self.sided.first, self.sided.second)
        return {column for column in (*single, *more, *told) if column is not None}


class Search:
    """Roles chosen one after the other; later choices know the earlier ones."""

    def __init__(self, facts: Facts, options: ReadOptions) -> None:
        self.facts = facts
        self.names = facts.table.names
        self.plain = [plain(name) for name in short_names(self.names)]
        self.label = facts.table.engine.label
        self.options = options
        self.wanted = options.columns
        self.named = {role: self._find(role) for role in self.wanted}
        by = tuple(find_column(self.names, name, "by", self.label) for name in options.by)
        self.roles = Roles(by=by)

    def _find(self, role: str) -> int | None:
        """Return the column that the user names for a role."""
        name = self.wanted[role]
        if name is None or name is False or (role == "side" and name in {"first", "second"}):
            return None
        return find_column(self.names, str(name), role, self.label)

    def refuse(self, sentence: str) -> InputError:
        """Return the error that says this of the table."""
        return InputError(f"{self.label}: {sentence}", source=self.label)

    def listed(self, columns: list[int] | None = None, joint: str = ", ") -> str:
        """Return names of columns, all of them unless some are given."""
        names = self.names if columns is None else [self.names[i] for i in columns]
        return list_names(names, joint)

    def free(self) -> list[int]:
        """Columns without a role, neither chosen nor named by the user."""
        used = self.roles.taken() | {i for i in self.named.values() if i is not None}
        return [i for i in range(len(self.names)) if i not in used]

    def one(self, role: str, vocabulary: frozenset[str]) -> int | None:
        """Return the one free column whose name says this role; refuse when there are two."""
        if self.named.get(role) is not None or self.wanted.get(role) is False:
            return self.named.get(role)
        found = [i for i in self.free() if self.plain[i] in vocabulary]
        if len(found) > 1:
            raise self.two(role, found)
        return found[0] if found else None

    def two(self, role: str, found: list[int]) -> InputError:
        """Return the error that two columns could play a role."""
        return self.refuse(
            f"{self.listed(found, ' and ')} could each be the {role}; say which with "
            f"{how_to_say(role, none=role)}."
        )

    def why(self, role: str) -> str:
        """Return how a column came to its role."""
        return "named" if self.named.get(role) is not None else "by its name"

    def tell(self, role: str, column: int, why: str) -> None:
        """Report a choice."""
        self.roles.columns.append(Column(role, self.names[column], why))

    @property
    def headers(self) -> tuple[str, str]:
        """Names of the two columns with the items."""
        return self.names[self.roles.first], self.names[self.roles.second]
