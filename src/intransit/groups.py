"""One answer for each value of a column: each format, surface or language fitted on its own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from intransit.answer import Answer, fit
from intransit.arrays import described
from intransit.checks import as_whole, check_report, open_place, open_seed, shown, write_whole
from intransit.data import read
from intransit.data.games import Games
from intransit.data.reading import Reading, plural
from intransit.errors import InputError
from intransit.inference.sampling import Report
from intransit.model import Model
from intransit.report import Board, Group
from intransit.tasks import Task, run_tasks

FEWEST = 10  # games of a group; with fewer there is little to say
MOST_GROUPS = 60  # each is fitted and has a page of its own


@described
@dataclass(frozen=True, eq=False)
class Groups:
    """What `fit_each` found: an answer for each value of a column, by value.

    Examples
    --------
    >>> import intransit as it
    >>> rounds = ["rock", "paper", "scissors"] * 20, ["scissors", "rock", "paper"] * 20, [1] * 60
    >>> games = it.Games.from_arrays(*rounds, by={"rules": (["usual"] * 9 + ["other"]) * 6})
    >>> groups = it.fit_each(games, "rules", effective=10, seconds=2)
    >>> len(groups), groups["usual"].n_items
    (1, 3)
    >>> [(line.value, line.n_games) for line in groups.lines()]
    [('usual', 54.0), ('other', 6.0)]
    >>> groups["other"]
    Traceback (most recent call last):
    intransit.errors.InputError: "other": Too few games to fit: 6 games, and 10 are needed.
    """

    column: Annotated[str, "The column."]
    source: Annotated[str, "The table."]
    answers: Annotated[Mapping[str, Answer], "The answers, in the order of the values."]
    left_out: Annotated[
        Mapping[str, tuple[int, float, str]],
        "Of the other values: the number of items and of games, and why nothing was fitted.",
    ]
    reading: Annotated[Reading, "How the table was read."]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __getitem__(self, value: str) -> Answer:
        if isinstance(value, str) and value in self.answers:
            return self.answers[value]
        if isinstance(value, str) and value in self.left_out:
            raise InputError(f'"{value}": {self.left_out[value][2]}')
        listed = ", ".join(f'"{known}"' for known in list(self.answers)[:10])
        raise InputError(
            f"no value {shown(value)} of {self.column!r} was fitted; there is {listed}."
        )

    def lines(self) -> list[Group]:
        """Return one line on every group, those without an answer last.

        Returns
        -------
        list of Group
            ``value``, ``n_items``, ``n_games``, ``verdict``, ``leader``, and its ``strength``.
        """
        found = []
        for value, answer in self.answers.items():
            line = Group(value, answer.n_items, answer.n_games, answer.transitive.sentence)
            board = Board.of(answer)
            for one in board.leaders[:1]:
                line = replace(
                    line,
                    leader=one.name,
                    strength=one.strength,
                    low=one.low,
                    high=one.high,
                    clear=board.clear,
                )
            found.append(line)
        return found + [Group(value, *said) for value, said in self.left_out.items()]

    def report(
        self,
        place: str | Path,
        *,
        title: str | None = None,
        rng: int = 0,
        report: Report = lambda _: None,
    ) -> Path:
        """Write one page with a tab for each group, and a line on each on the first tab.

        Parameters
        ----------
        place
            The file to write.
        title
            What the page calls the table; by default the name of its file.
        rng
            Seed.
        report
            Called with the group and a few words at every stage of long work.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            If `place` is a folder or lies in none.
        """
        from intransit.report import gather  # noqa: PLC0415  (loads when a page is asked for)
        from intransit.report.page import write_page  # noqa: PLC0415
        from intransit.report.page.tabs import write_tabs  # noqa: PLC0415

        where = open_place(place)
        seed = open_seed(rng)
        pages = {}
        for value, answer in self.answers.items():
            findings = gather(answer, rng=seed, report=_with(report, value))
            pages[value] = write_page(findings)
        name = self.reading.title if title is None else title
        text = write_tabs(name, self.column, self.lines(), pages)
        write_whole(where, text.encode())
        return where


def _with(report: Report, value: str) -> Report:
    """Return a report that says which group is meant."""
    return lambda said: report(f"{value}: {said}")


def fit_each(
    games: object,
    column: str,
    *,
    model: Model | Callable[[Games], Model] | None = None,
    fewest: int = FEWEST,
    report: Report = lambda _: None,
    jobs: int = 1,
    on: str | None = None,
    **settings: Any,
) -> Groups:
    """Fit the games of each value of a column on their own.

    Parameters
    ----------
    games
        What `read` returned, read with ``by=column``; or anything that `read` takes.
    column
        Whose values tell the groups apart, such as ``"format"``.  Rows without a value are in no
        group.
    model
        As in `fit`; or a function from the games of a group to its model.
    fewest
        Games that a group needs; one with fewer is left out, and says so.
    report
        Called with the group and a few words at every stage of long work.
    jobs, on
        How many groups are fitted at once, each in a process of its own; with ``on="ray"`` by
        Ray.  Answers are the same.
    **settings
        Further settings of `fit`.

    Returns
    -------
    Groups
        ``groups["Modern"]`` is an `Answer`; ``groups.lines()`` has a line on each, and
        ``groups.report(place)`` writes one page with a tab for each.

    Raises
    ------
    InputError
        If the table cannot be read, has no such column, or has more than 60 values in it.

    Examples
    --------
    >>> import intransit as it
    >>> rounds = ["rock", "paper", "scissors"] * 20, ["scissors", "rock", "paper"] * 20, [1] * 60
    >>> games = it.Games.from_arrays(*rounds, by={"rules": (["usual"] * 9 + ["other"]) * 6})
    >>> groups = it.fit_each(games, "rules")
    >>> list(groups), list(groups.left_out)
    (['usual'], ['other'])
    >>> groups["usual"].names
    ('paper', 'rock', 'scissors')
    """
    check_report(report)
    fewest = as_whole("fewest", fewest, least=1)
    if not isinstance(column, str):
        raise InputError(f"column: {shown(column)} was given; give the name of a column.")
    table = games if isinstance(games, Games) else read(games, by=column)
    parts = table.split(column)
    if len(parts) > MOST_GROUPS:
        raise InputError(
            f"{column}: it has {len(parts):,} values and at most {MOST_GROUPS} can be fitted one "
            "by one; name a column with fewer, or keep some rows with where=."
        )
    jobs = as_whole("jobs", jobs, least=1)
    here, tasks = jobs == 1 and on is None, list[Task]()
    left_out: dict[str, tuple[int, float, str]] = {}
    for k, (value, part) in enumerate(parts.items(), 1):
        alone = replace(part, by=tuple(one for one in part.by if one.name != column))
        told = f"{value} ({k} of {len(parts)})"
        n_games = float(alone.counts.sum())
        if n_games < fewest:
            why = f"Too few games to fit: {plural(int(n_games), 'game')}, and {fewest} are needed."
            left_out[value] = (alone.n_items, n_games, why)
            continue
        chosen = model(alone) if callable(model) else model
        tasks.append(
            Task(value, _fit_one, (alone, chosen, settings, told, report if here else None))
        )
    found: dict[str, Answer] = {}
    for k, answer in run_tasks(tasks, jobs=jobs, on=on):
        found[tasks[k].name] = answer
        if not here:
            report(f"{tasks[k].name}: fitted, {len(found)} of {len(tasks)}")
    answers = {task.name: found[task.name] for task in tasks}
    return Groups(column, table.report.source, answers, left_out, table.report)


def _fit_one(
    games: Games, model: Model | None, settings: Mapping[str, Any], told: str, report: Report | None
) -> Answer:
    """Fit one group; whoever is elsewhere has nobody to report to."""
    if report is None:
        return fit(games, model=model, **settings)
    report(told)
    return fit(games, model=model, report=_with(report, told), **settings)
