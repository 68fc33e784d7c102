"""Programs for clients of aiokafka's API: what a program is, how it runs, and what it finds.

The same program runs on aiokafka and on the clients that `compat` shows in its place, each on an
embedded broker of its own. What a step finds is its result, or the kinds of its error.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple

import aiokafka
import aiokafka.admin
from hypothesis import strategies as st

import aiokafka_lite
from aiokafka_lite.compat import consumer, producer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.topics import create_topic

TOPICS = ("a", "b")
STEP_S = 4
"""A step that takes longer is given up; that is what it found."""


class Step(NamedTuple):
    """One call with its arguments; a place is a tuple of topic and partition."""

    name: str
    arguments: tuple[Any, ...] = ()


class Program(NamedTuple):
    """A consumer of some kind, and the steps of its program, beside a producer."""

    options: dict[str, Any]
    topics: tuple[str, ...]
    steps: list[Step]
    of_producer: dict[str, Any] = {}


class Finding(NamedTuple):
    """What a step has found: a result, or the names of the error's classes."""

    result: Any = None
    error: tuple[str, ...] = ()

    def agrees(self, theirs: "Finding") -> bool:
        """Whether a program that handles what aiokafka finds handles this as well."""
        if theirs.error:
            return bool(self.error) and theirs.error[0] in self.error
        return not self.error and self.result == theirs.result

    def __str__(self) -> str:
        return self.error[0] if self.error else repr(self.result)


class Package(NamedTuple):
    """The classes that a program uses."""

    names: ModuleType
    producer: Any
    consumer: Any


THEIRS = Package(aiokafka, aiokafka.AIOKafkaProducer, aiokafka.AIOKafkaConsumer)
OURS = Package(aiokafka_lite, producer.AIOKafkaProducer, consumer.AIOKafkaConsumer)


# What the steps do…


