"""Keeps cancelled anyio scopes of the caller out of a block that has to run to its end.

A cancelled scope of anyio interrupts every await inside it, again and again. An end of a client
that is interrupted so would leave tasks and sockets behind. Importing anyio's backend costs more
CPU than the requests of a client's start, so this file never imports it first. A scope around the
caller exists only where the program has imported anyio itself.
"""

import sys
from contextlib import AbstractContextManager, nullcontext


def anyio_shield() -> AbstractContextManager[object]:
    """Return a block that cancelled anyio scopes around it do not reach.

    A plain `task.cancel()` does reach it.
    """
    if "anyio" not in sys.modules:
        return nullcontext()
    from anyio import CancelScope  # noqa: PLC0415

    return CancelScope(shield=True)


__all__ = ["anyio_shield"]
