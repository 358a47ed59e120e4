"""The door to the compiler, and the loops over pairs, vectors and graphs that everything shares.

There is one door, so that every kernel is compiled the same way and typed.

Every solver here moves some columns v of the factors and holds the rest.  For a pair
(i, j) the margin changes, to first order, by

    v[i] @ A[j] - A[i] @ v[j]                                                      (1)

where A holds, beside each moved column, the column it multiplies: A = Q when S moves,
A = -S when Q moves, A = [Q, -S] when both do.

Sums over long vectors are here, too: beside loops that run for microseconds a library's threads
cost more than they bring.  Starting them took ten times as long as the whole of an iteration of
conjugate gradients.

Graphs of items are bits: a graph of N items is two arrays of 64-bit words, ``wins`` and ``losses``:
bit j of row i of ``wins`` says that i beats j, the same bit of ``losses`` that j beats i.  Then

    the items k that close i -> j into a cycle  =  wins[j] & losses[i]

is N / 64 operations, and a graph of 5,000 items fits in 6 MB.  Kernels trust their input.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from intransit.arrays import BoolArray, FloatArray, IntArray

DIGIT = 11  # bits: as many places to write to as lines of memory fit into a cache

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop at its first call and keep the result on disk for later processes.

    The plain Python function stays reachable as ``.py_func``: tests run it as the slow twin.
    """
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compilable(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled loops call a function that plain Python calls as well.

    It becomes a part of them: a loop that calls what takes a function cannot be kept on disk.
    """
    return register_jitable(inline="always")(function)


@compilable
def draw_by_slice(
    rng: np.random.Generator,
    here: float,
    width: float,
    density: Callable[..., float],
    rest: tuple[object, ...],
    most_steps: int = 40,  # to either side
) -> float:
    """Draw a number by a slice from where it is (Neal, 2003), of log density(number, *rest)."""
    level = density(here, *rest) - rng.standard_exponential()
    low = here - width * rng.random()
    high = low + width
    for _ in range(most_steps):
        if density(low, *rest) <= level:
            break
        low -= width
    for _ in range(most_steps):
        if density(high, *rest) <= level:
            break
        high += width
    while high - low > 1e-12:
        there = low + (high - low) * rng.random()
        if density(there, *rest) > level:
            return there
        if there < here:
            low = there
        else:
            high = there
    return here


@compiled
def normal_matrix(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2), first < second
    curvature: FloatArray,  # (n_pairs,)
    out: FloatArray,  # (n_items * n_moved, n_items * n_moved)
) -> None:
    """Write the upper triangle of Σ_p curvature_p J_p J_pᵀ, J_p the row of pair p in (1)."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j, w = pairs[p, 0] * k, pairs[p, 1] * k, curvature[p]
        first, second = partners[pairs[p, 0]], partners[pairs[p, 1]]
        for b in range(k):
            along_i, along_j = w * second[b], w * first[b]
            for c in range(b, k):
                out[i + b, i + c] += along_i * second[c]
                out[j + b, j + c] += along_j * first[c]
            for c in range(k):
                out[i + b, j + c] -= along_i * first[c]


def jacobian(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2)
) -> FloatArray:  # (n_pairs, n_items * n_moved)
    """Return the map (1) as a dense matrix, for measurements that mix many entries."""
    rows, (first, second) = np.arange(len(pairs)), pairs.T
    out = np.zeros((len(pairs), *partners.shape))
    out[rows, first], out[rows, second] = partners[second], -partners[first]
    return out.reshape(len(pairs), -1)


@compiled
def dot(first: FloatArray, second: FloatArray) -> float:
    """Return the inner product of two arrays of one shape."""
    a, b = first.ravel(), second.ravel()
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    n = a.shape[0]
    for k in range(0, n - 3, 4):
        one += a[k] * b[k]
        two += a[k + 1] * b[k + 1]
        three += a[k + 2] * b[k + 2]
        four += a[k + 3] * b[k + 3]
    for k in range(n - n % 4, n):
        one += a[k] * b[k]
    return (one + two) + (three + four)


