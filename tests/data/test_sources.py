"""Where tables come from: compressed, piped, in parts, in any encoding; and damaged ones."""

import bz2
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import time
import zipfile

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from intransit import InputError, read
from intransit.data.engine import LOCK, PREFIX, remove_abandoned
from tests.data.test_recognition import results

HEADER = "a,b,outcome\n"
TEXT = HEADER + "x,y,1\nx,z,0\ny,z,0.5\n"
LONG = HEADER + "".join(f"p{i % 97},q{i * 7 % 89},{i % 2}\n" for i in range(60_000))
GAMES = {("x", "y", 1.0): 1.0, ("x", "z", 0.0): 1.0, ("y", "z", 0.5): 1.0}
DAMAGED = "its compressed data is damaged or cut short; fetch or write the file again"


def zst(text, folder):
    place = folder / "made.zst"
    lines = [line or None for line in text.split("\n")[:-1]]
    with duckdb.connect() as con:
        con.register("t", pa.table({"line": lines}))
        con.execute(
            f"COPY t TO '{place}' (FORMAT csv, HEADER false, QUOTE '', DELIM '\x01', "
            "COMPRESSION zstd)"
        ).fetchall()
    return place.read_bytes()


def zipped(text, name="inside.csv"):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/inside.csv", "junk")
        archive.writestr(name, text)
    return held.getvalue()


