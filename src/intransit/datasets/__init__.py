"""Data that come with the library, with their truth: a table of facts, and a metagame."""

from intransit.datasets.metagame import metagame
from intransit.datasets.pokemon import Hidden, Score, TypeChart, hide, pokemon_types

__all__ = ["Hidden", "Score", "TypeChart", "hide", "metagame", "pokemon_types"]
