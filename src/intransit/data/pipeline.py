"""From a source to Games: take it in, choose roles, judge and add up rows, and report."""

from collections.abc import Mapping

import numpy as np

from intransit.data.clock import Clock
from intransit.data.distinct_rows import MOST_ROWS, DistinctRows, add_up, sequence_of, with_series
from intransit.data.duplicates import count_once
from intransit.data.engine import open_engine
from intransit.data.facts import Facts, find_column
from intransit.data.finishing_orders import find_orders, find_podiums
from intransit.data.games import Games, merge
from intransit.data.intake import N_SAME, EmbeddedOrigin, EngineTable
from intransit.data.matrices import find_matrix
from intransit.data.queries import Query, build_query
from intransit.data.reading import Reading, ReadOptions, Unused, describe_unused, plural
from intransit.data.roles import choose_roles
from intransit.data.search import Roles
from intransit.data.shapes import (
    Shaped,
    apply,
    find_judgments,
    find_tally,
    find_teams,
    reshape,
    told_by_shape,
)
from intransit.data.sources import MOST_WHOLE, embedded, kept_cells, label_of, settled, take_in
from intransit.errors import InputError

SHAPES = {
    "matrix": find_matrix,
    "judgments": find_judgments,
    "teams": find_teams,
    "tally": find_tally,
    "orders": find_orders,
    "podiums": find_podiums,
}
REPEATS_UP_TO = 5_000_000  # rows; beyond, looking for repeated ones would cost more than reading


def assemble(
    source: object,
    options: ReadOptions,
    memory_limit: str,
    *,
    most_whole: int = MOST_WHOLE,
    most_rows: int = MOST_ROWS,
) -> Games:
    """Return the games of a source.

    Lazy frames of more than `most_whole` rows stay where they are, like tables of an engine; of
    files with more than `most_rows`, too, equal rows are added up before they are judged.
    """
    with open_engine(label_of(source), memory_limit) as engine:
        label = engine.label
        table = take_in(source, engine, most_whole)
        where = _conditions(table, options.where)
        facts, roles = Facts(table, where), None
        whole = Facts(table, {}) if where else facts
        if table.grouping is None and whole.count()[0] > most_rows:
            table = embedded(table)
        if table.grouping is not None:
            facts, roles = settled(table, where, options, SHAPES, choose_roles, most_whole)
            table = facts.table
        n_rows = facts.check_where()
        if not n_rows and not table.rejected:
            raise InputError(f"{label}: there is no row; give a table with some.", source=label)
        if not n_rows:
            raise _refuse_rows(label, table.unit, 0, table.rejected)
        shaped = None if table.grouping else reshape(facts, options, SHAPES)
        rows = facts if shaped is None else _shaped_rows(facts, shaped)
        options = options if shaped is None else apply(options, shaped)
        roles = roles or choose_roles(rows, options)
        if shaped is not None:
            roles.columns = [*shaped.told, *told_by_shape(roles.columns, shaped)]
            roles.notes[:0] = shaped.notes
        query = build_query(rows, roles, options.both_bad)
        cells, halved, doubt = count_once(query, add_up(query), roles, options.doubled)
        roles.notes += [note for note in (halved, doubt) if note]
        report = _report(facts, roles, query, cells, options.both_bad)
        cells = cells if halved else with_series(query, cells)
        sequence = None if halved else sequence_of(query, cells)
    _check_rows(report, options.strict)
    arrays = cells.arrays
    games = Games(
        names=cells.names,
        first=cells.first,
        second=cells.second,
        outcomes=arrays["outcome"],
        margins=arrays.get("margin"),
        times=arrays["time"],
        counts=arrays["count"],
        sides=arrays.get("side"),
        clock=_clock(roles),
        report=report,
        series=cells.series,
        by=cells.by,
        sequence=sequence,
    )
    return merge(games) if halved or cells.series is not None else games


def _shaped_rows(facts: Facts, shaped: Shaped) -> Facts:
    """Return what can be asked about the table of games that another shape was turned into."""
    rows = Facts(shaped.table, facts.where if shaped.keeps_where else {})
    if not rows.count()[0]:
        label = facts.table.engine.label
        raise InputError(f"{label}: there is no game in it; give a table with some.", source=label)
    return rows


def _clock(roles: Roles) -> Clock:
    """Return what the times are; periods that no row has keep their place."""
    told = roles.moments
    return Clock("none") if told is None else Clock(told.kind, told.names, told.numbers)


