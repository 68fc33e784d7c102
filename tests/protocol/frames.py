"""The body of a whole frame, for tests of headers and requests."""

from aiokafka_lite.protocol.frame import SIZE_PREFIX


def frame_of(parts: list[bytes | bytearray | memoryview]) -> bytes:
    """The frame without its size, which is checked."""
    whole = b"".join(parts)
    assert SIZE_PREFIX.unpack_from(whole)[0] == len(whole) - 4
    return whole[4:]
