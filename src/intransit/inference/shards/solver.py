"""Newton's method on a joint problem that is cut into shards, wherever they run.

What is minimised is what `smooth` minimises (`core.joint`), by the same steps: damped Newton with
the whole Hessian, conjugate gradients, each item's chain as preconditioner, the gauge balanced in
closed form.  States stay with the shards; the driver sees sums alone.

Every step that is taken is kept in a folder, by each shard its own states.  So a worker that is
lost costs the step that was under way, and a driver that is lost is followed by one that goes on
from there; in both cases the answer is the same.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from intransit.arrays import FloatArray
from intransit.data.cells import Chains
from intransit.errors import InputError, IntransitError
from intransit.inference.assembly import sides_of
from intransit.inference.descent import GIVE_UP_DAMPING, LEAST_DAMPING
from intransit.inference.gauge import best_mixing
from intransit.inference.joint_fit import MOST_TURNS, SETTLED, plain_columns
from intransit.inference.joint_newton import (
    ACCURACY,
    CONVEX_DAMPING,
    ROUGHLY,
    START_DAMPING,
    WARM_ACCURACY,
    WARM_DAMPING,
)
from intransit.inference.joint_problem import FactorStates
from intransit.inference.laplace import ACCURACY as DRAW_ACCURACY
from intransit.inference.laplace import DRAWN, ROUNDS
from intransit.inference.likelihood import Law, best_cuts, best_side, far, first_cuts
from intransit.inference.sampling import Report
from intransit.inference.shards.sharding import (
    Progress,
    Question,
    Step,
    WorkerLostError,
    Workers,
    read_facts,
    write_text,
)
from intransit.inference.starts import N_POWERS
from intransit.skew import canonical_form

PROGRESS = "progress.json"
SPARE = 2  # vectors of the power method beyond those wanted
MOST_PROBES = 50  # draws that tell how much the data determine
MOST_LOSSES = 100  # of workers in a row, without a step between
DRAWS_AT_ONCE = 4  # draws that share their rounds

T = TypeVar("T")


class ShardedSolver:
    """Solves one question, step by step, and draws around the solution."""

    def __init__(
        self, workers: Workers, folder: Path, question: Question, report: Report = lambda _: None
    ) -> None:
        self.workers, self.folder, self.question, self.report = workers, folder, question, report
        self.facts = read_facts(folder)
        shape = question.shape
        if shape.moving and not shape.drifting:
            raise InputError("on: exposures that drift need strengths that drift.")
        self.progress = self._resume()
        self.sizes: list[dict[str, int]] = []
        self._safely(self._set_up)

    # Keeping, and going on ---------------------------------------------------------------------

    def _resume(self) -> Progress:
        place = self.folder / PROGRESS
        asked = json.loads(json.dumps(asdict(self.question)))
        if place.exists():
            told = json.loads(place.read_text(encoding="utf-8"))
            if told["question"] != asked:
                raise InputError(
                    f"keep: {self.folder} holds another question's progress; give another folder, "
                    "or remove it."
                )
            return Progress(**told["progress"])
        return Progress(held=self.question.scales.prior_scale)

    def _write(self) -> None:
        told = {"question": asdict(self.question), "progress": asdict(self.progress)}
        write_text(self.folder / PROGRESS, json.dumps(told))

    def _set_up(self) -> None:
        """Bring all shards to what is kept."""
        shape = self.question.shape
        self.sizes = self.workers.run(("ask", {"shape": shape}), ("link", {}))
        if self.question.kind == "ordered" and not self.progress.cuts:
            self.progress.cuts = list(first_cuts(self._sum("often")))
        self._believe()
        if self.progress.kept:
            self.workers.run(("restore", {"name": self.progress.kept}))
        else:
            self.workers.run(("start", {}))
        self._value()
        self.workers.run(("accept", {}))

    def _refresh(self) -> None:
        """Look at the same states with what is believed now."""
        self._believe()
        self._value()
        self.workers.run(("accept", {}))

    def _believe(self) -> None:
        p, q = self.progress, self.question
        law = Law(q.kind, tuple(p.cuts), p.advantage)
        settings = {"scales": q.scales, "law": law, "held": p.held, "with_factors": p.with_factors}
        self.workers.run(("believe", settings))

    def _safely(self, work: Callable[[], T]) -> T:
        """Do some work that begins at what is kept; if a worker is lost, begin again."""
        for _ in range(MOST_LOSSES):
            try:
                return work()
            except WorkerLostError as lost:
                last = str(lost)
                self.progress.n_losses += 1
                self.report("a worker was lost: starting another")
                self._mend()
        said = last.splitlines()[0]
        raise IntransitError(
            f"on: workers were lost {MOST_LOSSES} times in a row; the last: {said}"
        )

    def _mend(self) -> None:
        for _ in range(MOST_LOSSES):
            try:
                self.workers.mend()
                self._set_up()
                return
            except WorkerLostError:
                self.progress.n_losses += 1
        raise IntransitError("on: workers cannot be started again; see the logs of Ray.")

    def _keep(self) -> None:
        """Keep the states under a new name; the progress that names them is written later."""
        name = f"step-{self.progress.n_steps % 2}-{len(self.progress.finished)}"
        if name == self.progress.kept:
            name = f"again-{name}"
        self.workers.run(("keep", {"name": name}))
        self._name = name

    def _kept(self) -> None:
        """Write down that the states are kept, and let older ones go."""
        before, self.progress.kept = self.progress.kept, self._name
        self._write()
        if before and before != self._name:
            for number in range(self.facts.n_shards):
                (self.folder / f"{before}-{number}.npz").unlink(missing_ok=True)

    # Sums --------------------------------------------------------------------------------------

    def _sum(self, method: str, **settings: Any) -> Any:
        """Run a round, and return the sum of its reports (or of each entry of them)."""
        return _added(self.workers.run((method, settings)))

    def _value(self) -> float:
        return float(_added(self.workers.run(("show", {"trial": False}), ("look", {})))[0])

    # Solving -----------------------------------------------------------------------------------

    @property
    def _convex(self) -> bool:
        return not self.progress.with_factors

    def solve(self) -> Progress:
        """Find all states; scores first, then factors, then the law, then the gauge."""
        q, p = self.question, self.progress
        if q.n_factors == 0:
            self._stage("scores", q.tolerance)
        else:
            self._stage("scores", 1.0)
            rough = max(q.tolerance, ROUGHLY)
            self._stage("factors", rough, prepare=self._start_factors)
        self._settle()
        for k in range(ROUNDS if q.n_factors else 0):
            self._stage(f"gauge {k + 1}", q.tolerance, prepare=self._move, warm=True)
        if p.held != q.scales.prior_scale:  # it held exposures for the gauge alone
            p.held = q.scales.prior_scale
            self._safely(self._set_up)
            self._write()
        return p

    def _stage(
        self,
        name: str,
        tolerance: float,
        *,
        prepare: Callable[[], bool] | None = None,
        warm: bool = False,
    ) -> bool:
        """Go downhill until less than the tolerance is left; return whether there was need to.

        What prepares a stage says so.  Until the stage begins, nothing that it did counts: should
        a worker be lost, it is done again.
        """
        p = self.progress
        if name in p.finished:
            return True
        if p.stage != name:
            value = self._safely(lambda: self._open(prepare))
            if value is None:
                return False
            p.stage, p.damping, p.objectives = name, -1.0, [value]
            self._kept()
        converged = False
        while len(p.objectives) <= self.question.max_steps:
            more, converged = self._safely(lambda: self._step(tolerance, warm))
            p.objectives += [more.objective] if more.moved else []
            p.damping = more.damping
            p.n_products += more.n_products
            if more.moved:
                p.n_steps += 1
                self._kept()
            self.report(f"{name}: step {len(p.objectives) - 1}, {p.objectives[-1]:.1f}")
            if converged:
                break
        p.converged = p.converged and converged
        self._finish(name)
        return True

    def _open(self, prepare: Callable[[], bool] | None) -> float | None:
        if prepare is not None and not prepare():
            return None
        value = self._value()
        self._keep()
        return value

    def _finish(self, name: str) -> None:
        self.progress.finished.append(name)
        self._write()

    def _step(self, tolerance: float, warm: bool) -> tuple["_Step", bool]:
        """Take one step, as `descent` does; return it, and whether it is the last."""
        p, begin = self.progress, self.progress.objectives[-1]
        size, trace, n = _added(self.workers.run(("pull", {"exact": True}), ("collect", {})))
        del size
        scale = float(trace / max(n, 1)) or 1.0
        accuracy = WARM_ACCURACY if warm and self._convex else ACCURACY
        damping, growth, n_products = p.damping, 2.0, 0
        if damping < 0:
            first = WARM_DAMPING if warm else START_DAMPING
            damping = (CONVEX_DAMPING if self._convex else first) * scale
        while True:
            n_products += self._solve_system(damping, accuracy)
            along, size = _added(self.workers.run(("show", {"trial": True})))
            there = float(_added(self.workers.run(("look", {})))[0])
            if there < begin:
                break
            damping, growth = damping * growth, growth * 2.0
            if not damping <= GIVE_UP_DAMPING * scale:
                return _Step(False, begin, damping, n_products), True
        self.workers.run(("accept", {}))
        foretold = 0.5 * (damping * size - along)
        gain = (begin - there) / foretold if foretold > 0 else 0.0
        damping *= max(0.1, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        damping = max(damping, LEAST_DAMPING * scale)
        there = self._balance(there)
        self._keep()
        gains = [np.inf, *(-np.diff([*p.objectives, there]))]
        enough = tolerance if warm or self._convex else 0.0
        return _Step(True, there, float(damping), n_products), (
            bool(foretold <= enough) or _is_enough(gains, tolerance, 1 if self._convex else 2)
        )

    def _solve_system(self, damping: float, accuracy: float) -> int:
        """Solve for all right-hand sides; return the number of products."""
        self.workers.run(("begin", {"damping": damping, "accuracy": accuracy}))
        pair: tuple[Step, ...] = (("react", {}), ("advance", {}))
        while True:
            done, n_products = self.workers.run(*(pair * self.workers.ahead))[0]
            if done:
                break
        if self.question.shape.effects:
            self.workers.run(("share_steps", {}), ("follow", {}))
        return int(n_products)

    # Gauge -------------------------------------------------------------------------------------

    def _balance(self, value: float, *, volume: float = 0.0) -> float:
        """Go to where the gauge is best; return the objective."""
        if self._convex:
            return value
        grams, gram_Q, _ = self._sum("gram")
        A, D = best_mixing(*self._blank_sides(), list(grams), gram_Q, volume=volume)
        there = float(self._sum("mix", A=A, D=D)[0])
        if np.isfinite(there) and (there < value or volume > 0.0):
            self.workers.run(("accept", {}))
            return there
        return value

    def _blank_sides(self) -> tuple[FactorStates, FactorStates]:
        """Return sides without states: what is free, and the scales."""
        none = np.zeros(0, np.int64)
        chains = Chains(self.facts.axis, none, none, np.zeros(1, np.int64), none.astype(bool), True)
        columns = plain_columns(1, self.question.n_factors, scores=True)
        S, Q, _ = sides_of(columns, self.question.scales, chains, chains, None)
        return S, replace(Q, prior=np.full(len(Q.prior), self.progress.held))

    def _move(self) -> bool:
        """Go along the gauge to where the volume is, and hold exposures there; see `volume`."""
        q, p = self.question, self.progress
        p.held = q.scales.prior_scale
        self._refresh()
        n_states = sum(one["states"] for one in self.sizes)
        n = int(np.clip(np.ceil(DRAWN / n_states), 2, MOST_PROBES))
        self._perturbed(list(range(n)), q.seed)
        seen = np.maximum(self._sum("seen"), 0.0).sum(axis=1)  # (2, n_columns)
        volume = float(np.mean(seen[0, 1:] - seen[1, 1:]))
        if volume <= 1.0:
            return False
        self._balance(np.inf, volume=volume)
        energy = float(np.mean(self._sum("gram")[2][1:]))
        prior = q.scales.prior_scale
        p.held = float(1.0 / np.sqrt(1.0 / prior**2 + volume / max(energy, 1e-300)))
        self._believe()
        return True

    # Law ---------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Find cuts and what the better side adds, if there are any, and states, in turns."""
        q, p = self.question, self.progress
        sided = q.seeks_side and self.facts.sided
        if not sided and q.kind != "ordered":
            return
        rough = max(q.tolerance, ROUGHLY) if q.n_factors else q.tolerance
        for k in range(MOST_TURNS):
            before = Law(q.kind, tuple(p.cuts), p.advantage)
            prepare = partial(self._improve_law, before, sided)
            if not self._stage(f"law {k + 1}", rough, prepare=prepare):
                break

    def _improve_law(self, before: Law, sided: bool) -> bool:
        """Take the best law for these states; return whether it is another."""
        p = self.progress
        p.cuts, p.advantage = list(before.cuts), before.advantage
        self._refresh()
        law = self._best_law(before, sided)
        p.cuts, p.advantage = list(law.cuts), law.advantage
        self._refresh()
        return far(before, law) >= SETTLED

    def _best_law(self, law: Law, sided: bool) -> Law:
        for _ in range(MOST_TURNS):
            before = law
            if sided:

                def pulls(side: float) -> tuple[float, float]:
                    slope, curvature = self._sum("side_terms", advantage=side)
                    return float(slope), float(curvature)

                law = replace(law, advantage=best_side(pulls, law.advantage))
            if law.levels:
                ahead = law.advantage

                def terms(
                    cuts: FloatArray, ahead: float = ahead
                ) -> tuple[float, FloatArray, FloatArray]:
                    return tuple(self._sum("cut_terms", cuts=cuts, advantage=ahead))

                law = replace(law, cuts=best_cuts(terms, law.cuts))
            if far(before, law) < SETTLED / 10 or not (sided and law.levels):
                break
        return law

    # Starts ------------------------------------------------------------------------------------

    def _start_factors(self) -> bool:
        """Begin with the leading planes of what scores leave unexplained."""
        q, p = self.question, self.progress
        p.with_factors = True
        self._refresh()
        width = min(2 * q.n_factors + SPARE, self.facts.n_items)
        gram = self._sum("spin", seed=q.seed, width=width)
        core = gram
        for _ in range(N_POWERS):
            change = _orthonormal(gram)
            self.workers.run(("lend_block", {"change": change}), ("turn_block", {}))
            gram, core = self._sum("fold_block")
        omegas, first, second = canonical_form(0.5 * (core - core.T))
        roots = np.sqrt(omegas[: q.n_factors])
        planes = {
            "first": first[:, : len(roots)] * roots,
            "second": second[:, : len(roots)] * roots,
        }
        self.workers.run(("set_factors", planes), ("look", {}))
        slope, curve = self._sum("gain")
        length = np.sqrt(max(-slope / curve, 0.01)) if curve > 0 else 1.0
        self.workers.run(
            ("stretch", {"length": float(np.sqrt(length))}), ("look", {}), ("accept", {})
        )
        self._balance(np.inf)
        return True

    # Draws -------------------------------------------------------------------------------------

    def _perturbed(self, draws: list[int], seed: int) -> int:
        """Solve for perturbed data and prior, once for each draw."""
        self.workers.run(("pull", {"exact": False}), ("collect", {}))
        self.workers.run(("perturb", {"seed": seed, "draws": draws}), ("gather_noise", {}))
        return self._solve_system(0.0, DRAW_ACCURACY)

    def draw(self, n: int, seed: int) -> list[list[tuple[FloatArray, FloatArray, FloatArray]]]:
        """Return draws around the solution, less their mean: by draw and shard S, Q and effects."""
        found = []
        for begin in range(0, n, DRAWS_AT_ONCE):
            some = list(range(begin, min(begin + DRAWS_AT_ONCE, n)))

            def work(some: list[int] = some) -> list[Any]:
                self._perturbed(some, seed)
                return self.workers.run(("drawn", {}))

            parts = self._safely(work)
            found += [[part[k] for part in parts] for k in range(len(some))]
            self.report(f"{len(found)} of {n} draws")
        return found

    def gradient_size(self) -> float:
        """Return the size of the gradient at the solution."""
        rounds: tuple[Step, ...] = (("pull", {"exact": False}), ("collect", {}))
        return float(np.sqrt(_added(self._safely(lambda: self.workers.run(*rounds)))[0]))

    def states(self) -> list[Any]:
        """Return keys of S and Q, S, Q, effects and their keys, of every shard."""
        return self._safely(lambda: self.workers.run(("states", {})))


@dataclass(frozen=True)
class _Step:
    moved: bool
    objective: float
    damping: float
    n_products: int


def _added(reports: list[Any]) -> Any:
    """Return the sum of reports, entry by entry where they are lists; the same order every time."""
    if isinstance(reports[0], list | tuple):
        return [_added(list(parts)) for parts in zip(*reports, strict=True)]
    return sum(reports[1:], reports[0])


def _orthonormal(gram: FloatArray) -> FloatArray:
    """Return what makes vectors with this Gram matrix orthonormal."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1])))


def _is_enough(gains: list[float], tolerance: float, last: int) -> bool:
    """Return whether so little is left to gain, were each step to shrink as the last did."""
    if len(gains) <= last:
        return False
    for k in range(-last, 0):
        ratio = gains[k] / gains[k - 1] if np.isfinite(gains[k - 1]) else 0.5
        left = gains[k] * ratio / (1.0 - ratio) if ratio < 1.0 else np.inf
        if left > tolerance:
            return False
    return True
