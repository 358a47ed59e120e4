"""Tables of engines give the games that the same table in a file gives, on every engine."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from intransit import InputError, read
from intransit.data import assemble
from intransit.data.engine import SAMPLE, open_engine
from intransit.data.reading import ROLES, ReadOptions, RowLimits, shorten
from intransit.data.remote_tables import framed
from intransit.errors import MissingDependencyError

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # between an engine and its drivers
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
ITEMS = ["Ayr", "ayr", "Bute ", "Bute", "Çork", "三郎", "O'Neil", "New  York"]


def scores():
    """Text alone: dates, scores, a switch, an id; and rows that cannot be used."""
    rng = np.random.default_rng(1)
    rows = []
    for game in range(240):
        first, second = rng.choice(len(ITEMS), 2, replace=False)
        goals = rng.integers(0, 4, 2)
        day = f"2026-03-{1 + game % 9:02d}"
        neutral = "yes" if game % 5 == 0 else "no"
        rows.append((day, ITEMS[first], ITEMS[second], *map(str, goals), neutral, f"g{game}"))
    rows += 2 * [
        ("2026-03-01", "Ayr", "Ayr ", "1", "0", "no", "self"),
        ("2026-03-01", " ", "Bute", "1", "0", "no", "blank"),
        ("2026-03-01", None, "Bute", "1", "0", "no", "none"),
        ("soon", "Ayr", "Bute", "1", "0", "no", "when"),
        ("2026-03-02", "Ayr", "Çork", None, "0", "no", "unscored"),
        ("2026-03-02", "Ayr", "Çork", "two", "0", "no", "unread"),
    ]
    names = ["date", "home_team", "away_team", "home_score", "away_score", "neutral", "note"]
    return pd.DataFrame(rows, columns=names)


def verdicts():
    """The winner's name or a tie, in versions, with counts and covariates."""
    rng = np.random.default_rng(2)
    rows = []
    for game in range(200):
        first, second = (ITEMS[k] for k in rng.choice(len(ITEMS), 2, replace=False))
        winner = [first, second, "tie", "both bad"][rng.integers(4)]
        rows.append((f"13.{1 + game % 11}", first, second, winner, int(rng.integers(1, 4)), "x"))
    rows += [
        ("13.3", "Ayr", "Bute", "nobody", 1, "x"),
        ("13.3", "Ayr", "Bute", None, 1, "x"),
        ("13.3", "Ayr", "Bute", "Ayr", 0, "y"),
        ("13.3", "Ayr", "Bute", "Ayr", 2, None),
    ]
    return pd.DataFrame(rows, columns=["patch", "player1", "player2", "winner", "n", "format"])


def margins():
    """Columns with types: dates, whole numbers, fractions with gaps, a weight."""
    rng = np.random.default_rng(3)
    n = 150
    first = rng.integers(0, 6, n)
    step = np.where(np.arange(n) % 15 == 0, 0, rng.integers(1, 6, n))  # at times against itself
    second = (first + step) % 6
    margin = np.round(rng.normal(0, 2, n), 1)
    return pd.DataFrame(
        {
            "played_at": pd.Timestamp("2025-12-30") + pd.to_timedelta(rng.integers(0, 5, n), "D"),
            "a": first,
            "b": second,
            "margin": margin,
            "a_home": rng.integers(-1, 2, n),
            "weight": rng.choice([0.5, 1.0, 2.0], n),
        }
    )


def mirrored():
    """Every game twice, once as each side tells it."""
    rng = np.random.default_rng(4)
    rows = []
    for game in range(150):
        a, b = (f"t{k}" for k in rng.choice(9, 2, replace=False))
        result = int(rng.integers(0, 2))
        rows += [(f"2026-01-{1 + game % 28:02d}", a, b, result)]
        rows += [(f"2026-01-{1 + game % 28:02d}", b, a, 1 - result)]
    return pd.DataFrame(rows, columns=["date", "first", "second", "result"])


def numbered(repeats=2):
    """Every game twice by its id, its two rows not the same."""
    rng = np.random.default_rng(5)
    rows = []
    for game in range(150):
        a, b = (f"t{k}" for k in rng.choice(9, 2, replace=False))
        told = (f"2026-01-{1 + game % 28:02d}", a, b, int(rng.integers(0, 2)), game)
        rows += [(*told, f"judge {k}") for k in range(repeats)]
    return pd.DataFrame(rows, columns=["date", "first", "second", "result", "match_id", "by"])


