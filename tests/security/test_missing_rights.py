"""What each call of a client tells whose rights are missing or were taken away, and what still
works.

As Java's ConsumerCoordinator, OffsetFetcher, Sender and TransactionManager do.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    CommitFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.acl import Acl

USER: Final = "bob"
OPEN, SHUT = TopicPartition("open", 0), TopicPartition("shut", 0)
TOPIC: Final = Acl.allow(USER, "READ", "WRITE", topic="open")
SHOWN: Final = Acl.allow(USER, "DESCRIBE", topic="shut")
GROUP: Final = Acl.allow(USER, "READ", group="g")
TRANSACTIONS: Final = Acl.allow(USER, "WRITE", transactional_id="tx")
RULES: Final = (TOPIC, GROUP, TRANSACTIONS)

# Rights have nothing to do with the event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


async def secured(**options: Any) -> EmbeddedBroker:
    """Start a broker with two topics, of which the user may use one."""
    broker = EmbeddedBroker(
        security="SASL_PLAINTEXT",
        users={USER: "secret"},
        acls=RULES,
        super_users=["root"],
        **options,
    )
    await broker.start()
    for name in ("open", "shut"):
        broker.create_topic(name, 1)
    return broker


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    """A broker with the newest protocol of transactions."""
    broker = await secured()
    yield broker
    await broker.stop()


@pytest.fixture(params=[0, 2])
async def each_broker(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddedBroker]:
    """A broker with each protocol of transactions."""
    broker = await secured(transaction_version=request.param)
    yield broker
    await broker.stop()


def consumer_of(broker: EmbeddedBroker, *topics: str, **options: Any) -> AIOKafkaConsumer:
    """Return a consumer of that user."""
    return AIOKafkaConsumer(
        *topics,
        auto_offset_reset="earliest",
        **(login(broker) | {"fetch_max_wait_ms": 50}),
        **options,
    )


def producer_of(broker: EmbeddedBroker, **options: Any) -> AIOKafkaProducer:
    """Return a producer of that user."""
    return AIOKafkaProducer(**login(broker), **options)


def login(broker: EmbeddedBroker) -> dict[str, Any]:
    """Return the options with which the user comes in."""
    return {
        "bootstrap_servers": broker.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_plain_username": USER,
        "sasl_plain_password": "secret",
    }


async def write(broker: EmbeddedBroker) -> None:
    """Write one record that the user may read."""
    async with producer_of(broker) as producer:
        await producer.send_and_wait("open", b"x")


async def found(consumer: AIOKafkaConsumer, error: type[KafkaError]) -> tuple[int, list[str]]:
    """Poll until there were both a record and an error; return the records and the errors."""
    count, told = 0, list[str]()
    for _ in range(50):
        try:
            count += sum(map(len, (await consumer.getmany(timeout_ms=2000)).values()))
        except error as refusal:
            told.append(str(refusal))
        if count and told:
            break
    return count, told


# Topics…


async def test_start_names_every_topic_that_is_not_shown(broker: EmbeddedBroker) -> None:
    consumer = consumer_of(broker, "open", "shut", "absent", group_id="g")
    with pytest.raises(TopicAuthorizationFailedError, match=r"topic 'absent', 'shut': .*CREATE"):
        await consumer.start()
    await consumer.stop()


@pytest.mark.parametrize("rules", [RULES, (*RULES, SHOWN)], ids=["hidden", "shown"])
@pytest.mark.parametrize("by", ["assign", "subscribe"])
async def test_the_other_topics_stay_readable(
    broker: EmbeddedBroker, rules: tuple[Acl, ...], by: str
) -> None:
    await write(broker)
    broker.set_acls(rules)
    async with consumer_of(broker, group_id="g") as consumer:
        if by == "assign":
            consumer.assign([OPEN, SHUT])
        else:
            consumer.subscribe(["open", "shut"])
        count, told = await found(consumer, TopicAuthorizationFailedError)
        assert count == 1
        assert all("shut" in text and "open" not in text for text in told)
        assert told


async def test_a_topic_can_be_read_once_the_right_is_granted(broker: EmbeddedBroker) -> None:
    broker.set_acls([*RULES, SHOWN])
    async with consumer_of(broker) as consumer:
        consumer.assign([SHUT])
        with pytest.raises(TopicAuthorizationFailedError, match="shut-0"):
            await consumer.getmany(timeout_ms=2000)
        broker.set_acls([*RULES, Acl.allow(USER, "READ", "WRITE", topic="shut")])
        async with producer_of(broker) as producer:
            await producer.send_and_wait("shut", b"x")
        assert (await consumer.getone()).value == b"x"


Call = Callable[[AIOKafkaConsumer], Awaitable[object]]


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.end_offsets([OPEN, SHUT]),
        lambda consumer: consumer.beginning_offsets([SHUT]),
        lambda consumer: consumer.offsets_for_times({SHUT: 1}),
        lambda consumer: consumer.committed(SHUT),
        lambda consumer: consumer.commit({SHUT: 1, OPEN: 0}),
        lambda consumer: consumer.position(SHUT),
        lambda consumer: consumer.seek_to_end(SHUT),
    ],
    ids=["end", "beginning", "times", "committed", "commit", "position", "seek"],
)
async def test_each_question_about_a_topic_is_refused_at_once(
    broker: EmbeddedBroker, call: Call
) -> None:
    async with consumer_of(broker, group_id="g", default_api_timeout_ms=10_000) as consumer:
        consumer.assign([OPEN, SHUT])
        with pytest.raises(TopicAuthorizationFailedError, match=r"shut.*READ to consume"):
            await call(consumer)
        assert await consumer.end_offsets([OPEN]) == {OPEN: 0}


async def test_offsets_are_answered_once_the_right_is_granted(broker: EmbeddedBroker) -> None:
    async with consumer_of(broker) as consumer:
        with pytest.raises(TopicAuthorizationFailedError, match="'shut'"):
            await consumer.end_offsets([SHUT])
        broker.set_acls([*RULES, SHOWN])
        assert await consumer.end_offsets([SHUT]) == {SHUT: 0}


async def test_only_the_batches_of_a_forbidden_topic_fail(broker: EmbeddedBroker) -> None:
    broker.set_acls([*RULES, SHOWN])
    async with producer_of(broker, linger_ms=20) as producer:
        acks = [await producer.send(topic, b"x") for topic in ("open", "shut", "open")]
        assert [(await acks[0]).offset, (await acks[2]).offset] == [0, 1]
        with pytest.raises(TopicAuthorizationFailedError, match=r"shut-0: .*WRITE to produce"):
            await acks[1]
        assert (await producer.send_and_wait("open", b"y")).offset == 2


async def test_a_topic_that_may_not_be_created_says_which_right(broker: EmbeddedBroker) -> None:
    broker.set_acls([*RULES, Acl.allow(USER, "WRITE", "READ", topic="new")])
    async with producer_of(broker) as producer:
        with pytest.raises(TopicAuthorizationFailedError, match=r"'new'.*also needs CREATE"):
            await producer.send_and_wait("new", b"x")
    consumer = consumer_of(broker, "new", allow_auto_create_topics=True)
    with pytest.raises(TopicAuthorizationFailedError, match=r"'new'.*also needs CREATE"):
        await consumer.start()
    await consumer.stop()


# The cluster…


async def test_an_idempotent_producer_needs_a_right_and_recovers(broker: EmbeddedBroker) -> None:
    broker.set_acls([Acl.allow(USER, "DESCRIBE", topic="open")])
    async with producer_of(broker, enable_idempotence=True) as producer:
        with pytest.raises(ClusterAuthorizationFailedError, match=r"producer id: .*IDEMPOTENT"):
            await producer.send_and_wait("open", b"x")
        broker.set_acls(RULES)
        assert (await producer.send_and_wait("open", b"x")).offset == 0


# Groups…


async def test_a_right_that_is_taken_away_reaches_the_next_poll(broker: EmbeddedBroker) -> None:
    await write(broker)
    async with consumer_of(broker, "open", group_id="g", heartbeat_interval_ms=50) as consumer:
        await consumer.getone()
        broker.set_acls([TOPIC])
        with pytest.raises(GroupAuthorizationFailedError, match=r"heartbeat in group 'g': .*READ"):
            await consumer.getmany(timeout_ms=5000)
        with pytest.raises(GroupAuthorizationFailedError, match=r"joining group 'g': .*READ"):
            await consumer.getmany(timeout_ms=5000)
        for offsets in (None, {OPEN: 1}):  # the member gave its partitions up to join
            with pytest.raises(CommitFailedError, match=r"joining group 'g': .*grant READ"):
                await consumer.commit(offsets)
        broker.set_acls(RULES)
        assert (await consumer.getone()).value == b"x"  # a member again, nothing was committed
        broker.set_acls([TOPIC])  # leaving is refused, which keeps nobody from stopping


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.committed(OPEN),
        lambda consumer: consumer.commit({OPEN: 0}),
        lambda consumer: consumer.getmany(timeout_ms=5000),
    ],
    ids=["committed", "commit", "poll"],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["unknown", "known"])
async def test_each_call_names_the_group(
    broker: EmbeddedBroker, call: Call, *, is_known: bool
) -> None:
    async with consumer_of(broker, group_id="g") as consumer:
        if is_known:  # the coordinator is
            await consumer.committed(OPEN)
        broker.set_acls([TOPIC])
        consumer.assign([OPEN])
        with pytest.raises(GroupAuthorizationFailedError, match=r"'g'.*grant READ"):
            await call(consumer)


# Transactions…


async def test_a_transactional_id_without_right_is_fatal(each_broker: EmbeddedBroker) -> None:
    async with producer_of(each_broker, transactional_id="tx") as producer:
        await producer.begin_transaction()
        each_broker.set_acls([TOPIC, GROUP])
        with pytest.raises(TransactionalIdAuthorizationFailed, match="'tx'"):
            await producer.send_and_wait("open", b"x")
        each_broker.set_acls(RULES)
        for call in (producer.abort_transaction, producer.begin_transaction):
            with pytest.raises(TransactionalIdAuthorizationFailed, match="'tx'"):
                await call()


@pytest.mark.parametrize("right", [None, "DESCRIBE"], ids=["hidden", "shown"])
async def test_start_can_be_tried_again(broker: EmbeddedBroker, right: str | None) -> None:
    rules = [] if right is None else [Acl.allow(USER, right, transactional_id="tx")]
    broker.set_acls([TOPIC, *rules])
    producer = producer_of(broker, transactional_id="tx")
    with pytest.raises(TransactionalIdAuthorizationFailed, match=r"'tx'.*grant WRITE"):
        await producer.start()
    broker.set_acls(RULES)
    await producer.start()
    async with producer.transaction():
        await producer.send_and_wait("open", b"x")
    await producer.stop()


async def test_a_forbidden_topic_can_be_aborted(each_broker: EmbeddedBroker) -> None:
    each_broker.set_acls([*RULES, SHOWN])
    async with producer_of(each_broker, transactional_id="tx") as producer:
        await producer.begin_transaction()
        with pytest.raises(TopicAuthorizationFailedError, match="shut-0"):
            await producer.send_and_wait("shut", b"x")
        await aborts_and_goes_on(producer, TopicAuthorizationFailedError)


@pytest.mark.parametrize(
    ("group", "offsets", "error", "named"),
    [
        ("other", {OPEN: 1}, GroupAuthorizationFailedError, "group 'other'.*grant READ"),
        ("g", {OPEN: 1, SHUT: 1}, TopicAuthorizationFailedError, "of shut-0 for group 'g'"),
    ],
    ids=["group", "topic"],
)
async def test_forbidden_offsets_can_be_aborted(
    each_broker: EmbeddedBroker,
    group: str,
    offsets: dict[TopicPartition, int],
    error: type[KafkaError],
    named: str,
) -> None:
    async with producer_of(each_broker, transactional_id="tx") as producer:
        await producer.begin_transaction()
        with pytest.raises(error, match=named):
            await producer.send_offsets_to_transaction(offsets, group)
        await aborts_and_goes_on(producer, error)


async def aborts_and_goes_on(producer: AIOKafkaProducer, error: type[KafkaError]) -> None:
    """Check that the open transaction can only be aborted, and that the next one commits."""
    with pytest.raises(error):
        await producer.commit_transaction()
    await producer.abort_transaction()
    async with producer.transaction():
        await producer.send_and_wait("open", b"x")
        await producer.send_offsets_to_transaction({OPEN: 1}, "g")
