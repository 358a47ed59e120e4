"""What a table that is refused looks like, and how the caller can say what it is."""

import re
from collections.abc import Sequence

from intransit.data.engine import Facts
from intransit.data.outcomes import is_switch, number, read_sides
from intransit.data.reading import list_names
from intransit.data.vocabulary import ENOUGH, Pair
from intransit.errors import InputError


def nobody_met(facts: Facts, free: Sequence[int], else_do: str) -> InputError:
    """Return the error that no two columns name the items."""
    hint = what_else(facts, free, else_do) or else_do
    return facts.refuse(f"no two columns of {facts.listed()} name the items; {hint}")


def what_else(facts: Facts, free: Sequence[int], else_do: str) -> str:
    """Return what to do with a table that looks like one of another shape; empty if like none."""
    plain = facts.plain
    shared = (facts.sample(0) if facts.is_text(0) else set()) & {n.strip() for n in facts.names}
    if len(shared) > 2:
        cells = {t for i in range(1, len(facts.names)) for t in facts.texts(i) if t.strip()}
        return (
            f"its header repeats its first column, as in a matrix, but cells such as "
            f"{list_names(sorted(cells)[:3])} are not understood: write win rates, games won, "
            "or 3-1."
        )
    won = {"w", "won", "wins"} & set(plain)
    if won and {"l", "lost", "losses"} & set(plain):
        return (
            "a table of standings does not say who beat whom: give one with a row a game or pair."
        )
    members = [i for i in free if re.fullmatch(r"(p|pl|player)[1-4]", plain[i])]
    if len(members) == 4:
        a, b, c, d = (facts.names[i] for i in members)
        return (
            f'if {a} and {b} play {c} and {d}, say first=("{a}", "{b}") and second=("{c}", "{d}") '
            f"(command line: --first {a},{b} --second {c},{d}); else {else_do}"
        )
    numeric = [i for i in free if facts.looks_numeric(i)]
    if len(numeric) > 2:
        return (
            "if each column is an item, and each row has the scores of all of them, say "
            'shape="scores", or shape="ranks" where less is better (command line: --shape scores); '
            f"else {else_do}"
        )
    return ""


HIGHEST_GRADE = 5  # of a scale from -5 to 5; beyond, numbers are no grades


def strange_outcomes(facts: Facts, column: int) -> InputError:
    """Return the error that the outcomes in a column are not understood, and what to say."""
    cells = facts.values(column) or []
    often = sorted(cells, key=lambda cell: (-cell[1], cell[0]))[:5]
    numbers = sorted({x for text, _ in cells if (x := number(text)) is not None})
    most = int(max(map(abs, numbers), default=0.0))
    whole = all(x == round(x) for x in numbers)
    if len(numbers) > 2 and min(numbers) < -1 and whole and most <= HIGHEST_GRADE:
        up, down = (",".join(map(str, range(-s * most, s * most + s, s))) for s in (1, -1))
        return facts.refuse(
            f'"{facts.names[column]}" goes from {-most} to {most}, and nothing says which end is '
            f"for the first item; say grades=[{down}] if {most} is its best, or grades=[{up}] if "
            f"{-most} is (command line: --grades={down} or --grades={up}); or margin= if they are "
            "margins (command line: --margin)."
        )
    if numbers == [1.0, 2.0, 3.0] and len(cells) == 3:
        return facts.refuse(
            f'"{facts.names[column]}" goes from 1 to 3, and nothing says whether 2 or 3 is a tie; '
            "say grades=[1,2,3] if 2 is, or grades=[1,3,2] if 3 is (command line: --grades=1,2,3 "
            "or --grades=1,3,2)."
        )
    name, alone = facts.names[column], 0 < len(numbers) == len(cells)
    if alone and set(numbers) <= {0.0, 1.0}:
        return facts.refuse(
            f'"{name}" says 0 and 1, and nothing says which of the two items 1 is; say '
            f'outcome="{name}" if it is the first (command line: --outcome {name}), or '
            "grades=[0, 1] if it is the second (command line: --grades 0,1)."
        )
    if alone and numbers == [1.0, 2.0]:
        return facts.refuse(
            f'"{name}" says 1 and 2, which may be names of items, or the first and the second; say '
            f'winner="{name}" if they are names (command line: --winner {name}), or grades=[1, 2] '
            "if 1 is the first (command line: --grades 1,2)."
        )
    shown = list_names([text for text, _ in often]) or "too many values"
    return facts.refuse(
        f'the outcomes in "{facts.names[column]}" are not understood ({shown}); write 1, 0 and '
        "0.5, win, loss and draw, or the winner's name; or list grades from the first's best to "
        "the second's with grades= (command line: --grades)."
    )


def whose_places(facts: Facts, column: int, swapped: int) -> InputError:
    """Return the error that verdicts may speak of columns, or of places that were swapped."""
    name = facts.names[column]
    return facts.refuse(
        f'"{name}" may speak of the columns, or of places that "{facts.names[swapped]}" says were '
        f'swapped; say outcome="{name}" for the columns (command line: --outcome), or write the '
        "winner's name."
    )


BACKED = re.compile("pick|bet|tip|select|back|team|side$")
OF_THE_GAME = re.compile("toss|first|fav|underdog|serv|kick|bat|referee")  # and not of a bet


def whose_result(
    facts: Facts, column: int, free: Sequence[int], items: tuple[int, int], sided: bool
) -> InputError | None:
    """Return the error that a result may be of whom another column names, as of a bet, or None.

    Such a column names now the first and now the second, or their sides; where these have none,
    it is called a pick, a bet or a team.
    """
    name, first = facts.names[column], facts.names[items[0]]
    for i in free:
        backed = (sided or BACKED.search(facts.plain[i])) and not OF_THE_GAME.search(facts.plain[i])
        if facts.is_text(i) and backed:
            said = facts.texts(i)
            sides = read_sides(said, (first, facts.names[items[1]]))
            told = {"1", "X", "2"} <= {text.strip().upper() for text in said}
            if {-1.0, 1.0} <= {*sides.values()} and not is_switch(said):
                told = told or facts.share(i, sides) >= ENOUGH
            n_rows, *named = facts.count(*(facts.names_one_of(i, (item,)) for item in items))
            if told or (min(named) > 0 and sum(named) >= ENOUGH * n_rows):
                return facts.refuse(
                    f'"{name}" may be of "{first}", or of whom "{facts.names[i]}" names; say '
                    f'outcome="{name}" if it is of "{first}" (command line: --outcome), or write '
                    "the winner's name."
                )
    return None


def several_pairs(facts: Facts, pairs: Sequence[Pair], could: str) -> InputError:
    """Return the error that several pairs of columns could play a role, or have one name."""
    names = [facts.names[i] for i in {i for p in pairs for i in (p.first, p.second)}]
    for name in sorted(names):
        if names.count(name) > 1:
            return facts.refuse(f'two columns are called "{name}"; give each its own name.')
    spoken = " or ".join(facts.listed([p.first, p.second], " with ") for p in pairs[:4])
    return facts.refuse(f"{spoken} could {could}")


def whose_score(facts: Facts, column: int, home: int, away: int) -> InputError:
    """Return the error that nothing says with whose score a score line begins."""
    lines, first, second = (facts.names[i] for i in (column, away, home))
    return facts.refuse(
        f'"{lines}" may begin with the score of "{first}", whose column comes first, or of '
        f'"{second}"; say first="{first}" and second="{second}", or the other way round (command '
        "line: --first and --second)."
    )
