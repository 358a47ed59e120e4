"""Judgments of a model beside a baseline, twice a question with their places swapped (arena-hard).

A row has the model and two verdicts, ``games.score.1`` and ``games.score.2``: in the first, A is
the baseline, in the second the model.  Each row becomes two games.
"""

from intransit.tables.facts import Facts
from intransit.tables.options import Options
from intransit.tables.reading import Column
from intransit.tables.shapes import Shaped, materialised, named_by_hand
from intransit.tables.vocabulary import plain

VERDICTS = tuple(f"games{word}{{}}" for word in ("score", "verdict", "winner", "result"))
FIRST, SECOND, VERDICT = "answer A", "answer B", "verdict on A and B"
UNNAMED = "baseline"


def find_judgments(facts: Facts, options: Options, _asked: bool) -> Shaped | None:
    """Return each pair of judgments as two games, or None where the table has none."""
    table, names = facts.table, [plain(name) for name in facts.table.names]
    found = next(
        (
            [names.index(word.format(k)) for k in (1, 2)]
            for word in VERDICTS
            if all(word.format(k) in names for k in (1, 2))
        ),
        None,
    )
    if found is None or "model" not in names or named_by_hand(options):
        return None
    model = names.index("model")
    has_baseline = UNNAMED in names
    baseline = facts.text(names.index(UNNAMED)) if has_baseline else f"'{UNNAMED}'"
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    n, own = len(names), facts.text(model)
    sides = ((baseline, own, found[0]), (own, baseline, found[1]))
    rows = " UNION ALL ".join(
        f"SELECT {columns}, {first} AS c{n}, {second} AS c{n + 1}, c{verdict} AS c{n + 2}, row "
        f"FROM {facts.numbered}"
        for first, second, verdict in sides
    )
    extra = {FIRST: "VARCHAR", SECOND: "VARCHAR", VERDICT: table.types[found[0]]}
    new = materialised(table, "judgments", rows, extra)
    notes = ["each row is two games with the places swapped: A is the baseline, then the model"]
    if not has_baseline:
        notes.append(f'no column names the baseline: it is called "{UNNAMED}"')
    told = (
        Column("model", table.names[model], "by its name"),
        *(Column("verdict", table.names[i], "by its name") for i in found),
    )
    none = ("winner", "loser", "first_score", "second_score", "margin", "side", "count")
    said: dict[str, str | bool | None] = dict.fromkeys(none, False)
    said |= {"first": FIRST, "second": SECOND, "outcome": VERDICT}
    return Shaped(new, said, told, tuple(notes))