PACKED = {
    "gzip": lambda text, _: gzip.compress(text.encode()),
    "two gzip members": lambda text, _: (
        gzip.compress(text[:20].encode()) + gzip.compress(text[20:].encode())
    ),
    "bzip2": lambda text, _: bz2.compress(text.encode()),
    "xz": lambda text, _: lzma.compress(text.encode()),
    "zstd": zst,
    "zip": lambda text, _: zipped(text),
    "gzip in zip": lambda text, _: zipped(gzip.compress(text.encode()), "inside.csv.gz"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_a_compressed_table_is_read_whatever_it_is_called(tmp_path, kind):
    place = tmp_path / "games.txt"
    place.write_bytes(PACKED[kind](TEXT, tmp_path))
    games = read(place)
    assert results(games) == GAMES
    assert games.report.source == str(place)


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("keep", [0.999, 0.6, 0.2])
def test_a_compressed_table_that_is_cut_short_is_refused(tmp_path, kind, keep):
    packed = PACKED[kind](LONG, tmp_path)
    place = tmp_path / "games.csv"
    place.write_bytes(packed[: int(len(packed) * keep)])
    with pytest.raises(InputError, match=DAMAGED):
        read(place)


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "zip"])
def test_a_compressed_table_with_a_flipped_byte_is_refused(tmp_path, kind):
    packed = bytearray(PACKED[kind](LONG, tmp_path))
    for place in (len(packed) // 2, len(packed) - 12) if kind != "zip" else (len(packed) // 2,):
        broken = bytearray(packed)
        broken[place] ^= 0x10
        (tmp_path / "games.csv").write_bytes(bytes(broken))
        with pytest.raises(InputError, match=DAMAGED):
            read(tmp_path / "games.csv")


def test_a_zip_of_nothing_is_refused(tmp_path):
    place = tmp_path / "games.zip"
    zipfile.ZipFile(place, "w").close()
    with pytest.raises(InputError, match="the archive holds no file; give one table at a time"):
        read(place)


ENCODED = {
    "cp1252": ("Win‘x’,y,1\nÉva–,y,0\n".encode("cp1252"), ("Win‘x’", "y", "Éva–")),
    "cp1252 with an open byte": (b"\x81\xe9,y,1\n", ("y", "\x81é")),
    "utf-16 le": ("\ufeffÉva,y,1\n".encode("utf-16-le"), ("y", "Éva")),
    "utf-16 be": ("\ufeffÉva,y,1\n".encode("utf-16-be"), ("y", "Éva")),
    "utf-16 le without mark": ("Eva,y,1\n".encode("utf-16-le"), ("Eva", "y")),
    "utf-16 be without mark": ("Eva,y,1\n".encode("utf-16-be"), ("Eva", "y")),
    "utf-32": ("\ufeffÉva,y,1\n".encode("utf-32-le"), ("y", "Éva")),
}


@pytest.mark.parametrize("name", ENCODED)
def test_text_of_any_encoding(tmp_path, name):
    body, names = ENCODED[name]
    wide = name.startswith("utf")
    mark = "\ufeff" if "without" not in name and wide else ""
    code = {"utf-16 le": "utf-16-le", "utf-16 be": "utf-16-be", "utf-32": "utf-32-le"}
    codec = next((code[key] for key in code if name.startswith(key)), "ascii")
    head = (mark + HEADER).encode(codec)
    place = tmp_path / "games.csv"
    place.write_bytes(head + (body.removeprefix(mark.encode(codec)) if wide else body))
    assert read(place).names == names


def test_utf_16_json_lines_are_read(tmp_path):
    place = tmp_path / "games.jsonl"
    rows = [{"a": "Éva", "b": "y", "outcome": 1}, {"a": "y", "b": "z", "outcome": 0}]
    place.write_bytes("\n".join(json.dumps(row) for row in rows).encode("utf-16"))
    assert read(place).names == ("y", "z", "Éva")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\x00\x00"])
def test_a_mark_alone_is_an_empty_file(tmp_path, mark):
    place = tmp_path / "games.csv"
    place.write_bytes(mark)
    with pytest.raises(InputError, match="the file is empty; a header and at least one row"):
        read(place)


def test_half_a_letter_of_utf_16_is_refused(tmp_path):
    place = tmp_path / "games.csv"
    place.write_bytes(TEXT.encode("utf-16") + b"x")
    with pytest.raises(InputError, match="this is not whole UTF-16 text"):
        read(place)


ENDINGS = {
    "windows, then unix": TEXT.replace("\n", "\r\n", 2),
    "unix, then windows": TEXT[::-1].replace("\n", "\n\r", 2)[::-1],
    "windows": TEXT.replace("\n", "\r\n"),
    "old mac": TEXT.replace("\n", "\r"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_lines_may_end_in_any_way(tmp_path, name):
    place = tmp_path / "games.csv"
    place.write_bytes(ENDINGS[name].encode())
    assert results(read(place)) == GAMES


def test_lines_that_end_in_several_ways_keep_their_numbers(tmp_path):
    place = tmp_path / "games.csv"
    place.write_bytes((HEADER + "x,y,1\r\nx,x,1\nx\ry,z,0\r\nx,y\n").encode())
    games = read(place)
    found = {part.reason: part.lines for part in games.report.unused}
    assert found == {"2 fields instead of 3": (5,), "an item is compared with itself": (3,)}
    assert games.names == ("x", "x y", "y", "z")


def piped(code, data, **more):
    return subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=False, **more
    )


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_standard_input_is_a_table(path, packed):
    code = f"import intransit as it; g = it.read({path!r}); print(g); print(g.report.source)"
    done = piped(code, gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    assert done.stdout.decode().splitlines() == [
        "Games(3 items, 3 comparisons in 3 rows, ties)",
        "standard input",
    ]


def test_several_files_are_read_together_by_a_pattern(tmp_path):
    (tmp_path / "g-2.csv").write_text("b,a,outcome\nz,x,0\nz,y,0.5\ny,y,1\nq\n")
    (tmp_path / "g-1.csv.gz").write_bytes(gzip.compress((HEADER + "x,y,1\n").encode()))
    games = read(tmp_path / "g-*")
    assert results(games) == {("x", "y", 1.0): 1.0, ("x", "z", 0.0): 1.0, ("y", "z", 0.5): 1.0}
    assert "2 files, in the order of their names; rows are counted on" in games.report.notes
    found = {part.reason: part.lines for part in games.report.unused}
    assert found == {
        "g-2.csv: 1 field instead of 3": (5,),
        "an item is compared with itself": (4,),
    }
    with pytest.raises(InputError, match="no file has such a name; check the pattern"):
        read(tmp_path / "h-*")
    (tmp_path / "g-3.csv").write_text("a,b,result\nx,y,1\n")
    with pytest.raises(
        InputError, match=r'g-3.csv: its columns are not those of .*g-1.csv.gz .* "'
    ):
        read(tmp_path / "g-*")


def test_a_folder_of_partitioned_parquet_is_one_table(tmp_path):
    table = pa.table(
        {
            "a": ["x", "x", "y"],
            "b": ["y", "z", "z"],
            "outcome": [1.0, 0.0, 0.5],
            "year": [2023, 2024, 2024],
        }
    )
    pq.write_to_dataset(table, tmp_path / "games", partition_cols=["year"])
    (tmp_path / "games" / "_SUCCESS").write_text("")
    games = read(tmp_path / "games")
    assert results(games) == GAMES
    assert games.times.tolist() == [2023.0, 2024.0, 2024.0]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "g.csv").write_text(TEXT)
    with pytest.raises(InputError, match=r'this is a folder; give one .* such as ".*texts/\*.csv"'):
        read(tmp_path / "texts")


def test_a_full_scratch_disk_says_so(tmp_path, monkeypatch):
    place = tmp_path / "games.csv.gz"
    place.write_bytes(gzip.compress(TEXT.encode()))

    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("intransit.data.files.copy", full)
    with pytest.raises(InputError, match=r"the scratch folder cannot take it \(No space left on"):
        read(place)


def test_scratch_folders_of_killed_readings_are_removed(tmp_path):
    code = (
        "import os, signal\nfrom intransit.data.engine import open_scratch\n"
        "with open_scratch() as folder:\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    piped(code, b"", env=os.environ | {"TMPDIR": str(tmp_path)})
    (left,) = tmp_path.glob(f"{PREFIX}*")
    assert (left / LOCK).exists()
    other = tmp_path / f"{PREFIX}other"  # somebody else's folder of that name
    other.mkdir()
    piped(
        "from intransit.data.engine import *\nwith open_scratch() as folder:\n"
        "    remove_abandoned(folder.parent)\n    assert folder.exists()",
        b"",
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert list(tmp_path.glob("*")) == [other]
    remove_abandoned(tmp_path / "nowhere")


def test_readings_at_one_time_leave_each_others_folders_alone(tmp_path):
    """A folder was free for a moment before it was locked, and another reading removed it."""
    code = (
        "from intransit.data.engine import open_scratch\nfor _ in range(150):\n"
        "    with open_scratch() as folder:\n        (folder / 'x').write_text('x')\n"
        "        assert (folder / 'x').exists()"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(tmp_path)})
        for _ in range(4)
    ]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0, 0]


def test_an_interrupt_stops_a_long_reading_at_once(tmp_path):
    """A query that would go on for minutes ends within two seconds of Ctrl-C, without a trace."""
    code = (
        "import sys\nfrom intransit.data.engine import open_engine\n"
        "with open_engine('t', '1GB') as engine:\n    print('on', flush=True)\n"
        "    engine.ask('SELECT sum(sqrt(a.i * b.i)) FROM range(999999) a(i), range(999999) b(i)')"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert run.stdout.readline() == b"on\n"
    time.sleep(0.5)
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=20)
    assert time.monotonic() - begin < 2.0
    assert said.decode().splitlines()[-1] == "KeyboardInterrupt"
    assert "During handling" not in said.decode()
    assert list(tmp_path.glob("*")) == []


def test_small_tables_are_read_one_after_the_other_by_one_engine(tmp_path, monkeypatch):
    """Starting an engine took a quarter of the time of a small table; one that failed is left."""
    monkeypatch.setattr("intransit.data.engine._spare", {})
    started, connect = [], duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda **said: started.append(said) or connect(**said))
    place = tmp_path / "games.csv"
    place.write_text(TEXT)
    for source in (place, place, pd.read_csv(place)):
        assert results(read(source)) == GAMES
        assert len(started) == 1
    with pytest.raises(InputError, match="says who won"):  # a refusal says nothing of the engine
        read(pd.read_csv(place)[["a", "b"]])
    assert results(read(place, memory_limit="1GB", where={"outcome": 0.5})) == {("y", "z", 0.5): 1}
    assert len(started) == 1
    assert results(read(place, memory_limit="500MB")) == GAMES
    assert len(started) == 2