class Run:
    """One run of a program on one package."""

    def __init__(self, package: Package, address: str, program: Program) -> None:
        self.package = package
        self.producer = package.producer(bootstrap_servers=address, **program.of_producer)
        self.second = lambda: package.consumer(
            "a", "b", bootstrap_servers=address, **{**program.options, "group_id": "group"}
        )
        self.consumer = package.consumer(
            *program.topics, bootstrap_servers=address, **program.options
        )
        self.calls: list[str] = []
        self.is_started = self.has_listener = False

    def place(self, given: Any) -> Any:
        """Return the TopicPartition of a tuple; anything else as it is."""
        is_place = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str)
        return self.package.names.TopicPartition(*given) if is_place else given

    def listener(self) -> Any:
        """Return a listener that notes its calls."""
        calls = self.calls

        class Listener(self.package.names.ConsumerRebalanceListener):  # type: ignore[misc, name-defined]
            def on_partitions_revoked(self, revoked: Any) -> None:
                calls.append(f"revoked {len(revoked)}")

            def on_partitions_assigned(self, assigned: Any) -> None:
                calls.append(f"assigned {len(assigned)}")

        return Listener()

    async def step(self, step: Step) -> Finding:
        """Do a step; return what it found."""
        try:
            async with asyncio.timeout(STEP_S):
                result = await getattr(self, f"do_{step.name}")(*step.arguments)
        except Exception as error:  # noqa: BLE001  it is the finding
            kinds = (each.__name__ for each in type(error).__mro__)
            return Finding(error=tuple(each for each in kinds if each not in ("object",)))
        return Finding(shown(result))

    # The producer…

    async def do_send(self, topic: Any, value: Any, key: Any, partition: Any) -> Any:
        sent = await self.producer.send_and_wait(topic, value, key=key, partition=partition)
        return (sent.topic, sent.partition, sent.offset, sent.timestamp_type)

    async def do_send_batch(self, values: tuple[bytes, ...], partition: int) -> Any:
        batch = self.producer.create_batch()
        for value in values:
            batch.append(key=None, value=value, timestamp=None)
        sent = await self.producer.send_batch(batch, "a", partition=partition)
        metadata = await sent
        return None if metadata is None else (metadata.partition, metadata.offset)

    async def do_flush(self) -> Any:
        return await self.producer.flush()

    async def do_partitions_for(self, topic: Any) -> Any:
        return await self.producer.partitions_for(topic)

    async def do_begin_transaction(self) -> Any:
        return await self.producer.begin_transaction()

    async def do_commit_transaction(self) -> Any:
        return await self.producer.commit_transaction()

    async def do_abort_transaction(self) -> Any:
        return await self.producer.abort_transaction()

    async def do_send_offsets(self, offsets: Any, group: Any) -> Any:
        if isinstance(offsets, dict):
            offsets = {self.place(key): each for key, each in offsets.items()}
        return await self.producer.send_offsets_to_transaction(offsets, group)

    # Reading…

    async def do_getone(self, place: Any) -> Any:
        record = await self.consumer.getone(self.place(place))
        return (record.topic, record.partition, record.offset, record.key, record.value)

    async def do_drain(self, partitions: tuple[Any, ...], max_records: Any) -> Any:
        """Everything there is, poll by poll."""
        found: list[Any] = []
        places = [self.place(each) for each in partitions]
        while True:
            polled = await self.consumer.getmany(*places, timeout_ms=250, max_records=max_records)
            if not polled:
                return sorted(found)
            for place, records in polled.items():
                found += [(*place, each.offset, each.value) for each in records]

    async def do_cancelled_getone(self, place: Any) -> Any:
        """A call that is cancelled loses no record; it may be over before."""
        task = asyncio.ensure_future(self.consumer.getone(self.place(place)))
        await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            record = await task
            self.consumer.seek(self.place(place), record.offset)
            return
        await asyncio.sleep(0)

    # Subscriptions…

    async def do_subscribe(self, topics: Any, pattern: Any, with_listener: bool) -> Any:
        listener = self.listener() if with_listener else None
        before = self.consumer.assignment()
        self.consumer.subscribe(topics, pattern, listener)
        self.has_listener = with_listener
        await self.settle()
        self.begin_anew(before)

    async def do_unsubscribe(self) -> Any:
        return self.consumer.unsubscribe()

    async def do_assign(self, partitions: Any) -> Any:
        before = self.consumer.assignment()
        self.consumer.assign([self.place(each) for each in partitions])
        self.begin_anew(before)

    async def do_rebalance(self) -> Any:
        """A second member comes and goes; this one polls meanwhile."""
        second = self.second()
        try:
            await second.start()
            await self.poll_nothing()
        finally:
            await second.stop()
        await self.poll_nothing()
        await self.settle()
        if not self.has_listener:
            self.begin_anew(self.consumer.assignment())

    def begin_anew(self, stayed: Any) -> None:
        """As `PLACES_KEPT` has it, what stays begins anew in aiokafka. So the program seeks it."""
        for place in self.consumer.assignment() & stayed if self.is_started else ():
            self.consumer.resume(place)
            self.consumer.seek(place, 1)

    async def poll_nothing(self) -> None:
        for _ in range(10):
            await self.consumer.getmany(self.place(("a", 9)), timeout_ms=20)

    async def do_assignment(self) -> Any:
        await self.settle()
        return self.consumer.assignment()

    async def do_subscription(self) -> Any:
        return self.consumer.subscription()

    async def settle(self) -> None:
        """Wait until a subscription has its partitions, or none come."""
        before: Any = None
        for _ in range(20):
            await asyncio.sleep(0.02)
            now = self.consumer.assignment()
            if now and now == before:
                return
            before = now

    # Positions…

    async def do_position(self, place: Any) -> Any:
        return await self.consumer.position(self.place(place))

    async def do_seek(self, place: Any, offset: Any) -> Any:
        return self.consumer.seek(self.place(place), offset)

    async def do_seek_to_beginning(self, *places: Any) -> Any:
        return await self.consumer.seek_to_beginning(*map(self.place, places))

    async def do_seek_to_end(self, *places: Any) -> Any:
        return await self.consumer.seek_to_end(*map(self.place, places))

    async def do_seek_to_committed(self, *places: Any) -> Any:
        return await self.consumer.seek_to_committed(*map(self.place, places))

    async def do_pause(self, place: Any) -> Any:
        return self.consumer.pause(self.place(place))

    async def do_resume(self, place: Any) -> Any:
        return self.consumer.resume(self.place(place))

    async def do_paused(self) -> Any:
        return self.consumer.paused()

    async def do_beginning_offsets(self, places: Any) -> Any:
        return await self.consumer.beginning_offsets([self.place(each) for each in places])

    async def do_end_offsets(self, places: Any) -> Any:
        return await self.consumer.end_offsets([self.place(each) for each in places])

    async def do_offsets_for_times(self, place: Any, timestamp: Any) -> Any:
        found = await self.consumer.offsets_for_times({self.place(place): timestamp})
        return {key: None if each is None else each.offset for key, each in found.items()}

    async def do_topics(self) -> Any:
        return {each for each in await self.consumer.topics() if not each.startswith("__")}

    async def do_partitions_for_topic(self, topic: Any) -> Any:
        return self.consumer.partitions_for_topic(topic)

    # Commits…

    async def do_commit(self, offsets: Any) -> Any:
        if isinstance(offsets, dict):
            offsets = {self.place(key): each for key, each in offsets.items()}
        return await self.consumer.commit(offsets)

    async def do_committed(self, place: Any) -> Any:
        return await self.consumer.committed(self.place(place))

    # Life…

    async def do_start(self) -> Any:
        await self.consumer.start()
        self.is_started = True
        await self.settle()

    async def do_stop(self) -> Any:
        return await self.consumer.stop()

    async def do_stop_producer(self) -> Any:
        return await self.producer.stop()


