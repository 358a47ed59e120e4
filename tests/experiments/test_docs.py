"""The experiment in docs/experiments.md runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


def test_the_example_of_the_docs_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "wrong_rank.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "wrong_rank.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("holds; 1: ")
    assert (tmp_path / "wrong-rank.png").stat().st_size > 10_000
