"""No error, log line, repr or `explain()` shows what a user passed, whichever argument it was.

The calls are made from the signatures, so a new call or option is tried without a new test: each
argument in turn is an object of 1 MB with a mark, which nothing may show.
"""

import asyncio
import inspect
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    KeyedWorkers,
    ShareWorkers,
)
from aiokafka_lite.checks.quoted import cut
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

MARK = "card4111"
SIZE = 1_000_000
TEXT = f"{MARK} " * (SIZE // (len(MARK) + 1))
TP = TopicPartition("t", 0)


class Odd:
    """Shows its content, as a user's class may."""

    def __repr__(self) -> str:
        return TEXT

    __str__ = __repr__


RECORD: ConsumerRecord[Any, Any] = ConsumerRecord(
    "t", 0, 0, 0, 0, MARK.encode(), TEXT.encode(), None, 1, SIZE, (("h", MARK.encode()),)
)
MARKED: dict[str, Any] = {
    "str": TEXT,
    "name": MARK * (SIZE // len(MARK)),
    "bytes": TEXT.encode(),
    "dict": {TEXT: TEXT},
    "dict of partitions": {TP: RECORD},
    "list": [TEXT, RECORD],
    "tuple": (TEXT, 0),
    "object": Odd(),
    "record": RECORD,
    "partition": TopicPartition(TEXT, 0),
}
PLAIN: dict[str, Any] = {
    "topic": "t",
    "topics": ["t"],
    "partition": TP,
    "partitions": [TP],
    "offsets": {TP: 0},
    "offset": 0,
    "value": b"v",
    "values": [b"v"],
    "group_id": "g",
    "group": "g",
    "timestamps": {TP: 0},
    "batch": None,
    "pattern": "t",
    "timestamp_ms": 0,
    "record": RECORD,
}
"""What the other arguments of a call are, by their names."""
ENDS = {"start", "stop", "close", "bootstrap"}
MOST_S = 20.0
"""How long one call may take; nobody waits for that in virtual time."""


class Told(logging.Handler):
    """Collects what the package says."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("aiokafka_lite.testing."):  # the broker, which got it
            self.texts.append(self.format(record))


@contextmanager
def listening() -> Iterator[Told]:
    logger = logging.getLogger("aiokafka_lite")
    told, before = Told(), logger.level
    logger.addHandler(told)
    logger.setLevel(logging.DEBUG)
    try:
        yield told
    finally:
        logger.removeHandler(told)
        logger.setLevel(before)


def texts_of(error: BaseException | None) -> Iterator[str]:
    """Yield the texts of an error and of those behind it."""
    seen: set[int] = set()
    left = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield from (str(each), repr(each), *getattr(each, "__notes__", ()))
        left += [each.__cause__, each.__context__]
        left += list(getattr(each, "exceptions", ()))


def arguments(call: Callable[..., Any]) -> list[inspect.Parameter]:
    found = inspect.signature(call).parameters.values()
    return [each for each in found if each.kind is not each.VAR_KEYWORD and each.name != "self"]


def calls_of(client: Any) -> list[str]:
    return [
        name
        for name, found in inspect.getmembers(client)
        if not name.startswith("_")
        and name not in ENDS
        and callable(found)
        and inspect.ismethod(found)
        and arguments(found)
    ]


def arranged(call: Callable[..., Any], marked: str, value: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call, of which one is marked."""
    listed: list[Any] = []
    named: dict[str, Any] = {}
    for each in arguments(call):
        given = value if each.name == marked else PLAIN.get(each.name, "t")
        if each.kind is each.VAR_POSITIONAL:
            if each.name == marked:
                listed.append(given)
        elif each.kind is each.POSITIONAL_ONLY:
            listed.append(given)
        elif each.name == marked or each.default is each.empty:
            named[each.name] = given
    return listed, named


async def outcome_of(call: Callable[..., Any], marked: str, value: Any) -> BaseException | None:
    listed, named = arranged(call, marked, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call(*listed, **named)
            if inspect.isawaitable(result):
                result = await asyncio.wait_for(result, MOST_S)
            if inspect.isawaitable(result):  # the ack of a record
                await asyncio.wait_for(result, MOST_S)
    except Exception as error:  # noqa: BLE001 - each is looked at
        return error
    return None


@asynccontextmanager
async def client_of(kind: Any, kafka: VirtualKafka) -> AsyncIterator[Any]:
    options: dict[str, Any] = dict(kafka.client_options)
    topics: tuple[str, ...] = ()
    if kind in (AIOKafkaConsumer, AIOKafkaShareConsumer):
        topics, options = ("t",), {**options, "group_id": "g"}
    if kind is AIOKafkaProducer:
        options |= {"transactional_id": None, "max_block_ms": 1000}
    client = kind(*topics, **options)
    await (client.bootstrap() if kind is AIOKafkaClient else client.start())
    try:
        yield client
    finally:
        await (client.stop() if hasattr(client, "stop") else client.close())


def faults_in(where: str, texts: Iterable[str]) -> list[str]:
    """Return a line for each text with the mark; the reason of a rebalance is shown, cut."""
    found = []
    for text in texts:
        left = text.replace(cut(TEXT), "").replace(cut(MARKED["name"]), "")
        if MARK in left:
            near = left[max(left.find(MARK) - 100, 0) :][:200]
            found.append(f"{where}: {len(text):,} characters, {text[:200]}… {near}")
    return found


KINDS = [
    AIOKafkaProducer,
    AIOKafkaConsumer,
    AIOKafkaShareConsumer,
    AIOKafkaAdminClient,
    AIOKafkaClient,
]


@pytest.mark.parametrize("value", MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("kind", KINDS)
def test_no_call_shows_what_it_was_given(kind: Any, value: Any) -> None:
    faults: list[str] = []
    tried = 0

    async def main(kafka: VirtualKafka) -> None:
        nonlocal tried
        kafka.broker.create_topic("t")
        async with client_of(kind, kafka) as client:
            for name in calls_of(client):
                call = getattr(client, name)
                for argument in arguments(call):
                    tried += 1
                    where = f"{kind.__name__}.{name}({argument.name}=…)"
                    with listening() as told:
                        error = await outcome_of(call, argument.name, value)
                    faults.extend(faults_in(where, texts_of(error)))
                    faults.extend(faults_in(f"log of {where}", told.texts))
                    texts = [repr(client)]
                    if hasattr(client, "explain"):
                        texts += [each.text for each in client.explain()]
                    faults.extend(faults_in(f"repr or explain() after {where}", texts))

    run_virtual_kafka(main)
    assert tried > 5
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("value", MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("kind", [*KINDS, KeyedWorkers, ShareWorkers])
def test_no_constructor_shows_what_it_was_given(kind: Any, value: Any) -> None:
    faults: list[str] = []
    consumer = AIOKafkaConsumer("t", group_id="g", enable_auto_commit=False)
    sharer = AIOKafkaShareConsumer("t", group_id="g", share_acknowledgement_mode="explicit")

    async def handle(record: object) -> None:
        raise NotImplementedError

    plain = {"handle": handle, "consumer": sharer if kind is ShareWorkers else consumer}
    for argument in arguments(kind):
        if argument.kind is argument.VAR_POSITIONAL:
            listed, named = [value], {}
        else:
            listed, named = [], {argument.name: value}
        if kind in (KeyedWorkers, ShareWorkers):
            named = {**plain, **named}
        with listening() as told, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                made = kind(*listed, **named)
            except Exception as error:  # noqa: BLE001 - each is looked at
                faults += faults_in(f"{kind.__name__}({argument.name}=…)", texts_of(error))
            else:
                faults += faults_in(f"repr with {argument.name}", [repr(made)])
        faults += faults_in(f"log of {argument.name}", told.texts)
        faults += faults_in(f"warning of {argument.name}", [str(each.message) for each in warned])
    assert not faults, "\n".join(faults)


# What a user's code raises…


def test_an_error_of_a_serializer_shows_no_record() -> None:
    def fail(obj: Any) -> bytes:
        raise ValueError(f"cannot turn {obj}")

    async def main(kafka: VirtualKafka) -> list[str]:
        producer: Any = AIOKafkaProducer(**kafka.client_options, value_serializer=fail)
        with listening() as told:
            async with producer:
                with pytest.raises(Exception, match="ValueError") as caught:
                    await producer.send("t", TEXT)
        return [str(caught.value), *told.texts]

    assert not faults_in("serializer", run_virtual_kafka(main))


def test_an_error_of_a_deserializer_shows_no_record() -> None:
    async def main(kafka: VirtualKafka) -> list[str]:
        kafka.broker.produce("t", MARK.encode(), key=MARK.encode())
        options = {**kafka.client_options, "auto_offset_reset": "earliest"}
        consumer: Any = AIOKafkaConsumer("t", **options, value_deserializer=int)
        with listening() as told:
            async with consumer:
                with pytest.raises(Exception, match="ValueError") as caught:
                    await consumer.getone()
                texts = [str(caught.value), *(each.text for each in consumer.explain())]
        return [*texts, *told.texts]

    assert not faults_in("deserializer", run_virtual_kafka(main))


@pytest.mark.parametrize("retries", [0, 2])
def test_an_error_of_a_handler_shows_no_record(retries: int) -> None:
    """What the handler itself has raised stands behind the error that ends the workers."""

    async def handle(record: Any) -> None:
        raise LookupError(f"no account of {record.key!r} for {record.value!r}")

    async def main(kafka: VirtualKafka) -> list[str]:
        kafka.broker.produce("t", TEXT[:1000].encode(), key=MARK.encode())
        options: Any = {"auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = AIOKafkaConsumer("t", group_id="g", **kafka.client_options, **options)
        with listening() as told:
            workers = KeyedWorkers(consumer, handle, retries=retries)
            with pytest.raises(Exception, match="t-0 offset 0") as caught:
                async with workers:
                    await workers.run()
        return [str(caught.value), repr(workers), *told.texts]

    assert not faults_in("handler", run_virtual_kafka(main))


def test_the_mark_would_be_found() -> None:
    error = ValueError(TEXT)
    error.__cause__ = KeyError(MARK)
    error.add_note(MARK)
    assert len(faults_in("it", texts_of(error))) == 5
