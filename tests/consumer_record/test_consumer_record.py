"""The record that consumers return, in each of its twins: a dataclass to whoever uses it."""

import copy
import dataclasses
import gc
import pickle
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from aiokafka_lite import model
from aiokafka_lite.consumer_record import _consumer_record_py
from aiokafka_lite.model import TimestampType
from tests.support.twins import native_twin

# aiokafka 0.14, structs.py
FIELDS = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp_type",
    "key",
    "value",
    "checksum",
    "serialized_key_size",
    "serialized_value_size",
    "headers",
)
FACTS: dict[str, Any] = {
    "topic": "orders",
    "partition": 3,
    "offset": 42,
    "timestamp": 1_700_000_000_000,
    "timestamp_type": TimestampType.CREATE_TIME,
    "key": b"k",
    "value": b"v",
    "checksum": None,
    "serialized_key_size": 1,
    "serialized_value_size": 1,
    "headers": (("h", b"x"),),
}


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> Any:
    """The class, of either kind."""
    if request.param == "pure":
        return _consumer_record_py.ConsumerRecord
    return native_twin("aiokafka_lite.consumer_record._consumer_record").ConsumerRecord


@pytest.fixture
def record(twin: Any) -> Any:
    """`record(offset=1, ...)` -> a record of FACTS, but for what is named."""
    return lambda **changes: twin(**(FACTS | changes))


def test_it_is_a_dataclass_with_aiokafkas_fields_in_their_order(twin: Any, record: Any) -> None:
    fields: object = twin.__match_args__
    assert dataclasses.is_dataclass(twin)
    assert tuple(field.name for field in dataclasses.fields(twin)) == FIELDS
    assert dataclasses.asdict(record()) == FACTS
    assert dataclasses.replace(record(), offset=43) == record(offset=43)
    assert fields == FIELDS
    assert (twin.__doc__ or "").startswith("A record as the consumer returns it.")


def test_fields_are_taken_by_position_too(twin: Any, record: Any) -> None:
    assert twin(*dataclasses.astuple(record())) == record()
    with pytest.raises(TypeError):
        twin("orders")


def test_patterns_match_it(twin: Any, record: Any) -> None:
    match record():
        case twin("orders", 3, offset):
            assert offset == 42
        case _:
            pytest.fail("no match")


def test_it_compares_by_value_and_prints_its_fields(record: Any) -> None:
    assert record() == record()
    assert record() != record(offset=43)
    assert record() != "something else"
    one = record()
    assert repr(one) == (
        "ConsumerRecord(topic='orders', partition=3, offset=42, timestamp=1700000000000, "
        "timestamp_type=0, key=b'k', value=b'v', checksum=None, serialized_key_size=1, "
        "serialized_value_size=1, headers=(('h', b'x'),))"
    )
    one.value = [one]
    assert "value=[...]" in repr(one)


def test_a_long_field_is_printed_by_its_type_and_size(record: Any) -> None:
    long = record(key="k" * 102, value=b"card 4111 " * 100_000, headers=(("h", b"x" * 200),))
    assert "key=<str, 102 long>, value=<bytes, 1,000,000 long>" in repr(long)
    assert "headers=<tuple, 1 long>" in repr(long)
    assert f"value={b'v' * 100!r}" in repr(record(value=b"v" * 100))


ODD: dict[str, list[Any]] = {
    "offset": [0, -1, 2**63 - 1, 2**63, -(2**63) - 1, "7", None, True],
    "timestamp": [None, -1, 2**70],
    "serialized_key_size": [-1, 2**31 - 1, 2**31, None],
    "serialized_value_size": [-(2**31), -(2**31) - 1, 1.5],
    "headers": [[("a", b"1")], (), None, b"no headers", "odd"],
    "checksum": [7, None],
    "topic": [None, "other"],
    "partition": [4, None],
    "timestamp_type": [1, None],
    "key": [None, "text", {"a": 1}],
    "value": [None, 1, ["list"]],
}


