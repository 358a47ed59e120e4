"""Figures, frames and the notebook view of an answer."""

import importlib.util
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import intransit as it
from intransit.analysis import standings
from intransit.model import Model, Scores
from intransit.report import figures as drawing
from tests.backtest.seasons import season, table

NASTY = "<b>$x$ & long name that will not fit anywhere"


@pytest.fixture(scope="module")
def answer():
    return it.fit(table(season(n_games=300)), model=Model((Scores(),)), effective=20)


@pytest.fixture(scope="module")
def static():
    games = it.Games.from_arrays(
        [NASTY, "item"] * 20, ["b", "b"] * 20, [1, 0, 1, 0, 0, 1, 1, 0] * 5
    )
    return it.fit(games, effective=5)


def saved(figure, tmp_path):
    figure.savefig(tmp_path / "figure.png")
    return (tmp_path / "figure.png").stat().st_size > 5_000


def test_the_matrix_is_drawn_strongest_first(answer, tmp_path):
    figure = drawing.draw_matrix(answer)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [s.name for s in answer.rank()]
    shown = figure.axes[0].images[0].get_array()
    first, last = answer.number(labels[0]), answer.number(labels[-1])
    assert shown[0, -1] == pytest.approx(answer.matrix()[first, last])
    assert saved(figure, tmp_path)


def test_items_and_times_can_be_chosen_and_names_are_cut_short(answer, static, tmp_path):
    figure = drawing.draw_matrix(answer, at="2024-03-01", items=["b", "a"])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["b", "a"]
    assert saved(drawing.draw_matrix(static), tmp_path)
    assert drawing.shorten(NASTY) == r"<b>\$x\$ & long…nywhere"


def test_strengths_have_a_panel_each_with_a_band_around_the_line(answer, tmp_path):
    figure = drawing.draw_strengths(answer, items=["f", "a", "b", "c", "d"])
    seen = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in seen] == ["f", "a", "b", "c", "d"]
    assert saved(figure, tmp_path)
    found = standings.strength_paths(answer, ["f", "a"])
    assert np.all(found.low <= found.strengths)
    assert np.all(found.strengths <= found.high)
    assert np.all(found.strengths[0] > found.strengths[1])


def test_head_to_head_goes_beyond_the_last_game_and_widens(answer, tmp_path):
    figure = drawing.draw_head_to_head(answer, "f", "a")
    axis = figure.axes[0]
    assert axis.get_title(loc="left") == "f against a"
    assert "they met" in axis.get_xlabel()
    known, forecast = axis.lines[:2]
    end = np.datetime64("1970-01-01") + int(answer.seen.end)
    assert forecast.get_xdata()[-1] > end >= known.get_xdata()[-1]
    assert np.all((known.get_ydata() > 0.5) & (known.get_ydata() < 1.0))
    assert saved(figure, tmp_path)


def test_questions_without_sense_are_refused(answer, static):
    with pytest.raises(it.InputError, match="cannot meet itself"):
        drawing.draw_head_to_head(answer, "a", "a")
    for draw in (drawing.draw_strengths, lambda a: drawing.draw_head_to_head(a, "b", "item")):
        with pytest.raises(it.InputError, match="at one time"):
            draw(static)
    with pytest.raises(it.InputError, match="items"):
        drawing.draw_matrix(answer, items=["a"])


@pytest.mark.parametrize(("backend", "library"), [(None, pd), ("pandas", pd), ("polars", pl)])
def test_frames_hold_what_the_answer_says(answer, backend, library):
    matrix = standings.matrix_frame(answer, backend=backend)
    assert isinstance(matrix, library.DataFrame)
    assert list(matrix.columns) == ["item", *answer.names]
    values = np.array(matrix[list(answer.names)])
    np.testing.assert_array_equal(values, answer.matrix())
    np.testing.assert_array_equal(values + values.T, 1.0)
    ranks = standings.rank_frame(answer, backend=backend)
    assert list(ranks["name"]) == [s.name for s in answer.rank()]
    path = standings.path_frame(answer, ["a", "f"], backend=backend)
    assert list(path.columns) == ["item", "time", "strength", "low", "high"]
    assert len(path) == 2 * len(set(path["time"]))
    assert str(max(path["time"]))[:10] == answer.clock.to_text(answer.seen.end)


def test_a_frame_of_an_item_called_item(static):
    assert standings.matrix_frame(static).columns[0] == "item_"


def test_without_a_library_for_frames_a_sentence_says_so(answer, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(it.MissingDependencyError, match="pip install pandas"):
        standings.rank_frame(answer)
    with pytest.raises(it.MissingDependencyError, match="pip install polars"):
        standings.rank_frame(answer, backend="polars")


def test_the_notebook_view_escapes_names_and_stays_short(static):
    page = standings.html(static)
    assert "&lt;b&gt;" in page
    assert NASTY not in page
    assert len(re.findall("<tr>", page)) == 4
    assert len(page) < 3000
