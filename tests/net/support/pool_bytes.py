"""What a pool of frame buffers holds: tests count it, no program needs it."""

from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool, _is_idle


def pooled_bytes(pool: FrameBufferPool) -> int:
    """Return the bytes of all buffers the pool keeps, idle or in use."""
    return sum(map(len, pool._buffers))


def idle_bytes(pool: FrameBufferPool) -> int:
    """Return the bytes of the kept buffers to which nothing refers."""
    buffers = pool._buffers
    return sum(len(buffers[i]) for i in range(len(buffers)) if _is_idle(buffers, i))
