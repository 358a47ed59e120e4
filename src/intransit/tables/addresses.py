"""Tables that have an address: in a database that Ibis knows, or Parquet in object storage.

    postgres://user@host/league?table=games      duckdb://league.db?table=games
    s3://bucket/games/                           https://host/games.parquet

What an address says of passwords and signatures is never repeated in a message.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from intransit.errors import InputError, IntransitError, MissingDependencyError
from intransit.tables.engine import Engine, quote
from intransit.tables.intake import Table, viewed

SCHEME = re.compile(r"(?!file:)([A-Za-z][A-Za-z0-9+.\-]+)://")
WEB = {"http", "https"}
STORES = {*WEB, "s3", "s3a", "s3n", "gs", "gcs", "r2", "hf"}  # what DuckDB's httpfs reads
PARQUET = re.compile(r"\.(parquet|pq|parq)$|[*?\[]", re.IGNORECASE)
LISTED = 8  # tables of a database that are named where the one asked for is not there


def is_address(source: object) -> bool:
    """Return whether a source is an address such as ``postgres://...``, and no file."""
    return isinstance(source, str) and SCHEME.match(source) is not None


def shown_address(address: str) -> str:
    """Return an address as messages may call it: without user, password and signature."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    table = dict(parse_qsl(parts.query)).get("table")
    return f"{parts.scheme}://{host}{parts.path}" + (f"?table={table}" if table else "")


def take_address(address: str, engine: Engine) -> Table | None:
    """Return the table at an address that the embedded engine reads itself, or None."""
    scheme = urlsplit(address).scheme.lower()
    if scheme == "duckdb":
        return _attached(address, engine)
    return _stored_elsewhere(address, engine) if scheme in STORES else None


def _stored_elsewhere(address: str, engine: Engine) -> Table:
    """Return Parquet in object storage or on the web as a table, read where it is."""
    web, named = urlsplit(address).scheme.lower() in WEB, PARQUET.search(urlsplit(address).path)
    if web and not named:
        raise InputError(
            f"{engine.label}: from the web only Parquet is read where it is, and its name must "
            "end in .parquet; fetch another file first, and give its path.",
            source=engine.label,
        )
    files = address if named else f"{address.rstrip('/')}/**/*.parquet"
    try:
        engine.run(
            f"CREATE TEMP VIEW parts AS FROM read_parquet({quote(files)}, union_by_name = true)"
        )
    except InputError as error:
        told = str(error.__cause__ or error)
        if "extension" in told and "httpfs" in told:
            raise InputError(
                f"{engine.label}: reading from there needs DuckDB's extension httpfs, which is "
                "not installed and could not be fetched; run INSTALL httpfs in DuckDB where the "
                "web can be reached, or copy the files here and give their folder.",
                source=engine.label,
            ) from None
        told = _without_secrets(told.splitlines()[0], address).replace(files, engine.label)
        raise InputError(
            f"{engine.label}: it could not be read ({told}); check the address, and that DuckDB "
            "has a secret for it (CREATE PERSISTENT SECRET).",
            source=engine.label,
        ) from None
    return viewed(engine, "parts")


def _attached(address: str, engine: Engine) -> Table:
    """Return a table of another DuckDB database, which the embedded engine reads where it is."""
    label, parts = engine.label, urlsplit(address)
    name, file = _named_table(address, label), Path(unquote(parts.netloc + parts.path))
    if not file.is_file():
        raise InputError(f"{label}: there is no such file; check the path.", source=label)
    schema, _, name = name.rpartition(".")
    engine.run(f"ATTACH {quote(str(file))} AS elsewhere (READ_ONLY)")
    found = engine.ask(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'elsewhere' AND "
        "table_schema = ?",
        [schema or "main"],
    )
    there = [str(other) for (other,) in found]
    if name not in there:
        raise _no_table(label, name, there)
    place = ".".join(
        '"{}"'.format(part.replace('"', '""')) for part in ("elsewhere", schema or "main", name)
    )
    engine.run(f"CREATE TEMP VIEW elsewhere_rows AS FROM {place}")
    return viewed(engine, "elsewhere_rows")


def connected(address: str, engine: Engine) -> Any:
    """Return a table of a database as Ibis has it; the connection ends with the engine."""
    label, parts = engine.label, urlsplit(address)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = _named_table(address, label)
    options.pop("table")
    try:
        import ibis  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{label}: addresses of databases need Ibis, which is not installed: pip install "
            "'intransit[engines]'."
        ) from None
    try:
        con = ibis.connect(urlunsplit(parts._replace(query=urlencode(options))))
        engine.after.callback(con.disconnect)
        schema, _, name = name.rpartition(".")
        try:
            return con.table(name, database=schema or None)
        except ibis.common.exceptions.TableNotFound:
            raise _no_table(label, name, con.list_tables(database=schema or None)) from None
    except IntransitError:
        raise
    except ImportError:
        raise MissingDependencyError(
            f"{label}: the driver of this engine is not installed: pip install "
            f"'ibis-framework[{parts.scheme.replace('postgresql', 'postgres')}]'."
        ) from None
    except Exception as error:  # whatever a driver raises: there is no common base
        told = _without_secrets(" ".join(str(error).split()), address)
        raise InputError(
            f"{label}: it cannot be reached ({told[:300]}); check the address.", source=label
        ) from None  # the driver's own error may hold the password


def _named_table(address: str, label: str) -> str:
    """Return the table that an address names."""
    name = dict(parse_qsl(urlsplit(address).query)).get("table", "")
    if not name:
        raise InputError(
            f"{label}: which table is meant is not said; end the address with ?table= and its "
            "name, as in postgres://user@host/league?table=games.",
            source=label,
        )
    return name


def _no_table(label: str, name: str, there: list[str]) -> InputError:
    listed = ", ".join(f'"{other}"' for other in sorted(there)[:LISTED]) or "none"
    more = ", ..." if len(there) > LISTED else ""
    return InputError(
        f'{label}: there is no table "{name}"; there are {listed}{more}.', source=label
    )


def _without_secrets(text: str, address: str) -> str:
    """Return a message without the password and the options of an address."""
    parts = urlsplit(address)
    secrets = {parts.password, unquote(parts.password or ""), parts.query, address}
    secrets |= {value for name, value in parse_qsl(parts.query) if name != "table"}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "...")
    return text
