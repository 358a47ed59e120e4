"""Randomness at the door: what the user gave as `rng`, as a generator and a seed to repeat."""

import numpy as np

from intransit.core.inputs import shown
from intransit.errors import InputError


def open_rng(rng: np.random.Generator | int | None) -> tuple[np.random.Generator, int | None]:
    """Return a generator, and the seed that repeats it (None for a generator of the user's own)."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    elif isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(
            f"rng: {shown(rng)} was given; pass a whole number from 0, a numpy Generator, or None."
        )
    return np.random.default_rng(int(rng)), int(rng)


def open_seed(rng: np.random.Generator | int | None) -> int:
    """Return a seed: the one that was given, or one that the user's own generator draws."""
    generator, seed = open_rng(rng)
    return int(generator.integers(2**32)) if seed is None else seed
