"""The games of the price-guessing contest, played one by one and added up, never kept.

A game has a price P uniform on [0, 1] and two guesses from Beta distributions.  The player
closest to the price without going over wins.  Two ways to score a game for the pair (i, j):

    fair      +P when i wins, -P when j wins, 0 when both guesses go over: nobody wins
    literal   +P when i wins, -P otherwise: both over counts for j
"""

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.kernels import compiled

FLOOR = 0.1  # parameters are reflected here


@compiled
def play(
    rng: np.random.Generator,
    shapes: FloatArray,  # (n_players, 2): a and b of each player's Beta distribution
    pairs: IntArray,  # (n_pairs, 2)
    n_games: int,
    fair: FloatArray,  # (n_pairs,): out, mean score of a game
    literal: FloatArray,  # (n_pairs,): out, the same by the other rule
    squares: FloatArray,  # (n_pairs,): out, mean square of the fair score
) -> None:
    """Play n_games between the players of each pair."""
    for p in range(len(pairs)):
        i, j = pairs[p]
        by_rules, as_written, squared = 0.0, 0.0, 0.0
        for _ in range(n_games):
            price = rng.random()
            first = rng.beta(shapes[i, 0], shapes[i, 1])
            second = rng.beta(shapes[j, 0], shapes[j, 1])
            if first > price and second > price:
                as_written -= price
            elif second > price or second < first <= price:
                by_rules += price
                as_written += price
                squared += price * price
            else:
                by_rules -= price
                as_written -= price
                squared += price * price
        fair[p] = by_rules / n_games
        literal[p] = as_written / n_games
        squares[p] = squared / n_games


@compiled
def play_days(
    rng: np.random.Generator,
    shapes: FloatArray,  # (n_players, 2): of the first day; left as those of the last day
    step: float,
    pairs: IntArray,  # (n_pairs, 2)
    n_games: int,
    fair: FloatArray,  # (n_days, n_pairs): out
    literal: FloatArray,  # (n_days, n_pairs): out
    squares: FloatArray,  # (n_days, n_pairs): out
) -> None:
    """Play n_games a pair a day, the players' parameters moving from day to day."""
    for day in range(len(fair)):
        if day > 0:
            for i in range(len(shapes)):
                for k in range(2):
                    moved = shapes[i, k] + step * rng.standard_normal()
                    shapes[i, k] = FLOOR + abs(moved - FLOOR)
        play(rng, shapes, pairs, n_games, fair[day], literal[day], squares[day])