def _conditions(table: EngineTable, where: Mapping[str, object]) -> dict[int, object]:
    """Return the columns of `where` with the values they must have."""
    found = {}
    for name, value in where.items():
        found[find_column(table.names, name, "where", table.engine.label)] = value
    return found


def _report(
    facts: Facts, roles: Roles, query: Query, cells: DistinctRows, both_bad: str
) -> Reading:
    table = facts.table
    unused = (*table.rejected, *cells.unused)
    n_rows = cells.n_rows + sum(part.count for part in table.rejected)
    n_used = n_rows - sum(part.count for part in unused)
    notes = [*table.notes, *roles.notes, *_name_notes(query)]
    if facts.where:
        total = Facts(table, {}).count()[0]
        notes.append(f"where keeps {facts.count()[0]:,} of {total:,} rows")
    if roles.meaning and roles.meaning.both_bad and both_bad == "tie":
        cell_counts = dict(query.facts.values(roles.outcome or 0) or [])
        n_bad = sum(cell_counts[text] for text in roles.meaning.both_bad)
        notes.append(f"{plural(n_bad, 'verdict')} that both are bad taken as ties")
    if cells.n_without_margin:
        missing = plural(cells.n_without_margin, "row")
        notes.append(f"{missing} without a margin, so margins are not used, only who won")
    outcomes = cells.arrays["outcome"]
    ties = float(cells.arrays["count"][outcomes == 0.5].sum())
    if ties and np.isin(outcomes, (0.0, 0.5, 1.0)).all():
        notes.append(f"{ties:,.12g} of {cells.arrays['count'].sum():,.12g} games are ties")
    notes += _repeats(facts, facts.count()[0])
    return Reading(
        table.engine.label,
        tuple(roles.columns),
        n_rows,
        n_used,
        unused,
        tuple(notes),
        table.unit,
        tuple(f"{table.names[column]}: {value}" for column, value in facts.where.items()),
    )


def _name_notes(query: Query) -> list[str]:
    """Return remarks on names that are nearly the same."""
    notes = []
    spaced = [raw for raw in query.raw_names if raw != raw.strip() and raw.strip()]
    if spaced:
        notes.append(f"space around {plural(len(spaced), 'name')} was removed")
    groups: dict[str, list[str]] = {}
    for name in query.names:
        groups.setdefault(" ".join(name.casefold().split()), []).append(name)
    for group in [group for group in groups.values() if len(group) > 1][:5]:
        listed = " and ".join(f'"{name}"' for name in group)
        notes.append(f"{listed} differ only by case or space, and count as different items")
    return notes


def _repeats(facts: Facts, n_rows: int) -> list[str]:
    if n_rows > REPEATS_UP_TO:
        return [f"repeated rows were not looked for among {n_rows:,} rows"]
    columns, grouping = range(len(facts.table.names)), facts.table.grouping
    if grouping is not None and grouping.held >= set(columns):  # already counted
        count = f"SELECT coalesce(sum({N_SAME} - 1), 0) FROM {facts.rows}"
        repeats = int(facts.table.engine.ask(count)[0][0])
    elif grouping is None:
        repeats = EmbeddedOrigin(facts.table.engine, facts.rows).n_repeats(columns, {})
    else:
        repeats = grouping.origin.n_repeats(columns, kept_cells(facts))
    if not repeats:
        return []
    verb = "repeats" if repeats == 1 else "repeat"
    return [f"{plural(repeats, 'row')} {verb} another row in every column; all are used"]


def _check_rows(report: Reading, strict: bool) -> None:
    """Refuse a table that cannot be used, or not for the most part, or not in every row."""
    too_few = report.n_used * 2 < report.n_rows or not report.n_used
    if too_few or (strict and report.unused):
        raise _refuse_rows(report.source, report.unit, report.n_used, report.unused)


def _refuse_rows(label: str, unit: str, n_used: int, unused: tuple[Unused, ...]) -> InputError:
    n_unused = sum(part.count for part in unused)
    told = "; ".join(describe_unused(part, unit) for part in unused[:3])
    more = f"; and {plural(len(unused) - 3, 'more reason')}" if len(unused) > 3 else ""
    rows = plural(n_used + n_unused, "row")
    places = [line for part in unused for line in part.lines]
    return InputError(
        f"{label}: {n_unused:,} of {rows} cannot be used: {told}{more}. Correct them, or name the "
        "columns that are meant.",
        source=label,
        line=min(places, default=None),
    )
