"""The ladder of models: from a backtest, from a quick look back, or from what `fit` tried."""

from math import nan

from intransit.answers import Answer
from intransit.answers.recipe import Report
from intransit.backtest import Backtest
from intransit.backtest.quick import quick_backtest
from intransit.errors import InputError
from intransit.findings.content import Step

TRIED = (
    "These are the models that were tried when the answer was fitted: each against the best one "
    "before it, on the latest games held back then. Losses count a tie as half a win.",
    "The games themselves are not kept with the answer, so Elo and other plain models cannot be "
    "run beside them; `intransit report` on the table does so.",
)
LEFT_OUT = "Left out: "
UNTRIED = (
    "The games are not kept with the answer, and nothing was tried when it was fitted: there were "
    "too few games, or the model was given.",
)


def climb(
    answer: Answer, found: Backtest | None, *, rng: int, report: Report
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps, and in words how they were measured."""
    if found is None and answer.games is not None:
        try:
            found = quick_backtest(answer.games, answer.model, rng=rng, report=report)
        except InputError as error:
            return (), (f"No model could be measured: {error}",)
    if found is not None:
        return _steps(found), gather_notes(found.notes)
    return _tried(answer), TRIED if answer.tried else UNTRIED


def gather_notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes, those on models left out for one reason in one sentence."""
    left: dict[str, list[str]] = {}
    for note in notes:
        if note.startswith(LEFT_OUT):
            name, _, reason = note.removeprefix(LEFT_OUT).partition(". ")
            left.setdefault(reason, []).append(name)
    said: list[str] = []
    for note in notes:
        if not note.startswith(LEFT_OUT):
            said.append(note)
            continue
        reason = note.removeprefix(LEFT_OUT).partition(". ")[2]
        names = left.pop(reason, [])
        if names:
            listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
            said.append(f"{LEFT_OUT}{listed}. {reason}".rstrip())
    return tuple(said)


def _steps(found: Backtest) -> tuple[Step, ...]:
    base = dict(found.nested())
    steps = []
    for rung in found.rungs:
        under = base.get(rung.name)
        gain, error = (0.0, 0.0) if under is None else found.gain(rung.name, under)
        own = "" if rung.note == rung.name else rung.note
        notes = [note for note in (f"gain over {under}" if under else "", own) if note]
        steps.append(
            Step(
                rung.name,
                rung.log_loss,
                rung.log_loss_error,
                gain,
                error,
                rung.accuracy,
                "; ".join(notes),
            )
        )
    return tuple(steps)


def _tried(answer: Answer) -> tuple[Step, ...]:
    """Return what the search kept; errors of losses, and accuracies, were not kept by it."""
    return tuple(
        Step(
            tried.name,
            tried.loss,
            nan,
            tried.gain,
            tried.gain_error,
            nan,
            ("the first" if k == 0 else "taken" if tried.kept else "left out"),
        )
        for k, tried in enumerate(answer.tried)
    )
