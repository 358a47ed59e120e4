"""Tables with something wrong in them: sound ones of every shape, changed at random."""

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile

from intransit import InputError, read

TEXTS = (
    "date,home_team,away_team,home_score,away_score,neutral\n2024-01-01,x,y,2,1,no\n"
    "2024-01-02,y,z,0,0,yes\n2024-01-03,z,x,1,3,no\n",
    "model_a,model_b,winner,tstamp,language\nx,y,model_a,1700000000,en\nx,z,tie (bothbad),1.7e9,\n",
    "a;b;outcome;n;patch\nx;y;0,5;3;13.8\ny;z;1;2;13.10\nz;x;0;1;13.9\n",
    "winner\tloser\tsurface\tround\nx\ty\tclay\tQF\ny\tz\tgrass\tSF\nx\tz\tclay\tF\n",
    ",x,y,z\nx,,60%,30%\ny,40%,,80%\nz,70%,20%,\n",
    ",x,y,z\nx,0,6,1\ny,4,0,3\nz,0,2,0\n",
    "player,opponent,won,lost,drawn\nx,y,6,4,1\nx,z,0,3,0\n",
    "Date,Team,Opponent,Venue,Result,GF,GA\n1/2/24,x,y,Home,W,2,1\n1/2/24,y,x,Away,L,1,2\n"
    "13/2/24,x,z,Home,D,1,1\n13/2/24,z,x,Away,D,1,1\n",
    "Track,Position,Driver,Team\nA,1,x,t\nA,2,y,u\nA,DNF,z,t\nB,1,y,u\nB,1,x,t\n",
    "winner1_name,winner2_name,loser1_name,loser2_name\nx,y,z,w\nw,z,x,y\n",
    "model_a,model_b,preference\nx,y,A>>B\ny,z,B>A\nx,z,A=B\n",
    "season,p,q,score\n2019-20,x,y,3-1\n2020-21,y,z,0-2\n2021-22,x,z,W 1-0\n",
    '[Event "e"]\n[Date "2020.01.02"]\n[White "x"]\n[Black "y"]\n[Result "1-0"]\n\n1. e4 1-0\n',
    '{"a": "x", "b": "y", "outcome": 1, "k": {"l": [1, 2]}}\n{"a": "y", "b": "z", "outcome": 0}\n',
    json.dumps([{"players": [{"name": "x"}, {"name": "y"}], "winner": {"name": "x"}}] * 3),
    "date,1st,2nd,3rd\n2024-01-01,x,y,z\n2024-02-01,y,z,x\n",
    json.dumps(
        [{"model": "x", "baseline": "y", "games": [{"score": "A>B"}, {"score": "B>A"}]}] * 2
    ),
    json.dumps(
        {"data": {"event": {"nodes": [{"team1": ["x", "y"], "team2": ["z"], "winner": 1}]}}}
    ),
    json.dumps({"data": [{"first": "x", "second": "y", "won": True, "date": "Aug 9 2019"}] * 2}),
    "Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR,B365H\nE0,09/08/2019,x,y,4,1,H,1.1\n"
    "E0,10/08/2019,y,z,0,0,D,3\nE0,17/08/2019,z,x,0,5,A,9\n",
    "R_fighter,B_fighter,date,Winner,weight_class\nx,y,2021-03-20,Red,W\ny,z,2021-03-27,Blue,W\n"
    "z,x,2021-04-03,Draw,W\n",
    "tourney_date,winner_name,loser_name,score,w_ace,l_ace\n20190107,x,y,6-4 6-3,3,1\n"
    "20190108,y,z,7-6(5) 6-7(3) 6-4,5,9\n20190109,z,x,RET,0,0\n",
    "name,1,2,3,points\nx,X,1,0.5,1.5\ny,0,X,1,1\nz,0.5,0,X,0.5\n",
    "game_id,white,black,winner,created_at,moves\nq,x,y,white,1.50421E+12,e4 e5\n"
    "r,y,z,draw,1504210000000,d4\ns,z,x,black,1504219999999,c4\n",
    "question,a,b,preference\nq,x,y,-2\nq,y,z,2\nr,z,x,0\nr,x,z,1\n",
    "when,red,blue,score\nFri Aug 9 2019 12:00:00 +0200,x,y,3:1\nSat Aug 10 2019,y,z,0:2\n",
    "variant,rival,impressions,clicks,wins,losses\nx,y,100,9,60,40\ny,z,90,8,50,40\n",
)
NASTY = (
    *("", " ", "nan", "inf", "-inf", "1e999", "-0", "9" * 400, "0x10", "1_000", "1,5", "½", "\\N"),
    *(
        "x" * 300,
        "\u0000",
        "\ufffd",
        "\u202e",
        "=1+1",
        '"',
        '""',
        "'",
        "\r",
        "\n",
        "\r\n",
        "\t",
        ";",
    ),
    *("null", "NULL", "None", "true", "A>>B", "12-8", "60%", "2024-02-30", "31/12/99", "1:2:3"),
    *(
        "-999999-01-01",
        "99999-12-31",
        "infinity",
        "epoch",
        "13.10",
        "v1",
        "{",
        "}",
        "[",
        "[]",
        "{}",
    ),
    *(
        '{"a": ' * 40,
        "%",
        "/",
        "\\",
        "$",
        "--",
        "DROP TABLE t",
        "'; SELECT 1; --",
        "c0",
        "row",
        "reason",
    ),
)
HEADERS = (
    *("a", "b", "first", "second", "winner", "loser", "home", "away", "date", "time", "outcome"),
    *("count", "n", "margin", "side", "neutral", "weight", "tie", "wins", "losses", "position"),
    *(
        "event",
        "name",
        "season",
        "patch",
        "set",
        "preference",
        "opponent",
        "team",
        "gf",
        "ga",
        "c0",
    ),
)
SETTINGS = (
    *({}, {}, {}, {}, {"by": "surface"}, {"time": False}, {"order": "file"}, {"order": "version"}),
    *({"doubled": "once"}, {"both_bad": "drop"}, {"strict": True}, {"day_first": True}),
    *(
        {"shape": name}
        for name in ("games", "matrix", "teams", "tally", "orders", "podiums", "judgments")
    ),
    *({"entries": name} for name in ("shares", "wins", "margins")),
    *({"first": "a", "second": "b"}, {"where": {"a": "x"}}, {"grades": ["1", "0"]}),
    *({"by": ("a", "outcome")}, {"outcome": "winner"}, {"wins": "a", "losses": "b"}),
)
PACKERS = (gzip.compress, bz2.compress, lzma.compress)


