"""Many pieces of work at once, here, in processes, or on Ray; and one thread for linear algebra.

A task brings its own seed, so results are the same wherever it runs and in whatever order; they
come as tasks end, each with its place in the list.  A task that fails says which one it was.
"""

import atexit
import importlib.util
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

from intransit.errors import InputError, IntransitError, MissingDependencyError

P = ParamSpec("P")
R = TypeVar("R")


_controller = cache(ThreadpoolController)  # looks for libraries once, when it is first needed


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with one thread for linear algebra, and leave the setting as it was.

    On a busy machine a fit with two threads takes several times as long as with one.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


STORE = 500_000_000  # bytes of the object store of a Ray started here: what programs return
PATIENCE = 10.0  # seconds that a cluster has to answer
LOOK = 0.5  # seconds after which a worker looks whether the one who started it is still there


@dataclass(frozen=True)
class Task:
    """One piece of work: what to call it when it fails, the function, and what that takes."""

    name: str
    work: Callable[..., Any]
    given: tuple[Any, ...] = ()


def run_tasks(
    tasks: Sequence[Task], *, jobs: int | None = None, on: str | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the place in the list and the result of each task, as they end.

    Jobs are processes, by default one for each processor; with 0 or 1 everything runs here, in
    order.  `on` asks for workers of Ray, see `open_ray`.  Each has one thread for linear algebra.

    >>> tasks = [Task("two", pow, (2, 10)), Task("three", pow, (3, 3))]
    >>> dict(run_tasks(tasks, jobs=1))
    {0: 1024, 1: 27}
    """
    if on is not None:
        yield from _on_ray(tasks, on, jobs)
        return
    n = min((os.cpu_count() or 1) if jobs is None else jobs, len(tasks))
    if n <= 1:
        for k, task in enumerate(tasks):
            yield _opened(tasks, _perform(k, task))
        return
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415  loaded when needed

    # One thread for linear algebra: jobs are the parallelism, and sums are added in one order.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        calls = (delayed(_follow_and_perform)(k, task, os.getpid()) for k, task in enumerate(tasks))
        found = Parallel(n, return_as="generator_unordered", batch_size=1, pre_dispatch="all")(
            calls
        )
        try:
            for one in found:
                yield _opened(tasks, one)
        finally:
            found.close()


def _on_ray(tasks: Sequence[Task], on: str, jobs: int | None) -> Iterator[tuple[int, Any]]:
    check_ray(on)
    import ray  # noqa: PLC0415

    open_ray(on, jobs)
    perform = ray.remote(num_cpus=1)(_perform)
    waiting = [perform.remote(k, task) for k, task in enumerate(tasks)]
    try:
        while waiting:
            ready, waiting = ray.wait(waiting)
            yield _opened(tasks, ray.get(ready[0]))
    finally:
        for one in waiting:
            ray.cancel(one, force=True)


Outcome = tuple[int, Any, Exception | None]


def _perform(k: int, task: Task) -> Outcome:
    try:
        return k, one_thread(task.work)(*task.given), None
    except Exception as error:
        return k, None, error


def _opened(tasks: Sequence[Task], outcome: Outcome) -> tuple[int, Any]:
    k, result, error = outcome
    if error is not None:
        kind = InputError if isinstance(error, InputError) else IntransitError
        raise kind(f"{tasks[k].name}: {error}") from error
    return k, result


def _follow_and_perform(k: int, task: Task, parent: int) -> Outcome:
    """Perform a task in another process, which ends when the one that started it is gone."""
    if not any(thread.name == "follow" for thread in threading.enumerate()):

        def end_after_parent() -> None:
            while os.getppid() == parent:
                time.sleep(LOOK)
            os._exit(1)

        threading.Thread(target=end_after_parent, name="follow", daemon=True).start()
    return _perform(k, task)


def check_ray(on: str) -> None:
    """Refuse what is no Ray, and say how to get it where it is not installed."""
    if not isinstance(on, str) or (on != "ray" and not on.startswith("ray://")):
        raise InputError(f'on: {on!r} was given; give "ray", or "ray://host:port" for a cluster.')
    if importlib.util.find_spec("ray") is None:
        raise MissingDependencyError(
            "on=\"ray\" needs Ray, which is not installed: pip install 'intransit[ray]'."
        )


def open_ray(on: str, workers: int | None, *, shared: bool = True) -> int:
    """Connect to Ray, or start it here; return the number of workers to use.

    ``"ray"`` is the Ray that the program has started, or one of our own on this machine, which ends
    with the program; ``"ray://host:port"`` a cluster.  Several machines are refused unless there is
    a folder that all of them see, `shared`.
    """
    # Calls that fail with a lost worker are made again: nobody else needs to hear of them.
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")
    # Ray would let its workers stand back behind everything else on this machine.
    os.environ.setdefault("RAY_worker_niceness", "0")
    import ray  # noqa: PLC0415

    if not ray.is_initialized():
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if on == "ray":
            ours: dict[str, Any] = {"address": "local", "include_dashboard": False}
            ray.init(num_cpus=workers, object_store_memory=STORE, **ours, **quiet)
            atexit.register(ray.shutdown)
        else:
            _connect(on, quiet)
    there = int(ray.cluster_resources().get("CPU", 1))
    if workers is not None and workers > there:
        raise InputError(
            f"workers: {workers} were asked for and Ray has {there}; ask for fewer, or add some."
        )
    nodes = ray.nodes()
    if not shared and sum(bool(node["Alive"]) for node in nodes) > 1:
        raise InputError("keep: Ray has several machines; give a folder that all of them see.")
    return workers or max(there, 1)


def _connect(on: str, quiet: dict[str, Any]) -> None:
    """Connect to a cluster; Ray itself would try for half a minute where nobody answers."""
    import ray  # noqa: PLC0415

    if importlib.util.find_spec("grpc") is None:
        raise MissingDependencyError(
            "on: an address of Ray needs its client, which is not installed: "
            "pip install 'intransit[ray]'."
        )
    host, _, port = on.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"on: {on} was given; give ray://host:port, with a port number.")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError):
        raise InputError(
            f"on: no Ray answers at {on}; start one there, or check the address."
        ) from None
    try:
        ray.init(address=on, **quiet)
    except (ConnectionError, RuntimeError) as error:  # such as a token that Ray asks for
        said = (str(error).splitlines() or ["nothing"])[0].rstrip(".")
        raise InputError(f"on: Ray at {on} does not take us; it says: {said[:300]}.") from None