@pytest.mark.parametrize(("field", "values"), ODD.items())
def test_every_field_keeps_whatever_it_is_given(record: Any, field: str, values: list[Any]) -> None:
    """A dataclass checks nothing: users' tests make records of whatever is at hand."""
    one = record()
    for value in [*values, FACTS[field]]:
        assert getattr(record(**{field: value}), field) == value
        setattr(one, field, value)
        assert getattr(one, field) == value
        assert type(getattr(one, field)) is type(value)
    assert one == record()


def test_a_change_shows_in_no_other_record(record: Any) -> None:
    one = record()
    other = copy.copy(one)
    for field in FIELDS:
        setattr(one, field, "changed")
    assert other == record()


def test_it_takes_attributes_of_the_users_own_and_is_not_hashable(record: Any) -> None:
    one = record()
    assert not hasattr(one, "trace")
    one.trace = "mine"
    assert one.trace == "mine"
    assert vars(one)["trace"] == "mine"
    vars(one)["other"] = 1
    assert one.other == 1
    del one.trace
    assert not hasattr(one, "trace")
    with pytest.raises(AttributeError):
        del one.trace
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_it_may_be_subclassed_and_parametrised(twin: Any, record: Any) -> None:
    class Order(twin[str, dict[str, int]]):  # type: ignore[misc]
        @property
        def total(self) -> int:
            total: int = self.value["total"]
            return total

    order = Order(**(FACTS | {"value": {"total": 7}}))
    assert isinstance(order, twin)
    assert order.total == 7
    assert order != record(value={"total": 7})
    assert repr(order).startswith(f"{Order.__qualname__}(topic='orders'")
    order.note = weakref.ref(order)
    assert order.note() is order
    assert copy.copy(order) == order
    assert type(dataclasses.replace(order, offset=1)) is Order


def test_a_dataclass_may_add_fields_to_it(twin: Any) -> None:
    @dataclasses.dataclass
    class Traced(twin):  # type: ignore[misc]
        trace: str = ""

    traced = Traced(**FACTS, trace="t")
    assert dataclasses.asdict(traced) == {**FACTS, "trace": "t"}
    assert traced == Traced(**FACTS, trace="t")
    assert traced != Traced(**FACTS, trace="u")


