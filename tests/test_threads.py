"""Linear algebra runs on one thread inside, and as before outside."""

import contextlib
import os
import subprocess
import sys

import threadpoolctl

from intransit.tasks import one_thread


def blas_threads():
    return [
        library["num_threads"]
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    ]


def test_one_thread_inside_and_as_before_outside():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(one_thread(blas_threads)()) == {1}
        assert blas_threads() == before


def test_errors_leave_the_setting_as_it_was():
    def fails():
        raise ValueError("no")

    before = blas_threads()
    with contextlib.suppress(ValueError):
        one_thread(fails)()
    assert blas_threads() == before


def test_the_command_line_has_one_thread_for_linear_algebra():
    """The limit was set before NumPy was there, and so had no effect."""
    code = (
        "from intransit import cli\ncli.app = lambda words: None\ncli.main()\n"
        "import numpy, threadpoolctl\n"
        "print({one['num_threads'] for one in threadpoolctl.threadpool_info()})"
    )
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    free = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", code], env=free, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "{1}\n"
