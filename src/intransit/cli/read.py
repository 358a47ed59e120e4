"""`intransit read`: what was understood of a table, before anything is fitted."""

from dataclasses import asdict

import numpy as np
from rich.console import Console

from intransit.arrays import n_distinct
from intransit.cli.output import Output, chosen, facts, grid, heading, visible
from intransit.cli.table_options import TableOptions, TablePath
from intransit.data.games import Games
from intransit.data.reading import Reading, describe_unused
from intransit.percent import percent

SHOWN = 5  # lines that are listed for one reason
LISTED = 8  # values of a covariate that are listed


def read(
    table: TablePath, /, *, columns: TableOptions | None = None, output: Output | None = None
) -> None:
    """Say what is understood of a table: columns, rows that cannot be used, an overview.

    Parameters
    ----------
    table
        CSV, TSV, JSON lines or Parquet, compressed by gzip or zstd or not; or an address, as in
        postgres://ann@host/league?table=games.
    """
    output = chosen(output)
    games = (columns or TableOptions()).read(table)
    report, seen = games.report, overview(games)
    data = {**asdict(report), "n_unused": report.n_unused, "overview": dict(seen)}
    output.show(data, _rows(report, seen), lambda console: _draw(console, report, seen))


def overview(games: Games) -> list[tuple[str, str]]:
    """Return the few figures that tell whether a table is the one that was meant."""
    total = float(games.counts.sum())
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    n_pairs = n_distinct(low * games.n_items + high)
    possible = games.n_items * (games.n_items - 1) // 2
    seen = [("items", f"{games.n_items:,}"), ("games", f"{total:,.12g}")]
    seen.append(("pairs that met", f"{n_pairs:,} of {possible:,}"))
    groups = count_groups(games)
    if groups > 1:
        seen.append(("groups", f"{groups:,} that never met: between them nothing can be learnt"))
    if games.clock.kind == "none":
        seen.append(("span", "no times, so nothing drifts"))
    else:
        begin, end = (games.clock.to_text(float(t)) for t in games.times[[0, -1]])
        moments = n_distinct(games.times)
        seen.append(("span", f"{begin} to {end}, {moments:,} different times"))
    if games.has_ties:
        ties = float(games.counts[games.outcomes == 0.5].sum())
        seen.append(("ties", f"{ties:,.12g} ({percent(ties / total, 1)})"))
    else:
        seen.append(("ties", "none"))
    if games.margins is not None:
        size = float(np.average(np.abs(games.margins), weights=games.counts))
        seen.append(("margins", f"by {size:.3g} in the mean, {np.abs(games.margins).max():g} most"))
    if games.sides is not None:
        sided = float(games.counts[games.sides != 0].sum())
        seen.append(("a side", f"in {sided:,.12g} games ({percent(sided / total, 1)})"))
    for covariate in games.by:
        shares = [
            f"{value} {percent(float(games.counts[covariate.codes == code].sum()) / total, 1)}"
            for code, value in enumerate(covariate.values[:LISTED])
        ]
        more = ", ..." if len(covariate.values) > LISTED else ""
        empty = float(games.counts[covariate.codes < 0].sum())
        without = f"; empty in {empty:,.12g} games" if empty else ""
        listed = ", ".join(shares) or "no value"
        seen.append((f"by {covariate.name}", f"{listed}{more}{without}"))
    return seen


def count_groups(games: Games) -> int:
    """Return how many groups of items no chain of games connects."""
    group = np.arange(games.n_items)  # the least item that is known to be connected
    while True:
        least = np.minimum(group[games.first], group[games.second])
        nearer = group.copy()
        np.minimum.at(nearer, games.first, least)
        np.minimum.at(nearer, games.second, least)
        nearer = nearer[nearer]
        if (nearer == group).all():
            return n_distinct(group)
        group = nearer


def _draw(console: Console, report: Reading, seen: list[tuple[str, str]]) -> None:
    heading(console, f"{report.source}: {report.n_used:,} of {report.n_rows:,} rows used")
    table = grid("role", "column", "how it was recognised")
    for column in report.columns:
        table.add_row(column.role, visible(column.name), visible(column.why))
    console.print(table)
    if report.unused:
        table = grid("rows not used", "why", f"{report.unit}s", right=["rows not used"])
        for part in report.unused:
            lines = ", ".join(f"{line:,}" for line in part.lines[:SHOWN])
            more = ", ..." if part.count > min(len(part.lines), SHOWN) else ""
            place = f"such as {visible(part.examples[0])}" if part.examples else lines + more
            table.add_row(f"{part.count:,}", visible(part.reason), place)
        console.print(table)
    notes = [("note" if k == 0 else "", note) for k, note in enumerate(report.notes)]
    console.print(facts([*seen, *notes]))


def _rows(report: Reading, seen: list[tuple[str, str]]) -> list[dict[str, object]]:
    rows = [("source", report.source, "")]
    rows += [("column", column.name, f"{column.role} ({column.why})") for column in report.columns]
    rows += [
        ("not used", part.reason, describe_unused(part, report.unit)) for part in report.unused
    ]
    rows += [("note", note, "") for note in report.notes]
    rows += [("overview", what, value) for what, value in seen]
    return [{"kind": kind, "name": name, "detail": detail} for kind, name, detail in rows]
