"""With delegation tokens, executors have a token, and nothing of the user who gets it."""

import logging
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK, require_kafka

pytest.importorskip("pyspark", reason=NO_SPARK)

from pyspark.sql.types import BinaryType, StructField, StructType

from aiokafka_lite.admin import DelegationToken
from aiokafka_lite.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.secret import Secret
from aiokafka_lite.spark import register
from aiokafka_lite.spark.compat import HAS_READ_LIMITS
from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.options import kafka_keys
from aiokafka_lite.spark.options.sealed_properties import SECURITY, client_arguments
from aiokafka_lite.spark.process import executor_tokens
from aiokafka_lite.spark.process.executor_tokens import ExecutorTokens
from aiokafka_lite.spark.source import KafkaLiteDataSource
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.broker import DelegationToken as BrokerToken
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.secured import make_trust_pem, sasl_ssl
from tests.spark.support.spark_io import run_to_end, source, write
from tests.spark.support.topics import T0, fill

PASSWORD = "sentinel-Pa55word"
HMAC = "c2VudGluZWwtaG1hYw=="
CERTIFICATE = (Path(__file__).parents[2] / "net" / "tls" / "localhost.pem").read_text().strip()
VALUES = [f"v{number}" for number in range(5)]


# What travels…


class OneToken:
    """A cluster that gives the same token for a day."""

    def create(self, client: Mapping[str, object]) -> DelegationToken:
        assert client_arguments({SECURITY: client[SECURITY]})["sasl_plain_username"] == "alice"
        day_ms = 86_400_000
        return DelegationToken("token-1", b"hmac", "User:alice", 0, day_ms, 7 * day_ms, ())

    def renew(self, client: Mapping[str, object], token: DelegationToken) -> int:
        raise AssertionError("it is fresh")


@pytest.fixture
def one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_tokens, "_of_process", [ExecutorTokens(OneToken())])


def given(**more: str) -> dict[str, str]:
    options = sasl_ssl(Path(__file__), PASSWORD)
    options["kafka.ssl.truststore.certificates"] = CERTIFICATE
    del options["kafka.ssl.truststore.location"]
    servers = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", "delegationToken": "true"}
    return {**servers, **options, **more}


SCHEMA = StructType([StructField("value", BinaryType())])
TOKEN = {
    "bootstrap_servers": "h:1",
    "security_protocol": "SASL_SSL",
    "ssl_cadata": CERTIFICATE,
    "sasl_mechanism": "SCRAM-SHA-512",
    "sasl_plain_username": "token-1",
    "sasl_plain_password": Secret("aG1hYw=="),
    "sasl_scram_tokenauth": True,
}


@pytest.mark.parametrize("streaming", [False, True])
def test_a_reader_travels_without_the_user_and_each_task_has_the_token(
    one_token: None, streaming: bool
) -> None:
    data_source = KafkaLiteDataSource(given())
    reader = data_source.streamReader(SCHEMA) if streaming else data_source.reader(SCHEMA)
    arrived = pickle.loads(pickle.dumps(reader))
    assert client_arguments(arrived._options.client) == {"bootstrap_servers": "h:1"}
    wanted = OffsetRange("t", 0, 0, 5)
    (task,) = (pickle.loads(pickle.dumps(each)) for each in reader._ranges([wanted], {}))
    assert task.value == (wanted,)
    options = arrived._options.with_security(task.security)
    assert client_arguments(options.client) == TOKEN


@pytest.mark.parametrize("streaming", [False, pytest.param(True, marks=needs("StreamArrowWriter"))])
def test_a_writer_travels_with_the_token(one_token: None, streaming: bool) -> None:
    data_source = KafkaLiteDataSource(given(topic="t"))
    make = data_source.streamWriter if streaming else data_source.writer
    arrived = pickle.loads(pickle.dumps(make(SCHEMA, False)))
    found = client_arguments(arrived._options.client)
    assert {name: found.get(name) for name in TOKEN} == TOKEN


