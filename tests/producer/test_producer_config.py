import dataclasses
import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.producer_config import Acks, ProducerConfig


def test_defaults_are_javas() -> None:
    """An option of the producer has the default of Java's producer (2h-1)."""
    config = ProducerConfig()
    assert config.required_acks == -1
    assert config.is_idempotent
    assert (config.linger_ms, config.max_batch_size) == (5, 16384)
    assert (config.buffer_memory, config.max_block_ms) == (33554432, 60000)
    assert (config.delivery_timeout_ms, config.request_timeout_ms) == (120000, 30000)
    assert config.stop_timeout_ms == 30_000
    assert (config.max_request_size, config.retries) == (1048576, 2147483647)
    assert config.max_in_flight_requests_per_connection == 5
    assert config.compression is CompressionType.NONE
    assert config.client_id.startswith("aiokafka-lite-producer-")
    assert config.client_id != ProducerConfig().client_id


def test_the_constructor_has_the_same_defaults_as_the_config() -> None:
    parameters = inspect.signature(AIOKafkaProducer).parameters
    fields = {field.name: field.default for field in dataclasses.fields(ProducerConfig)}
    own = {"loop", "api_version", "client_id", "clock", "rng", "client"}
    for name, parameter in parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if name not in own:
            assert parameter.default == fields[name], name
            assert type(parameter.default) is type(fields[name]), name
    missing = fields.keys() - parameters.keys()
    assert missing == {"default_api_timeout_ms"}  # max_block_ms is the producer's


def test_wrong_sizes_of_topics_are_all_named() -> None:
    sizes: Any = {"images": -1, "ticks": "1", 7: 100}
    with pytest.raises(KafkaConfigurationError) as caught:
        ProducerConfig(max_batch_size_by_topic=sizes)
    for told in ("['images']=-1 is below", "['ticks']='1' is of type str", "7 is of type int"):
        assert told in str(caught.value)
    with pytest.raises(KafkaConfigurationError, match="set it to a dict such as"):
        ProducerConfig(max_batch_size_by_topic=5)  # type: ignore[arg-type]


def test_batches_behind_a_backlog_are_up_to_256_kb_unless_somebody_wants_small_ones() -> None:
    config = ProducerConfig()
    assert config.batch_sizes == (16_384, 32_768, 65_536, 131_072, 262_144)
    assert ProducerConfig(max_batch_size=100_000).batch_sizes == (100_000, 200_000, 262_144)
    assert ProducerConfig(max_batch_size=300_000).batch_sizes == (300_000,)
    assert ProducerConfig(max_backlog_batch_size=0).batch_sizes == (16_384,)
    assert ProducerConfig(max_request_size=20_000).batch_sizes == (16_384, 20_000)
    assert ProducerConfig(buffer_memory=10_000).batch_sizes == (10_000,)
    of_one: list[dict[str, Any]]
    of_one = [{"max_batch_size": 16_383}, {"max_batch_size": 0}, {"compression_type": "lz4"}]
    for small in of_one:
        of_small = ProducerConfig(**small)
        assert of_small.max_backlog_batch_size == of_small.max_batch_size
        assert len(of_small.batch_sizes) == 1
    chosen = ProducerConfig(max_batch_size=1000, max_backlog_batch_size=3000)
    assert chosen.batch_sizes == (1000, 2000, 3000)


@pytest.mark.parametrize(("acks", "wire"), [("all", -1), (-1, -1), (0, 0), (1, 1)])
def test_acks_are_what_aiokafka_takes(acks: Acks, wire: int) -> None:
    assert ProducerConfig(acks=acks).required_acks == wire


@pytest.mark.parametrize("acks", [2, "ALL", "1", None, True, 1.5])
def test_other_acks_are_refused_with_aiokafkas_text(acks: object) -> None:
    with pytest.raises(ValueError, match=r"Invalid ACKS parameter.*'all'"):
        ProducerConfig(acks=acks)  # type: ignore[arg-type]  # that is what is tested


