"""Random small tables, the ways to write them, and the slow, obvious twin of `read`."""

import csv
import gzip
import io
import json
from collections import defaultdict
from datetime import date

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

NAMES = ["Ann", "bob", "Éva", "三郎", "O'Neil", "a, b", 'the "Duke"', "line\nbreak", "ann"]
FIELDS = ["date", "a", "b", "outcome", "margin", "a_home"]
EPOCH = date(1970, 1, 1)


@st.composite
def rows(draw, margins=True):
    """Rows of a sound table, apart from some that compare an item with itself."""
    row = st.builds(
        lambda day, first, step, margin, side: {
            "date": date.fromordinal(EPOCH.toordinal() + day).isoformat(),
            "a": NAMES[first],
            "b": NAMES[(first + step) % len(NAMES)],
            "outcome": 0.5 + 0.5 * ((margin > 0) - (margin < 0)),
            "margin": margin,
            "a_home": side,
        },
        st.integers(-9000, 20000) | st.integers(0, 2),
        st.integers(0, 2) | st.integers(0, len(NAMES) - 1),
        st.integers(0, 5).map(lambda step: step % 5),
        st.integers(-2, 2),
        st.integers(-1, 1),
    )
    sound = draw(st.lists(row, min_size=1, max_size=25))
    usable = [r for r in sound if r["a"] != r["b"]]
    table = sound if 2 * len(usable) >= len(sound) and usable else usable
    return table or [{**sound[0], "a": "x", "b": "y"}]


def as_csv(table, delimiter=","):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, FIELDS, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def sources(table, folder):
    """Yield the table in every form that `read` takes, with its name."""
    text = as_csv(table).encode()
    files = {
        "games.csv": text,
        "games.tsv": as_csv(table, "\t").encode(),
        "semicolons.csv": as_csv(table, ";").encode(),
        "bom.csv": b"\xef\xbb\xbf" + text,
        "utf16.csv": as_csv(table).encode("utf-16"),
        "games.csv.gz": gzip.compress(text),
        "games.jsonl": "\n".join(json.dumps(row) for row in table).encode(),
        "games.jsonl.gz": gzip.compress("\n".join(json.dumps(row) for row in table).encode()),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
        yield name, folder / name
    columns = {field: [row[field] for row in table] for field in FIELDS}
    arrow = pa.table(columns)
    pq.write_table(arrow, folder / "games.parquet")
    yield "games.parquet", str(folder / "games.parquet")
    yield "arrow", arrow
    yield "arrow stream", arrow.to_reader()
    yield "pandas", pd.DataFrame(columns)
    yield "pandas dates", pd.DataFrame(columns | {"date": pd.to_datetime(columns["date"])})
    yield "polars", pl.DataFrame(columns)
    yield "polars lazy", pl.DataFrame(columns).lazy()
    typed = pl.DataFrame(columns).with_columns(pl.col("date").str.to_date())
    yield "polars dates", typed.with_columns(pl.col("a").cast(pl.Categorical))
    con = duckdb.connect()
    con.register("table_here", arrow)
    yield "duckdb", con.sql("SELECT * FROM table_here")
    zst = folder / "games.csv.zst"
    con.execute(f"COPY table_here TO '{zst}' (FORMAT csv, COMPRESSION zstd)").fetchall()
    yield "games.csv.zst", zst
    con.close()


def slow_read(path):
    """Return {(time, first, second, outcome, margin, side): count}, by a loop over the lines."""
    cells = defaultdict(float)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["a"].strip() != row["b"].strip():
                day = date.fromisoformat(row["date"]).toordinal() - EPOCH.toordinal()
                numbers = (float(row[field]) for field in ("outcome", "margin", "a_home"))
                cells[day, row["a"].strip(), row["b"].strip(), *numbers] += 1
    return dict(cells)


def cells_of(games):
    """Return games in the form of `slow_read`."""
    return {
        (time, games.names[first], games.names[second], outcome, margin, side): count
        for time, first, second, outcome, margin, side, count in zip(
            games.times.tolist(),
            games.first.tolist(),
            games.second.tolist(),
            games.outcomes.tolist(),
            games.margins.tolist(),
            games.sides.tolist(),
            games.counts.tolist(),
            strict=True,
        )
    }