def test_a_process_that_was_forked_after_a_reading_reads_and_ends_in_order(tmp_path):
    place = tmp_path / "games.csv"
    place.write_text(TEXT)
    code = (
        f"import os, sys\nfrom intransit import read\nread({str(place)!r})\nchild = os.fork()\n"
        f"print(len(read({str(place)!r})), flush=True)\n"
        "sys.exit(0 if child == 0 else os.waitpid(child, 0)[1])"
    )
    asked = [sys.executable, "-c", code]
    run = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout, run.stderr) == ("3\n3\n", "")


def test_json_arrays_and_wrapped_ones(tmp_path):
    rows = [{"a": "x", "b": "y", "outcome": 1}, {"a": "x", "b": "z", "outcome": 0}]
    for text in (
        json.dumps(rows),
        json.dumps(rows, indent=2),
        json.dumps({"count": 2, "data": rows}, indent=1),
        json.dumps({"count": 2, "data": rows}),
        "\n".join(json.dumps(row, indent=1) for row in rows),
    ):
        place = tmp_path / "games.json"
        place.write_text(text)
        assert results(read(place)) == {("x", "y", 1.0): 1.0, ("x", "z", 0.0): 1.0}


def test_wide_json_is_read_in_time_that_grows_with_its_bytes(tmp_path):
    """Sparse keys by the thousand took minutes when each was looked for in each line."""
    place = tmp_path / "wide.jsonl"
    with place.open("w") as file:
        for i in range(2000):
            row = {"a": f"p{i % 7}", "b": f"q{i % 5}", "outcome": i % 2}
            file.write(json.dumps(row | {f"k{(i + j) % 1000}": "v" * 5 for j in range(50)}) + "\n")
    begin = time.process_time()
    assert read(place).counts.sum() == 2000
    assert time.process_time() - begin < 15.0  # it was 100 s and more


def test_frames_with_zoned_nanoseconds(tmp_path):
    when = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", tz="Europe/Paris"))
    table = pa.table({"a": ["x"], "b": ["y"], "outcome": [1], "time": when})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", table, pd.DataFrame(table.to_pandas())):
        games = read(source)
        assert games.clock.to_text(games.times[0]) == "2023-11-14 22:13:20"


def test_a_plain_table_loads_nothing_that_other_tables_need(tmp_path):
    """Neither other formats, engines and matrices nor anything that fits a model."""
    place = tmp_path / "games.csv"
    place.write_text(TEXT)
    code = f"import sys, intransit\nintransit.read({str(place)!r})\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    rare = ("formats", "remote_tables", "matrices", "cells", "measurements")
    assert not loaded & {f"intransit.data.{name}" for name in rare}
    assert not loaded & {"intransit.inference", "intransit.model", "narwhals", "scipy"}
