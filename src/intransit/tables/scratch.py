"""A scratch folder for one reading, and the removal of those that killed readings left behind.

A reading holds a lock on a file in its folder for as long as it lives, so that the next one can
tell a folder that is in use from one that nobody will come back to.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from intransit.errors import InputError

PREFIX, LOCK, MAKING = "intransit-", "in-use", "in-use-soon"


@contextlib.contextmanager
def open_scratch() -> Iterator[Path]:
    """Yield an empty folder, removed at the end; folders of killed readings are removed first."""
    remove_abandoned(Path(tempfile.gettempdir()))
    try:
        folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(
            f"{tempfile.gettempdir()}: no scratch folder can be made there ({error.strerror}); "
            "make room, or name another place by the environment variable TMPDIR."
        ) from error
    with folder as name:
        held = _hold(Path(name) / MAKING)
        if held is not None:  # called so once it is locked: others must never find it free
            (Path(name) / MAKING).rename(Path(name) / LOCK)
        try:
            yield Path(name)
        finally:
            if held is not None:
                os.close(held)


def remove_abandoned(place: Path) -> None:
    """Remove scratch folders of ours that no living process holds."""
    with contextlib.suppress(OSError):
        for folder in place.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if folder.is_dir() and not folder.is_symlink() and _is_abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    lock = folder / LOCK
    if not lock.exists():
        return False  # not ours, or of somebody who is about to lock it
    held = _hold(lock)
    if held is None:
        return False
    os.close(held)
    return True


def _hold(lock: Path) -> int | None:
    """Return a locked handle, or None where somebody else has the lock or locks are unknown."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # Windows: nothing is removed there, and nothing needs to be locked
        return None
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
