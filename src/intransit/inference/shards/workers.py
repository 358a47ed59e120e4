"""Who runs the shards: this process, or actors of Ray.  Both run the same rounds (`shards`).

On Ray a round is a call of every actor, whose arguments are the results of the round before: the
driver hands out many rounds ahead, and what shards send goes from one to the other through the
object store.  An actor that is gone is started again by `mend`, and reads its cells from its file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from intransit.inference.shards.shard import Shard
from intransit.inference.shards.shard_files import read_facts
from intransit.tasks import one_thread

Step = tuple[str, Mapping[str, Any]]  # a round: the name of a method of `Shard`, and its settings


class WorkerLostError(Exception):
    """A worker is gone; what it knew is to be restored."""


class Crew(Protocol):
    """Shards that can be told to run rounds."""

    ahead: int  # iterations of conjugate gradients to hand out before looking at the result

    def run(self, *rounds: Step) -> list[Any]:
        """Run rounds one after the other; return every shard's report of the last."""

    def mend(self) -> None:
        """Start again whoever is gone."""

    def close(self) -> None:
        """Let everybody go."""


class Here:
    """All shards in this process."""

    ahead = 1

    def __init__(self, folder: Path) -> None:
        n = read_facts(folder).n_shards
        self.shards = [Shard(folder, number) for number in range(n)]
        self._sent: list[list[Any]] = []

    def run(self, *rounds: Step) -> list[Any]:
        """Run rounds one after the other."""
        reports: list[Any] = []
        for method, settings in rounds:
            found = [
                getattr(shard, method)([sent[k] for sent in self._sent], **settings)
                for k, shard in enumerate(self.shards)
            ]
            self._sent = [sent for sent, _ in found]
            reports = [report for _, report in found]
        return reports

    def mend(self) -> None:
        """Nobody is gone."""

    def close(self) -> None:
        """Let the memory go."""
        self.shards, self._sent = [], []


class Worker:
    """What an actor runs."""

    def __init__(self, folder: str, number: int) -> None:
        self.shard = Shard(Path(folder), number)

    @one_thread
    def step(self, method: str, settings: Mapping[str, Any], *inbox: Any) -> tuple[Any, ...]:
        """Run one round."""
        sent, report = getattr(self.shard, method)(inbox, **settings)
        return (*sent, report)

    def ping(self) -> bool:
        """Say that it is there."""
        return True


class OnRay:
    """Each shard in an actor of Ray."""

    ahead = 4

    def __init__(self, folder: Path) -> None:
        import ray  # noqa: PLC0415  an extra, loaded when it is asked for

        self._ray, self._folder = ray, folder
        self._n = read_facts(folder).n_shards
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(Worker)
        self.actors = [self._new(number) for number in range(self._n)]
        self._sent: list[list[Any]] = []

    def _new(self, number: int) -> Any:
        return self._actor.remote(str(self._folder), number)

    def run(self, *rounds: Step) -> list[Any]:
        """Hand out all rounds, then wait for the last."""
        reports: list[Any] = []
        for method, settings in rounds:
            found = [
                actor.step.options(num_returns=self._n + 1).remote(
                    method, settings, *(sent[k] for sent in self._sent)
                )
                for k, actor in enumerate(self.actors)
            ]
            self._sent = [refs[:-1] for refs in found]
            reports = [refs[-1] for refs in found]
        try:
            return list(self._ray.get(reports))
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            lost = isinstance(cause, self._ray.exceptions.RayError)
            raise (WorkerLostError(str(cause)) if lost else cause) from error
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(str(error)) from error

    def mend(self) -> None:
        """Start again whoever is gone."""
        self._sent = []
        for number, actor in enumerate(self.actors):
            try:
                self._ray.get(actor.ping.remote())
            except self._ray.exceptions.RayError:
                self.actors[number] = self._new(number)

    def close(self) -> None:
        """End the actors."""
        self._sent = []
        for actor in self.actors:
            self._ray.kill(actor)
