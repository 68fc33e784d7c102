"""What the group's committed note says of partition 0."""

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.workers.finished_note import read_note
from tests.workers.running import GROUP, T0


def stored_note(broker: EmbeddedBroker) -> list[int]:
    """The offsets that the note names."""
    stored = broker.group(GROUP).offsets[T0]
    note = read_note(stored.offset, stored.metadata or "")
    return [offset for offset in range(note.last + 1) if offset in note]
