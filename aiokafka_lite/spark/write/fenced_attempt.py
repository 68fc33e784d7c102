"""Lets a fenced attempt of a task wait until Spark kills it, instead of failing at once.

With speculation two attempts of a task run at once, and the later one fences the earlier. Spark
answers a failure by another attempt. That one would fence the attempt that goes well, and so on,
until the task has failed too often. Once an attempt has succeeded, Spark kills those that are left.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import InvalidProducerEpoch, InvalidTxnState, ProducerFenced
from aiokafka_lite.spark.process.worker import Worker, worker

logger = logging.getLogger(__name__)

_FENCED: Final = (ProducerFenced, InvalidProducerEpoch, InvalidTxnState)
_WAIT_S: Final = 30.0
"""Long enough for most tasks. A driver that is no more holds its slots for so long."""


@contextmanager
def waits_when_fenced(here: Worker | None = None, clock: Clock = SYSTEM_CLOCK) -> Iterator[None]:
    """Hold an error of fencing back for a while, then raise it."""
    try:
        yield
    except _FENCED as error:
        logger.info("a later attempt of this task writes; waiting for its end: %s", error)
        here = worker() if here is None else here
        here.run(lambda: clock.sleep(_WAIT_S))
        raise


__all__ = ["waits_when_fenced"]
