"""Figures of cycles, planes, changes and the equilibrium."""

import numpy as np
import pytest

import intransit as it
from intransit.analysis.cycles import Cycles, ItemCycle
from intransit.report import figures as drawing
from intransit.report import gather
from intransit.study import canonical_planes, decompose
from tests.analysis.worlds import answer_to, ladder, play, ring, table

NASTY = ["$a$ <b>", "b" * 500, "مرحبا", "d_{1}", "e"]


@pytest.fixture(scope="module")
def circle():
    """Five items around a circle that grows, with names that are hard to write."""
    rng = np.random.default_rng(0)
    parts = [play(ring(5, size), 900, rng, days=10, begin=b) for size, b in ((0.8, 0), (1.6, 10))]
    answer = answer_to(table(*parts, names=NASTY))
    assert answer.transitive.has_cycles
    return answer


@pytest.fixture(scope="module")
def rank():
    """Three items on a ladder."""
    rng = np.random.default_rng(1)
    return answer_to(table(play(ladder([1.0, 0.0, -1.0]), 300, rng, days=10)), pairs=False)


def words(figure):
    """Return all that is written in a figure."""
    return " ".join(
        text.get_text() for text in figure.findobj(match=lambda a: hasattr(a, "get_text"))
    )


def saved(figure, tmp_path):
    figure.savefig(tmp_path / "figure.png")
    return (tmp_path / "figure.png").stat().st_size > 5_000


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ["cycles", "discs", "changes", "equilibrium"])
def test_every_figure_is_drawn_with_short_names(circle, tmp_path, name):
    """Figures come from the answer by name, are saved, and write no name in full that is long."""
    figure = getattr(circle, f"figure_{name}")()
    assert saved(figure, tmp_path)
    assert "b" * 60 not in words(figure)


def test_a_graph_has_an_arrow_for_each_edge_and_says_how_sure_cycles_are(circle):
    """Arrows are the distinct edges of the cycles that are shown; each cycle has a line."""
    figure = circle.figure_cycles()
    shown = circle.cycles().found[: drawing.MOST_CYCLES]
    edges = {(c.items[k - 1], c.items[k]) for c in shown for k in range(len(c.items))}
    arrows = [t for t in figure.axes[0].texts if getattr(t, "arrow_patch", None) is not None]
    assert len(arrows) == len(edges)
    assert len(figure.axes[1].texts) == len(shown)
    assert f"{100 * shown[0].probability:.1f} % sure" in words(figure)


def test_a_table_without_cycles_gets_a_picture_that_says_so(rank, tmp_path):
    """Nothing is drawn where nothing was found, but why."""
    figure = rank.figure_cycles()
    assert "No cycle is listed" in words(figure).replace("\n", " ")
    assert saved(figure, tmp_path)


def test_a_plane_is_favoured_anticlockwise(circle):
    """Twice the area between two points is the margin beyond strengths, anticlockwise."""
    axis = circle.figure_discs().axes[0]
    dots = [line for line in axis.lines if line.get_marker() == "o" and len(line.get_xdata())]
    (points,) = [np.array(line.get_xydata()) for line in dots]
    x, y = points.T
    plane = canonical_planes(decompose(circle.margins()).cyclic)[0]
    order = np.argsort(-plane.radii, kind="stable")
    turn = x[:, None] * y[None, :] - y[:, None] * x[None, :]
    np.testing.assert_allclose(turn, plane.margins[np.ix_(order, order)], atol=1e-9)
    assert "beats" in words(axis.figure)


def test_a_ranking_has_no_counters(rank):
    """Where the page shows no circles, as of a table without evidence of any, no figure does."""
    told = gather(rank).discs_note
    assert "anybody counters anybody beyond what strengths say" in told
    assert told in words(rank.figure_discs()).replace("\n", " ")


def test_of_strangers_a_matrix_has_no_chance_and_its_caption_fits():
    """A half between items that no comparison connects would be a forecast."""
    games = it.Games.from_arrays(["a", "c"] * 9, ["b", "d"] * 9, [1, 1, 0, 1, 1, 0] * 3)
    figure = it.fit(games, effective=10).figure_matrix()
    written = [text.get_text() for text in figure.axes[0].texts]
    assert len(written) == 4
    figure.draw_without_rendering()
    caption = figure.axes[1].xaxis.label.get_window_extent()
    assert caption.x0 >= 0.0
    assert caption.x1 <= figure.bbox.x1


def test_changes_of_a_static_table_are_told_in_words():
    """A figure of changes without any says why."""
    rng = np.random.default_rng(2)
    still = answer_to(table(play(ring(3), 200, rng, days=10)), drifting=False)
    assert "no change can be seen" in words(still.figure_changes())


def test_graphs_stay_readable():
    """At most six cycles, and no more items than a circle has room for."""
    cycles = [
        ItemCycle(tuple(f"{k} {j}" for j in range(3)), 0.95, (1.0,) * 3, (0.6,) * 3, 0, "", ())
        for k in range(10)
    ]
    kept = drawing._that_fit(cycles)
    assert len(kept) == 4
    assert kept == cycles[:4]


def test_chances_of_neighbouring_arrows_do_not_hide_each_other():
    """Arrows that go round one way and the other once ran, and were written, over each other."""
    rings = ((0, 1, 2, 3), (3, 4, 5), (5, 6, 7), (8, 2, 6, 7), (0, 5, 3), (9, 7, 8))
    found = tuple(
        ItemCycle(tuple(f"n{k}" for k in ring), 0.97, (0.98,) * 4, (0.6,) * 4, 0, "", ())
        for ring in rings
    )
    graph = drawing.draw_cycles(Cycles("", 0.9, found, 6, 0.0, ("",), "")).axes[0]
    spots = np.array([one.get_position() for one in graph.texts if one.get_text() == "60 %"])
    apart = np.hypot(*(spots[:, None] - spots).transpose(2, 0, 1)) + 9.0 * np.eye(len(spots))
    assert len(spots) == 16
    assert apart.min() > 0.15
