"""Finds the event loop that a client belongs to. Does not wait."""

import asyncio


def running_loop() -> asyncio.AbstractEventLoop:
    """Return asyncio's running loop. Raises: RuntimeError where none runs, as in a trio program."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "no event loop of asyncio runs here: aiokafka_lite needs one, or uvloop's, and cannot "
            "work in trio's; call it from a coroutine that asyncio.run() runs"
        ) from None


__all__ = ["running_loop"]
