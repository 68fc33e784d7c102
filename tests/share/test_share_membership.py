"""A member joins, follows its group, and leaves it when it shall not or cannot read."""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedMemberEpochError,
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    IllegalStateError,
    InconsistentGroupProtocolError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.share.share_kafka import GROUP, TOPIC, ShareKafka, read, run_share, seen


def heartbeats(share: ShareKafka) -> list[ShareGroupHeartbeatRequest]:
    return share.broker.requests_of(ShareGroupHeartbeatRequest)


def test_a_quiet_heartbeat_carries_only_ids_and_epoch() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer():
            await asyncio.sleep(1)
            joins = heartbeats(share)
            assert joins[0].member_epoch == 0
            assert joins[0].subscribed_topic_names == [TOPIC]
            share.broker.forget_requests()
            await asyncio.sleep(30)
            quiet = heartbeats(share)
            assert 5 <= len(quiet) <= 7
            assert {each.subscribed_topic_names is None for each in quiet} == {True}

    run_share(main, "a")


@pytest.mark.parametrize("error", [UnknownMemberIdError, FencedMemberEpochError])
def test_a_member_that_is_given_up_joins_again_with_its_id(
    error: type[BrokerResponseError],
) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            share.broker.forget_requests()
            share.broker.faults.fail(ShareGroupHeartbeatRequest, error, times=1)
            await asyncio.sleep(6)
            refused, again, *_ = heartbeats(share)
            assert (refused.member_epoch > 0, again.member_epoch) == (True, 0)
            assert again.member_id == refused.member_id
            assert again.subscribed_topic_names == [TOPIC]
            await share.write("b")
            assert ("b", 1) in seen(await read(consumer))

    run_share(main, "a")


def test_a_group_of_another_kind_is_refused() -> None:
    async def main(share: ShareKafka) -> None:
        async with AIOKafkaConsumer(
            TOPIC, group_id="other", group_protocol="consumer", **share.kafka.client_options
        ):
            began_s = share.clock.monotonic()
            with pytest.raises(GroupIdNotFound):
                await share.consumer(group_id="other").start()
            assert share.clock.monotonic() - began_s < 15

    run_share(main, "a")


def test_the_id_of_a_share_group_is_refused_to_other_consumers() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer():
            began_s = share.clock.monotonic()
            for protocol in ("consumer", "auto"):
                with pytest.raises(GroupIdNotFound, match="choose another group_id"):
                    await AIOKafkaConsumer(
                        TOPIC,
                        group_id=GROUP,
                        group_protocol=protocol,
                        **share.kafka.client_options,
                    ).start()
            with pytest.raises(InconsistentGroupProtocolError):
                await AIOKafkaConsumer(TOPIC, group_id=GROUP, **share.kafka.client_options).start()
            assert share.clock.monotonic() - began_s < 15

    run_share(main, "a")


def test_a_refusal_is_raised_by_a_poll_and_a_later_poll_joins_again() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            share.broker.faults.fail(
                ShareGroupHeartbeatRequest, GroupAuthorizationFailedError, times=1
            )
            await asyncio.sleep(6)
            with pytest.raises(GroupAuthorizationFailedError):
                await read(consumer)
            assert [value for value, _ in seen(await read(consumer))] == ["a"]

    run_share(main, "a")


def test_a_member_without_polls_leaves_and_the_next_poll_joins() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(max_poll_interval_ms=10_000) as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            await asyncio.sleep(12)
            assert heartbeats(share)[-1].member_epoch == -1
            async with share.consumer() as other:
                assert seen(await read(other)) == [("a", 2)]
                await other.commit()
            await share.write("b")
            assert seen(await read(consumer)) == [("b", 1)]

    run_share(main, "a")


def test_unsubscribing_leaves_and_subscribing_joins_again() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            consumer.unsubscribe()
            assert consumer.subscription() == frozenset()
            await asyncio.sleep(1)
            assert heartbeats(share)[-1].member_epoch == -1
            with pytest.raises(IllegalStateError, match="nothing is subscribed"):
                await consumer.getmany()
            consumer.subscribe([TOPIC])
            assert seen(await read(consumer)) == [("a", 2)]

    run_share(main, "a")


def test_subscribing_anew_at_once_ends_in_the_group() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            consumer.unsubscribe()
            consumer.subscribe([TOPIC])
            assert [value for value, _ in seen(await read(consumer))] == ["a"]

    run_share(main, "a")


def test_a_topic_that_comes_later_is_read() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer("later", TOPIC) as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            consumer.subscribe([TOPIC])
            assert consumer.subscription() == {TOPIC}
            await share.write("b")
            assert seen(await read(consumer)) == [("b", 1)]

    run_share(main, "a")


def test_stop_leaves_the_group() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer():
            pass
        assert heartbeats(share)[-1].member_epoch == -1
        assert heartbeats(share)[-1].group_id == GROUP

    run_share(main, "a")