@compiled
def advance(
    length: float,
    direction: FloatArray,
    image: FloatArray,
    step: FloatArray,
    residual: FloatArray,
) -> None:
    """Add length · direction to step and take length · image off residual."""
    d, i, s, r = direction.ravel(), image.ravel(), step.ravel(), residual.ravel()
    for k in range(d.shape[0]):
        s[k] += length * d[k]
        r[k] -= length * i[k]


@compiled
def turn(share: float, ahead: FloatArray, direction: FloatArray) -> None:
    """Overwrite direction by ahead + share · direction."""
    a, d = ahead.ravel(), direction.ravel()
    for k in range(a.shape[0]):
        d[k] = a[k] + share * d[k]


@compiled
def add_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Add each row (n, k) at its place."""
    for n in range(rows.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[m, k] += rows[n, k]


@compiled
def link_owners(owners: IntArray, before: IntArray, firsts: IntArray) -> None:
    """Write where each owner (0, 1, ...) stood before, at first itself, and where at first."""
    last = np.full(firsts.shape[0], -1, np.int64)
    for p in range(owners.shape[0]):
        k = owners[p]
        if last[k] < 0:
            firsts[k] = last[k] = p
        before[p], last[k] = last[k], p


@compiled
def list_by_key(keys: IntArray, out: IntArray, starts: IntArray) -> None:
    """Write which entries have key 0, then 1, ..., each as they came, and where each key begins.

    (A counting sort; `starts`, of zeros, has an entry more than there are keys.)
    """
    for p in range(keys.shape[0]):
        starts[keys[p] + 1] += 1
    for k in range(starts.shape[0] - 1):
        starts[k + 1] += starts[k]
    heads = starts.copy()
    for p in range(keys.shape[0]):
        k = keys[p]
        out[heads[k]] = p
        heads[k] += 1


@compiled
def sort_keys(
    keys: IntArray,  # (n,): 64 bits, none below 0; overwritten
    order: IntArray,  # (n,): 0, 1, ...; overwritten; or none
    n_bits: int,  # of the largest key
    spare_keys: IntArray,  # (n,): room
    spare_order: IntArray,  # (n,): room; or none
) -> tuple[IntArray, IntArray]:
    """Return the keys rising, and which stood where; equal ones stay as they were.

    By one digit after the other, the last first: cost follows the number of keys alone, and both
    arrays are only passed over.  Each is returned where it came to stand, one of the two given.
    """
    n_digits = max(-(-n_bits // DIGIT), 1)
    width = -(-n_bits // n_digits)
    for digit in range(n_digits):
        shift, mask = digit * width, (1 << width) - 1
        heads = np.zeros(mask + 2, np.int64)
        for p in range(keys.shape[0]):
            heads[((keys[p] >> shift) & mask) + 1] += 1
        for k in range(mask + 1):
            heads[k + 1] += heads[k]
        if order.shape[0] == 0:
            for p in range(keys.shape[0]):
                k = (keys[p] >> shift) & mask
                spare_keys[heads[k]] = keys[p]
                heads[k] += 1
        else:
            for p in range(keys.shape[0]):
                k = (keys[p] >> shift) & mask
                spare_keys[heads[k]] = keys[p]
                spare_order[heads[k]] = order[p]
                heads[k] += 1
        keys, spare_keys = spare_keys, keys
        order, spare_order = spare_order, order
    return keys, order


@compiled
def average_runs(
    keys: IntArray,  # (n,), rising; overwritten by the distinct ones
    order: IntArray,  # (n,): which value each key belongs to; overwritten by the first of each run
    weights: FloatArray,  # (n,), or (1,) where all are the same: to find one is most of the work
    values: FloatArray,  # (n,)
    totals: FloatArray,  # (n_distinct,): written, the sum of weights
    means: FloatArray,  # (n_distinct,): written, the weighted mean of values
) -> float:
    """Average the values of equal keys, and return Σ weight (value - mean)²."""
    spread, begin, n, one = 0.0, 0, keys.shape[0], weights.shape[0] == 1
    for c in range(totals.shape[0]):
        end, total, moment = begin, 0.0, 0.0
        while end < n and keys[end] == keys[begin]:
            weight = weights[0 if one else order[end]]
            total += weight
            moment += weight * values[order[end]]
            end += 1
        totals[c] = total
        means[c] = values[order[begin]]
        if end > begin + 1:
            means[c] = moment / total
            for p in range(begin, end):
                weight = weights[0 if one else order[p]]
                spread += weight * (values[order[p]] - means[c]) ** 2
        keys[c], order[c] = keys[begin], order[begin]
        begin = end
    return spread


@compiled
def count_runs(keys: IntArray, shift: int) -> int:
    """Return how many distinct keys there are among rising ones, but for their last bits."""
    found = min(keys.shape[0], 1)
    for p in range(1, keys.shape[0]):
        found += (keys[p] >> shift) != (keys[p - 1] >> shift)
    return int(found)


@compiled
def count_wins(
    keys: IntArray,  # (n,), rising, the last bit 1 for a win; overwritten by the distinct others
    totals: FloatArray,  # (n_distinct,): written, how many
    means: FloatArray,  # (n_distinct,): written, the share of wins
) -> float:
    """Do what `average_runs` does where outcomes are in the keys, and each counts once."""
    spread, begin, n = 0.0, 0, keys.shape[0]
    for c in range(totals.shape[0]):
        end, wins, key = begin, 0, keys[begin] >> 1
        while end < n and keys[end] >> 1 == key:
            wins += keys[end] & 1
            end += 1
        totals[c] = end - begin
        means[c] = wins / totals[c]
        spread += wins * (1.0 - means[c])
        keys[c], begin = key, end
    return spread


# Graphs -------------------------------------------------------------------------------------------

Bits = NDArray[np.uint64]
GAINED = 1e-12  # less is rounding

# Unsigned constants: numba turns uint64 with int64 into float64.
ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
PAIRS, NIBBLES, BYTES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
SUM_BYTES, TOP_BYTE, TWO, FOUR = (
    np.uint64(0x0101010101010101),
    np.uint64(56),
    np.uint64(2),
    np.uint64(4),
)


def pack_bits(rows: BoolArray) -> Bits:  # (n_rows, n_words)
    """Return rows of truth values as bits of whole words."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def pack_edges(margins: FloatArray, threshold: float) -> tuple[Bits, Bits]:
    """Return wins and losses as bits: the entries above the threshold, and below its negative."""
    return pack_bits(margins > threshold), pack_bits(margins < -threshold)


