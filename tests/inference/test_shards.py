"""A problem cut into shards: the same answer as in one piece, and as `smooth` gives."""

import json
from unittest import mock

import numpy as np
import pytest

import intransit as it
from intransit.data.cells import Rows, collapse_rows
from intransit.errors import InputError
from intransit.inference.joint_problem import Columns, Rise, Scales
from intransit.inference.observations import Observations
from intransit.inference.sampling import Effort
from intransit.inference.shards import folder as folders
from intransit.inference.shards.folder import (
    PROGRESS,
    RISE,
    Question,
    ShardFacts,
    write_arrays,
    write_shards,
)
from intransit.inference.shards.workers import (
    ActorMeeting,
    LocalWorkers,
    Placement,
    ShardedSolver,
    ThreadMeeting,
    WorkerLostError,
)
from intransit.inference.table_posterior import draw_posterior
from intransit.inference.trajectory import solve_timeline
from intransit.inference.walk_kernels import keyed_normals
from intransit.model import Model, Scores, Wins

N_ITEMS, N_MOMENTS = 60, 8
CASES = {
    "scores": {},
    "still": {"still": True},
    "levels and sides": {"kind": "ordered", "sided": True},
    "pairs": {"pair": 0.4},
    "a factor": {"r": 1},
    "two factors and pairs": {"r": 2, "pair": 0.3},
    "exposures that stay": {"r": 1, "fixed": True},
    "scores that rise": {"rising": 2},
    "scores that rise, and a factor": {"r": 1, "rising": 1},
}


def games(*, r=0, kind="logistic", sided=False, n=4000, seed=0, **_):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(N_ITEMS, size=(n, 2))
    pairs[:, 1] = (pairs[:, 0] + 1 + rng.integers(N_ITEMS - 1, size=n)) % N_ITEMS
    pairs = np.where(pairs == 7, 8, pairs)  # nobody has met item 7
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    i, j = pairs.T
    times = rng.integers(N_MOMENTS, size=len(i)).astype(float)
    sides = rng.integers(-1, 2, size=len(i)).astype(float) if sided else None
    scores, S, Q = (rng.normal(size=(N_ITEMS, k)) for k in (1, r, r))
    x = (scores[i] - scores[j])[:, 0] + np.sum(S[i] * Q[j] - S[j] * Q[i], axis=1)
    x += rng.logistic(size=len(i)) + (0.5 * sides if sided else 0.0)
    levels = np.sign(x) * (1.0 * (np.abs(x) > 0.5) + (np.abs(x) > 2.0))
    won = (x > 0).astype(float) if kind == "logistic" else levels
    return Rows(times, pairs, won, np.ones(len(i)), sides)


def scales_of(*, r=0, pair=0.0, still=False, fixed=False, **_):
    drift = 0.0 if still else 0.2
    moving = drift if r and not fixed else 0.0
    factors = drift if r else 0.0
    return Scales(1.0, factors, 1.0, moving, drift, 1.0, pair, 0.5 * pair * drift)


def question_of(case, **settings):
    return Question(
        case.get("kind", "logistic"),
        case.get("r", 0),
        scales_of(**case),
        seeks_side=case.get("sided", False),
        **settings,
    )


def write(folder, case, n_shards):
    rows, kind = games(**case), case.get("kind", "logistic")
    levels = kind == "ordered"
    cells = collapse_rows(rows, N_ITEMS, shares=not levels, levels=levels)
    facts = ShardFacts(kind, N_ITEMS, n_shards, cells.axis, rows.sides is not None, 2 * levels)
    by_moment = not case.get("still") and not case.get("pair")
    write_shards(folder, cells, facts, by_moment=by_moment)
    if "rising" in case:
        write_arrays(folder / RISE, vars(rise_of(case)))


def rise_of(case):
    return Rise.of(2.0 * np.random.default_rng(5).normal(size=(N_ITEMS, case.get("rising", 0))))


def solver_of(folder, case, n_shards, workers=LocalWorkers, **settings):
    if not folder.exists():
        write(folder, case, n_shards)
    return ShardedSolver(workers(folder), folder, question_of(case, **settings))


