"""The same table in any form gives the same games, and those of a plain loop."""

import tempfile
from pathlib import Path

import duckdb
import numpy as np
from hypothesis import Phase, given, settings

from intransit import Games, read
from tests.data.tables import as_csv, cells_of, rows, slow_read, sources

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking would read for minutes


@given(table=rows())
@settings(max_examples=4, phases=QUICK)
def test_every_form_of_a_table_gives_the_same_games(table):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, source in sources(table, folder):
            games = read(source)
            assert cells_of(games) == slow_read(folder / "games.csv"), name
            assert games.report.n_rows == len(table), name
            assert games.clock.kind == "date", name


@given(table=rows())
@settings(max_examples=15, phases=QUICK)
def test_rows_are_sorted_and_never_repeat(table):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.csv"
        path.write_text(as_csv(table), encoding="utf-8", newline="")
        games = read(path)
    keys = list(cells_of(games))
    assert keys == sorted(keys)
    assert list(games.names) == sorted({name for key in keys for name in key[1:3]})
    used = [row for row in table if row["a"] != row["b"]]
    assert games.counts.sum() == len(used) == games.report.n_used


@given(table=rows())
@settings(max_examples=15, phases=QUICK)
def test_arrays_give_the_games_that_a_file_gives(table):
    used = [row for row in table if row["a"] != row["b"]]
    built = Games.from_arrays(
        [row["a"] for row in used],
        [row["b"] for row in used],
        [row["outcome"] for row in used],
        [row["date"] for row in used],
        margins=[row["margin"] for row in used],
        sides=[row["a_home"] for row in used],
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.csv"
        path.write_text(as_csv(table), encoding="utf-8", newline="")
        games = read(path)
    assert built.names == games.names
    for column in ("first", "second", "outcomes", "margins", "times", "counts", "sides"):
        np.testing.assert_array_equal(getattr(built, column), getattr(games, column))


def test_the_shape_of_a_big_table_survives_small_memory(tmp_path):
    """More cells than a batch, from rows in no order: counts add up and the order is right."""
    path = tmp_path / "games.parquet"
    con = duckdb.connect()
    con.execute(
        f"""COPY (SELECT (hash(i) % 700)::INTEGER AS day, 'p' || hash(i + 1) % 60 AS a,
        'q' || hash(i + 2) % 60 AS b, (hash(i + 3) % 2)::INTEGER AS outcome
        FROM range(1500000) t(i)) TO '{path}' (FORMAT parquet)"""
    ).fetchall()
    expected = con.execute(
        f"SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM '{path}' GROUP BY ALL) "
    ).fetchone()
    distinct = con.execute(f"SELECT count(*) FROM (SELECT DISTINCT * FROM '{path}')").fetchone()
    con.close()
    games = read(path, memory_limit="150MB")
    assert len(games) == distinct[0] > 2**20
    assert games.counts.sum() == 1_500_000
    assert games.n_items == 120
    key = np.stack([games.times, games.first, games.second, games.outcomes])
    assert (np.lexsort(key[::-1]) == np.arange(len(games))).all()
    assert expected[0] <= len(games)