def test_the_settings_of_the_official_connector_are_warned_of(
    spark: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kafka_keys, "_said", set())
    name = "spark.kafka.clusters.a.auth.bootstrap.servers"
    spark.conf.set(name, "h:1")
    try:
        with caplog.at_level(logging.WARNING):
            register(spark)
    finally:
        spark.conf.unset(name)
    assert f"without effect in kafka-lite: {name}; set the option delegationToken" in caplog.text


# On a broker…


@pytest.fixture
def secure_kafka_options() -> dict[str, Any]:
    tokens = {"given": BrokerToken("alice", HMAC)}
    return {"security": "SASL_SSL", "users": {"alice": PASSWORD}, "delegation_tokens": tokens}


@pytest.fixture
def broker(secure_kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    for topic in ("t", "u"):
        secure_kafka_broker.create_topic(topic)
    fill(secure_kafka_broker, T0, 5)
    return secure_kafka_broker


def values(frame: Any) -> list[str]:
    return sorted(row[0] for row in frame.selectExpr("string(value)").collect())


def test_tasks_read_when_the_users_password_is_not_valid_any_more(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    options = sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD)
    frame = source(spark, broker.bootstrap_servers, delegationToken="true", **options)
    rows = frame.rdd
    assert rows.getNumPartitions() == 1  # it is planned, and no task has begun
    broker.set_password("alice", "another one")
    assert rows.count() == 5
    used = [each.mechanism for each in broker.requests_of(SaslHandshakeRequest)]
    assert {"PLAIN", "SCRAM-SHA-512"} == set(used)
    assert len(broker.requests_of(CreateDelegationTokenRequest)) == 1


@needs("StreamArrowWriter")
def test_a_stream_reads_and_writes_by_tokens(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    options = sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD, mechanism="SCRAM-SHA-256")
    options |= {"delegationToken": "true", "kafka.bootstrap.servers": servers}
    frame = source(
        spark,
        streaming=True,
        servers=servers,
        startingOffsets="earliest",
        maxOffsetsPerTrigger="2",
        **options,
    )
    batches = run_to_end(frame.select("value"), tmp_path, sink="kafka-lite", topic="u", **options)
    assert len(batches) == (3 if HAS_READ_LIMITS else 1)
    write(source(spark, servers, **options).select("value"), servers, topic="u", **options)
    assert values(source(spark, servers, **options, subscribe="u")) == sorted(VALUES * 2)
    # One token for each planning process, and not for each batch.
    assert len(broker.requests_of(CreateDelegationTokenRequest)) <= 4


def test_a_user_who_is_a_token_gets_none_and_the_error_says_so(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    token: dict[str, Any] = {"mechanism": "SCRAM-SHA-512", "user": "given"}
    more = ' tokenauth="true"'
    options = sasl_ssl(make_trust_pem(broker, tmp_path), HMAC, more=more, **token)
    frame = source(spark, broker.bootstrap_servers, delegationToken="true", **options)
    with pytest.raises(Exception, match=r"gives no token: .* has not logged in by a token"):
        frame.count()


@pytest.mark.real_kafka
def test_a_real_kafka_gives_tokens_to_the_driver_and_takes_them_from_executors(
    spark: Any, tmp_path: Path
) -> None:
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(
        security="SASL_SSL", users={"alice": PASSWORD}, mechanisms=["PLAIN", "SCRAM-SHA-512"]
    ) as kafka:
        trust = tmp_path / "ca.pem"
        trust.write_text(kafka.ca_pem)
        options = {**sasl_ssl(trust, PASSWORD), "delegationToken": "true"}
        servers = kafka.bootstrap_servers
        frame = spark.createDataFrame([(value,) for value in VALUES], "value string")
        write(frame, servers, topic="t", **options)
        assert values(source(spark, servers, **options)) == VALUES