def shown(result: Any) -> Any:
    """Return a result in a form that both packages have."""
    if isinstance(result, dict):
        return sorted((shown(key), shown(value)) for key, value in result.items())
    if isinstance(result, set | frozenset):
        return sorted(map(shown, result))
    if isinstance(result, tuple):
        return tuple(map(shown, result))
    return result


async def run(package: Package, program: Program) -> list[Finding]:
    """Run a program on a new broker; return what its steps found, and what is left at the end."""
    async with EmbeddedBroker(num_partitions=2, auto_create_topics=False) as broker:
        address = broker.bootstrap_servers
        for topic in TOPICS:
            await create_topic(address, topic)
        async with aiokafka_lite.AIOKafkaProducer(bootstrap_servers=address) as filler:
            for topic in TOPICS:
                for partition in range(2):
                    await filler.send_many(topic, [b"0", b"1", b"2"], partition=partition)
        this = Run(package, address, program)
        await this.producer.start()
        findings = []
        try:
            for step in program.steps:
                findings.append(await this.step(step))
        finally:
            for stop in (this.consumer.stop, this.producer.stop):
                with suppress(Exception):
                    await stop()
        findings.append(Finding(changes(this.calls)))
        findings.append(Finding(await left_behind(address)))
        return findings


def changes(calls: list[str]) -> list[str]:
    """The calls of listeners without rebalances that changed nothing: there may be more."""
    kept: list[str] = []
    for call in calls:
        kind, _, number = call.partition(" ")
        if kind == "assigned" and kept[1:] and kept[-1] == f"revoked {number}":
            kept.pop()
        else:
            kept.append(call)
    return kept


async def left_behind(address: str) -> Any:
    """The ends of the logs, and the offsets of the group."""
    places = [aiokafka_lite.TopicPartition(topic, number) for topic in TOPICS for number in (0, 1)]
    async with (
        aiokafka_lite.AIOKafkaConsumer(bootstrap_servers=address) as reader,
        aiokafka_lite.AIOKafkaAdminClient(bootstrap_servers=address) as admin,
    ):
        stored = await admin.list_consumer_group_offsets("group")
        return shown(await reader.end_offsets(places)), sorted(
            (*place, each.offset) for place, each in stored.items()
        )


# How programs are made…

PLACES = st.sampled_from([("a", 0), ("a", 1), ("b", 0)])
ANY_PLACE = st.one_of(PLACES, st.just(("a", 9)))
IMPOSSIBLE_TOPICS: tuple[list[Any], ...] = ([1], ["a b"])
OFFSETS = st.sampled_from([0, 1, 3, 99, -1, "1", None])