def test_it_can_be_copied_and_pickled_with_what_was_set_on_it(
    record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = record(value={"a": [1]})
    one.trace = "mine"
    monkeypatch.setattr(model, "ConsumerRecord", type(one))  # where pickle looks for the class
    for same in (
        copy.copy(one),
        copy.deepcopy(one),
        *(pickle.loads(pickle.dumps(one, protocol)) for protocol in range(2, 6)),
    ):
        assert same == one
        assert same.trace == "mine"
    assert copy.copy(one).value is one.value
    assert copy.deepcopy(one).value is not one.value


def test_pickles_of_one_twin_are_read_by_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    pure: Any = _consumer_record_py.ConsumerRecord
    native = native_twin("aiokafka_lite.consumer_record._consumer_record").ConsumerRecord
    for writer, reader in ((pure, native), (native, pure)):
        monkeypatch.setattr(model, "ConsumerRecord", writer)
        one = writer(**FACTS)
        one.trace = "mine"
        pickled = pickle.dumps(one)
        monkeypatch.setattr(model, "ConsumerRecord", reader)
        read = pickle.loads(pickled)
        assert type(read) is reader
        assert dataclasses.asdict(read) == FACTS
        assert read.trace == "mine"


def test_one_made_without_its_constructor_has_no_fields_until_they_are_set(twin: Any) -> None:
    bare = twin.__new__(twin)
    for field in ("topic", "offset", "serialized_key_size"):
        with pytest.raises(AttributeError):
            getattr(bare, field)
    for name, value in FACTS.items():
        setattr(bare, name, value)
    assert dataclasses.asdict(bare) == FACTS


# What only the native one has to promise…


@pytest.fixture
def fresh() -> Any:
    """`fresh(count, values=[b"value"])` -> records as the native reader makes them. The values are
    taken in turn, and each record's key is the end of its value."""
    reader = native_twin("aiokafka_lite.record._batch_reader")
    from aiokafka_lite.record.batch_builder import RecordBatchBuilder

    def make(count: int, values: Sequence[bytes] = (b"value",)) -> Any:
        longest = max(map(len, values))
        builder = RecordBatchBuilder(bytearray((100 + 2 * longest) * count + 100))
        for number in range(count):
            value = values[number % len(values)]
            builder.append(number, value[-100:], value, [("a", b"1"), ("b", None)])
        return reader.RecordCursor(
            bytes(builder.wire()), topic="t", partition=0, fetch_offset=0
        ).take(count)

    return make


def test_records_as_they_were_read_are_no_burden_to_the_collector(fresh: Any) -> None:
    records = fresh(3)
    assert not any(map(gc.is_tracked, records))
    assert records[0].headers == (("a", b"1"), ("b", None))
    assert records[0].headers is records[0].headers
    assert not gc.is_tracked(records[0])


@pytest.mark.parametrize("way", ["attribute", "field", "dict"])
def test_a_record_that_refers_to_itself_is_collected(fresh: Any, way: str) -> None:
    class Canary:
        pass

    (record,) = fresh(1)
    canary = Canary()
    if way == "attribute":
        record.mine = record, canary
    elif way == "field":
        record.value = record, canary
    else:
        vars(record)["mine"] = record, canary
    gone = weakref.ref(canary)
    del record, canary
    gc.collect()
    assert gone() is None


def test_a_record_takes_no_more_memory_than_a_line_of_a_cache_or_two(fresh: Any) -> None:
    """The dataclass takes 48 bytes, and a dict of hundreds."""
    (record,) = fresh(1)
    assert sys.getsizeof(record) <= 112


def test_freed_records_are_used_again_with_nothing_left_in_them(fresh: Any) -> None:
    for _ in range(3):
        records = fresh(2_000)
        assert not any(vars(record) for record in records)
        for record in records:
            record.mine = record.value = "changed"
        assert records[0].value == "changed"
        del records, record


def _values(fill: bytes) -> list[bytes]:
    """Values of the sizes at which blocks end, and of some between them."""
    return [fill * size for size in [*range(70), *range(470, 490), 1000, 4095, 4096, 4097, 9000]]


def test_values_of_freed_records_are_written_anew_for_later_ones(fresh: Any) -> None:
    def addresses() -> set[int]:
        return {id(record.value) for record in fresh(200, [b"v" * 1000])}

    assert addresses() == addresses()


def test_later_records_have_their_own_values_and_hashes(fresh: Any) -> None:
    for fill in (b"a", b"b", b"c"):
        values = _values(fill)
        for _ in range(2):
            records = fresh(len(values), values)
            assert [record.value for record in records] == values
            assert [record.key for record in records] == [value[-100:] for value in values]
            assert {record.value: 1 for record in records} == dict.fromkeys(values, 1)
            assert all(bytes(memoryview(record.value)) == record.value for record in records)
            del records


def test_a_value_that_somebody_keeps_never_changes(fresh: Any) -> None:
    values = _values(b"a")
    records = fresh(len(values), values)
    kept = [record.value for record in records]
    viewed = [memoryview(record.key) for record in records]
    copied = [copy.copy(record) for record in records]
    del records
    for _ in range(3):
        fresh(len(values), _values(b"b"))
    assert kept == values
    assert [bytes(view) for view in viewed] == [value[-100:] for value in values]
    assert [record.value for record in copied] == values


@pytest.mark.parametrize("way", ["attribute", "init", "state"])
def test_a_value_that_a_user_has_set_is_given_to_no_later_record(fresh: Any, way: str) -> None:
    """It may have less room than one that the reader has made."""
    records = fresh(50)
    given = []
    for number, record in enumerate(records):
        value = b"%025d" % number  # refers to it alone, once it is set
        given.append(id(value))
        if way == "attribute":
            record.value = value
        elif way == "init":
            record.__init__(**(FACTS | {"value": value}))
        else:
            record.__setstate__({"value": value})
        assert gc.is_tracked(record)
        del value
    blocks = [b"%025d" % number for number in range(1000)]  # no block is free for new values
    del records, record
    blocks += [b"%025d" % number for number in range(1000)]
    later = fresh(50, [b"x" * 25])
    assert not {id(record.value) for record in later} & set(given)
    with pytest.raises(AttributeError):
        type(later[0]).value.__set__(later[0], b"past __setattr__")


def test_little_memory_is_kept_of_values_that_went(fresh: Any) -> None:
    tracemalloc.start()
    try:
        for size in (1000, 2000, 4000, 100):
            before = tracemalloc.get_traced_memory()[0]
            records = fresh(4_000, [b"v" * size])
            assert tracemalloc.get_traced_memory()[0] - before > 3_000 * size
            del records
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] - before < 1.75e6
    finally:
        tracemalloc.stop()


