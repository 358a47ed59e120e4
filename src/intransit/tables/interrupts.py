"""Long work of a library that does not look at signals, made to stop at Ctrl-C."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 1.0  # seconds that stopped work has to end; a command must be gone within two


def interruptible(work: Callable[[], T], stop: Callable[[], Any]) -> T:
    """Return what the work gives; at Ctrl-C call `stop` and raise KeyboardInterrupt.

    The work is done by a thread of its own, so that the main thread is there for the signal.
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
    threading.Thread(target=run, daemon=True).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        stop()
        done.wait(PATIENCE)
        raise
    if failed:
        raise failed[0]
    return given[0]
