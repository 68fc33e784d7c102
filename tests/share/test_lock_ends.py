"""No record is returned whose lock has ended, and no acknowledgement counts that left behind that:
whatever way a record takes to the user, and whatever the user says of it. In virtual time.
"""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaShareConsumer
from aiokafka_lite.errors import InvalidRecordStateError
from aiokafka_lite.model import AcknowledgeType
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.share.share_kafka import GROUP, TP, ShareKafka, read, run_share, seen

LOCK_S = 30
ACCEPT, RENEW = AcknowledgeType.ACCEPT, AcknowledgeType.RENEW
VERDICTS = [ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT, RENEW]


async def accepts(share: ShareKafka) -> None:
    """Let another member take what is free, and accept it."""
    async with share.explicit() as other:
        for record in await read(other):
            other.acknowledge(record)
        assert set((await other.commit()).values()) == {None}


async def told(consumer: AIOKafkaShareConsumer[Any, Any]) -> list[object]:
    return [type(error) for error in (await consumer.commit()).values()]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_what_is_said_after_the_lock_does_not_count_and_is_told(
    verdict: AcknowledgeType, caplog: pytest.LogCaptureFixture
) -> None:
    """A broker calls it a success as soon as the other member is done with the record."""

    async def main(share: ShareKafka) -> None:
        heard: list[object] = []
        async with share.explicit() as slow:
            slow.set_acknowledgement_commit_callback(lambda _, error: heard.append(type(error)))
            (record,) = await read(slow)
            await asyncio.sleep(LOCK_S + 1)
            await accepts(share)
            slow.acknowledge(record, verdict)
            assert await told(slow) == [InvalidRecordStateError]
            assert heard == [InvalidRecordStateError]
            assert slow.statistics().refused_acknowledgements == 1
            assert await read(slow, 1000) == []

    run_share(main, "a")
    assert "t-0: the locks of records had ended" in caplog.text


def test_what_the_next_poll_accepts_after_the_lock_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as slow:
            assert seen(await read(slow)) == [("a", 1)]
            await asyncio.sleep(LOCK_S + 1)
            await accepts(share)
            assert await read(slow, 1000) == []
            assert slow.statistics().acknowledged_records == 0

    run_share(main, "a")
    assert "t-0: the locks of records had ended" in caplog.text


def test_a_renewed_record_is_not_returned_after_its_lock() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as slow:
            (record,) = await read(slow)
            slow.acknowledge(record, RENEW)
            assert await told(slow) == [type(None)]
            await asyncio.sleep(LOCK_S + 1)
            await accepts(share)
            assert await read(slow, 1000) == []

    run_share(main, "a")


def test_a_renewed_record_that_is_accepted_after_its_lock_is_told() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as slow:
            (record,) = await read(slow)
            slow.acknowledge(record, RENEW)
            (again,) = await read(slow)
            assert slow.statistics().returned_records == 2
            await asyncio.sleep(LOCK_S + 1)
            await accepts(share)
            slow.acknowledge(again)
            assert await told(slow) == [InvalidRecordStateError]

    run_share(main, "a")


def lose_session(broker: EmbeddedBroker, how: str) -> None:
    if how == "ended":
        broker.end_share_sessions(GROUP)
    else:
        broker.faults.cut(ShareFetchRequest)


@pytest.mark.parametrize("how", ["ended", "cut"])
def test_a_renewed_record_is_not_returned_after_its_session(how: str) -> None:
    """The node has given what was locked there to others."""

    async def main(share: ShareKafka) -> None:
        async with share.explicit() as slow:
            one, two = await read(slow)
            slow.acknowledge(one, RENEW)
            slow.acknowledge(two)
            await slow.commit()
            lose_session(share.broker, how)
            slow._life.engine.fetcher.start_fetches()  # type: ignore[union-attr]
            await asyncio.sleep(2)
            assert not slow._life.engine.fetcher.renewed  # type: ignore[union-attr]

    run_share(main, "a", "b")


def test_what_is_said_after_the_session_does_not_count_and_is_told() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as slow:
            one, two = await read(slow)
            share.broker.faults.cut(ShareAcknowledgeRequest)
            slow.acknowledge(one)
            assert None not in (await slow.commit()).values()
            await accepts(share)
            slow.acknowledge(two)
            assert await told(slow) == [InvalidRecordStateError]

    run_share(main, "a", "b")


def test_what_is_said_in_time_counts() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as slow:
            (record,) = await read(slow)
            await asyncio.sleep(LOCK_S - 2)
            slow.acknowledge(record)
            assert await slow.commit() == {TP: None}
            await asyncio.sleep(LOCK_S)
            assert await read(slow, 1000) == []

    run_share(main, "a")
