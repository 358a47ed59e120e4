"""Tables of results into games: what is recognised, what cannot be used, and why.

`read` is the front door, from a file, a data frame, an address or a table of another engine to
Games.  A file of separated text needs nothing but what is imported here.  What other tables need
(`formats` for compressed files, JSON and nested columns, `matrices`, `remote_tables` for whatever
lies elsewhere) is loaded when such a table comes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from intransit.data import files, reading, shapes
from intransit.data import vocabulary as words
from intransit.data.duplicates import choose_unplayed, count_once
from intransit.data.engine import (
    Engine,
    EngineTable,
    Facts,
    find_column,
    located,
    numbered_headers,
    open_engine,
    parquet_sql,
    read_table,
    refuse,
)
from intransit.data.games import Clock, Covariate, Games, merge
from intransit.data.outcomes import read_sides, read_switch
from intransit.data.queries import Distinct, Query, add_up, build_query, sequence_of, with_series
from intransit.data.reading import Column, Reading, ReadOptions, RowLimits, Unused, plural
from intransit.data.roles import CHOICES, Roles, Search
from intransit.data.vocabulary import MARKERS, WINNERS, name_pairs, plain
from intransit.errors import InputError

__all__ = ["Clock", "Column", "Covariate", "Games", "Reading", "Unused", "describe", "read"]

# Sources ------------------------------------------------------------------------------------------


def take_in(
    source: object, engine: Engine, most_whole: int = reading.ROW_LIMITS.fetched
) -> EngineTable:
    """Return the source as a table, or refuse it with a sentence.

    Tables of an engine stay there; lazy frames whose rows have an order do if they have more than
    `most_whole`.
    """
    if reading.is_address(source):
        from intransit.data.remote_tables import connected, take_address  # noqa: PLC0415

        table = take_address(str(source), engine)
        if table is not None:
            return _laid_flat(table)
        source = connected(str(source), engine)
    if isinstance(source, str | Path):
        found = files.find_sources(source, engine)
        several = len(found) > 1 or Path(source).is_dir()
        if several and all(files.first_bytes(part).startswith(b"PAR1") for part in found):
            return _laid_flat(_in_parts(found, engine))
        tables = [_take_file(part, engine) for part in found]
        return tables[0] if len(tables) == 1 else one_after_another(tables, found)
    streams = hasattr(source, "__next__") and not hasattr(source, "read_all")
    if streams or isinstance(source, type):
        raise InputError(f"{engine.label}: it is no table; give a file or a data frame.")
    stays = reading.stays_in_engine(source)
    if reading.is_lazy(source):
        from intransit.data.remote_tables import n_rows_of  # noqa: PLC0415

        stays = n_rows_of(source, engine) > most_whole
    if stays:
        from intransit.data.remote_tables import sampled  # noqa: PLC0415

        return sampled(source, engine)
    if type(source).__name__ == "DuckDBPyRelation":
        # A relation belongs to another connection: it writes itself out, in batches.
        place = engine.fresh("relation.parquet")
        engine.attempt(lambda: source.write_parquet(str(place)))  # type: ignore[attr-defined]
        return _laid_flat(read_table(engine, parquet_sql(place)))
    return _laid_flat(_registered(source, engine))


def _laid_flat(table: EngineTable) -> EngineTable:
    """Return the table without nested columns, which few tables have."""
    if not any(kind.startswith("STRUCT(") or kind.endswith("]") for kind in table.types):
        return table
    from intransit.data.formats import lay_flat  # noqa: PLC0415

    return lay_flat(table)


def _registered(source: object, engine: Engine) -> EngineTable:
    import duckdb  # noqa: PLC0415

    if hasattr(source, "read_all"):  # a stream can be read only once
        source = source.read_all()
    if hasattr(source, "to_frame") and not hasattr(source, "columns"):
        raise engine.refuse("it is one column; give a table with several.")
    if hasattr(source, "reset_index"):
        labels = {str(label) for label in source.index[:10_000]}  # type: ignore[attr-defined]
        shared = labels & {str(column) for column in source.columns}  # type: ignore[attr-defined]
        if len(shared) >= 2 and 2 * len(shared) >= len(labels):
            source = source.reset_index()  # a matrix whose rows are named by its index
    try:
        engine.con.register("given", source)
    except (duckdb.Error, TypeError, RuntimeError):
        from intransit.data.remote_tables import as_arrow  # noqa: PLC0415

        arrow = as_arrow(source)
        if not arrow.column_names:
            raise engine.refuse("there is no column; give a table with some.") from None
        engine.con.register("given", arrow)
    table = read_table(engine, "given")
    field = "column_names" if hasattr(source, "column_names") else "columns"
    own = None if type(source).__name__ == "LazyFrame" else getattr(source, field, None)
    if own is not None and len(own) == len(table.names):  # DuckDB renames those equal but for case
        table = replace(table, names=tuple(str(name) for name in own))
    return table


def _in_parts(sources: Sequence[files.Source], engine: Engine) -> EngineTable:
    """Return the table in several Parquet files, folders such as ``year=2024`` as columns."""
    listed = ", ".join(located(source.path) for source in sources)
    hive = str(all("=" in str(source.path.parent) for source in sources)).lower()  # year=2024/
    engine.run(
        f"CREATE TEMP VIEW parts AS FROM read_parquet([{listed}], hive_partitioning = {hive}, "
        "union_by_name = true)"
    )
    note = f"{plural(len(sources), 'Parquet file')}, in the order of their names"
    return read_table(engine, "parts", notes=(note,))


def one_after_another(
    tables: Sequence[EngineTable], sources: Sequence[files.Source]
) -> EngineTable:
    """Return several tables with the same columns, in any order, as one."""
    first, where = tables[0], sources[0].label
    keys = [plain(name) for name in first.names]
    rows, begin, rejected = [], 0, []
    for table, source in zip(tables, sources, strict=True):
        own = [plain(name) for name in table.names]
        if sorted(own) != sorted(keys):
            missing = sorted(set(keys) ^ set(own)) or own
            raise refuse(
                source.label,
                f'its columns are not those of {where} (they differ in "{missing[0]}"); files that '
                "are read together must have the same.",
            )
        columns = ", ".join(f"c{own.index(key)} AS c{i}" for i, key in enumerate(keys))
        rows.append(f"SELECT {columns}, row + {begin} AS row FROM {table.rows}")
        begin += int(first.engine.ask(f"SELECT count(*) FROM {table.rows}")[0][0])
        name = Path(source.label).name
        rejected += [replace(part, reason=f"{name}: {part.reason}") for part in table.rejected]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    together = f"{plural(len(tables), 'file')}, in the order of their names; rows are counted on"
    return replace(
        first,
        rows=f"({' UNION ALL '.join(rows)})",
        unit="row",
        locate=None,
        rejected=tuple(rejected),
        notes=(together, *notes),
    )


def _take_file(source: files.Source, engine: Engine) -> EngineTable:
    if files.packing_of(source) is not None:
        from intransit.data.formats import unpack  # noqa: PLC0415

        source = unpack(source, engine)
    encoding = files.wide_encoding(files.first_bytes(source))
    if encoding is not None:
        source = files.to_utf_8(source, encoding, engine.fresh("utf-8"))
    form, head = files.look_at(source)
    if form == "text":
        return files.take_text(source, head, engine)
    if form == "parquet":
        return _laid_flat(read_table(engine, parquet_sql(source.path)))
    from intransit.data.formats import take_json, take_pgn  # noqa: PLC0415

    return take_pgn(source, engine) if form == "pgn" else take_json(source, head, engine)


Name = str | Literal[False] | None
Names = Name | Sequence[str]  # several columns are the members of a team


# Games --------------------------------------------------------------------------------------------


def read(
    source: object,
    *,
    first: Names = None,
    second: Names = None,
    outcome: Name = None,
    winner: Names = None,
    loser: Names = None,
    first_score: Name = None,
    second_score: Name = None,
    margin: Name = None,
    time: Name = None,
    side: Name = None,
    neutral: Name = None,
    weight: Name = None,
    count: Name = None,
    by: str | Sequence[str] = (),
    order: str | Sequence[object] | None = None,
    day_first: bool | None = None,
    grades: Sequence[object] | None = None,
    shape: reading.Shape | None = None,
    wins: str | None = None,
    losses: str | None = None,
    draws: str | None = None,
    entries: reading.MatrixEntries | None = None,
    games: object = None,
    event: str | None = None,
    place: str | None = None,
    doubled: reading.Doubled | None = None,
    where: Mapping[str, object] | None = None,
    both_bad: reading.BothBad = "tie",
    unplayed: reading.Unplayed = "drop",
    strict: bool = False,
    memory_limit: str = "1GB",
) -> Games:
    r"""Read who met whom, when, and with what outcome, from a file or a data frame.

    Columns are recognised by their names and by what they hold; `Games.report` says which, why,
    and which rows could not be used.  More than half of the rows unusable is an error.

    Parameters
    ----------
    source
        Path to separated text, JSON lines or Parquet, compressed by gzip or zstd or not; a pandas,
        polars, arrow or duckdb table; a table of an engine, which stays there (Ibis, Spark, Dask,
        Polars lazy frames); or an address such as ``postgres://ann@host/league?table=games``.
    first, second
        Columns with the two items; several columns each where teams play.  Any column named here
        or below is taken as said; False says that there is none.
    outcome
        Who won, as the first sees it: 1, 0, 0.5, or 1, -1, 0, or words, or the winner's name.
    winner, loser
        Columns with the two items by outcome; `winner` alone is an outcome.
    first_score, second_score, margin
        Columns with the scores of the two, or by how much the first was ahead.
    time
        Dates, date-times (UTC unless they name a zone), numbers, or periods with names.
    side
        Who has the side (home, white, shown first): 1 the first, -1 the second, 0 neither; or
        ``"first"`` if the first always has it.
    neutral
        Column that says yes where neither has the side.
    weight, count
        How much a row counts, and how many games it stands for.
    by
        Further columns to keep as covariates, as in ``"surface"`` or ``("surface", "format")``;
        rows are counted together only where these agree too.  See `Games.by`.
    order
        For periods that have names: a list of them, ``"version"`` (13.8 before 13.10) or
        ``"file"`` (as the table has them).
    day_first
        Whether 01/02/2024 is the first of February; asked for only where both are possible.
    grades
        Graded preferences from the one best for the first item to the one best for the second, as
        in ``["A>>B", "A>B", "A=B", "B>A", "B>>A"]``; the middle one is a tie.
    shape
        What a row is: one of the ``"games"``, an item of a ``"matrix"``, a game of ``"teams"`` of
        several a side, a ``"tally"`` of games won and lost, ``"sets"`` with a column for the points
        of each, a place in finishing ``"orders"``, a whole such order (``"podiums"``),
        ``"choices"`` from sets of alternatives, ``"matchups"`` such as LAL @ BOS, ``"judgments"``
        of a model beside a baseline, ``"ranks"`` or ``"scores"`` with a column an item,
        ``"ballots"`` such as A > B > C, or ``"rounds"`` such as 4w1.
    wins, losses, draws
        Columns of a tally, as the first sees it.
    entries, games
        What a matrix holds, and a second matrix with numbers of games (a source like the first).
    event, place
        Columns of finishing orders; the items are in `first`.
    doubled
        Games that stand in the table twice, as each side sees them or in equal rows, count
        ``"once"``, or as they are (``"keep"``); by default once where chance does not explain
        that every row has its twin.
    where
        Keep only rows with these values, as in ``{"format": "Modern"}``.
    both_bad
        A verdict that both are bad is a ``"tie"``, or its row is left out (``"drop"``).
    unplayed
        Walkovers, forfeits and byes are left out (``"drop"``), or count as the table tells them
        (``"keep"``).
    strict
        Refuse the table if any row cannot be used.
    memory_limit
        Memory that the engine may use before it spills to disk; the result comes on top.

    Returns
    -------
    Games
        The games, sorted by time; its ``report`` says what was recognised.

    Raises
    ------
    InputError
        If the table cannot be read, a column does not occur or may mean several things, or more
        than half of the rows cannot be used (with `strict`: any row).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "games.csv"
    >>> _ = file.write_text("date,winner,loser\n2026-05-01,rock,scissors\n2026-05-02,paper,rock")
    >>> read(file)
    Games(3 items, 2 comparisons in 2 rows, wins, times 2026-05-01 to 2026-05-02)
    """
    sides = {"first": first, "second": second, "winner": winner, "loser": loser}
    several = {role: tuple(name) for role, name in sides.items() if isinstance(name, tuple | list)}
    if several and tuple(several) not in {("first", "second"), ("winner", "loser")}:
        raise InputError("teams: give the columns of both sides, as first= and second=.")
    if len({len(columns) for columns in several.values()} | {1}) > 2 or () in several.values():
        raise InputError("teams: give as many columns for one side as for the other.")
    names: dict[str, str | bool | None] = {
        **{role: None if role in several else name for role, name in sides.items()},  # type: ignore[misc]
        "outcome": outcome,
        "first_score": first_score, "second_score": second_score, "margin": margin, "time": time,
        "side": side, "neutral": neutral, "weight": weight, "count": count,
    }  # fmt: skip
    for role, name in names.items():
        reading.check_name(role, name)
    tally = {"wins": wins, "losses": losses, "draws": draws}
    for role, name in {**tally, "event": event, "place": place}.items():
        reading.check_name(role, name, none=False)
    options = ReadOptions(
        columns=names, by=reading.as_columns(by), where=reading.as_conditions(where), order=order,
        day_first=day_first, both_bad=both_bad, unplayed=unplayed, strict=strict, grades=grades,
        shape=shape, doubled=doubled, entries=entries, games=games, event=event, place=place,
        teams=several, tally={role: name for role, name in tally.items() if name},
    )  # fmt: skip
    return assemble(source, options, memory_limit)


def describe(games: Games) -> str:
    """Return what was understood of the table behind these `games`, in short lines for people."""
    return "\n".join([repr(games), *games.report.lines()])


def assemble(
    source: object, options: ReadOptions, memory_limit: str, limits: RowLimits = reading.ROW_LIMITS
) -> Games:
    """Return the games of a source: take it in, choose roles, judge and add up rows, and report.

    Lazy frames of very many rows stay where they are, like tables of an engine; of very large
    files, too, equal rows are added up before they are judged.
    """
    with open_engine(
        reading.label_of(source), memory_limit, small=reading.is_small(source)
    ) as engine:
        label = engine.label
        table = take_in(source, engine, limits.fetched)
        places = (find_column(table.names, name, "where", label) for name in options.where)
        where = dict(zip(places, options.where.values(), strict=True))
        facts, roles = Facts(table, where), None
        whole = Facts(table, {}) if where else facts
        if table.grouping is not None or whole.count()[0] > limits.packed:
            from intransit.data.remote_tables import settled  # noqa: PLC0415  for few tables

            facts, roles = settled(table, where, options, FINDERS, choose_roles, limits.fetched)
            table = facts.table
        n_rows = facts.check_where()
        if not n_rows and not table.rejected:
            raise engine.refuse("there is no row; give a table with some.")
        if not n_rows:
            raise _refuse_rows(label, table.unit, 0, table.rejected)
        if not table.grouping and (filled := shapes.filled_from_above(whole)):
            facts, table = Facts(filled, where), filled
        shaped = None if table.grouping else shapes.reshape(facts, options, FINDERS)
        rows = facts
        if shaped is not None:
            rows = Facts(shaped.table, facts.where if shaped.keeps_where else {})
            if not rows.count()[0]:
                raise facts.refuse("there is no game in it; give a table with some.")
        options = options if shaped is None else shapes.apply(options, shaped)
        roles = roles or choose_roles(rows, options)
        if shaped is not None:
            roles.columns[:0] = shaped.told
            roles.notes[:0] = shaped.notes
        # Periods that no row has keep their place.
        clock = roles.moments.clock if roles.moments else Clock("none")
        query = build_query(rows, roles, options.both_bad, options.unplayed, limits)
        games, counted = add_up(query, clock)
        n_used = counted.n_rows - sum(part.count for part in counted.unused)
        games, halved, doubt = count_once(query, games, n_used, roles, options.doubled)
        roles.notes += [note for note in (halved, doubt) if note]
        report = _report(facts, roles, query, games, counted, options.both_bad)
        report = replace(report, worth=1.0 if shaped is None else shaped.worth)
        if not halved:
            games = with_series(query, games, counted.n_rows)
            games = replace(games, sequence=sequence_of(query, games, counted.n_rows))
    if report.n_used * 2 < report.n_rows or not report.n_used or (options.strict and report.unused):
        raise _refuse_rows(report.source, report.unit, report.n_used, report.unused)
    games = replace(games, report=report)
    return merge(games) if halved or games.series is not None else games


def find_matrix(facts: Facts, options: ReadOptions, asked: bool) -> shapes.Shaped | None:
    """Return a matrix as games, or None where rows and columns do not have the same names."""
    labels = facts.sample(0) if facts.is_text(0) else set()  # or numbers, as in a crosstable
    names = {words.AGAINST.sub("", name.strip()) for name in facts.names}
    either = len(labels & names), numbered_headers(facts.names)[0]
    if not asked and (shapes.named_by_hand(options) or max(either) < 3):
        return None
    from intransit.data.matrices import read_matrix  # noqa: PLC0415  few tables are one

    return read_matrix(facts, options, asked, take_in)


def find_wide(name: str, facts: Facts, options: ReadOptions, asked: bool) -> shapes.Shaped | None:
    """Return orders, choices, or several results in a row as games, or None where there are none.

    Where two columns name the items, a third place or item, or places of the two, must be named.
    """
    placed = name in {"orders", "podiums", "choices"}
    said = asked or (placed and (options.place or any(map(words.PLACED.search, facts.plain))))
    if not said and (_names_two(facts.plain) or (not placed and shapes.named_by_hand(options))):
        return None
    from intransit.data import wide_tables  # noqa: PLC0415  few tables are one

    return wide_tables.FINDERS[name](facts, options, asked)


def _names_two(own: list[str]) -> bool:
    """Return whether two columns name the items, and not the first two of three or more."""
    pairs = name_pairs(own, MARKERS, WINNERS)
    return any(sum(name[:-1] == own[pair.first][:-1] for name in own) < 3 for pair in pairs)


FINDERS: dict[str, shapes.Find] = {
    "matrix": find_matrix,
    "judgments": shapes.find_judgments,
    "teams": shapes.find_teams,
    "tally": shapes.find_tally,
    "sets": shapes.find_sets,
    "matchups": shapes.find_matchups,
    **{
        name: partial(find_wide, name)
        for name in ("orders", "rounds", "podiums", "ranks", "choices", "ballots", "scores")
    },
}


def choose_roles(facts: Facts, options: ReadOptions) -> Roles:
    """Return the roles that the columns of a table play."""
    search = Search(facts, options)
    for choose in (*CHOICES, choose_unplayed, choose_time, choose_side, choose_counts):
        choose(search)
    check_headers(search)
    note_unused_scores(search)
    for column in search.roles.by:
        search.tell("by", column, "named")
    return search.roles


def check_headers(search: Search) -> None:
    """Refuse two tables, one below the other, whose columns stand in another order."""
    facts, columns = search.facts, sorted(search.roles.taken())
    own = [search.plain[i] for i in columns]
    for *cells, row in facts.cells or ():
        below = [plain(cells[i] or "") for i in columns]
        if own != below and sorted(own) == sorted(below):
            why = "a header begins another table here, with its columns in another order; write "
            line = facts.table.lines({row}).get(row)
            raise refuse(facts.engine.label, f"{why}each table to a file of its own.", line)


def choose_time(search: Search) -> None:
    """Choose the column of times, where one is named or any column is left that may hold them."""
    if search.free() or search.named["time"] is not None or search.options.order is not None:
        from intransit.data import time_columns  # noqa: PLC0415  some tables have no more columns

        time_columns.choose_time(search)


def note_unused_scores(search: Search) -> None:
    """Say so where a table has scores that are not used."""
    roles = search.roles
    measured = roles.scores is not None or roles.margin is not None
    measured = measured or bool(roles.meaning and roles.meaning.margins)
    said = any("are not used as scores" in note for note in roles.notes)
    if measured or said or search.wanted["first_score"] is False:
        return
    free = search.free()
    found = [i for i in free if words.is_score(search.plain[i]) and search.facts.looks_numeric(i)]
    if found:
        roles.notes.append(
            f"{search.listed(found[:4], ' and ')} could be scores and are not used; name them with "
            f"{reading.how_to_say('first_score', 'second_score')}"
        )


def choose_side(search: Search) -> None:
    """Choose who has the side: home, white, shown first."""
    roles, said = search.roles, search.wanted["side"]
    if said in {"first", "second"}:
        roles.side_always = 1.0 if said == "first" else -1.0
        roles.notes.append(f"the {said} item always has the side")
    elif said is None and (away := _away_sign(search)) is not None:
        roles.away_sign = away
    elif said is not False:
        grounds = {i for i in search.free() if search.plain[i] in words.GROUNDS}
        silent = {search.plain[i] for i in grounds if _telling_side(search, i) is None}
        roles.side = search.one("side", words.SIDES - silent)
    if roles.side is not None and search.named["side"] is None:
        roles.side = _telling_side(search, roles.side)
    if roles.side is not None:
        search.tell("side", roles.side, search.why("side"))
    elif roles.away_sign is not None:
        search.tell("side", roles.away_sign, 'by what it holds; "@" says that the first was away')
    elif roles.marker and roles.marker.sided and said is None:
        roles.side_always = 1.0
        search.roles.notes.append(f'"{search.names[roles.first]}" has the side')
    if roles.side is None and roles.side_always is None and roles.away_sign is None:
        unused = [i for i in search.free() if search.plain[i] in words.NEUTRALS]
        if unused and said is None:
            search.ignore(
                unused[0],
                ", as nothing says who has the side; if the first item has it, say "
                'side="first" (command line: --side first)',
            )
        return
    roles.neutral = search.one("neutral", words.NEUTRALS)
    if roles.neutral is not None:
        texts = search.facts.texts(roles.neutral)
        if len(read_switch(texts)) < len(texts) and search.named["neutral"] is None:
            search.ignore(roles.neutral, ": it does not say yes or no")
            roles.neutral = None
        else:
            search.tell("neutral", roles.neutral, search.why("neutral"))


def _telling_side(search: Search, column: int) -> int | None:
    """Return a column that is called a side if all its cells say who has it."""
    texts = [text for text in search.facts.texts(column) if text.strip()]
    if texts and len(read_sides(texts, search.headers)) == len(texts):
        return column
    if search.plain[column] not in words.GROUNDS and texts:
        search.ignore(column, ": it does not say who has the side")
    return None


UNNAMED = re.compile(r"(unnamed:?\d*|column\d+|at|@)?")  # as tools call a column without a name


def _away_sign(search: Search) -> int | None:
    """Return the column that has @ where the first was away, and else nothing that tells more."""
    called = {i: search.plain[i] for i in search.free()}
    free = [i for i, name in called.items() if UNNAMED.fullmatch(name) or name in words.SIDES]
    cells = {i: {text.strip().casefold() for text in search.facts.texts(i)} - {""} for i in free}
    found = [i for i, signs in cells.items() if "@" in signs <= {"@", "n", "vs", "vs."}]
    return found[0] if len(found) == 1 else None


def choose_counts(search: Search) -> None:
    """Choose how many games a row stands for, and how much it counts."""
    roles, told = search.roles, search.roles.meaning
    single = told is None or told.kind != "shares"
    single = single and (told is None or set(told.values.values()) <= {0.0, 0.5, 1.0})
    more = words.OF_WINS if roles.winner_first else frozenset() if single else words.OF_SHARES
    roles.count = search.one("count", words.COUNTS | more)
    roles.weight = search.one("weight", words.WEIGHTS)
    if roles.weight is not None and search.named["weight"] is None:
        roles.weight = _telling_weight(search, roles.weight)
    if roles.count is not None and search.named["count"] is None:
        roles.count = _telling_count(search, roles.count, single=single)
    if not single and roles.count is None and search.wanted["count"] is None:
        roles.notes.append(
            "nothing says how many games stand behind a share, so each row counts as one; name the "
            f"column that does with {reading.how_to_say('count')}"
        )
    for role, column in (("count", roles.count), ("weight", roles.weight)):
        if column is not None:
            search.tell(role, column, search.why(role))


def _telling_count(search: Search, column: int, *, single: bool) -> int | None:
    """Return a column that is called a count if it says how many games each row stands for."""
    roles, facts = search.roles, search.facts
    name, x = search.names[column], facts.number(column)
    said = f'count="{name}" (command line: --count)'
    numbering = single and search.plain[column] not in words.OF_WINS
    n_rows, fractions, several = facts.count(f"{x} <> round({x})", f"{x} > 1")
    distinct, span = facts.engine.ask(
        f"SELECT count(DISTINCT x), max(x) - min(x) FROM (SELECT {x} AS x FROM "
        f"{facts.rows_about(x)})"
    )[0]
    if not facts.looks_numeric(column):
        why = "it holds no numbers"
    elif roles.margin is not None or roles.scores is not None:
        why = "beside margins a row is one game"
    elif numbering and distinct == n_rows == span + 1 > 1:
        why = "it numbers the rows"
    elif single and fractions:
        why = "a row of one winner is one game"
    elif single and several and search.plain[column] in words.LENGTHS and not _is_added_up(search):
        raise search.refuse(
            f'"{name}" may say how many such games there were, or how long one was; say {said}, or '
            "count=False (command line: --without count)."
        )
    else:
        return column
    search.ignore(column, f": {why}, unless you say {said}")
    return None


def _is_added_up(search: Search) -> bool:
    """Return whether every pair has one row for each of its results, and most have several."""
    roles, facts = search.roles, search.facts
    if roles.outcome is None or roles.time is not None:
        return False
    cells = [facts.text(i) for i in (roles.first, roles.second, roles.outcome)]
    named = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, "abc", strict=True))
    rows, results, pairs = facts.engine.ask(
        f"SELECT count(*), count(DISTINCT (a, b, c)), count(DISTINCT (a, b)) FROM (SELECT {named} "
        f"FROM {facts.rows_about(*cells)})"
    )[0]
    return bool(rows == results and 3 * pairs < 2 * rows)


HEAVIEST = 20  # beyond, a weight may be what somebody weighs


def _telling_weight(search: Search, column: int) -> int | None:
    name, x = search.names[column], search.facts.number(column)
    _, filled, heavy = search.facts.count(search.facts.filled(column), f"{x} >= {HEAVIEST}")
    if not search.facts.looks_numeric(column):
        search.ignore(column, ": it holds no numbers")
        return None
    if heavy == filled:
        raise search.refuse(
            f'"{name}" may say how much a row counts, or what somebody weighs; say weight="{name}" '
            "(command line: --weight), or weight=False for none (command line: --without weight)."
        )
    return column


FEW = 6  # games that the first may all win by chance


def _report(
    facts: Facts, roles: Roles, query: Query, games: Games, counted: Distinct, both_bad: str
) -> Reading:
    table = facts.table
    unused = (*table.rejected, *counted.unused)
    n_rows = counted.n_rows + sum(part.count for part in table.rejected)
    n_used = n_rows - sum(part.count for part in unused)
    notes = [*table.notes, *roles.notes, *_name_notes(query)]
    if facts.where:
        total = Facts(table, {}).count()[0]
        notes.append(f"where keeps {facts.count()[0]:,} of {total:,} rows")
    if roles.meaning and roles.meaning.both_bad and both_bad == "tie":
        cell_counts = dict(query.facts.values(roles.outcome or 0) or [])
        n_bad = sum(cell_counts[text] for text in roles.meaning.both_bad)
        notes.append(f"{plural(n_bad, 'verdict')} that both are bad taken as ties")
    if any(re.search("not played|is no game|not count", part.reason) for part in counted.unused):
        notes.append(
            'games that were not played are left out; unplayed="keep" counts them as the table '
            "tells them (command line: --unplayed keep)"
        )
    if counted.n_without_margin:
        missing = plural(counted.n_without_margin, "row")
        notes.append(f"{missing} without a margin, so margins are not used, only who won")
    if games.has_ties:
        ties = float(games.counts[games.outcomes == 0.5].sum())
        notes.append(f"{ties:,.12g} of {games.counts.sum():,.12g} games are ties")
    lines = roles.meaning and roles.meaning.margins and roles.meaning.why.startswith("scores")
    if lines and len(games) >= FEW and bool((games.outcomes == 1.0).all()):
        notes.append("the first won every game; if scores begin with the winner's, say who won")
    notes += _repeats(facts, query.limits.repeats)
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
    notes = []
    spaced = [raw for raw in query.raw_names if raw != raw.strip() and raw.strip()]
    if spaced:
        notes.append(f"space around {plural(len(spaced), 'name')} was removed")
    ways = (
        (words.without_case, str, "case or space"),
        (words.without_accents, words.without_case, "accents or signs"),
        (words.without_rank, words.without_accents, "a number, as of a rank or seed"),
        (words.in_any_order, words.without_rank, "the order of their members"),
    )
    for key, finer, why in ways:
        groups: dict[str, list[str]] = {}
        for name in query.names:
            groups.setdefault(key(name), []).append(name)
        alike = [group for group in groups.values() if len({*map(finer, group)}) > 1]
        for group in alike[:5]:
            listed = " and ".join(f'"{name}"' for name in group)
            notes.append(f"{listed} differ only by {why}, and count as different items")
    return notes


def _repeats(facts: Facts, most_rows: int) -> list[str]:
    n_rows = facts.count()[0]
    if n_rows > most_rows:
        return [f"repeated rows were not looked for among {n_rows:,} rows"]
    repeats, _ = facts.repeats(range(len(facts.names)))
    if not repeats:
        return []
    verb = "repeats" if repeats == 1 else "repeat"
    return [f"{plural(repeats, 'row')} {verb} another row in every column; all are used"]


def _refuse_rows(label: str, unit: str, n_used: int, unused: tuple[Unused, ...]) -> InputError:
    n_unused = sum(part.count for part in unused)
    told = "; ".join(reading.describe_unused(part, unit) for part in unused[:3])
    more = f"; and {plural(len(unused) - 3, 'more reason')}" if len(unused) > 3 else ""
    rows = plural(n_used + n_unused, "row")
    places = [line for part in unused for line in part.lines]
    return InputError(
        f"{label}: {n_unused:,} of {rows} cannot be used: {told}{more}. Correct them, or name the "
        "columns that are meant.",
        source=label,
        line=min(places, default=None),
    )
