"""Where comparisons and results go round in circles: without that there is no cycle to be found."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray


def goes_round(first: IntArray, second: IntArray, outcomes: FloatArray, n_items: int) -> bool:
    """Return whether results lead from some item back to itself; a tie leads both ways."""
    won, lost = outcomes > 0.0, outcomes < 1.0
    better = np.concatenate([first[won], second[lost]])
    worse = np.concatenate([second[won], first[lost]])
    graph = coo_array((np.ones(len(better)), (better, worse)), shape=(n_items, n_items))
    return int(connected_components(graph, connection="strong")[0]) < n_items


def n_cycles(pairs: IntArray, n_items: int) -> int:
    """Return the number of independent cycles of comparisons."""
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    return len(pairs) - n_items + int(connected_components(graph, directed=False)[0])


def bridges(pairs: IntArray, n_items: int) -> BoolArray:  # (n_pairs,)
    """Return which pairs lie on no cycle of comparisons: without them a group falls apart.

    By depth-first search: an edge down the tree is a bridge if nothing below it leads back above.
    """
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[order, 0], np.arange(n_items + 1)).tolist()
    other, edge = ends[order, 1].tolist(), (order % len(pairs)).tolist()
    found = np.zeros(len(pairs), dtype=bool)
    depth, lowest, at = [-1] * n_items, [0] * n_items, begins[:-1].copy()
    for root in range(n_items):
        if depth[root] >= 0:
            continue
        depth[root] = lowest[root] = 0
        path = [(root, -1)]
        while path:
            item, came_by = path[-1]
            if at[item] < begins[item + 1]:
                k = at[item]
                at[item] += 1
                if depth[other[k]] < 0:
                    depth[other[k]] = lowest[other[k]] = depth[item] + 1
                    path.append((other[k], edge[k]))
                elif edge[k] != came_by:
                    lowest[item] = min(lowest[item], depth[other[k]])
                continue
            path.pop()
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[item])
                found[came_by] = lowest[item] > depth[above]
    return found