CASES = {
    "scores": (scores, {}),
    "scores of some": (scores, {"where": {"neutral": "no"}}),
    "verdicts": (verdicts, {"by": ("format",)}),
    "margins": (margins, {}),
    "mirrored": (mirrored, {}),
    "numbered": (numbered, {}),
    "repeated": (lambda: numbered(1).loc[lambda t: t.index.repeat(2)], {}),
}


def in_file(frame, folder, **told):
    """Return the games of the table as a CSV file, whose columns the reader has to tell apart."""
    path = folder / "games.csv"
    frame.to_csv(path, index=False)
    return read(path, **told)


def in_engine(source, **told):
    """Return the games of a lazy frame or file whose rows stay where they are, however few."""
    columns = {role: told.pop(role, None) for role in ROLES}
    return assemble(source, ReadOptions(columns, **told), "1GB", RowLimits(fetched=0, packed=0))


def assert_same(theirs, ours, frame):
    """Everything agrees; what rows could not be used is shown by themselves, not by lines."""
    assert theirs.names == ours.names
    assert theirs.clock == ours.clock
    for field in ("first", "second", "outcomes", "times", "margins", "sides"):
        np.testing.assert_array_equal(getattr(theirs, field), getattr(ours, field), err_msg=field)
    np.testing.assert_allclose(theirs.counts, ours.counts, rtol=1e-12)
    assert [(c.name, c.values, c.codes.tolist()) for c in theirs.by] == [
        (c.name, c.values, c.codes.tolist()) for c in ours.by
    ]
    assert theirs.report.columns == ours.report.columns
    assert (theirs.report.n_rows, theirs.report.n_used) == (ours.report.n_rows, ours.report.n_used)
    assert theirs.report.notes == ours.report.notes
    assert len(theirs.report.unused) == len(ours.report.unused)
    for shown, listed in zip(theirs.report.unused, ours.report.unused, strict=True):
        assert (shown.reason, shown.count) == (listed.reason, listed.count)
        assert shown.lines == ()
        rows = [frame.iloc[line - 2].to_dict() for line in listed.lines]
        examples = {example.replace(':00+00"', ':00"') for example in shown.examples}
        assert examples <= {in_words(row, shown.examples[0]) for row in rows}
        assert examples


