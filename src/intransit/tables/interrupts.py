"""Long work of a library that does not look at signals, made to stop at Ctrl-C."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 1.0  # seconds that stopped work has to end; a command must be gone within two


class _Worker:
    """A thread that does one piece of work after another: starting one for each costs more."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        while True:
            self.tasks.get()()


_idle: list[_Worker] = []  # at most one; taken out while it works
_busy: list[_Worker] = []  # those that did not stop when they were asked to


def interruptible(work: Callable[[], T], stop: Callable[[], Any]) -> T:
    """Return what the work gives; at Ctrl-C call `stop` and raise KeyboardInterrupt.

    The work is done by another thread, so that the main thread is there for the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    given: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    # An event, not a join: a join that was interrupted takes the thread for ended.
    done = threading.Event()
    worker = _idle.pop() if _idle else _Worker()
    if not worker.thread.is_alive():  # of the process that this one was forked from
        worker = _Worker()
    worker.tasks.put(run)
    try:
        done.wait()
    except KeyboardInterrupt:
        stop()
        if not done.wait(PATIENCE):
            _busy.append(worker)
        raise
    _idle[:] = [worker]
    if failed:
        raise failed[0]
    return given[0]


def is_busy() -> bool:
    """Return whether work goes on that was asked to stop, so that Python cannot end in order."""
    return bool(_busy)
