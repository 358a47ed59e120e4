"""Colours of the page as its style has them, and the steps of the heat map, mixed again."""

import re
from importlib.resources import files

import numpy as np

N_HEAT = 21
STYLE = (files("intransit.report.page") / "assets" / "themes.css").read_text(encoding="utf-8")


def themes():
    """Return the colours of the light theme and of both places of the dark one, by name."""
    blocks = re.findall(r"\{\s*color-scheme: \w+;([^}]*)\}", STYLE)
    return [dict(re.findall(r"--(\w+): (#\w+);", block)) for block in blocks]


LIGHT, DARK, DARK_BY_CHOICE = themes()


def heat_of(theme):
    """Return the steps of the heat map of a theme."""
    return [theme[f"h{step}"] for step in range(N_HEAT)]


def stops_of(theme):
    """Return the colours that the steps are mixed from."""
    return [theme[f"h{step}"] for step in (0, 5, 10, 15, 20)]


# Oklab (Ottosson 2020): linear light -> cones -> lightness and two opponents.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OPPONENTS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def read_colour(text):
    """Return red, green and blue of a colour, in linear light from 0 to 1."""
    shown = np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def write_colour(linear):
    """Return the colour of linear light as text; see `read_colour`."""
    light = np.clip(linear, 0, 1)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * value):02x}" for value in shown.tolist())


def mix_heat(stops):
    """Return N_HEAT colours through the stops, in steps that look equal."""
    labs = np.array([OPPONENTS @ np.cbrt(CONES @ read_colour(stop)) for stop in stops])
    places, wanted = np.linspace(0, 1, len(stops)), np.linspace(0, 1, N_HEAT)
    mixed = np.stack([np.interp(wanted, places, labs[:, axis]) for axis in range(3)], axis=1)
    linear = (mixed @ np.linalg.inv(OPPONENTS).T) ** 3 @ np.linalg.inv(CONES).T
    return [write_colour(row) for row in linear]
