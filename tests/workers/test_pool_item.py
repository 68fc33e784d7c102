"""The queues of both kinds of workers are what a pool expects: without records they give none."""

import pytest

from aiokafka_lite.workers.pool_item import PoolQueue
from aiokafka_lite.workers.share.share_queue import ShareItem, ShareQueue
from aiokafka_lite.workers.work_queues import WorkItem, WorkQueues


def _keyed() -> PoolQueue[WorkItem]:
    return WorkQueues(None)


def _shared() -> PoolQueue[ShareItem]:
    return ShareQueue(10)


@pytest.mark.parametrize("make", [_keyed, _shared])
def test_an_empty_queue(make: object) -> None:
    assert callable(make)
    queue = make()
    assert (queue.ready, queue.take()) == (0, None)