@pytest.mark.parametrize("options", [{"acks": 1}, {"acks": 0}, {"retries": 0}])
def test_idempotence_goes_off_unless_asked_for(options: dict[str, int]) -> None:
    """An option that idempotence cannot go with turns it off, or is refused beside it (2h-1)."""
    assert not ProducerConfig(**options).is_idempotent  # type: ignore[arg-type]
    with pytest.raises(KafkaConfigurationError, match="enable_idempotence"):
        ProducerConfig(enable_idempotence=True, **options)  # type: ignore[arg-type]


def test_more_than_five_in_flight_need_idempotence_off() -> None:
    """More than five requests in flight are refused while idempotence is on (2h-1)."""
    for asked in (None, True):
        with pytest.raises(KafkaConfigurationError, match=r"=6 exceeds the 5 .*enable_idempotence"):
            ProducerConfig(max_in_flight_requests_per_connection=6, enable_idempotence=asked)
    ProducerConfig(max_in_flight_requests_per_connection=6, enable_idempotence=False)
    ProducerConfig(max_in_flight_requests_per_connection=6, acks=1)


def test_delivery_timeout_holds_linger_and_request() -> None:
    """A default `delivery_timeout_ms` grows to hold linger and request timeout (2d-13)."""
    assert ProducerConfig(request_timeout_ms=200_000).delivery_timeout_ms == 200_005
    with pytest.raises(KafkaConfigurationError, match=r"=30000 is below .* 30005; raise"):
        ProducerConfig(delivery_timeout_ms=30_000)
    assert ProducerConfig(delivery_timeout_ms=30_005).delivery_timeout_ms == 30_005


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"transactional_id": ""}, "transactional_id='' is no name"),
        (
            {"transactional_id": "t", "transaction_timeout_ms": 0},
            "transaction_timeout_ms=0 is below its minimum of 1",
        ),
        ({"transactional_id": "t", "acks": 1}, "transactional_id needs acks='all'"),
        ({"transactional_id": "t", "retries": 0}, "transactional_id needs acks='all' and retries"),
    ],
)
def test_transactions_need_what_idempotence_needs(options: dict[str, object], text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=text):
        ProducerConfig(**options)  # type: ignore[arg-type]


def listen(*_: object) -> None:
    """A plain function."""


def test_a_transactional_producer_is_idempotent() -> None:
    assert ProducerConfig(transactional_id="t", transaction_timeout_ms=5000).is_idempotent
    handed_on = ProducerConfig(transactional_id="t", enable_idempotence=False)
    assert handed_on.is_idempotent, "False is aiokafka's default, and its producer is so, too"


@pytest.mark.parametrize(
    ("options", "name", "has"),
    [
        ({"transaction_timeout_ms": 30_000}, "transactional_id", None),
        ({"compression_type": "gzip"}, "max_backlog_batch_size", 16_384),
        ({"acks": 0}, "max_backlog_batch_size", 16_384),
        ({"partitioner": listen, "partitioner_ignore_keys": True}, "partitioner", listen),
        ({"partitioner": listen, "partitioner_availability_timeout_ms": 5}, "partitioner", listen),
    ],
)
def test_an_option_without_effect_is_taken_in_silence(
    options: dict[str, Any], name: str, has: object
) -> None:
    without: dict[str, Any] = {}
    if name == "max_backlog_batch_size":
        without = {name: 65_536}
    assert getattr(ProducerConfig(**options, **without), name) == has


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"compression_type": "brotli"}, "Invalid compression type!.*brotli"),
        ({"compression_gzip_level": 10}, "compression_gzip_level=10.*1 to 9"),
        ({"compression_lz4_level": 18}, "compression_lz4_level=18.*1 to 17"),
        ({"max_backlog_batch_size": -1}, "max_backlog_batch_size=-1 is below its minimum of 0"),
        ({"stop_timeout_ms": -1}, "stop_timeout_ms=-1 is below its minimum of 0"),
        ({"stop_timeout_ms": 1.5}, "stop_timeout_ms=1.5 is of type float"),
        ({"compression_zstd_level": 23}, "compression_zstd_level=23.*-131072 to 22"),
        ({"compression_zstd_level": "x"}, "compression_zstd_level='x'"),
        ({"linger_ms": -1}, "linger_ms=-1 is below"),
        ({"linger_ms": "5"}, "linger_ms='5' is of type str"),
        ({"max_in_flight_requests_per_connection": 0}, "=0 is below its minimum of 1"),
        ({"key_serializer": 3}, "key_serializer=3 is neither callable"),
        ({"partitioner": 5}, "partitioner=5 is not callable"),
        ({"enable_idempotence": "yes"}, "enable_idempotence='yes'"),
        ({"buffer_memory": None}, "buffer_memory=None is of type NoneType"),
        ({"retries": -1}, "retries=-1 is below"),
    ],
)
def test_wrong_values_are_named_with_limit_and_remedy(
    options: dict[str, object], text: str
) -> None:
    with pytest.raises(KafkaConfigurationError, match=text):
        ProducerConfig(**options)  # type: ignore[arg-type]