@compiled
def _popcount(word: np.uint64) -> np.uint64:
    """Return the number of bits set; the compiler knows this form and uses one instruction."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & NIBBLES) + ((word >> TWO) & NIBBLES)
    word = (word + (word >> FOUR)) & BYTES
    return (word * SUM_BYTES) >> TOP_BYTE


@compiled
def _take_lowest(row: Bits, known: int) -> int:
    """Clear the lowest bit of a row, none before `known`; return its place, -1 when empty."""
    for word in range(known // 64, row.size):
        if row[word] != ZERO:
            lowest = row[word] & (~row[word] + ONE)
            row[word] ^= lowest
            return 64 * word + int(_popcount(lowest - ONE))
    return -1


@compiled
def _keep_after(row: Bits, item: int) -> None:
    """Clear the bits of a row up to and including `item`."""
    word = item // 64
    row[:word] = ZERO
    place = np.uint64(item - 64 * word)
    row[word] &= (ALL << place) ^ (ONE << place)


@compiled
def count_cycles(wins: Bits, losses: Bits) -> int:
    """Return the number of 3-cycles, each met once, at the smallest of its items."""
    n_items, n_words = wins.shape
    total = 0
    for i in range(n_items):
        after = i // 64
        above, below = losses[i].copy(), wins[i].copy()
        _keep_after(above, i)
        _keep_after(below, i)
        j = _take_lowest(below, i)
        while j >= 0:
            shared = ZERO
            for word in range(after, n_words):
                shared += _popcount(wins[j, word] & above[word])
            total += int(shared)
            j = _take_lowest(below, j)
    return total


@compiled
def _fill_distances(distances: Bits, losses: Bits, start: int) -> None:
    """Set row m to the items after `start` from which a walk of m edges leads back to it."""
    distances[1] = losses[start]
    _keep_after(distances[1], start)
    after = start // 64
    for m in range(2, distances.shape[0]):
        nearer = distances[m - 1].copy()
        distances[m] = ZERO
        item = _take_lowest(nearer, start)
        while item >= 0:
            for word in range(after, nearer.size):
                distances[m, word] |= losses[item, word]
            item = _take_lowest(nearer, item)
        _keep_after(distances[m], start)


@compiled
def list_cycles(wins: Bits, losses: Bits, length: int, limit: int) -> IntArray:
    """Return the first `limit` cycles of this length, in the order of their items.

    Each starts at its smallest item and follows the wins.  A search in depth enters an item
    only if the way back has the right number of edges; up to length 5 it never turns back
    without a find, because two items that meet twice in so short a walk would form a 2-cycle.
    """
    n_items, n_words = wins.shape
    found = np.empty((min(limit, 1024), length), np.int64)
    n_found = 0
    distances = np.zeros((length, n_words), np.uint64)
    untried = np.zeros((length, n_words), np.uint64)
    path = np.empty(length, np.int64)
    for start in range(n_items):
        if not (np.any(wins[start]) and np.any(losses[start])):
            continue
        _fill_distances(distances, losses, start)
        path[0], depth = start, 1
        untried[1] = wins[start] & distances[length - 1]
        while depth > 0:
            item = _take_lowest(untried[depth], start)
            if item < 0:
                depth -= 1
                continue
            if np.any(path[1:depth] == item):
                continue
            path[depth] = item
            if depth < length - 1:
                depth += 1
                untried[depth] = wins[item] & distances[length - depth]
                continue
            if n_found == found.shape[0]:
                found = np.concatenate((found, np.empty_like(found)))
            found[n_found] = path
            n_found += 1
            if n_found == limit:
                return found[:n_found]
    return found[:n_found]


@compiled
def label_groups(wins: Bits, losses: Bits) -> IntArray:
    """Return the strongly connected group of each item, numbered from the top down.

    Kosaraju's two searches; a row of unseen items makes each step N / 64 operations.
    """
    n_items, n_words = wins.shape
    unseen = np.full(n_words, ALL)
    stack, finished = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    n_finished = 0
    for root in range(n_items):
        depth = _enter(unseen, stack, 0, root)
        while depth > 0:
            item = _take_lowest(wins[stack[depth - 1]] & unseen, 0)
            if item >= 0:
                depth = _enter(unseen, stack, depth, item)
            else:
                depth -= 1
                finished[n_finished] = stack[depth]
                n_finished += 1
    labels = np.empty(n_items, np.int64)
    unseen[:] = ALL
    label = -1
    for root in finished[::-1]:
        depth = _enter(unseen, stack, 0, root)
        label += depth
        while depth > 0:
            depth -= 1
            item = stack[depth]
            labels[item] = label
            fresh = losses[item] & unseen
            above = _take_lowest(fresh, 0)
            while above >= 0:
                depth = _enter(unseen, stack, depth, above)
                above = _take_lowest(fresh, above)
    return labels


@compiled
def keep_within_groups(wins: Bits, losses: Bits) -> None:
    """Clear the edges between strongly connected groups: no cycle uses them."""
    n_items, n_words = wins.shape
    labels = label_groups(wins, losses)
    members = np.zeros((n_items, n_words), np.uint64)
    for item in range(n_items):
        members[labels[item], item // 64] |= ONE << np.uint64(item % 64)
    for item in range(n_items):
        wins[item] &= members[labels[item]]
        losses[item] &= members[labels[item]]


@compiled
def _enter(unseen: Bits, stack: IntArray, depth: int, item: int) -> int:
    """Put an unseen item on the stack and mark it as seen; return the new depth."""
    word, bit = item // 64, ONE << np.uint64(item % 64)
    if unseen[word] & bit == ZERO:
        return depth
    unseen[word] ^= bit
    stack[depth] = item
    return depth + 1


@compiled
def list_triangles(starts: IntArray, seconds: IntArray, limit: int) -> IntArray:
    """Return the triangles of a graph as triples of edges (ij, jk, ik), i < j < k.

    Edge e joins its first item i, ``starts[i] <= e < starts[i + 1]``, with ``seconds[e]``; edges
    are sorted by both items.  Stops after ``limit + 1`` triangles, to say that there are more.
    """
    found = np.empty((1024, 3), np.int64)
    n_found = 0
    for i in range(starts.size - 1):
        for ij in range(starts[i], starts[i + 1]):
            ik, jk = ij + 1, starts[seconds[ij]]
            while ik < starts[i + 1] and jk < starts[seconds[ij] + 1]:
                if seconds[ik] == seconds[jk]:
                    if n_found == found.shape[0]:
                        found = np.concatenate((found, np.empty_like(found)))
                    found[n_found] = (ij, jk, ik)
                    n_found += 1
                    if n_found > limit:
                        return found[:n_found]
                smaller = seconds[ik] <= seconds[jk]
                jk += seconds[jk] <= seconds[ik]
                ik += smaller
    return found[:n_found]


@compiled
def settle(price: FloatArray, order: IntArray) -> float:
    """Move single items to where they cost least until none moves; return what is still paid.

    `price[i, j]` is paid where i stands below j; `order` is changed in place.
    """
    n = len(order)
    moved = True
    while moved:
        moved = False
        for item in order.copy():
            here = 0
            while order[here] != item:
                here += 1
            least, there, change = -GAINED, here, 0.0
            for k in range(here - 1, -1, -1):
                change += price[order[k], item] - price[item, order[k]]
                if change < least:
                    least, there = change, k
            change = 0.0
            for k in range(here + 1, n):
                change += price[item, order[k]] - price[order[k], item]
                if change < least:
                    least, there = change, k
            if there == here:
                continue
            moved = True
            step = 1 if there > here else -1
            for k in range(here, there, step):
                order[k] = order[k + step]
            order[there] = item
    paid = 0.0
    for k in range(1, n):
        for above in range(k):
            paid += price[order[k], order[above]]
    return paid


def least_paid(gains: FloatArray, least: float) -> FloatArray:  # (n_matrices,)
    """Return what a near ranking of each skew-symmetric matrix pays for the pairs against it.

    A pair pays what its gain exceeds `least` by: nothing is paid if and only if no cycle of gains
    above that is there.  From the order by mean gain, single items are moved.
    """
    orders = np.argsort(-gains.sum(axis=2), axis=1)
    paid = [settle(np.maximum(gains[k] - least, 0.0), order) for k, order in enumerate(orders)]
    return np.array(paid)


def widest_cycle(values: FloatArray) -> float:
    """Return the largest number such that edges of at least as much lead round some cycle."""
    wide = values.copy()
    np.fill_diagonal(wide, -np.inf)
    for k in range(len(wide)):
        wide = np.maximum(wide, np.minimum(wide[:, k : k + 1], wide[k]))
    return float(wide.diagonal().max(initial=-np.inf))
