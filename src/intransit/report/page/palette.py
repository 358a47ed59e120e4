"""Colours of the page, light and dark: ink and paper, one accent, two hues for more and less.

Blue and orange are told apart with any colour vision.  Steps of the heat map are mixed in
Oklab, in which equal steps look equal.
"""

import numpy as np

from intransit.arrays import FloatArray

N_HEAT = 21  # steps from the least to the greatest chance; the middle one is a half

LIGHT = {
    "paper": "#faf9f6",
    "surface": "#ffffff",
    "sunken": "#f1efe9",
    "ink": "#1c1e22",
    "soft": "#5a5f68",
    "line": "#dfdcd4",
    "accent": "#1f5a9e",
    "tint": "#e6eef7",
    "less": "#a5480c",
    "s0": "#1f5a9e",
    "s1": "#c2571a",
    "s2": "#16805f",
    "s3": "#8a48a6",
    "s4": "#94720a",
    "s5": "#bf3a60",
    "s6": "#4d6b7a",
    "s7": "#7b5a3c",
}
DARK = {
    "paper": "#131519",
    "surface": "#1a1d22",
    "sunken": "#22262c",
    "ink": "#eae8e3",
    "soft": "#a4a9b2",
    "line": "#31353d",
    "accent": "#8fb9f5",
    "tint": "#1f2c3f",
    "less": "#f3a76a",
    "s0": "#8fb9f5",
    "s1": "#f3a76a",
    "s2": "#63cfae",
    "s3": "#d09ceb",
    "s4": "#dfc05a",
    "s5": "#fb8fa9",
    "s6": "#a3bdc9",
    "s7": "#ccab8a",
}
LIGHT_HEAT = ("#9a3f06", "#e08a45", "#e4dfd3", "#6ea3dc", "#174b8c")
DARK_HEAT = ("#ffb877", "#a65a20", "#3b4048", "#2f67ab", "#9cc8ff")

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


def read_colour(text: str) -> FloatArray:  # (3,)
    """Return red, green and blue of a colour, in linear light from 0 to 1."""
    shown = np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear: FloatArray = np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
    return linear


def write_colour(linear: FloatArray) -> str:
    """Return the colour of linear light as text; see `read_colour`."""
    light = np.clip(linear, 0, 1)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * value):02x}" for value in shown.tolist())


def mix_heat(stops: tuple[str, ...]) -> list[str]:
    """Return N_HEAT colours through the stops, in steps that look equal."""
    labs = np.array([OPPONENTS @ np.cbrt(CONES @ read_colour(stop)) for stop in stops])
    places, wanted = np.linspace(0, 1, len(stops)), np.linspace(0, 1, N_HEAT)
    mixed = np.stack([np.interp(wanted, places, labs[:, axis]) for axis in range(3)], axis=1)
    linear = (mixed @ np.linalg.inv(OPPONENTS).T) ** 3 @ np.linalg.inv(CONES).T
    return [write_colour(row) for row in linear]


def write_themes() -> str:
    """Return the CSS variables of both themes, and the classes of the heat map's steps."""
    light = _variables(LIGHT, mix_heat(LIGHT_HEAT), "light")
    dark = _variables(DARK, mix_heat(DARK_HEAT), "dark")
    series = [f".s{k}{{--series:var(--s{k})}}" for k in range(8)]
    heat = [f".h{step}{{fill:var(--h{step})}}" for step in range(N_HEAT)]
    follows = ':root:not([data-theme="light"])'  # the system, unless somebody asked for light
    return "\n".join(
        [
            f":root{{{light}}}",
            f"@media screen and (prefers-color-scheme:dark){{{follows}{{{dark}}}}}",
            f'@media screen{{:root[data-theme="dark"]{{{dark}}}}}',
            "".join(series),
            "".join(heat),
        ]
    )


def _variables(colours: dict[str, str], heat: list[str], scheme: str) -> str:
    """Return the declarations of one theme."""
    named = [f"--{key}:{value}" for key, value in colours.items()]
    steps = [f"--h{step}:{value}" for step, value in enumerate(heat)]
    return ";".join([f"color-scheme:{scheme}", *named, *steps])
