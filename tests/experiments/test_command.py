"""The command as a whole, in quick mode: files, page, and what it refuses."""

import csv
import importlib.util
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from intransit.cli.reproduce import describe_run, reproduce, write_experiment
from intransit.errors import InputError, MissingDependencyError
from intransit.experiments import EXPERIMENTS
from intransit.experiments import plots as page
from intransit.experiments.experiment import Run, run_here
from tests.experiments.toy import toy


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A trial of all experiments, quickly, with every further curve, in this process."""
    out = tmp_path_factory.mktemp("quick")
    reproduce("all", trials=1, jobs=1, out=out, quick=True, with_=["newton,limit"])
    return out


def test_every_experiment_writes_its_files(quick):
    for name in EXPERIMENTS:
        summary = json.loads((quick / f"{name}.json").read_text())
        assert summary["claims"]
        assert all(
            claim["verdict"] in ("holds", "holds in part", "does not hold")
            for claim in summary["claims"]
        )
        with (quick / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert {row["measure"] for row in rows} == {s["measure"] for s in summary["summary"]}
        assert (quick / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        ET.parse(quick / f"{name}.svg")


def test_the_numbers_in_json_are_those_of_the_csv(tmp_path):
    run = Run(5)
    facts = describe_run(run, 1, [toy()])
    write_experiment(toy(), run_here(toy(), run), run, facts, tmp_path)
    summary = json.loads((tmp_path / "toy.json").read_text())
    with (tmp_path / "toy.csv").open() as file:
        rows = list(csv.DictReader(file))
    told = [one for one in summary["summary"] if one["measure"] == "value"]
    assert len(told) == len(toy().points)
    for one in told:
        values = [
            float(row["value"])
            for row in rows
            if (row["curve"], row["measure"], float(row["x"])) == (one["curve"], "value", one["x"])
        ]
        assert len(values) == run.n_trials
        assert one["mean"] == pytest.approx(sum(values) / len(values), rel=1e-6)


def test_further_curves_are_there_when_asked_for(quick):
    for name, experiment in EXPERIMENTS.items():
        text = (quick / f"{name}.csv").read_text()
        assert ("Newton" in text) == ("newton" in experiment.extras)
        assert ("limit, " in text) == ("limit" in experiment.extras)


def test_the_page_shows_everything_and_asks_the_network_for_nothing(quick):
    html = (quick / "index.html").read_text()
    markdown = (quick / "index.md").read_text()
    assert html.count("data:image/svg+xml;base64,") == len(EXPERIMENTS)
    outside = re.sub(r"base64,[A-Za-z0-9+/=]+", "", html)
    assert not re.search(r"(src|href)=\"(?!data:|#)", outside)
    assert "http" not in outside.replace("http-equiv", "")
    assert "default-src 'none'" in outside
    for name in EXPERIMENTS:
        assert f'id="{name}"' in html
        assert f"## {name}" in markdown
        assert f"({name}.png)" in markdown
        for claim in json.loads((quick / f"{name}.json").read_text())["claims"]:
            assert claim["statement"] in markdown


class Balance(HTMLParser):
    """Checks that every element that is opened is closed."""

    EMPTY = frozenset({"meta", "img", "link", "br"})

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_what_a_user_writes_is_escaped(tmp_path):
    run = Run(2)
    facts = describe_run(run, 1, [toy()])
    shown = [write_experiment(toy(), run_here(toy(), run), run, facts, tmp_path)]
    html = page.to_html(facts, shown)
    assert "A &lt;toy&gt;" in html
    assert "<b>mean</b>" not in html
    parser = Balance()
    parser.feed(html)
    assert parser.open == []


def test_without_a_name_it_lists(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reproduce()
    listed = capsys.readouterr().out
    assert all(name in listed for name in EXPERIMENTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("nothing", {}, "there is no experiment 'nothing'"),
        ("all", {"with_": ["magic"]}, "'magic' is not known"),
        ("all", {"trials": 0}, "--trials is 0"),
        ("all", {"jobs": 0}, "--jobs is 0"),
        ("all", {"seed": -1}, "--seed is -1"),
    ],
)
def test_what_cannot_be_run_is_refused(name, settings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        reproduce(name, out=tmp_path, **settings)


def test_a_missing_library_is_named_before_the_run(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match="matplotlib"):
        reproduce("complexity-bound", out=tmp_path)
    assert list(tmp_path.iterdir()) == []
