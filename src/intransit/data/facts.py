"""What a table's columns are called and hold, asked in SQL: distinct values, numbers, overlaps.

Columns are found by the names that a user gives: by the same letters first, then without case and
spaces.
"""

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from intransit.data.engine import N_SAME, EngineTable, columns_sql, quote, refuse
from intransit.data.reading import list_names, quoted
from intransit.data.vocabulary import MOST_VALUES, plain
from intransit.errors import InputError


def find_column(names: Sequence[str], name: str, role: str, label: str) -> int:
    """Return the place of the column called `name`; without one, say which names are near."""
    found = [i for i, own in enumerate(names) if own == name]
    found = found or [i for i, own in enumerate(names) if plain(own) == plain(name)]
    if len(found) == 1:
        return found[0]
    what = "there is no column" if not found else "more than one column is called"
    near = [] if found else nearest(names, name)
    hint = f"did you mean {' or '.join(quoted(own) for own in near)}? The" if near else "the"
    raise refuse(
        label, f"{what} {quoted(name)} (for {role}); {hint} columns are {list_names(names)}."
    )


def nearest(names: Sequence[str], name: str) -> list[str]:
    """Return the names that a slip of the pen could have meant, the nearest first."""
    known = {plain(own): own for own in names}
    close = difflib.get_close_matches(plain(name), list(known), n=3, cutoff=0.7)
    return [known[own] for own in close]


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


def numbered_headers(names: Sequence[str]) -> tuple[int, int]:
    """Return how many columns are called 1, 2, 3, ... in a row, and the first of them."""
    begin = next((i for i, name in enumerate(names) if name.strip() == "1"), len(names))
    n = 0
    while begin + n < len(names) and names[begin + n].strip() == str(n + 1):
        n += 1
    return n, begin


NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
SAMPLE = 20_000  # rows in which columns without a telling name are compared
MOST_COLUMNS = 40  # columns without a telling name that are looked into