def states(told):
    """Return S and Q of all states, by key."""
    S = {key: row for part in told for key, row in zip(part[0].tolist(), part[2], strict=True)}
    Q = {key: row for part in told for key, row in zip(part[1].tolist(), part[3], strict=True)}
    return S, Q


def margins(solver):
    """Return margins between all items at their first states: the same for any gauge."""
    S, Q = states(solver.states())
    firsts = [min(k for k in S if k % N_ITEMS == item) for item in range(N_ITEMS)]
    A = np.array([S[k] for k in firsts])
    if solver.question.n_factors == 0:
        B = np.ones_like(A)
    else:
        B = np.array([Q.get(k, Q.get(k % N_ITEMS)) for k in firsts])
    return A @ B.T - B @ A.T


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_shards_gives_the_same_answer_and_the_same_draws(name, tmp_path):
    case, found, drawn = CASES[name], [], []
    for n_shards in (1, 3):
        solver = solver_of(tmp_path / str(n_shards), case, n_shards, tolerance=1e-2)
        solver.solve()
        found.append(margins(solver))
        told = solver.states()
        wide = [
            {
                key: row
                for part, (S, _, _) in zip(told, parts, strict=True)
                for key, row in zip(part[0].tolist(), S[:, :1], strict=True)
            }
            for parts in solver.draw(2, seed=3)
        ]
        drawn.append(np.array([[one[key] for key in sorted(one)] for one in wide]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    np.testing.assert_allclose(drawn[1], drawn[0], atol=1e-4 if "r" in case else 1e-6)


@pytest.mark.parametrize("name", ["scores", "still", "levels and sides", "pairs"])
def test_the_answer_is_that_of_smooth(name, tmp_path):
    """Both stop when next to nothing is left to gain; the law is settled to a thousandth."""
    case, rows, s = CASES[name], games(**CASES[name]), scales_of(**CASES[name])
    solver = solver_of(tmp_path / "2", case, 2, tolerance=1e-12)
    solver.solve()
    data = it.Timeline.from_arrays(
        *rows.pairs.T, rows.outcomes, rows.times, sides=rows.sides, n_items=N_ITEMS
    )
    path = it.smooth(
        data,
        loss=case.get("kind", "logistic"),
        drift_scale=s.score_drift_scale,
        prior_scale=1.0,
        pair_scale=s.pair_scale,
        pair_drift_scale=s.pair_drift_scale,
        tolerance=1e-12,
        rng=0,
    )
    S, _ = states(solver.states())
    wanted = path.problem.split(path.solution.z)[0]
    close = 1e-3 if "kind" in case else 1e-6
    np.testing.assert_allclose(np.array([S[key] for key in sorted(S)]), wanted, atol=close)


def test_scores_rise_as_much_as_in_one_process(tmp_path):
    case = CASES["scores that rise"]
    solver = solver_of(tmp_path / "2", case, 2, tolerance=1e-12)
    solver.solve()
    rows = games(**case)
    data = it.Timeline.from_arrays(*rows.pairs.T, rows.outcomes, rows.times, n_items=N_ITEMS)
    rise = rise_of(case)
    for columns, same in (
        (Columns.plain(N_ITEMS, 0, scores=True, rise=rise), True),
        (Columns.plain(N_ITEMS, 0, scores=True), False),
    ):
        path = solve_timeline(data, columns, solver.question.given)
        wanted = path.problem.split(path.solution.z)[0]
        S, _ = states(solver.states())
        found = np.array([S[key] for key in sorted(S)])
        assert np.allclose(found, wanted, atol=1e-6) == same


def test_cells_of_shards_stand_in_blocks_and_the_answer_is_the_same(tmp_path):
    """Blocks of five items stand for those of very many."""
    usual = solver_of(tmp_path / "usual", {}, 2, tolerance=1e-9)
    with mock.patch.object(folders, "NEARBY", 5):
        other = solver_of(tmp_path / "blocks", {}, 2, tolerance=1e-9)
    for shard in other.workers.shards:
        cells = shard.cells
        order = np.lexsort((*cells.pairs.T[::-1], cells.pairs[:, 1] // 5, cells.when))
        np.testing.assert_array_equal(order, np.arange(len(cells)))
    for solver in (usual, other):
        assert solver.solve().converged
    np.testing.assert_allclose(margins(other), margins(usual), atol=1e-6)


def test_draws_have_the_spread_of_the_posterior(tmp_path):
    case = CASES["scores"]
    solver = solver_of(tmp_path / "2", case, 2, tolerance=1e-6)
    solver.solve()
    drawn = np.array([np.concatenate([S[:, 0] for S, _, _ in d]) for d in solver.draw(300, 0)])
    keys = np.concatenate([part[0] for part in solver.states()])
    drawn = drawn[:, np.argsort(keys)]
    rows, s = games(**case), scales_of(**case)
    data = it.Timeline.from_arrays(*rows.pairs.T, rows.outcomes, rows.times, n_items=N_ITEMS)
    path = it.smooth(
        data, loss="logistic", drift_scale=s.score_drift_scale, prior_scale=1.0, tolerance=1e-6
    )
    wanted = path.sample(300, rng=0).states[: path.problem.cuts[0]].T
    spreads = [np.diff(one, axis=1).std(axis=0) for one in (drawn, wanted)]  # no gauge
    assert spreads[0].mean() == pytest.approx(spreads[1].mean(), rel=0.02)
    assert np.corrcoef(*spreads)[0, 1] > 0.9


class Interrupted(ThreadMeeting):
    """Ends, as if killed, when its shard meets the others for the n-th time."""

    def __init__(self, whole, counter, ends, error):
        super().__init__(whole.number, whole._table, whole._barrier)
        self.counter, self.ends, self.error = counter, ends, error

    def give(self, sent):
        self.counter[0] += 1
        if self.counter[0] in self.ends:
            raise self.error
        super().give(sent)


class Failing(LocalWorkers):
    """Loses a worker in the middle of things, time and again."""

    losses = (2, 15, 51, 90, 333, 650, 661, 1420)  # of meetings

    def __init__(self, folder):
        self.met = [0]
        super().__init__(folder)

    def new(self, number):
        shard = super().new(number)
        if number == 1:
            lost = WorkerLostError("gone")
            shard.exchange = Interrupted(shard.exchange, self.met, self.losses, lost)
        return shard

    def mend(self):
        super().mend()
        self.shards[1] = self.new(1)


@pytest.mark.parametrize("name", ["levels and sides", "two factors and pairs"])
def test_lost_workers_change_nothing(name, tmp_path):
    case = CASES[name]
    usual = solver_of(tmp_path / "usual", case, 2)
    usual.solve()
    failing = solver_of(tmp_path / "failing", case, 2, workers=Failing)
    assert failing.solve().n_losses > 3
    np.testing.assert_allclose(margins(failing), margins(usual), atol=1e-9)


class Measuring(LocalWorkers):
    """Notes the shapes of all arrays that are sent."""

    def __init__(self, folder):
        self.messages = []
        super().__init__(folder)

    def new(self, number):
        shard = super().new(number)
        swap = shard.exchange.swap

        def noted(sent):
            self.messages += [[part.shape[1:] for part in message] for message in sent]
            return swap(sent)

        shard.exchange.swap = noted
        return shard


@pytest.mark.parametrize(("name", "n_columns"), [("scores", 1), ("two factors and pairs", 3)])
def test_messages_have_a_row_of_a_block_at_most_and_known_exposures_are_not_sent(
    name, n_columns, tmp_path
):
    solver = solver_of(tmp_path / "2", CASES[name], 2, workers=Measuring)
    solver.solve()
    messages = solver.workers.messages
    assert max(shape[0] for message in messages for shape in message if shape) == n_columns
    assert max(map(len, messages)) == (1 if name == "scores" else 2)


@pytest.mark.parametrize("apart", [False, True])
def test_messages_arrive_as_they_were_on_one_machine_and_on_two(apart):
    meetings = [ActorMeeting(k, 2, "", "word") for k in range(2)]
    stranger = ActorMeeting(1, 2, "", "another word")
    addresses = [(*m.address[:2], f"{k}" if apart else "") for k, m in enumerate(meetings)]
    for k, meeting in enumerate(meetings):
        meeting.address = addresses[k]
    for meeting in (stranger, *meetings):
        meeting.begin(1, addresses)
    for turn in range(4):
        for k, meeting in enumerate(meetings):
            rows = meeting.room(1 - k, 0, (10_000, 2))
            assert (rows.base is None) == apart
            rows[:] = 10 * turn + k
            meeting.give([[np.arange(turn), rows]] * 2)
        for meeting in meetings:
            for k, (few, rows) in enumerate(meeting.take_all()):
                np.testing.assert_array_equal(few, np.arange(turn))
                assert rows.shape == (10_000, 2)
                assert (rows == 10 * turn + k).all()
    for meeting in meetings:
        meeting.stop(1)
        with pytest.raises(WorkerLostError):
            meeting.take_all()


class Stopping(LocalWorkers):
    """A driver that is killed after so many meetings."""

    def __init__(self, folder, most):
        self.most = most
        super().__init__(folder)

    def new(self, number):
        shard = super().new(number)
        if number == 1:
            shard.exchange = Interrupted(shard.exchange, [0], (self.most,), KeyboardInterrupt())
        return shard


@pytest.mark.parametrize("most", [9, 60, 150, 400, 900])
def test_a_driver_goes_on_from_what_is_kept(most, tmp_path):
    case = CASES["a factor"]
    usual = solver_of(tmp_path / "usual", case, 2)
    usual.solve()
    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        solver_of(folder, case, 2, workers=lambda place: Stopping(place, most)).solve()
    again = solver_of(folder, case, 2)
    again.solve()
    np.testing.assert_array_equal(margins(again), margins(usual))
    finished = json.loads((folder / PROGRESS).read_text())["progress"]
    assert finished["n_steps"] == usual.progress.n_steps


def test_another_question_needs_another_folder(tmp_path):
    solver_of(tmp_path / "one", CASES["scores"], 1).solve()
    with pytest.raises(InputError, match="another question"):
        solver_of(tmp_path / "one", CASES["still"], 1)


def test_a_posterior_found_elsewhere_is_kept_and_like_that_of_one_process(tmp_path):
    rows = games()
    seen = Observations.of(rows, "logistic", N_ITEMS)
    model, few = Model((Scores(),)), Effort(effective=10.0, seconds=1.0, most_draws=40)
    found = []
    for _ in range(2):
        place = Placement("here", workers=2, keep=tmp_path / "keep")
        rng = np.random.default_rng(0)
        found.append(draw_posterior(seen, model, Wins(), few, rng=rng, placement=place))
    np.testing.assert_array_equal(found[0].draws.states, found[1].draws.states)
    whole = draw_posterior(seen, model, Wins(), few, rng=np.random.default_rng(0))
    i, j = np.triu_indices(N_ITEMS, 1)
    at = np.full(len(i), float(N_MOMENTS - 1))
    met = (i != 7) & (j != 7)
    gap = found[0].chances(i, j, at).mean(axis=0) - whole.chances(i, j, at).mean(axis=0)
    assert np.abs(gap[met]).max() < 0.15
    assert np.sqrt(np.mean(gap[met] ** 2)) < 0.04


def test_noise_belongs_to_its_key():
    keys = np.arange(20_000)
    noise = keyed_normals(keys, 1, 2)
    np.testing.assert_array_equal(keyed_normals(keys[::-1], 1, 2), noise[::-1])
    other = keyed_normals(keys, 1, 3)
    assert abs(noise.mean()) < 0.03
    assert noise.std() == pytest.approx(1.0, abs=0.03)
    assert abs(np.corrcoef(noise, other)[0, 1]) < 0.03
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.03
