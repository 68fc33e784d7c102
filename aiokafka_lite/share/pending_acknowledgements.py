"""Owns the acknowledgements that wait for a node, or are on their way to it.

They are sent together, so they have one outcome per partition. Calls of `commit()` wait for it.
Does not wait. Source: KIP-932.
"""

from collections.abc import Callable, Iterable, KeysView, Mapping

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.held_records import AckBatch

Outcome = Mapping[TopicPartition, KafkaError | None]
"""What a node answered about each partition; None: it has taken everything."""


class AckGroup:
    """Acknowledgements that one request carries."""

    def __init__(self) -> None:
        self.batches: dict[TopicPartition, list[AckBatch]] = {}
        self.listeners: list[Callable[[Outcome], object]] = []
        """Called once with the outcome."""
        self.attempts = 0
        """How many requests carried them and were refused as a whole."""
        self.sent_at_s = 0.0
        """When the newest request that carries them was sent (monotonic)."""
        self._late: dict[TopicPartition, KafkaError] = {}

    def __bool__(self) -> bool:
        return bool(self.batches)

    @property
    def has_records(self) -> bool:
        """Whether it renews records that are returned again."""
        return any(batch.records for batches in list(self.batches.values()) for batch in batches)

    def add(self, tp: TopicPartition, batch: AckBatch) -> None:
        """Add a batch; it becomes part of the one that it continues."""
        batches = self.batches.setdefault(tp, [])
        before = batches[-1] if batches else None
        if (
            before is not None
            and before.last + 1 == batch.first
            and before.by_user == batch.by_user
            and before.expires_at_s == batch.expires_at_s
        ):
            before.types += batch.types
            before.records = [*before.records, *batch.records]
        else:
            batches.append(batch)

    def add_all(self, other: "AckGroup") -> None:
        """Add what another group has, also those who wait for it."""
        for tp, batches in other.batches.items():
            for batch in batches:
                self.add(tp, batch)
        self.listeners += other.listeners
        self._late |= other._late

    def end(self, outcome: Outcome) -> None:
        """Tell all who wait."""
        listeners, self.listeners = self.listeners, []
        late, self._late = self._late, {}
        for listener in listeners:
            listener({**outcome, **late})

    def take_expired(self, now_s: float, error: KafkaError) -> "AckGroup":
        """Return the batches whose locks have ended; they are no part of this group any more. Those
        who wait for it hear of `error` with its outcome.
        """
        expired = AckGroup()
        for tp, batches in self.batches.copy().items():
            late = [batch for batch in batches if batch.expires_at_s <= now_s]
            if not late:
                continue
            expired.batches[tp] = late
            self._late[tp] = error
            self.batches[tp] = [batch for batch in batches if batch.expires_at_s > now_s]
            if not self.batches[tp]:
                del self.batches[tp]
        if not self.batches:
            self.end({})
        return expired

    @property
    def of_user(self) -> list[TopicPartition]:
        """The partitions about which the user has said something."""
        return [
            tp
            for tp, batches in self.batches.copy().items()
            if any(each.by_user for each in batches)
        ]

    def failed(self, error: KafkaError) -> Outcome:
        """Return the outcome if all of it has failed."""
        return dict.fromkeys(self.batches, error)


class PendingAcknowledgements:
    """What waits for one node. Renewals have requests of their own."""

    def __init__(self) -> None:
        self._others = AckGroup()
        self._renewals = AckGroup()

    def __bool__(self) -> bool:
        return bool(self._others or self._renewals)

    @property
    def has_renewals(self) -> bool:
        """Whether locks are to be renewed."""
        return bool(self._renewals)

    @property
    def others(self) -> KeysView[TopicPartition]:
        """The partitions about which something waits that is no renewal."""
        return self._others.batches.keys()

    @property
    def groups(self) -> Iterable[AckGroup]:
        """Both groups, those without batches, too."""
        return (self._renewals, self._others)

    def add(self, tp: TopicPartition, batch: AckBatch) -> None:
        """Add a batch, all of it renewals or none."""
        is_renewal = batch.types[0] == AcknowledgeType.RENEW
        (self._renewals if is_renewal else self._others).add(tp, batch)

    def take_expired(self, now_s: float, error: KafkaError) -> list[AckGroup]:
        """Return what waited until its locks have ended, and forget it."""
        taken = [group.take_expired(now_s, error) for group in self.groups if group]
        return [group for group in taken if group]

    def take_renewals(self) -> AckGroup:
        """Return the renewals that wait, and forget them."""
        taken, self._renewals = self._renewals, AckGroup()
        return taken

    def take_others(self) -> AckGroup:
        """Return all that waits but the renewals, and forget it."""
        taken, self._others = self._others, AckGroup()
        return taken

    def put_back(self, group: AckGroup, *, is_renewal: bool) -> None:
        """Let a group that was not taken wait again, before what came since."""
        group.attempts += 1
        group.add_all(self.take_renewals() if is_renewal else self.take_others())
        if is_renewal:
            self._renewals = group
        else:
            self._others = group


__all__ = ["AckGroup", "Outcome", "PendingAcknowledgements"]