class Facts:
    """Answers about the rows that `where` keeps; distinct values are asked once."""

    def __init__(self, table: EngineTable, where: Mapping[int, object]) -> None:
        self.table, self.engine, self.names = table, table.engine, table.names
        self.where = where
        self._values: dict[int, list[tuple[str, int]] | None] = {}
        self._n_rows: int | None = None

    def column(self, name: str, role: str) -> int:
        """Return the place of the column called `name`, which the user gives for a role."""
        return find_column(self.names, name, role, self.engine.label)

    def refuse(self, found: str) -> InputError:
        """Return the error that says this of the table."""
        return self.engine.refuse(found)

    @property
    def filter(self) -> str:
        """SQL of `where`, with its WHERE."""
        tests = [self._equals(column, value) for column, value in self.where.items()]
        return f" WHERE {' AND '.join(tests)}" if tests else ""

    def _equals(self, column: int, value: object) -> str:
        if isinstance(value, bool):
            return f"lower({self.text(column)}) = '{str(value).lower()}'"
        if isinstance(value, int | float):
            return f"{self.number(column)} = {value!r}::DOUBLE"
        return f"{self.text(column)} = {quote(str(value).strip())}"

    @property
    def rows(self) -> str:
        """SQL: the rows that `where` keeps, with their numbers in the whole table."""
        return f"(SELECT * FROM {self.table.rows}{self.filter})"

    def rows_about(self, *sql: str) -> str:
        """SQL: rows that tell about the columns in some SQL; if not all of them can, some do."""
        grouping = self.table.grouping
        if grouping is None:
            return self.rows
        asked = {int(k) for part in sql for k in re.findall(r"\bc(\d+)\b", part)}
        return self.rows if asked <= grouping.held else f"(SELECT * FROM {self._sample})"

    @property
    def _sample(self) -> str:
        grouping = self.table.grouping
        return f"{self.table.rows if grouping is None else grouping.sample}{self.filter}"

    def tally(self, test: str = "") -> str:
        """SQL: the number of rows of the source, or of those that pass a test."""
        passing = f" FILTER (WHERE {test})" if test else ""
        if self.table.grouping is None:
            return f"count(*){passing}"
        return f"coalesce(sum({N_SAME}){passing}, 0)"

    def is_number(self, column: int) -> bool:
        """Return whether the column's type is a number's."""
        return self.table.types[column].removeprefix("U").startswith(NUMERIC)

    def is_text(self, column: int) -> bool:
        """Return whether the column holds text."""
        return self.table.types[column].startswith(("VARCHAR", "ENUM", "JSON"))

    def looks_numeric(self, column: int) -> bool:
        """Return whether most cells of a column are numbers."""
        _, filled, numbers = self.count(self.filled(column), f"isfinite({self.number(column)})")
        return filled > 0 and 2 * numbers >= filled

    def raw(self, column: int) -> str:
        """SQL: a cell as text, as it stands; whole numbers without a fraction."""
        cell, kind = f"c{column}", self.table.types[column]
        if kind in {"FLOAT", "DOUBLE"}:
            whole = f"{cell} = floor({cell}) AND abs({cell}) < 1e15"
            text = f"WHEN {whole} THEN {cell}::BIGINT::VARCHAR ELSE {cell}::VARCHAR"
            return f"CASE WHEN isnan({cell}) THEN NULL {text} END"
        return cell if kind == "VARCHAR" else f"CAST({cell} AS VARCHAR)"

    def text(self, column: int) -> str:
        """SQL: a cell as text without surrounding space."""
        return f"trim({self.raw(column)})"

    def filled(self, column: int) -> str:
        """SQL: whether a cell holds anything."""
        if self.is_number(column):  # pandas writes what is missing as NaN
            return f"(c{column} IS NOT NULL AND NOT isnan(CAST(c{column} AS DOUBLE)))"
        if not self.is_text(column):
            return f"(c{column} IS NOT NULL)"
        blank = f"regexp_full_match({self.raw(column)}, '\\s*')"
        return f"(c{column} IS NOT NULL AND NOT {blank})"

    def number(self, column: int) -> str:
        """SQL: a cell as a number, NULL where it is none."""
        cell = f"c{column}"
        if self.is_number(column) or self.table.types[column] == "BOOLEAN":
            return f"CAST({cell} AS DOUBLE)"
        if not self.is_text(column):
            return "NULL::DOUBLE"
        text = self.raw(column)  # TRY_CAST forgives space, and trimming would cost more
        comma = self.table.decimal_comma
        point, sign = (".", ",") if comma else (",", ".")
        thousands = f"\\s*[+-]?[1-9]\\d{{0,2}}(\\{point}\\d{{3}})+(\\{sign}\\d+)?\\s*"
        bare = f"replace(replace({text}, '{point}', ''), ',', '.')"
        grouped = f"CASE WHEN regexp_full_match({text}, '{thousands}') THEN {bare} END"
        if comma:
            return f"TRY_CAST(coalesce({grouped}, replace({text}, ',', '.')) AS DOUBLE)"
        return f"coalesce(TRY_CAST({text} AS DOUBLE), TRY_CAST({grouped} AS DOUBLE))"

    def values(self, column: int) -> list[tuple[str, int]] | None:
        """Return the distinct cells of a column as text with their counts; None if too many."""
        if column not in self._values:
            found = self.engine.ask(
                f"SELECT {self.raw(column)}, n FROM (SELECT c{column}, {self.tally()} AS n "
                f"FROM {self.rows_about(f'c{column}')} GROUP BY c{column} LIMIT {MOST_VALUES + 1})"
            )
            few = len(found) <= MOST_VALUES
            kept = [(str(text), int(count)) for text, count in found if text is not None]
            self._values[column] = kept if few else None
        return self._values[column]

    def texts(self, column: int) -> list[str]:
        """Return the distinct cells of a column as text; none if they are too many."""
        return [text for text, _ in self.values(column) or []]

    def first_rows(self, column: int) -> dict[str, int]:
        """Return the number of the first row that has each cell of a column with few values."""
        if not self.table.ordered:
            return {}
        with self.table.in_order():
            found = self.engine.ask(
                f"SELECT {self.raw(column)}, min(row) FROM {self.all_rows} GROUP BY c{column}"
            )
        return {str(text): int(row) for text, row in found if text is not None}

    def count(self, *tests: str) -> list[int]:
        """Return how many rows there are, and how many pass each test."""
        if not tests and self._n_rows is not None:
            return [self._n_rows]
        counts = ", ".join([self.tally(), *map(self.tally, tests)])
        rows = self.rows_about(*tests)
        found = [int(n) for n in self.engine.ask(f"SELECT {counts} FROM {rows}")[0]]
        if not tests:
            self._n_rows = found[0]
        return found

    def count_cells(self, column: int, *tests: str, cell: str = "") -> list[int]:
        """Return how many cells of a column pass each test, its distinct values tested once.

        Tests may speak of `cell`, which is then worked out once for each value.
        """
        counts = ", ".join(f"coalesce(sum(n) FILTER (WHERE {test}), 0)" for test in tests)
        rows = self.rows_about(f"c{column}")
        cells = f"SELECT c{column}, {self.tally()} AS n FROM {rows} GROUP BY c{column}"
        if cell:  # grouped, or the engine would put the whole of it into every test
            cells = f"SELECT {cell} AS cell, sum(n) AS n FROM ({cells}) GROUP BY ALL"
        return [int(n) for n in self.engine.ask(f"SELECT {counts} FROM ({cells})")[0]]

    def repeats(self, columns: Sequence[int]) -> tuple[int, bool]:
        """Return how many rows repeat another in these, and if any stands oddly often."""
        grouping, rows, n = self.table.grouping, self.all_rows, "count(*)"
        if grouping is not None and grouping.held >= set(columns):  # already counted
            rows, n = self.rows, f"sum({N_SAME})"
        elif not isinstance(rows, str):
            return rows.repeats(columns, self._kept())  # type: ignore[no-any-return]
        groups = f"SELECT {n} AS n FROM {rows} GROUP BY {columns_sql(columns)}"
        asked = "coalesce(sum(n - 1), 0), coalesce(max(n % 2), 0)"
        more, odd = self.engine.ask(f"SELECT {asked} FROM ({groups})")[0]
        return int(more), bool(odd)

    def spans(self, columns: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return of each column how many cells are filled, the least of them and the most."""
        rows = self.all_rows
        asked = [f"{what}(c{k})" for k in columns for what in ("count", "min", "max")]
        found = (
            self.engine.ask_all(asked, rows)
            if isinstance(rows, str)
            else rows.spans(columns, self._kept())
        )
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    @property
    def all_rows(self) -> Any:
        """All rows that `where` keeps, one by one: SQL, or `LazyRows` of an engine."""
        grouping = self.table.grouping
        if grouping is None or not isinstance(grouping.origin, str):
            return self.rows if grouping is None else grouping.origin
        return f"(SELECT * FROM {grouping.origin}{self.filter})"

    def _kept(self) -> dict[int, list[Any]]:
        """Return the cells that `where` allows in each of its columns."""
        ask, rows = self.engine.ask, self.rows
        return {
            k: [cell for (cell,) in ask(f"SELECT DISTINCT c{k} FROM {rows}")] for k in self.where
        }

    def often_filled(self, columns: Sequence[int]) -> list[int]:
        """Return those of the columns that hold something in most of the first rows."""
        if not columns:
            return []
        tests = [f"sum(CAST({self.filled(i)} AS INTEGER))" for i in columns]
        rows = f"(SELECT * FROM {self._sample} LIMIT {SAMPLE})"
        total, *filled = self.engine.ask_all(["count(*)", *tests], rows)
        found = [i for i, n in zip(columns, filled, strict=True) if 2 * (n or 0) >= total]
        return found[:MOST_COLUMNS]

    def sample(self, column: int) -> set[str]:
        """Return distinct texts among the first rows."""
        found = self.engine.ask(
            f"SELECT DISTINCT {self.text(column)} FROM (SELECT * FROM {self._sample} "
            f"LIMIT {SAMPLE}) WHERE {self.filled(column)}"
        )
        return {str(text) for (text,) in found}

    def check_where(self) -> int:
        """Return the number of rows that `where` keeps; refuse a condition that keeps none."""
        n_rows = self.count()[0]
        if n_rows or not self.where:
            return n_rows
        engine = self.engine
        for column, value in self.where.items():
            if not Facts(self.table, {column: value}).count()[0]:
                seen = sorted(Facts(self.table, {}).sample(column))[:5]
                raise engine.refuse(
                    f'no row has "{self.names[column]}" equal to "{value}"; the column holds '
                    f"{list_names(seen) or 'nothing'}."
                )
        raise engine.refuse("no row meets all conditions of where at once; give fewer.")
