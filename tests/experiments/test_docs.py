"""The experiment in docs/experiments.md runs as it stands there."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


def test_the_example_of_the_docs_runs(tmp_path, monkeypatch, capsys):
    """As a script, where warnings are errors; in this process, as loading takes longest."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "wrong_rank.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("wrong_rank.py", run_name="__main__")
    assert capsys.readouterr().out.startswith("holds; 1: ")
    assert (tmp_path / "wrong-rank.png").stat().st_size > 10_000