def spoiled(rng: random.Random) -> tuple[bytes, dict[str, object]]:
    """Return the bytes of a table with something wrong in it, and settings to read it with."""
    text = rng.choice(TEXTS)
    for _ in range(rng.randrange(4)):
        text = _change_text(text, rng)
    encoding = rng.choice(["utf-8"] * 6 + ["utf-16", "utf-16-le", "utf-8-sig", "cp1252"])
    data = text.encode(encoding, "replace")
    if rng.random() < 0.25:
        data = _pack(data, rng)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 5])):
        data = _change_bytes(data, rng)
    return data, dict(rng.choice(SETTINGS))


def _change_text(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    k = rng.randrange(len(lines))
    sign = next((sign for sign in ",;\t" if sign in text), ",")
    cells = lines[k].split(sign)
    way = rng.randrange(9)
    if way == 0:
        cells[rng.randrange(len(cells))] = rng.choice(NASTY)
        lines[k] = sign.join(cells)
    elif way == 1:
        header = lines[0].split(sign)
        header[rng.randrange(len(header))] = rng.choice(HEADERS)
        lines[0] = sign.join(header)
    elif way == 2:
        lines.insert(k, rng.choice([lines[k], "", rng.choice(NASTY), sign.join(cells[:-1])]))
    elif way == 3:
        del lines[k]
    elif way == 4:
        column = rng.randrange(len(cells))
        value = rng.choice(NASTY)
        return "\n".join(
            sign.join(
                value if i == column and row else cell for i, cell in enumerate(line.split(sign))
            )
            for row, line in enumerate(lines)
        )
    elif way == 5:
        return text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\n\r"]), rng.randrange(1, 9))
    elif way == 6:
        return text.replace(sign, rng.choice(",;\t|: "))
    elif way == 7:
        return text + rng.choice(TEXTS)
    else:
        place = rng.randrange(len(text) + 1)
        return text[:place] + rng.choice(NASTY) + text[place:]
    return "\n".join(lines)


def _pack(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("t.csv", data)
        return held.getvalue()
    return rng.choice(PACKERS)(data)


def _change_bytes(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return rng.randbytes(20)
    place, way = rng.randrange(len(data)), rng.randrange(4)
    if way == 0:
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if way == 1:
        return data[:place]
    if way == 2:
        return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
    return data[:place] + data[place + rng.randrange(1, 20) :]


def attempt(path, data: bytes, settings: dict[str, object]) -> str:
    """Read a spoiled table; return "read", "refused", or what went wrong."""
    path.write_bytes(data)
    try:
        games = read(path, **settings)
    except InputError as error:
        sentence = str(error)
        return (
            "refused" if "\n" not in sentence and sentence.endswith(".") else f"said {sentence!r}"
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    whole = games.report.n_used + games.report.n_unused == games.report.n_rows
    return "read" if whole and len(games) else "rows are missing"
