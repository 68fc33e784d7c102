"""What a transactional write stores in Kafka, and its meaning for a task that comes again.

Each transaction commits a marker beside its rows: an offset in a group named like the transactional
id. The offset is the number of the micro-batch, and its note describes the rows. So the marker
exists exactly when the rows do. The driver stores the number of tasks in the same form. Does not
wait.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction


class ReplayMismatchError(KafkaError):
    """A micro-batch that was written, all or in part, has come again with other rows.

    Writing it would repeat some rows, and skipping it would lose some.
    """


class TaskPlace(NamedTuple):
    """The place of a task: its write and its number."""

    scope: str
    """The common beginning of the transactional ids of all tasks."""
    task: int
    batch_id: int | None
    """The micro-batch; None in a batch query, which never comes again."""

    @property
    def transactional_id(self) -> str:
        """The id of the task's transactions, the same at each attempt, so that one fences another.

        It is also the group of its markers.
        """
        return transactional_id(self.scope, self.task)


def transactional_id(scope: str, task: int) -> str:
    """Return the id of a task of a write."""
    return f"{scope}-{task}"


class TaskTransaction(NamedTuple):
    """The result of a task, on its way to the driver."""

    place: TaskPlace
    rows: int = 0
    transaction: PreparedTransaction | None = None
    """The transaction to end; None if an earlier attempt committed it, or there is nothing in it:
    neither rows nor a marker."""
    topic: str | None = None
    """A topic to which the task has written."""


class Marker(NamedTuple):
    """What a task has written."""

    batch_id: int
    rows: int
    fingerprint: str

    @property
    def note(self) -> str:
        """The note stored beside the offset, which is the batch."""
        return json.dumps({"rows": self.rows, "fingerprint": self.fingerprint})


class TaskCount(NamedTuple):
    """How many tasks a write had when its transactions were last ended."""

    batch_id: int
    tasks: int

    @property
    def note(self) -> str:
        """The note stored beside the offset, which is the batch."""
        return json.dumps({"tasks": self.tasks})


Stored = tuple[int, str]
"""An offset and the note beside it."""


def newest_marker(stored: Iterable[Stored], group_id: str) -> Marker | None:
    """Return the marker of the newest batch; None without any.

    Each topic of stored markers has one. Raises: KafkaError when another program has committed
    offsets in the group.
    """
    found = [_marker(offset, note, group_id) for offset, note in stored]
    return max(found, default=None)


def newest_count(stored: Iterable[Stored], group_id: str) -> TaskCount | None:
    """Return the last stored number of tasks; None if none was. Raises: as `newest_marker`."""
    try:
        found = [TaskCount(offset, int(json.loads(note)["tasks"])) for offset, note in stored]
    except (ValueError, TypeError, KeyError) as error:
        raise _foreign(group_id) from error
    return max(found, default=None)


def _marker(offset: int, note: str, group_id: str) -> Marker:
    try:
        told = json.loads(note)
        return Marker(offset, int(told["rows"]), str(told["fingerprint"]))
    except (ValueError, TypeError, KeyError) as error:
        raise _foreign(group_id) from error


def _foreign(group_id: str) -> KafkaError:
    return KafkaError(
        f"the group {group_id!r} has offsets that no transactional write has committed: choose"
        " another transactionalIdPrefix"
    )


def is_written(found: Marker | None, place: TaskPlace) -> bool:
    """Return whether the task's rows were committed before.

    Raises: ReplayMismatchError when a later batch was. The checkpoint is then older than the
    written data, and nothing says whether these rows are part of it.
    """
    if found is None or place.batch_id is None or found.batch_id < place.batch_id:
        return False
    if found.batch_id > place.batch_id:
        raise ReplayMismatchError(
            f"batch {place.batch_id} comes to {place.transactional_id!r}, which has written batch"
            f" {found.batch_id}: the checkpoint was restored from an older state, or another query"
            " runs on a copy of it. Writing could repeat rows, and passing over could lose some;"
            " to write all that comes, set another transactionalIdPrefix"
        )
    return True


def check_same(found: Marker, came: Marker, place: TaskPlace) -> None:
    """Raise ReplayMismatchError unless the repeated rows equal those of the marker."""
    if found != came:
        raise ReplayMismatchError(
            f"{place.transactional_id!r} has written {found.rows} rows of batch {found.batch_id}"
            f" (fingerprint {found.fingerprint}), and {came.rows} other rows"
            f" (fingerprint {came.fingerprint}) come under the same number. Either the rows of a"
            " task change when the query restarts: read the same input with the same options, avoid"
            " round-robin repartition, rand() and the time of day, and keep"
            " spark.sql.shuffle.partitions. Or foreachBatch writes twice: give each of its writes a"
            " transactionalIdPrefix of its own"
        )


__all__ = [
    "Marker",
    "ReplayMismatchError",
    "Stored",
    "TaskCount",
    "TaskPlace",
    "TaskTransaction",
    "check_same",
    "is_written",
    "newest_count",
    "newest_marker",
    "transactional_id",
]
