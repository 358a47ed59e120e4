"""Games that were not played, and the columns that say so: walkovers, byes, fixtures to come."""

import re

from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote
from intransit.data.outcomes import is_switch, read_switch
from intransit.data.roles import Search


def choose_unplayed(search: Search) -> None:
    """Find the columns that say of some games that they were not played: walkovers, byes, ..."""
    roles, facts = search.roles, search.facts
    if search.options.unplayed == "keep":
        return
    free = {*search.free(), *({roles.outcome} - {None})}
    for column in sorted(i for i in free if i is not None):
        name = search.plain[column]
        cell, found = f"lower({facts.text(column)})", ""
        if name in words.FORFEITS:
            yes = [text for text, value in read_switch(facts.texts(column)).items() if value]
            test = f"{facts.raw(column)} IN ({', '.join(map(quote, yes)) or 'NULL'})"
        elif name in words.PLAYED and is_switch(facts.texts(column)):
            no = [text for text, value in read_switch(facts.texts(column)).items() if not value]
            test = f"{facts.raw(column)} IN ({', '.join(map(quote, no)) or 'NULL'})"
        elif facts.is_text(column) and name in words.OF_RESULTS | words.STATUSES:
            found = words.UNPLAYED + (f"|{words.NOT_YET}" if name in words.STATUSES else "")
            test = f"regexp_full_match({cell}, {quote(found)})"
        else:
            continue
        if _occurs(facts, column, test, found):
            roles.unplayed[column] = test


def _occurs(facts: Facts, column: int, test: str, form: str) -> bool:
    """Return whether a test holds for any cell; distinct cells that are known are asked no more."""
    cells = facts.values(column)
    if cells is None or not form:
        return facts.count_cells(column, test)[0] > 0
    return any(re.fullmatch(form, text.strip().casefold()) for text, _ in cells)
