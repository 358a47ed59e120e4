"""Sums over long vectors, and rows in another order, compiled.

Beside loops that run for microseconds a library's threads cost more than they bring: starting
them took ten times as long as the whole of an iteration of conjugate gradients.
"""

from intransit.arrays import FloatArray, IntArray
from intransit.core.compiled import compiled


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
def put_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Write each row (n, k) at its place."""
    for n in range(rows.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[m, k] = rows[n, k]


@compiled
def take_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Write the rows (n, k) found at the places: what undoes `put_rows`."""
    for n in range(place.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[n, k] = rows[m, k]


@compiled
def take_part(rows: FloatArray, place: IntArray, first: int, out: FloatArray) -> None:
    """Write columns, from the first on, of the rows found at the places: out is (n, k)."""
    for n in range(place.shape[0]):
        m = place[n]
        for k in range(out.shape[1]):
            out[n, k] = rows[m, first + k]


@compiled
def put_part(part: FloatArray, place: IntArray, first: int, out: FloatArray) -> None:
    """Write each row (n, k) at its place, into columns from the first on."""
    for n in range(part.shape[0]):
        m = place[n]
        for k in range(part.shape[1]):
            out[m, first + k] = part[n, k]


@compiled
def add_part(part: FloatArray, place: IntArray, first: int, out: FloatArray) -> None:
    """Add each row (n, k) at its place, to columns from the first on."""
    for n in range(part.shape[0]):
        m = place[n]
        for k in range(part.shape[1]):
            out[m, first + k] += part[n, k]
