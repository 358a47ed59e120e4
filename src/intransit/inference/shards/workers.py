"""Who runs the shards, this process or actors of Ray; and `fit(..., on="ray")`.

Both run the same programs (`shard`).  In this process every shard has a thread, and they meet at a
barrier.  On Ray each is an actor with a connection to every other one: nothing passes the driver.
An actor that is gone is started again by `mend`, reads its cells from its file, and all
begin again with what is kept; a driver that is lost is followed by one that does the same.

What is worth keeping of a fit goes into one folder: scales drawn from a sub-population, cells by
shard, and the states of every step.  Asked again with the same folder, a fit goes on from there.
"""

import ctypes
import json
import math
import os
import secrets
import socket
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from intransit.arrays import FloatArray
from intransit.checks import as_whole, write_whole
from intransit.data.cells import Cells, Timeline
from intransit.errors import InputError, IntransitError
from intransit.inference.draws import TrajectoryDraws
from intransit.inference.gauge import without_gauge
from intransit.inference.joint_fit import Fitted
from intransit.inference.joint_problem import Columns, Joint, Rise, assemble
from intransit.inference.likelihood import Law
from intransit.inference.newton import JointSolution
from intransit.inference.sampling import Draws, Mixing, Report
from intransit.inference.shards.folder import (
    FACTS,
    PROGRESS,
    RISE,
    Progress,
    Question,
    ShardFacts,
    fingerprint,
    read_arrays,
    read_facts,
    read_progress,
    write_arrays,
    write_shards,
)
from intransit.inference.shards.shard import Meeting, Shard
from intransit.tasks import one_thread, open_ray

SCALES, ASKED = "scales.npz", "asked"
FREED = 10.0  # seconds in which processors of workers that ended must be free again
GRACE = 20.0  # seconds in which the others must have stopped when one is lost
LOOK = 1.0  # seconds after which the driver looks how far the shards have come
MOST_LOSSES = 100  # of workers in a row, without a step between
NOTHING = np.zeros(0)
LARGE_PART = 65_536  # bytes of an array from which on it should lie in memory that both see
M_MMAP_THRESHOLD, LARGE = -3, 4_194_304  # its name in malloc.h; bytes, two huge pages
DRAWS_AT_ONCE = 8  # draws that a lost worker costs at most


class WorkerLostError(Exception):
    """A worker is gone; all begin again with what is kept."""


# Meeting ----------------------------------------------------------------------------------------


class ThreadMeeting(Meeting):
    """Shards of one process meet at a barrier."""

    def __init__(self, number: int, table: list[Any], barrier: threading.Barrier) -> None:
        super().__init__(number, len(table))
        self._table, self._barrier = table, barrier

    def give(self, sent: list[Any]) -> None:
        """Lay everything on the table."""
        self._table[self.number] = sent

    def take_all(self) -> list[Any]:
        """Take what is for us, once all have laid theirs there."""
        try:
            self._barrier.wait()
            found = [given[self.number] for given in self._table]
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise WorkerLostError("another shard has stopped") from None
        return found