def in_words(row, example):
    """Return a row as an example tells it: the columns that play a role."""
    cells = {name: "" if pd.isna(cell) else cell for name, cell in row.items()}
    cells = {k: f"{c:g}" if isinstance(c, float) else c for k, c in cells.items()}
    told = {name: f'{name} "{shorten(str(cell))}"' for name, cell in cells.items()}
    return ", ".join(text for name, text in told.items() if f'{name} "' in example)


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than such small tables
        "spark.sql.adaptive.enabled": "false",
        "spark.log.level": "ERROR",
        # Code that runs for seconds is compiled quickly, not well, and is cleaned up after by one.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def postgres():
    """Return the folder of a server's socket, and its user; it listens nowhere else."""
    pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    tools = Path(shutil.which("initdb") or (found[-1] / "initdb" if found else "")).parent
    if not (tools / "initdb").exists():
        pytest.skip("there is no PostgreSQL server")
    user = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}  # it refuses root
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user:
        shutil.chown(folder, "nobody", "nogroup")
    data, quiet = folder / "data", {"capture_output": True, "cwd": folder, "timeout": 60, **user}
    try:
        made = ["-D", data, "-U", "games", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([tools / "initdb", *made], check=True, **quiet)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        start = [tools / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start"]
        subprocess.run(start, check=True, **quiet)
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"a PostgreSQL server cannot be started here: {error}")
    yield folder
    stop = [tools / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"]
    subprocess.run(stop, check=True, **quiet)
    shutil.rmtree(folder, ignore_errors=True)


def in_spark(frame, session, folder):
    """Return the table as Spark reads it from Parquet, in two parts."""
    for part in range(2):
        place = folder / "spark" / f"part-{part}.parquet"
        place.parent.mkdir(exist_ok=True)
        stamps = {"coerce_timestamps": "us", "index": False}
        frame.iloc[part::2].to_parquet(place, **stamps)
    return session.read.parquet(str(folder / "spark"))


@contextmanager
def in_ibis(frame):
    ibis = pytest.importorskip("ibis")
    con = ibis.duckdb.connect()
    con.con.register("given", frame)
    con.raw_sql("CREATE TABLE games AS FROM given ORDER BY random()")
    yield con.table("games")
    con.disconnect()


def in_postgres(frame, folder):
    """Store the table, and return its address."""
    import psycopg  # noqa: PLC0415

    kinds = {"O": "text", "i": "bigint", "f": "double precision", "M": "timestamp"}
    columns = ", ".join(f'"{n}" {kinds.get(k.kind, "text")}' for n, k in frame.dtypes.items())
    with psycopg.connect(f"host={folder} user=games dbname=postgres", autocommit=True) as con:
        con.execute("DROP TABLE IF EXISTS games")
        con.execute(f"CREATE TABLE games ({columns})")
        with con.cursor().copy("COPY games FROM STDIN") as copy:
            for row in frame.itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
    return f"postgres://games:hush@/postgres?host={folder}&table=games"


@pytest.mark.parametrize("case", CASES)
def test_lazy_frames_and_relations_give_what_a_file_gives(case, tmp_path):
    make, told = CASES[case]
    frame = make()
    ours = in_file(frame, tmp_path, **told)
    assert_same(in_engine(pl.from_pandas(frame).lazy(), **told), ours, frame)
    with duckdb.connect() as con:
        assert_same(in_engine(con.from_df(frame), **told), ours, frame)
    frame.to_parquet(tmp_path / "part-1.parquet")
    assert_same(in_engine(tmp_path / "part-1.parquet", **told), ours, frame)


@pytest.mark.parametrize("case", CASES)
def test_ibis_gives_what_a_file_gives(case, tmp_path):
    make, told = CASES[case]
    frame = make()
    with in_ibis(frame) as table:
        assert_same(read(table, **told), in_file(frame, tmp_path, **told), frame)


@pytest.mark.parametrize("case", CASES)
def test_postgres_gives_what_a_file_gives(case, tmp_path, postgres):
    make, told = CASES[case]
    frame = make()
    theirs = read(in_postgres(frame, postgres), **told)
    assert_same(theirs, in_file(frame, tmp_path, **told), frame)
    assert theirs.report.source == "postgres:///postgres?table=games"


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Spark leaves its sockets open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("case", ["scores", "verdicts", "margins"])
def test_spark_gives_what_a_file_gives(case, tmp_path, spark):
    make, told = CASES[case]
    frame = make()
    theirs = read(in_spark(frame, spark, tmp_path), **told)
    assert_same(theirs, in_file(frame, tmp_path, **told), frame)


@pytest.mark.parametrize("case", CASES)
def test_dask_gives_what_a_file_gives(case, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    make, told = CASES[case]
    frame = make()
    theirs = read(dask.from_pandas(frame.reset_index(drop=True), npartitions=3), **told)
    assert_same(theirs, in_file(frame, tmp_path, **told), frame)


@pytest.mark.parametrize("engine", ["bigquery", "clickhouse", "postgres", "snowflake", "trino"])
def test_the_query_can_be_said_to_warehouses_that_are_not_here(engine):
    """Not run: only that the one query has words in their language, and asks for counts."""
    ibis = pytest.importorskip("ibis")
    table = ibis.table({"date": "date", "home team": "string", "goals": "int64"}, name="games")
    with open_engine("games", "1GB") as here:
        said = ibis.to_sql(
            framed(table, here).groups([0, 1], {0: ["2026-01-01"]}).to_native(), engine
        )
    words = " ".join(said.split())
    assert "COUNT(*)" in words
    assert "GROUP BY" in words
    assert "goals" not in words.partition("GROUP BY")[2]


def test_what_a_sample_does_not_show_is_still_seen():
    """Recognition looks at the first rows; words that come later are judged and counted."""
    n = SAMPLE + 4_000
    result = ["win", "loss"] * (SAMPLE // 2) + ["draw", "forfeit", "win", "loss"] * 1_000
    frame = pl.DataFrame(
        {
            "player1": [f"p{k % 7}" for k in range(n)],
            "player2": [f"q{k % 5}" for k in range(n)],
            "result": result,
            "side": ["first"] * SAMPLE + ["upstairs"] * 4_000,
        }
    )
    ours, theirs = read(frame), in_engine(frame.lazy())
    assert theirs.report.notes[0] == '"side" is not used: it does not say who has the side'
    assert [note for note in ours.report.notes if "series" not in note] == list(theirs.report.notes)
    assert theirs.counts[theirs.outcomes == 0.5].sum() == 1_000
    assert theirs.report.unused[0].reason == '"result" says that it was not played'
    assert theirs.report.unused[0].count == 1_000


def test_errors_are_those_of_the_file(tmp_path):
    frame = scores().drop(columns=["home_score", "away_score"])
    with pytest.raises(InputError) as ours:
        in_file(frame, tmp_path)
    with in_ibis(frame) as table, pytest.raises(InputError) as theirs:
        read(table)
    assert str(theirs.value).partition(": ")[2] == str(ours.value).partition(": ")[2]


def test_rows_of_an_engine_have_no_order():
    """Periods whose names tell no order are refused, not put into an order of chance."""
    frame = pd.DataFrame({"a": list("xyz"), "b": list("yzx"), "win": [1, 0, 1], "set": list("pqr")})
    with in_ibis(frame) as table:
        assert read(table, order=["r", "q", "p"]).clock.names == ("r", "q", "p")
        with pytest.raises(InputError, match="rows of an engine have no order"):
            read(table, order="file")
        with pytest.raises(InputError, match='the times in "set" are not understood'):
            read(table, time="set")
        assert read(table).sequence is None


def test_other_shapes_are_fetched_if_they_are_small():
    matrix = pd.DataFrame(
        {"": ["A", "B", "C"], "A": [0, 40, 70], "B": [60, 0, 20], "C": [30, 80, 0]}
    )
    with in_ibis(matrix.rename(columns={"": "deck"})) as table:
        assert len(read(table)) == 3
    lazy = pl.DataFrame({"a": ["x"] * 9, "b": ["y"] * 9, "wins": [3] * 9, "losses": [2] * 9}).lazy()
    with pytest.raises(InputError, match="at most 0 rows are fetched"):
        in_engine(lazy)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s3://bucket/games/", "s3://bucket/games/: "),
        ("https://user:hush@host/games.csv?sign=hush", "from the web only Parquet"),
        ("postgres://user:hush@nowhere.invalid/league", "end the address with ?table="),
        ("postgres://user:hush@nowhere.invalid/league?table=games", "it cannot be reached"),
        ("nothing://user:hush@host/league?table=games", "it cannot be reached"),
        ("duckdb://nowhere.db?table=games", "there is no such file"),
    ],
)
def test_addresses_that_cannot_be_read_say_so_without_secrets(address, sentence):
    if address.startswith("s3"):
        loaded = duckdb.sql(
            "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'httpfs'"
        )
        if loaded.fetchall() == [(True,)]:
            pytest.skip("httpfs is installed, and would ask the web")
    if "nowhere.invalid" in address:
        pytest.importorskip("ibis")
    with pytest.raises((InputError, MissingDependencyError)) as told:
        read(address)
    assert sentence in str(told.value)
    assert "hush" not in f"{told.value} {told.value.__cause__}"


def run(words, monkeypatch, capsys):
    """Return the code and the output of a command."""
    from intransit.cli import main  # noqa: PLC0415

    monkeypatch.setattr(sys, "argv", ["intransit", *words])
    with pytest.raises(SystemExit) as done:
        sys.exit(main())
    told = capsys.readouterr()
    return done.value.code or 0, told.out + told.err


def test_a_command_takes_an_address_and_keeps_its_password(postgres, monkeypatch, capsys):
    address = in_postgres(scores(), postgres)
    code, told = run(["read", address, "--csv"], monkeypatch, capsys)
    assert code == 0
    assert "postgres:///postgres?table=games" in told
    assert 'such as date ""2026-03-01"", home_team ""Ayr"", away_team ""Ayr' in told
    lost, more = run(["read", address.replace("=games", "=gone")], monkeypatch, capsys)
    assert lost == 2
    assert 'there is no table "gone"; there are "games".' in more
    assert "hush" not in told + more


def test_a_duckdb_database_has_an_address(tmp_path, monkeypatch, capsys):
    with duckdb.connect(str(tmp_path / "league.db")) as con:
        con.register("given", scores())
        con.execute("CREATE TABLE games AS FROM given")
    monkeypatch.chdir(tmp_path)
    address = "duckdb://league.db?table=games"
    ours = in_file(scores(), tmp_path)
    assert read(address).counts.sum() == ours.counts.sum()
    code, told = run(["read", address], monkeypatch, capsys)
    assert code == 0
    assert f"{address}: 233 of 252 rows used" in told
    with pytest.raises(InputError, match='there is no table "teams"; there are "games"'):
        read("duckdb://league.db?table=teams")


def test_reading_a_file_loads_no_engine(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("a,b,outcome\nx,y,1\ny,z,0\n")
    heavy = "ibis pyspark narwhals pyarrow polars pandas dask sqlglot psycopg"
    code = (
        f"import sys, intransit; intransit.read({str(path)!r}); "
        f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
