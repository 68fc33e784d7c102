"""A frame handler that remembers what it was told, and a transport fed without a socket."""

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.transport import FrameTransport


class RecordedFrames:
    def __init__(self) -> None:
        self.views: list[memoryview] = []
        self.lost: list[KafkaError] = []
        self.resumed = 0

    @property
    def frames(self) -> list[bytes]:
        return [bytes(view) for view in self.views]

    def frame_received(self, frame: memoryview) -> None:
        self.views.append(frame)

    def writing_resumed(self) -> None:
        self.resumed += 1

    def transport_lost(self, error: KafkaError) -> None:
        self.lost.append(error)


def transport_without_socket(
    pool: FrameBufferPool | None = None,
) -> tuple[FrameTransport, RecordedFrames]:
    recorded = RecordedFrames()
    return FrameTransport(recorded, "peer:9092", pool or FrameBufferPool()), recorded


def feed(transport: FrameTransport, data: bytes) -> None:
    """Receive `data` as the loop would: as often as buffers end, never more than there is room."""
    rest = memoryview(data)
    while rest:
        buffer = transport.get_buffer(-1)
        assert len(buffer) > 0
        taken = min(len(buffer), len(rest))
        buffer[:taken] = rest[:taken]
        transport.buffer_updated(taken)
        rest = rest[taken:]
