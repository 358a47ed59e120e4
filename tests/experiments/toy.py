"""A small experiment for tests, and a process to run it in."""

import time
from pathlib import Path

from intransit.experiments import Check, Claim, Experiment, TrialValue, axis


def measure(point, rng, options):
    """One normal number a trial, moved by the point."""
    yield TrialValue("normal", "value", point.x + rng.normal())
    yield TrialValue("normal", "missing", float("inf"))
    if options.wants("newton"):
        yield TrialValue("uniform", "value", rng.random(), x=7.0, facet="extra")


def measure_slowly(point, rng, options):
    """The same, but long enough to be interrupted."""
    time.sleep(0.4)
    yield from measure(point, rng, options)


def draw(figure, table):
    axes = figure.subplots()
    series = table.series("value", "normal")
    axes.plot(series.x, series.mean)


def judge(table):
    mean = float(table.series("value", "normal").mean[0])
    return [
        Claim("A <b>mean</b> is near 1.", (Check(f"it is {mean:.3f} & more", abs(mean - 1) < 9),))
    ]


def toy(measure=measure, **changes):
    settings = {
        "name": "toy",
        "title": "A <toy>",
        "figure": "none",
        "settings": {"a": 1},
        "points": axis(1.0, 2.0, 3.0),
        "draw": draw,
        "judge": judge,
        "extras": ("newton",),
        "chunk": 2,
    }
    return Experiment(measure=measure, **(settings | changes))


HERE = Path(__file__).parent