def _steps(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(*arguments).map(lambda given: Step(name, given))


_VALUES = st.sampled_from([b"value", b"", None, "text", 7])
STEPS: dict[str, st.SearchStrategy[Step]] = {
    each: _steps(each)
    for each in (
        "unsubscribe",
        "assignment",
        "subscription",
        "paused",
        "topics",
        "flush",
        "stop",
        "start",
        "stop_producer",
        "begin_transaction",
        "commit_transaction",
        "abort_transaction",
        "rebalance",
    )
} | {
    "send": _steps(
        "send",
        st.sampled_from(["a", "a", "b", "no such topic!", None]),
        _VALUES,
        st.sampled_from([None, b"key", "text"]),
        st.sampled_from([0, 1, 9, -1, "0"]),
    ),
    "send_offsets": _steps(
        "send_offsets",
        st.sampled_from([{("a", 0): 2}, {("a", 1): (1, "note")}, {}, {"a": 1}, None]),
        st.sampled_from(["group", "group", "", None]),
    ),
    "send_batch": _steps(
        "send_batch", st.sampled_from([(), (b"x",), (b"x", b"y")]), st.sampled_from([0, 1, 9])
    ),
    "getone": _steps("getone", ANY_PLACE),
    "cancelled_getone": _steps("cancelled_getone", PLACES),
    "partitions_for": _steps("partitions_for", st.sampled_from(["a", "b"])),
    "drain": _steps(
        "drain",
        st.one_of(st.just(()), st.tuples(PLACES)),
        st.sampled_from([None, None, 1, 2, 0, -1, "1"]),
    ),
    "subscribe": _steps(
        "subscribe",
        st.sampled_from([["a"], ["a", "b"], {"b"}, (), "a", *IMPOSSIBLE_TOPICS, None]),
        st.sampled_from([None, None, None, "a.*", "[", 5]),
        st.booleans(),
    ),
    "assign": _steps("assign", st.sampled_from([[("a", 0)], [("a", 0), ("b", 1)], [], ["a"]])),
    "position": _steps("position", ANY_PLACE),
    "seek": _steps("seek", ANY_PLACE, OFFSETS),
    "seek_to_beginning": _steps("seek_to_beginning", ANY_PLACE),
    "seek_to_end": _steps("seek_to_end", ANY_PLACE),
    "seek_to_committed": _steps("seek_to_committed", ANY_PLACE),
    "pause": _steps("pause", ANY_PLACE),
    "resume": _steps("resume", ANY_PLACE),
    "beginning_offsets": _steps("beginning_offsets", st.lists(PLACES, max_size=2)),
    "end_offsets": _steps("end_offsets", st.lists(PLACES, max_size=2)),
    "offsets_for_times": _steps("offsets_for_times", PLACES, st.sampled_from([0, 2**45, -5, None])),
    "partitions_for_topic": _steps("partitions_for_topic", st.sampled_from(["a", "none"])),
    "commit": _steps(
        "commit",
        st.one_of(
            st.none(),
            st.just({}),
            st.dictionaries(PLACES, st.sampled_from([1, 2, (1, "note"), "1", (1,), None, -5])),
            st.sampled_from(["a", {"a": 1}]),
        ),
    ),
    "committed": _steps("committed", ANY_PLACE),
}
FAST = {"heartbeat_interval_ms": 100, "auto_offset_reset": "earliest"}


def programs(
    names: tuple[str, ...] = tuple(STEPS), least: int = 1, most: int = 10
) -> st.SearchStrategy[Program]:
    """Programs of steps with these names; nearly all of them start first."""
    options = st.sampled_from(
        [
            FAST,
            {**FAST, "group_id": "group", "enable_auto_commit": False},
            {**FAST, "group_id": "group", "enable_auto_commit": False},
            {"auto_offset_reset": "none", "enable_auto_commit": False},
        ]
    )
    steps = st.lists(st.one_of(*[STEPS[name] for name in names]), min_size=least, max_size=most)
    first = st.sampled_from([[Step("start")]] * 9 + [[]])
    of_producer = st.sampled_from([{}, {}, {"transactional_id": "id"}])
    return st.builds(
        lambda chosen, topics, begin, more, rest: Program(chosen, topics, [*begin, *more], rest),
        options,
        st.sampled_from([(), ("a",), ("a", "b")]),
        first,
        steps,
        of_producer,
    )


# What may differ…


class Difference(NamedTuple):
    """Findings that may differ, and the row of docs/moving.md that tells it."""

    row: str
    holds: Callable[[Step, Finding, Finding], bool]
    """Of the step, of what aiokafka finds, and of what is found here."""


def _kinds(theirs: str, ours: str) -> Callable[[Step, Finding, Finding], bool]:
    def holds(_: Step, their_finding: Finding, our_finding: Finding) -> bool:
        return theirs in their_finding.error[:1] and ours in our_finding.error

    return holds


NO_RESET = '`auto_offset_reset="none"`'
PLACES_KEPT = "partitions that stay in an `assign()`, a `subscribe()` or a rebalance"
"""The row of what programs do not find, because they seek then."""
DIFFERENCES = (
    Difference(
        "a call that waits for what cannot come",
        lambda _, theirs, ours: "TimeoutError" in theirs.error[:1] and bool(ours.error),
    ),
    Difference(
        "a call that waits for what cannot come",
        lambda step, theirs, ours: (
            step.name == "subscribe"
            and step.arguments[0] in IMPOSSIBLE_TOPICS
            and not theirs.error
            and bool({"TypeError", "InvalidTopicError"} & {*ours.error})
        ),
    ),
    Difference(
        "calls after `stop()`",
        lambda _, theirs, ours: bool({"ConsumerStoppedError", "ProducerClosed"} & {*ours.error}),
    ),
    Difference(
        "`getmany(timeout_ms=...)` while unassigned",
        lambda step, theirs, ours: (
            step.name == "drain" and "TimeoutError" in theirs.error[:1] and ours.result == []
        ),
    ),
    Difference(
        "`getmany(timeout_ms=...)` while unassigned",
        lambda step, theirs, ours: (
            (step.name, theirs.result) in (("drain", []), ("rebalance", None))
            and not theirs.error
            and "IllegalStateError" in ours.error
        ),
    ),
    Difference(
        "`partitions_for_topic()`",
        lambda step, theirs, ours: (
            step.name == "partitions_for_topic" and theirs.result is None and bool(ours.result)
        ),
    ),
    Difference(
        "a negative offset in `commit()`",
        lambda step, theirs, ours: (
            step.name == "commit" and not theirs.error and "ValueError" in ours.error
        ),
    ),
    Difference(
        "`commit()` before anything was read",
        lambda step, theirs, ours: (
            step.name in ("committed", "seek_to_committed", "left behind")
            and not ours.error
            and stores_no_more(theirs.result, ours.result)
        ),
    ),
    Difference(
        NO_RESET,
        lambda _, theirs, ours: "NoOffsetForPartitionError" in (*theirs.error, *ours.error),
    ),
    Difference(
        "calls before `start()`",
        lambda _, theirs, ours: "AttributeError" in theirs.error[:1],
    ),
    Difference("several faults in one call", _kinds("IllegalStateError", "ValueError")),
    Difference("several faults in one call", _kinds("IllegalStateError", "TypeError")),
    Difference("several faults in one call", _kinds("ValueError", "IllegalStateError")),
    Difference("several faults in one call", _kinds("IllegalStateError", "IllegalOperation")),
    Difference("several faults in one call", _kinds("TypeError", "AssertionError")),
    Difference("several faults in one call", _kinds("TypeError", "IllegalStateError")),
    Difference("several faults in one call", _kinds("AssertionError", "NoTransactionError")),
)


def stores_no_more(theirs: Any, ours: Any) -> bool:
    """Whether each stored offset is theirs, or the one at which the group starts without it."""
    known = stored_in(theirs)
    return all(known.get(place, 0) == offset for place, offset in stored_in(ours).items())


def stored_in(result: Any) -> dict[Any, int]:
    """The stored offsets, by place, in what a step found."""
    if isinstance(result, tuple):  # left behind: with the ends of the logs
        return {each[:2]: each[2] for each in result[1]}
    if isinstance(result, list):
        return {each[0]: each[1] for each in result if each[1] is not None}
    return {} if result is None else {"the one asked for": result}


def difference(step: Step, theirs: Finding, ours: Finding) -> Difference | None:
    """Return why the findings of a step may differ; None if they must not."""
    return next((each for each in DIFFERENCES if each.holds(step, theirs, ours)), None)


def told_apart(
    program: Program, theirs: list[Finding], ours: list[Finding]
) -> tuple[Step, Finding, Finding] | None:
    """Return the first step whose findings differ and must not; None if there is none.

    Behind a step that only one of them refuses nothing is compared: the program goes on otherwise.
    """
    steps = [*program.steps, Step("calls of listeners"), Step("left behind")]
    for step, their_finding, our_finding in zip(steps, theirs, ours, strict=True):
        if not our_finding.agrees(their_finding):
            known = difference(step, their_finding, our_finding)
            if known is None:
                return step, their_finding, our_finding
            if known.row == NO_RESET or not (their_finding.error and our_finding.error):
                return None
    return None