def test_values_of_another_size_take_the_place_of_those_that_were_kept(fresh: Any) -> None:
    """Else a million bytes of a size that comes no more would keep the others out."""
    fresh(2_000, [b"v" * 1000])

    def addresses() -> set[int]:
        return {id(record.value) for record in fresh(200, [b"v" * 3000])}

    fresh(200, [b"v" * 3000])
    assert addresses() == addresses()


def test_a_dict_outlives_its_record(fresh: Any) -> None:
    (record,) = fresh(1)
    record.mine = 1
    kept = vars(record)
    del record
    assert kept == {"mine": 1}


def test_the_delivery_count_is_zero_outside_of_share_groups_and_no_field(record: Any) -> None:
    one, other = record(), record()
    assert one.delivery_count == 0
    one.delivery_count = 3
    assert (one.delivery_count, other.delivery_count) == (3, 0)
    assert one == other
    assert "delivery_count" not in repr(one)
    assert copy.copy(one).delivery_count == 3
    one.topic = "another"
    assert (one.topic, one.delivery_count, other.topic) == ("another", 3, "orders")


def test_records_of_one_batch_may_have_come_differently_often(fresh: Any) -> None:
    records = fresh(4)
    for one, count in zip(records, (1, 1, 2, 1), strict=True):
        one.delivery_count = count
    assert [one.delivery_count for one in records] == [1, 1, 2, 1]
    assert [one.topic for one in records] == ["t"] * 4
    records[0].topic = "mine"
    assert [one.topic for one in records] == ["mine", "t", "t", "t"]
    assert not any(map(gc.is_tracked, records[1:]))


CHAINS = """
import threading
from aiokafka_lite.model import ConsumerRecord

class Own(ConsumerRecord):
    pass

def chain(field, kind, wraps):
    record = None
    for _ in range(20_000):
        facts = dict.fromkeys(("topic", "key", "value", "checksum"))
        facts |= dict.fromkeys(("partition", "offset", "timestamp", "timestamp_type"), 0)
        facts |= dict.fromkeys(("serialized_key_size", "serialized_value_size"), -1)
        facts["headers"] = ()
        facts[field] = wraps(record)
        record = kind(**facts)

def chains():
    for field in ("value", "key", "offset", "headers", "topic"):
        for wraps in (lambda record: record, lambda record: [record]):
            chain(field, ConsumerRecord, wraps)
    chain("value", Own, lambda record: record)
    print("freed")

threading.stack_size(256 * 1024)
thread = threading.Thread(target=chains)
thread.start()
thread.join()
"""


def test_a_long_chain_of_records_is_freed_on_a_small_stack() -> None:
    """Each refers to the next, and freeing them does not use up the stack."""
    done = subprocess.run([sys.executable, "-c", CHAINS], capture_output=True, check=False)
    assert done.stdout == b"freed\n", done.stderr