class ActorMeeting(Meeting):
    """Shards of Ray call each other: each has a connection to every other one, anew each attempt.

    Large arrays of a message lie in memory that both see, where both are on one machine, and pass
    the connection otherwise.  Ray would take a message through its store and a call: several times
    the work for a large one, and four times the wait for a number.
    """

    def __init__(self, number: int, n_shards: int, host: str, token: str) -> None:
        super().__init__(number, n_shards)
        self._messages: defaultdict[tuple[int, int], SimpleQueue[Any]] = defaultdict(SimpleQueue)
        self._rooms: dict[tuple[int, int, int], tuple[int, NDArray[Any]]] = {}
        self._connections: dict[int, socket.socket] = {}
        self._attempt, self._turn, self._token = 0, 0, token
        self._listener = socket.create_server((host, 0))
        # Who is in the same space of processes sees files of ours, where the system has such.
        space = os.readlink("/proc/self/ns/pid") if hasattr(os, "memfd_create") else number
        self.address = *self._listener.getsockname(), space
        threading.Thread(target=self._let_in, daemon=True).start()

    def _let_in(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        """Take the messages of one shard in one attempt; None when no more will come."""
        with connection, connection.makefile("rb") as box, suppress(OSError, ValueError):
            token, attempt, sender = box.readline().decode().split()
            if token != self._token:
                return
            messages = self._messages[int(attempt), int(sender)]
            try:
                while told := box.readline():
                    messages.put([_part(box, *one) for one in json.loads(told)])
            finally:
                messages.put(None)

    def begin(self, attempt: int, addresses: list[Any]) -> None:
        """Begin an attempt; messages of those before are thrown away."""
        for connection in self._connections.values():
            connection.close()
        for name in [name for name in self._messages if name[0] < attempt]:
            del self._messages[name]
        self._attempt, self._connections, self._addresses = attempt, {}, addresses
        for q, (*address, _) in enumerate(addresses):
            if q != self.number:
                connection = self._connections[q] = socket.create_connection(tuple(address))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(f"{self._token} {attempt} {self.number}\n".encode())

    def stop(self, attempt: int) -> None:
        """End an attempt: somebody is lost."""
        for q in range(self.n_shards):
            self._messages[attempt, q].put(None)

    def room(self, q: int, k: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return room in memory that both see, if there is such: of two, in turns.

        The other one reads what lies in one while the next message is written.
        """
        n, name = 8 * math.prod(shape), (q, k, self._turn % 2)
        there, here = self._addresses[q], self.address
        if n < LARGE_PART or q == self.number or (there[0], there[-1]) != (here[0], here[-1]):
            return super().room(q, k, shape)
        file, kept = self._rooms.get(name) or (os.memfd_create("message"), NOTHING)
        if len(kept) < n:
            os.ftruncate(file, n)
            kept = np.asarray(np.memmap(f"/proc/self/fd/{file}", np.uint8, "r+"))
            self._rooms[name] = file, kept
        return kept[:n].view(float).reshape(shape)

    def give(self, sent: list[list[Any]]) -> None:
        """Send a message to each: a line that says what there is, and what lies nowhere else."""
        self._messages[self._attempt, self.number].put(sent[self.number])
        for q, connection in self._connections.items():
            told, others = [], []
            for k, part in enumerate(sent[q]):
                file, kept = self._rooms.get((q, k, self._turn % 2), (0, NOTHING))
                lies_there = np.may_share_memory(part, kept)
                place = f"/proc/{os.getpid()}/fd/{file}" if lies_there else ""
                told.append((part.shape, part.dtype.str, place))
                others += [] if lies_there else [np.ascontiguousarray(part).data]
            connection.sendall(json.dumps(told).encode() + b"\n")
            for data in others:
                connection.sendall(data)
        self._turn += 1

    def take_all(self) -> list[list[Any]]:
        """Wait for the messages of all."""
        messages = [self._messages[self._attempt, q].get() for q in range(self.n_shards)]
        if any(message is None for message in messages):
            raise WorkerLostError("another shard is gone")
        return messages


def _part(box: BinaryIO, shape: list[int], kind: str, place: str) -> NDArray[Any]:
    """Return an array of a message, from the file that it lies in or from the connection."""
    if place:
        return np.asarray(np.memmap(place, kind, "r+", shape=tuple(shape)))
    part = np.empty(shape, kind)
    if box.readinto(part.data) < part.nbytes:  # type: ignore[attr-defined]
        raise ConnectionError("the connection is broken")
    return part


# Workers ----------------------------------------------------------------------------------------


def give_memory_back() -> None:
    """Have large arrays returned to the system as soon as they are let go, where glibc runs.

    Otherwise it learns from the first ones to keep arrays of up to 32 MB, in pieces that later ones
    do not fit into.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


class LocalWorkers:
    """All shards in this process, each in a thread.

    Workers hold the shards and can be told to run programs, to start again whoever is gone, and to
    let everybody go.  Every now and then, while a program runs, they call `watch`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.n_shards = folder, read_facts(folder).n_shards
        self.barrier = threading.Barrier(self.n_shards)
        self.table: list[Any] = [None] * self.n_shards
        self.shards = [self.new(number) for number in range(self.n_shards)]

    def new(self, number: int) -> Shard:
        """Return a shard that knows nothing but its cells."""
        return Shard(self.folder, number, ThreadMeeting(number, self.table, self.barrier))

    def run(self, program: str, watch: Callable[[], None], **settings: Any) -> list[Any]:
        """Run a program in as many threads."""
        with ThreadPoolExecutor(self.n_shards) as pool:
            calls = [pool.submit(self._one, shard, program, settings) for shard in self.shards]
            while wait(calls, LOOK, FIRST_EXCEPTION).not_done:
                watch()
        failed = [error for call in calls if (error := call.exception()) is not None]
        failed.sort(key=lambda error: isinstance(error, WorkerLostError))
        if failed:
            raise failed[0]
        return [call.result() for call in calls]

    def _one(self, shard: Shard, program: str, settings: Mapping[str, Any]) -> Any:
        try:
            return getattr(shard, program)(**settings)
        except BaseException:
            self.barrier.abort()  # nobody is to wait for it
            raise

    def mend(self) -> None:
        """Let all meet again; nobody is gone."""
        self.barrier.reset()

    def close(self) -> None:
        """Let the memory go."""
        self.shards = []


class Actor:
    """What Ray runs for one shard."""

    def __init__(self, folder: str, number: int, token: str) -> None:
        import ray  # noqa: PLC0415

        give_memory_back()
        n_shards, host = read_facts(Path(folder)).n_shards, ray.util.get_node_ip_address()
        self.meeting = ActorMeeting(number, n_shards, host, token)
        self.shard = Shard(Path(folder), number, self.meeting)

    def address(self) -> Any:
        """Return where others call this one."""
        return self.meeting.address

    @one_thread
    def run(
        self, attempt: int, addresses: list[Any], program: str, settings: Mapping[str, Any]
    ) -> Any:
        """Run one program."""
        self.meeting.begin(attempt, addresses)
        return getattr(self.shard, program)(**settings)

    def stop(self, attempt: int) -> None:
        """Stop what is running."""
        self.meeting.stop(attempt)


class RayWorkers:
    """Each shard in an actor of Ray."""

    def __init__(self, folder: Path) -> None:
        import ray  # noqa: PLC0415  an extra, loaded when it is asked for

        self._ray, self._folder = ray, folder
        self._n = read_facts(folder).n_shards
        # One thread runs the program; the other one stops it.
        options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": 2}
        self._actor = ray.remote(Actor).options(**options)
        self._wait_for_processors()
        self._attempt, self._gone, self._token = 0, list[int](), secrets.token_hex(16)
        self.actors: list[Any] = [None] * self._n
        self._addresses: list[Any] = [None] * self._n
        self._start(list(range(self._n)))

    def _wait_for_processors(self) -> None:
        """Refuse, rather than wait for ever, where others hold Ray's processors."""
        until = time.monotonic() + FREED
        ray: Any = self._ray
        while (free := int(ray.available_resources().get("CPU", 0.0))) < self._n:
            if time.monotonic() > until:
                raise InputError(
                    f"workers: {self._n} are needed and {free} of Ray's processors are free; ask "
                    "for fewer, or end what else runs there."
                )
            time.sleep(0.1)

    def _start(self, numbers: list[int]) -> None:
        """Start actors, and wait until they have read their cells."""
        made = [self._actor.remote(str(self._folder), k, self._token) for k in numbers]
        found = self._ray.get([actor.address.remote() for actor in made])
        for number, actor, address in zip(numbers, made, found, strict=True):
            self.actors[number], self._addresses[number] = actor, address

    def run(self, program: str, watch: Callable[[], None], **settings: Any) -> list[Any]:
        """Run a program on all actors; when one of them fails, stop the others."""
        self._attempt += 1
        given = self._attempt, self._addresses, program, settings
        calls = [actor.run.remote(*given) for actor in self.actors]
        waiting = calls
        try:
            while waiting:
                ready, waiting = self._ray.wait(waiting, timeout=LOOK)
                self._ray.get(ready)
                watch()
            return list(self._ray.get(calls))
        except self._ray.exceptions.RayError as error:
            for actor in self.actors:
                actor.stop.remote(self._attempt)
            _, stuck = self._ray.wait(calls, num_returns=self._n, timeout=GRACE)
            causes = [None if call in stuck else self._cause(call) for call in calls]
            self._gone = [number for number, cause in enumerate(causes) if cause is None]
            for cause in causes:
                if cause is not None and not isinstance(cause, WorkerLostError):
                    raise cause from error
            raise WorkerLostError(str(error)) from error

    def _cause(self, call: Any) -> BaseException | None:
        """Return why a program of an actor that lives ended; None if the actor is gone."""
        try:
            self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            lost = isinstance(error.cause, (self._ray.exceptions.RayError, ConnectionError))
            return WorkerLostError(str(error)) if lost else error.cause
        except self._ray.exceptions.RayError:
            return None
        return WorkerLostError("it had ended")

    def mend(self) -> None:
        """Start again whoever is gone."""
        for number in self._gone:
            self._ray.kill(self.actors[number])
        try:
            self._start(self._gone)
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(str(error)) from error
        self._gone = []

    def close(self) -> None:
        """End the actors."""
        for actor in self.actors:
            self._ray.kill(actor)


Workers = LocalWorkers | RayWorkers


class ShardedSolver:
    """Has one question solved by workers, again and again if some are lost, and draws."""

    def __init__(
        self, workers: Workers, folder: Path, question: Question, report: Report = lambda _: None
    ) -> None:
        self.workers, self.folder, self.question, self.report = workers, folder, question, report
        self.facts = read_facts(folder)
        self.progress = read_progress(folder, question)
        self._told = ""

    def solve(self) -> Progress:
        """Find all states."""
        found = self._safely("solve")[0]
        self.progress = replace(found, n_losses=self.progress.n_losses)
        return self.progress

    def states(self) -> list[Any]:
        """Return keys of S and Q, S, Q, effects and their keys, of every shard."""
        return self._safely("states")

    def draw(self, n: int, seed: int) -> list[list[tuple[FloatArray, FloatArray, FloatArray]]]:
        """Return draws around the solution, less their mean: by draw and shard S, Q and effects."""
        found: list[Any] = []
        while len(found) < n:
            some = min(DRAWS_AT_ONCE, n - len(found))
            parts = self._safely("draw", first=len(found), n=some, seed=seed)
            found += map(list, zip(*parts, strict=True))
            self.report(f"{len(found)} of {n} draws")
        return found

    def _safely(self, program: str, **settings: Any) -> list[Any]:
        """Run a program; if a worker is lost, begin again with what is kept."""
        said, n_lost, n_kept = "", 0, 0
        while n_lost < MOST_LOSSES:
            try:
                if said:
                    self.workers.mend()
                return self.workers.run(program, self._watch, question=self.question, **settings)
            except WorkerLostError as lost:
                said = str(lost).splitlines()[0]
                self.progress.n_losses += 1
                self.report("a worker was lost: starting another")
                before, n_kept = n_kept, read_progress(self.folder, self.question).n_kept
                n_lost = n_lost + 1 if n_kept == before else 1
        raise IntransitError(
            f"on: workers were lost {MOST_LOSSES} times in a row; the last: {said}"
        )

    def _watch(self) -> None:
        """Tell how far the shards have come."""
        if (self.folder / PROGRESS).exists():
            p = read_progress(self.folder, self.question)
            if p.objectives:
                told = f"{p.stage}: step {len(p.objectives) - 1}, {p.objectives[-1]:.1f}"
                if told != self._told:
                    self.report(told)
                self._told = told


@dataclass(frozen=True)
class Placement:
    """Where states are found."""

    on: str  # "ray", or "ray://host:port"; "here" is this process
    workers: int | None = None  # how many; by default as many as Ray has processors
    keep: Path | None = None  # folder that all see; by default one of our own, removed in the end

    def __post_init__(self) -> None:
        if self.workers is not None:
            as_whole("workers", self.workers, least=1)
        if self.on.startswith("ray://") and self.keep is None:
            raise InputError(
                f"keep: workers at {self.on} need a folder that they and we can see; give one."
            )
        if self.keep is not None and self.keep.exists() and not self.keep.is_dir():
            raise InputError(f"keep: {self.keep} is a file; give a folder.")

    @contextmanager
    def folder(self, asked: Any) -> Iterator[Path]:
        """Give the folder; one that was begun for something else than what is asked is refused."""
        if self.keep is None:
            with tempfile.TemporaryDirectory(prefix="intransit-") as place:
                yield Path(place)
            return
        self.keep.mkdir(parents=True, exist_ok=True)
        begun, digest = self.keep / ASKED, fingerprint(asked)
        if not begun.exists():
            if any(self.keep.iterdir()):
                raise InputError(
                    f"keep: {self.keep} has files that no fit put there; give an empty folder."
                )
            write_whole(begun, digest.encode())
        elif begun.read_text(encoding="utf-8") != digest:
            raise InputError(
                f"keep: {self.keep} was begun for other games, another model or another seed; "
                "give another folder, or remove it."
            )
        yield self.keep

    @contextmanager
    def start(self, folder: Path) -> Iterator[Workers]:
        """Give the workers, and let them go."""
        workers: Workers = LocalWorkers(folder) if self.on == "here" else RayWorkers(folder)
        try:
            yield workers
        finally:
            workers.close()

    def n_shards(self) -> int:
        """Return how many shards there are to be; connects to Ray, or starts it."""
        if self.on == "here":
            return self.workers or 1
        return open_ray(self.on, self.workers, shared=self.keep is not None)


# A fit ------------------------------------------------------------------------------------------


def once(folder: Path, draw: Callable[[], tuple[Draws, Mixing]]) -> tuple[Draws, Mixing]:
    """Return draws that are kept in the folder, or draw and keep them."""
    place = folder / SCALES
    if not place.exists():
        draws, mixing = draw()
        write_arrays(place, {**_flat(draws, "draws"), **_flat(mixing, "mixing")})
    kept = read_arrays(place)
    numbers = sorted(name for name in kept if name.startswith("draws.numbers."))
    told: dict[str, Any] = {
        entry.name: kept.get(f"draws.{entry.name}")
        for entry in fields(Draws)
        if entry.name != "numbers"
    }
    mixed = {entry.name: kept[f"mixing.{entry.name}"] for entry in fields(Mixing)}
    mixed = {name: part.item() if part.ndim == 0 else part for name, part in mixed.items()}
    mixed["scales"] = tuple(str(name) for name in mixed["scales"])
    return Draws(numbers=tuple(kept[name] for name in numbers), **told), Mixing(**mixed)


def _flat(record: Draws | Mixing, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if entry.name == "numbers":
            found |= {f"{name}.numbers.{k:03d}": part for k, part in enumerate(value)}
        elif value is not None:
            found[f"{name}.{entry.name}"] = np.array(value)
    return found


def solve_on_workers(
    data: Timeline,
    question: Question,
    placement: Placement,
    folder: Path,
    n_draws: Callable[[int], int],  # of the number of unknowns
    report: Report,
    rise: Rise | None = None,
) -> TrajectoryDraws:
    """Return draws around what `smooth` would find, with scores, found by workers."""
    scales, given = question.scales, question.given
    cells = given.collapse(data.rows, data.n_items)
    _write(folder, cells, question, data.n_items, placement.n_shards(), rise)
    with placement.start(folder) as workers:
        solver = ShardedSolver(workers, folder, question, report)
        progress = solver.solve()
        law = Law(question.kind, tuple(progress.cuts), progress.advantage)
        columns = Columns.plain(data.n_items, question.n_factors, scores=True, rise=rise)
        problem, pairs = assemble(cells, columns, scales, law, seeks_side=question.seeks_side)
        told = solver.states()
        gather = _gatherer(problem, pairs.keys, told, data.n_items)
        z = problem.fill_known(columns, gather([part[2:5] for part in told]))
        n = n_draws(len(z))
        report(f"drawing {n} times around the solution")
        steps = np.empty((len(z), n))
        for k, parts in enumerate(solver.draw(n, question.seed)):
            steps[:, k] = gather(parts)
    solution = JointSolution(
        np.array(progress.objectives),
        progress.converged,
        z,
        progress.gradient_size,
        progress.n_products,
    )
    starts = (("workers", solution.objective),)
    fitted = Fitted(given, columns, scales, (), problem, pairs, solution, starts, True)
    states = z[:, None] + without_gauge(problem, z, steps)
    return TrajectoryDraws(fitted, states, np.random.default_rng(question.seed))


def _write(
    folder: Path,
    cells: Cells,
    question: Question,
    n_items: int,
    n_shards: int,
    rise: Rise | None,
) -> None:
    """Write cells by shard, unless they are there; another number of shards must start anew."""
    if (folder / FACTS).exists():
        there = read_facts(folder)
        if there.n_shards != n_shards or there.n_items != n_items:
            raise InputError(
                f"keep: {folder} was begun with {there.n_shards} workers and {there.n_items:,} "
                "items; give as many, or another folder."
            )
        return
    levels = int(np.abs(cells.means).max(initial=1.0)) if question.kind == "ordered" else 0
    sided = cells.sides is not None
    facts = ShardFacts(question.kind, n_items, n_shards, cells.axis, sided, levels)
    by_moment = question.drifting and not question.has_effects
    if rise is not None:
        write_arrays(folder / RISE, vars(rise))
    write_shards(folder, cells, facts, by_moment=by_moment)


def _gatherer(
    problem: Joint, pair_keys: Any, told: list[Any], n_items: int
) -> Callable[[list[Any]], FloatArray]:
    """Return what makes a whole vector of S, Q and effects by shard."""
    keys = [side.chains.keys for side in problem.sides]
    if problem.effects is not None:
        chains = problem.effects.chains
        keys[2] = chains.when * n_items**2 + pair_keys[chains.owners]
    rows = []
    for of_S, of_Q, S, Q, _, of_E in told:
        names = [of_S, of_Q, of_E][: len(keys)]
        places = [np.searchsorted(all_of, own) for all_of, own in zip(keys, names, strict=True)]
        if len(Q) == 1 != len(S):  # exposures are all 1, and not brought back
            places[1] = places[1][:0]
        rows.append(places)

    def gather(parts: list[Any]) -> FloatArray:
        out = np.zeros(problem.cuts[-1])
        for places, values in zip(rows, parts, strict=True):
            for place, whole, value in zip(places, problem.split(out), values, strict=False):
                whole[place] = value[: len(place)]
        return out

    return gather