def test_all_faults_come_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError, match="3 faults") as e:
        ProducerConfig(linger_ms=-1, acks=7, retries=-1)  # type: ignore[arg-type]
    assert all(name in str(e.value) for name in ("linger_ms", "acks", "retries"))


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ({"compression_type": "gzip", "compression_gzip_level": 9}, 9),
        ({"compression_type": "zstd", "compression_gzip_level": 9}, None),
        ({"compression_type": "zstd", "compression_zstd_level": -5}, -5),
        ({"compression_type": "snappy"}, None),
        ({"compression_lz4_level": 3}, None),
    ],
)
def test_the_level_is_the_chosen_codecs(options: dict[str, object], level: int | None) -> None:
    """The compression level is that of the codec that is used (KIP-390)."""
    assert ProducerConfig(**options).compression_level == level  # type: ignore[arg-type]


async def listen_slowly(*_: object) -> None:
    """A coroutine function."""


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"partitioner_ignore_keys": "yes"}, "partitioner_ignore_keys='yes'"),
        ({"partitioner_adaptive_partitioning_enable": None}, "adaptive_partitioning_enable=None"),
        ({"partitioner_availability_timeout_ms": -1}, "partitioner_availability_timeout_ms=-1"),
        ({"partitioner_rack_aware": 1.5}, "partitioner_rack_aware=1.5"),
        ({"client_rack": 5}, "client_rack=5 is of type int; set it to a str or None"),
        ({"partitioner_rack_aware": True}, "needs client_rack, which is None"),
        ({"partitioner_rack_aware": True, "client_rack": " "}, "needs client_rack, which is ' '"),
        (
            {"partitioner_rack_aware": True, "client_rack": "r", "partitioner": "murmur2"},
            "partitioner='murmur2' chooses a partition for every record",
        ),
        (
            {"partitioner_rack_aware": True, "client_rack": "r", "partitioner": listen},
            "partitioner_rack_aware=True has no effect",
        ),
        ({"interceptors": listen}, "no list; give a list of objects"),
        ({"interceptors": "on_send"}, "no list; give a list of objects"),
        ({"interceptors": [object()]}, "has none of the methods on_send"),
        ({"interceptors": [SimpleNamespace(on_send=1)]}, "has none of the methods on_send"),
        (
            {"interceptors": [SimpleNamespace(on_send_error=listen_slowly)]},
            "has an async on_send_error: nobody waits for it",
        ),
    ],
)
def test_what_partitioning_and_interceptors_cannot_do_is_refused(
    options: dict[str, object], text: str
) -> None:
    """A partitioner or interceptor of the wrong form is refused (2d-4, 2d-5, 2d-24, C3)."""
    with pytest.raises(KafkaConfigurationError, match=text):
        ProducerConfig(**options)  # type: ignore[arg-type]


def test_partitioning_and_interceptors_that_can_are_taken() -> None:
    """An interceptor's `on_send` may be async (2d-5, C3)."""
    config = ProducerConfig()
    assert config.partitioner_adaptive_partitioning_enable
    assert (config.partitioner_ignore_keys, config.partitioner_availability_timeout_ms) == (
        False,
        0,
    )
    ProducerConfig(partitioner=listen)  # type: ignore[arg-type]
    ProducerConfig(partitioner_ignore_keys=True, partitioner_availability_timeout_ms=100)
    ProducerConfig(client_rack="r")
    ProducerConfig(client_rack="r", partitioner_rack_aware=True, partitioner="fnv1a_random")
    for name, method in (("on_send", listen_slowly), ("on_acknowledgement", listen)):
        ProducerConfig(interceptors=[SimpleNamespace(**{name: method})])
