"""Pairings of a Magic tournament as its software exports them: "Ann won 2-1-0", draws and byes.

The decks are compared, not the players, so that the answer is a chart of matchups.
"""

import re

import intransit as it

EXPORT = """Ann | Burn | Bob | Affinity | Ann won 2-1-0
Cy | Tron | Di | Burn | Di won 2-0-0
Ann | Burn | Eve | Tron | Eve won 2-1-0
Bob | Affinity | Cy | Tron | Bob won 2-1-0
Di | Burn | Flo | Affinity | 1-1-1 Draw
Ann | Burn | | | Ann was awarded a bye
"""

first, second, outcomes = [], [], []
for line in EXPORT.splitlines() * 20:
    one, one_deck, _, two_deck, result = (cell.strip() for cell in line.split("|"))
    if not two_deck or one_deck == two_deck:  # a bye, or a mirror match
        continue
    winner = re.match(r"(.+) won \d", result)
    first.append(one_deck)
    second.append(two_deck)
    outcomes.append(0.5 if winner is None else float(winner[1] == one))

answer = it.fit(it.Games.from_arrays(first, second, outcomes), effective=20)
print(answer.probability("Burn", "Affinity"))
for standing in answer.rank():
    print(f"{standing.rank}. {standing.name}: {standing.strength:.0%} against the others")
