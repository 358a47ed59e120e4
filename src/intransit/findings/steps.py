"""The ladder of models: from a backtest, or from a quick look back."""

from intransit.answers.answer import FittedTable
from intransit.backtest import Backtest
from intransit.backtest.quick import quick_backtest
from intransit.errors import InputError
from intransit.findings.content import Step
from intransit.inference.sampling import Report

LEFT_OUT = "Left out: "
NO_GAMES = (
    "The games themselves are not kept with the answer, so no other model can be run beside it; "
    "`intransit report` on the table does so.",
)


def climb(
    answer: FittedTable, found: Backtest | None, *, rng: int, report: Report
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps, and in words how they were measured."""
    if found is None and answer.games is not None:
        try:
            found = quick_backtest(answer.games, answer.model, rng=rng, report=report)
        except InputError as error:
            return (), (f"No model could be measured: {error}",)
    if found is not None:
        return _steps(found), gather_notes(found.notes)
    return (), NO_GAMES


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
