"""Malformed tables: each gives its sentence, and no row is lost without a word."""

import gzip
import io
import os
import zipfile

import duckdb
import pandas as pd
import pytest

from intransit import InputError, read
from intransit.data.engine import open_engine

HEADER = "a,b,outcome\n"
CUT = gzip.compress((HEADER + "".join(f"x{i},y{i * 77 % 999},1\n" for i in range(9000))).encode())


def zipped(files):
    """A zip archive with these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


REFUSED = {
    "an empty file": ("", "the file is empty; a header and at least one row are needed."),
    "blank lines": ("\n \n\n", "the file is empty; a header and at least one row are needed."),
    "a header alone": (HEADER, "there is no row; give a table with some."),
    "binary junk": (bytes(range(256)), "this is not text; CSV, JSON or Parquet can be read."),
    "a spreadsheet": (
        zipped({"[Content_Types].xml": "<x/>", "xl/workbook.xml": "<x/>"}),
        "this is a spreadsheet; save the table as CSV first.",
    ),
    "an old spreadsheet": (
        b"\xd0\xcf\x11\xe0....",
        "this is a spreadsheet; save the table as CSV first.",
    ),
    "a zip cut short": (
        zipped({"games.csv": HEADER + "x,y,1\n"})[:60],
        "its compressed data is damaged or cut short; fetch or write the file again.",
    ),
    "a zip with two tables": (
        zipped({"one.csv": HEADER, "two.csv": HEADER}),
        "the archive holds 2 files (one.csv, two.csv); give one table at a time.",
    ),
    "a truncated gz": (
        CUT[: len(CUT) // 2],
        "its compressed data is damaged or cut short; fetch or write the file again.",
    ),
    "a gz cut in its head": (
        CUT[:15],
        "its compressed data is damaged or cut short; fetch or write the file again.",
    ),
    "no header": (
        "rock,paper,1\npaper,rock,0\n",
        ', line 1: the first line holds values ("rock", "paper", "1"); add a line with the names '
        "of the columns above it.",
    ),
    "one column": (
        "a\nrock\n",
        ', line 1: only one column, "a", is seen; separate columns by commas, semicolons or tabs.',
    ),
    "a name twice": (
        "a,a,b,outcome\nx,x,y,1\n",
        'two columns are called "a"; give each its own name.',
    ),
    "two pairs of names": (
        "a,b,home,away,outcome\nx,y,x,z,1\n",
        '"a" with "b" or "home" with "away" could name the items; name them with first= and '
        "second=, or winner= and loser= (command line: --first and --second, or --winner and "
        "--loser).",
    ),
    "two outcomes": (
        "a,b,outcome,winner\nx,y,1,x\n",
        '"outcome" and "winner" could each be the outcome; say which with outcome=, or '
        "outcome=False for none (command line: --outcome, or --without outcome).",
    ),
    "two times": (
        "a,b,outcome,date,timestamp\nx,y,1,2024-01-01,2024-01-02\n",
        '"date" and "timestamp" could each be the time; say which with time=, or time=False for '
        "none (command line: --time, or --without time).",
    ),
    "no items": (
        "foo,bar\n7,8\n",
        'no two columns of "foo", "bar" name the items; name them with first= and second=, or '
        "winner= and loser= (command line: --first and --second, or --winner and --loser).",
    ),
    "no outcome": (
        "a,b,date\nx,y,2024-01-01\n",
        'no column of "a", "b", "date" says who won; name it with outcome=, winner=, margin=, or '
        "first_score= and second_score= (command line: --outcome and so on).",
    ),
    "strange outcomes": (
        HEADER + "x,y,foo\ny,x,foo\nx,y,bar\n",
        'the outcomes in "outcome" are not understood ("foo", "bar"); write 1, 0 and 0.5, win, '
        "loss and draw, or the winner's name; or list grades from the first's best to the "
        "second's with grades= (command line: --grades).",
    ),
    "winners by number and ties": (
        "team1,team2,label\nx,y,1\nx,z,2\nx,z,0\nx,z,2\n",
        'the outcomes in "label" are not understood ("2", "0", "1"); write 1, 0 and 0.5, win, '
        "loss and draw, or the winner's name; or list grades from the first's best to the "
        "second's with grades= (command line: --grades).",
    ),
    "strange times": (
        "date,a,b,outcome\nsoon,x,y,1\n",
        'the times in "date" are not understood; write dates as 2026-05-01, or numbers, or say '
        "time=False for none (command line: --without time), or order= for periods with names "
        "(command line: --order).",
    ),
    "day or month first": (
        "date,a,b,outcome\n01/02/2024,x,y,1\n",
        'the dates of "date" can be read with the day or the month first; say '
        "day_first=True or day_first=False (command line: --day-first or --month-first), or write "
        "them as 2026-05-01.",
    ),
    "a quotation mark left open": (
        HEADER + 'x,y,1\nx,"y,1\nx,z,0\nx,z,0\n',
        ", line 3: a quotation mark is opened here and never closed; close or remove it. The "
        "record begins 'x,\"y,1 x,z,0 x,z,0'.",
    ),
    "mostly items against themselves": (
        HEADER + "x,x,1\ny,y,0\nx,y,1\n",
        "2 of 3 rows cannot be used: 2 rows (lines 2, 3): an item is compared with itself. "
        "Correct them, or name the columns that are meant.",
    ),
    "nothing but ragged rows": (
        HEADER + "x,y\nx,y,1,2\n",
        "2 of 2 rows cannot be used: 1 row (line 2): 2 fields instead of 3; 1 row (line 3): 4 "
        "fields instead of 3. Correct them, or name the columns that are meant.",
    ),
    "half a JSON array.json": (
        '[{"a": "x", "b": "y", "outcome": 1}, {"a": "x"',
        "the JSON is damaged or cut short; write it again, or as one object a line.",
    ),
    "no JSON.jsonl": (
        "hello\n",
        "no line is a JSON object; write one object a line (JSON lines).",
    ),
    "JSON that is not UTF-8.jsonl": (
        b'{"a": "x", "b": "\xe9", "outcome": 1}\n',
        ", line 1: this is not UTF-8 text; JSON lines must be.",
    ),
    "a broken Parquet file": (b"PAR1junkjunkjunkPAR1", "it could not be read ("),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_cannot_be_read_says_why(tmp_path, name):
    content, sentence = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    where = "" if sentence.startswith(", line") else ": "
    expected = f"{path}{where}{sentence}"
    assert said == expected or (sentence.endswith("(") and said.startswith(expected))
    assert "\n" not in said
    assert caught.value.source == str(path)


def test_a_missing_file_and_a_folder_say_so(tmp_path):
    with pytest.raises(InputError, match="there is no such file; check the path"):
        read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="this is a folder; give one file of it"):
        read(tmp_path)


def test_a_file_without_permission_says_so(tmp_path, monkeypatch):
    path = tmp_path / "games.csv"
    path.write_text(HEADER)

    def refuse(*_, **__):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match="the file may not be read; change its permissions"):
        read(path)


@pytest.mark.parametrize("source", [3, None, [1, 2], object()])
def test_what_is_no_table_says_what_is(source):
    with pytest.raises(InputError, match="give a path to a CSV, JSON lines or Parquet file, or a"):
        read(source)


def write(folder, text, name="games.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def unused(games):
    return {part.reason: (part.count, part.lines) for part in games.report.unused}


PARTLY = {
    "itself": (
        HEADER + "x,y,1\nx, x ,1\ny,x,0\n",
        {"an item is compared with itself": (1, (3,))},
    ),
    "empty names": (
        HEADER + "x,y,1\n,x,1\ny,x,0\ny, ,0\n",
        {'the name in "a" is empty': (1, (3,)), 'the name in "b" is empty': (1, (5,))},
    ),
    "unknown outcomes": (
        HEADER + "x,y,1\nx,y,forfeit\ny,x,0\ny,x,\nx,y,7\nx,y,0.5\nx,y,1\nx,y,1\n",
        {
            'the outcome "7" is not understood': (1, (6,)),
            '"outcome" says that it was not played': (1, (3,)),
            "the outcome is empty": (1, (5,)),
        },
    ),
    "times": (
        "date,a,b,outcome\n2024-01-01,x,y,1\nsoon,x,y,1\n,x,y,0\n2024-01-02,x,y,1\n",
        {"the time is not a date": (1, (3,)), "the time is empty": (1, (4,))},
    ),
    "number times": (
        "time,a,b,outcome\n1,x,y,1\ninf,x,y,1\n2,x,y,0\nsoon,x,y,1\n3,x,y,1\n",
        {"the time is not a finite number": (2, (3, 5))},
    ),
    "counts": (
        "a,b,outcome,n\nx,y,0.7,10\nx,y,1,-1\nx,y,1,inf\nx,y,1,5\nx,y,0,few\nx,y,1,2\nx,y,0,0.5\n",
        {"the count is not a number above 0": (3, (3, 4, 6))},
    ),
    "margins": (
        "a,b,outcome,margin\nx,y,1,2\nx,y,1,-1\nx,y,0,1e999\nx,y,0,many\nx,y,0,-3\nx,y,1,1\n",
        {'"margin" is not a finite number': (2, (4, 5)), "outcome and margin disagree": (1, (3,))},
    ),
    "scores": (
        "home,away,home_score,away_score\nx,y,2,1\nx,y,,1\nx,y,two,1\nx,y,1,1\n",
        {'"home_score" is not a finite number': (1, (4,)), "a score is empty": (1, (3,))},
    ),
    "ragged and quoted": (
        HEADER + '\nx,y,1\n"x\n1",y,0\nx,y\ny,x,1\n"x"q,y,0\nx,x,1\ny,x,1\nx,y,0\n',
        {
            "2 fields instead of 3": (1, (6,)),
            "text follows a closing quotation mark": (1, (8,)),
            "an item is compared with itself": (1, (9,)),
        },
    ),
    "one row that is not UTF-8": (
        (HEADER + "Éva,y,1\n").encode() + b"\xc9va,y,1\nx,y,0\n",
        {"the text is not UTF-8": (1, (3,))},
    ),
    "sides": (
        "a,b,outcome,a_home\nx,y,1,1\nx,y,1,\nx,y,0,0\n",
        {"the side is empty": (1, (3,))},
    ),
    "names of winners": (
        "player1,player2,winner\nAnn,Bob,Bob \nAnn,Bob,Cy\nAnn,Bob,Ann\nBob,Ann,draw\n",
        {"the winner is neither of the two": (1, (3,))},
    ),
}


@pytest.mark.parametrize("name", PARTLY)
def test_rows_that_cannot_be_used_are_counted_with_reason_and_lines(tmp_path, name):
    text, reasons = PARTLY[name]
    games = read(write(tmp_path, text))
    assert unused(games) == reasons
    n_unused = sum(count for count, _ in reasons.values())
    assert games.report.n_unused == n_unused
    assert "not used" in "\n".join(games.report.lines())
    with pytest.raises(InputError, match=f"{n_unused} of .* rows cannot be used"):
        read(write(tmp_path, text), strict=True)


def test_json_lines_have_line_numbers_too(tmp_path):
    rows = ['{"a": "x", "b": "y", "outcome": 1}', "", "[1]", '{"a": "x", "b": "x", "outcome": 1}']
    games = read(write(tmp_path, "\n".join([*rows, rows[0], rows[0]]), "games.jsonl"))
    assert unused(games) == {
        "the line is not a JSON object": (1, (3,)),
        "an item is compared with itself": (1, (4,)),
    }


def test_many_lines_are_counted_and_the_first_twenty_listed(tmp_path):
    text = HEADER + "x,y,1\nx,x,1\n" * 300
    reason, (count, lines) = next(iter(unused(read(write(tmp_path, text))).items()))
    assert (reason, count) == ("an item is compared with itself", 300)
    assert lines == tuple(range(3, 43, 2))


def test_rows_of_a_frame_are_counted_from_one():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["y", "x", "x"], "outcome": [1, 1, None]})
    with pytest.raises(InputError, match=r"2 of 3 rows .* \(row 2\).* \(row 3\): the outcome is e"):
        read(frame)


def test_latin_1_and_strange_paths_are_read(tmp_path):
    path = write(tmp_path, (HEADER + "Éric,Zoë,1\n").encode("latin-1"), "odd [1]*'name?.csv")
    games = read(path)
    assert games.names == ("Zoë", "Éric")
    assert "Latin-1" in games.report.notes[0]


def test_a_relation_that_fails_says_so(tmp_path):
    path = write(tmp_path, "a,b,outcome\nx,y,1\n")
    with duckdb.connect() as con:
        relation = con.read_csv(str(path))
        path.unlink()
        with pytest.raises(InputError, match="DuckDBPyRelation: it could not be read"):
            read(relation)


def test_a_memory_limit_that_is_none_says_so(tmp_path):
    with pytest.raises(InputError, match="memory_limit 'lots' is not understood"):
        read(write(tmp_path, HEADER + "x,y,1\n"), memory_limit="lots")


def test_the_engine_does_not_print():
    with open_engine("table", "1GB") as engine:
        assert engine.ask("SELECT current_setting('enable_progress_bar')") == [(False,)]
        folder = engine.folder
    assert not folder.exists()
