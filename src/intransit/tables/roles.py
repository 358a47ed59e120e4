"""Which column plays which role: as the user says, else by its name, else by what it holds.

Where two columns could play a role and nothing decides, the table is refused with the options.
"""

from intransit.tables.choosing import Roles, Search
from intransit.tables.circumstances import choose_counts, choose_side, choose_time
from intransit.tables.facts import Facts
from intransit.tables.items import choose_items
from intransit.tables.options import Options
from intransit.tables.results import (
    choose_margin,
    choose_outcome,
    choose_scores,
    note_unused_scores,
)


def choose_roles(facts: Facts, options: Options) -> Roles:
    """Return the roles that the columns of a table play."""
    search = Search(facts, options)
    for choose in (choose_items, choose_scores, choose_margin, choose_outcome):
        choose(search)
    for choose in (choose_time, choose_side, choose_counts):
        choose(search)
    note_unused_scores(search)
    for column in search.roles.by:
        search.tell("by", column, "named")
    return search.roles
