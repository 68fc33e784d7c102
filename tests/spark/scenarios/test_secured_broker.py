"""Spark reads and writes a broker with SASL_SSL, by Java's options; and no secret is shown."""

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.spark.jobs import mirror
from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
from aiokafka_lite.spark.source import KafkaLiteDataSource
from aiokafka_lite.testing.broker import DelegationToken, EmbeddedBroker
from tests.spark.support.jvm_logs import text_of, written_by_spark
from tests.spark.support.releases import needs
from tests.spark.support.secured import make_trust_pem, make_trust_store, sasl_ssl
from tests.spark.support.spark_io import run_to_end, source, write
from tests.spark.support.topics import T0, fill

PASSWORD = "sentinel-Pa55word"
HMAC = "c2VudGluZWwtaG1hYw=="
VALUES = [f"v{number}" for number in range(5)]


@pytest.fixture
def secure_kafka_options() -> dict[str, Any]:
    return {
        "security": "SASL_SSL",
        "users": {"alice": PASSWORD},
        "delegation_tokens": {"token-1": DelegationToken("alice", HMAC)},
    }


@pytest.fixture
def broker(secure_kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    """t has five records, and u has none."""
    for topic in ("t", "u"):
        secure_kafka_broker.create_topic(topic)
    fill(secure_kafka_broker, T0, 5)
    return secure_kafka_broker


def values(frame: Any) -> list[str]:
    return sorted(row[0] for row in frame.selectExpr("string(value)").collect())


def test_a_batch_is_read_and_written_by_plain(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    options = sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD)
    frame = source(spark, broker.bootstrap_servers, **options)
    write(frame.select("value"), broker.bootstrap_servers, topic="u", **options)
    assert values(source(spark, broker.bootstrap_servers, subscribe="u", **options)) == VALUES


@needs("StreamArrowWriter")
@pytest.mark.skipif(shutil.which("keytool") is None, reason="Java's keytool is not installed")
def test_a_stream_is_copied_in_transactions_by_scram_and_a_store_of_java(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    trust = make_trust_store(broker, tmp_path)
    options = sasl_ssl(trust, PASSWORD, mechanism="SCRAM-SHA-256")
    frame = source(spark, servers, streaming=True, startingOffsets="earliest", **options)
    sink = {"kafka.bootstrap.servers": servers, "topic": "u", "delivery": "transactional"}
    run_to_end(frame.select("value"), tmp_path, sink="kafka-lite", **sink, **options)
    committed: dict[str, Any] = {"subscribe": "u", "kafka.isolation.level": "read_committed"}
    assert values(source(spark, servers, **committed, **options)) == VALUES


@needs("StreamArrowWriter")
def test_a_stream_authenticates_again_before_its_sessions_end(
    spark: Any, make_kafka_broker: Callable[..., EmbeddedBroker], tmp_path: Path
) -> None:
    """Sessions of two seconds, and batches of one record until some of them were renewed."""
    broker = make_kafka_broker(
        security="SASL_SSL",
        users={"alice": PASSWORD},
        connections_max_reauth_ms=2000,
        max_logged_requests=100_000,
    )
    for topic in ("t", "u"):
        broker.create_topic(topic)
    options = sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD, mechanism="SCRAM-SHA-256")
    servers = broker.bootstrap_servers
    frame = source(spark, servers, streaming=True, startingOffsets="earliest", **options)
    writer = frame.select("value").writeStream.format("kafka-lite").options(**options)
    given = {"kafka.bootstrap.servers": servers, "topic": "u"}
    query = writer.options(**given, checkpointLocation=str(tmp_path / "checkpoint")).start()
    sent = 0
    try:
        while sent < 100 and renewed_sessions(broker) < 4:
            fill(broker, T0, 1)
            sent += 1
            query.processAllAvailable()
    finally:
        query.stop()
    assert renewed_sessions(broker) >= 4
    copied = [each.value for each in broker.log(("u", 0)).records()]
    assert copied == [b"v%d" % number for number in range(sent)]


def renewed_sessions(broker: EmbeddedBroker) -> int:
    """How many authentications were not the first of their connection, which asks for versions."""
    authentications = len(broker.requests_of(SaslHandshakeRequest))
    return authentications - len(broker.requests_of(ApiVersionsRequest))


def test_a_delegation_token_is_given_as_scram_with_tokenauth(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    trust = make_trust_pem(broker, tmp_path)
    token: dict[str, Any] = {"mechanism": "SCRAM-SHA-512", "user": "token-1"}
    options = sasl_ssl(trust, HMAC, more=' tokenauth="true"', **token)
    assert values(source(spark, broker.bootstrap_servers, **options)) == VALUES
    without = sasl_ssl(trust, HMAC, **token)
    with pytest.raises(Exception, match="authentication by SCRAM-SHA-512 failed"):
        source(spark, broker.bootstrap_servers, **without).collect()


def test_a_wrong_password_is_named_as_such_and_is_not_shown(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    options = sasl_ssl(make_trust_pem(broker, tmp_path), "wrong-Pa55word")
    said = r"authentication by PLAIN failed: .*Invalid username or password"
    with pytest.raises(Exception, match=said) as raised:
        source(spark, broker.bootstrap_servers, **options).collect()
    assert "wrong-Pa55word" not in str(raised.value)


def test_an_executor_without_the_drivers_file_says_so(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    trust = make_trust_pem(broker, tmp_path)
    rows = source(spark, broker.bootstrap_servers, **sasl_ssl(trust, PASSWORD)).rdd
    assert rows.getNumPartitions() == 1  # it is planned, and no task has begun
    trust.unlink()
    with pytest.raises(Exception, match=r"ca\.pem' (is not here|cannot be read)"):
        rows.count()


@needs("StreamArrowWriter")
def test_a_job_has_the_options_in_its_tables(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    options = sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD, mechanism="SCRAM-SHA-512")
    table = "\n".join(f"{name} = '{value}'" for name, value in options.items())
    config = mirror.MirrorConfig.from_toml(
        f"""bootstrap_servers = "{broker.bootstrap_servers}"
        topics = ["t"]
        topic = "u"
        checkpoint = "{tmp_path / "checkpoint"}"
        [source]
        {table}
        [sink]
        {table}"""
    )
    assert PASSWORD not in repr(config)
    result = mirror.run(spark, config, stop=StopSignal(), progress=NoProgress())
    assert (result.status, result.rows, result.lag) == ("done", 5, 0)
    assert [each.value for each in broker.log(("u", 0)).records()] == [
        value.encode() for value in VALUES
    ]


# Secrets…


@needs("StreamArrowWriter")
def test_no_secret_stands_in_plans_logs_and_pickles(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    servers = broker.bootstrap_servers
    trustme = pytest.importorskip("trustme", reason="certificates are made by trustme")
    client = trustme.CA().issue_cert("client")
    key = client.private_key_pem.bytes().decode()
    secrets = [PASSWORD, key.splitlines()[1]]
    options = {
        **sasl_ssl(make_trust_pem(broker, tmp_path), PASSWORD),
        "kafka.ssl.keystore.key": key,
        "kafka.ssl.keystore.certificate.chain": client.cert_chain_pems[0].bytes().decode(),
        "kafka.bootstrap.servers": servers,
    }
    with written_by_spark(spark, tmp_path / "logs") as logs:
        frame = source(spark, servers, **options)
        frame.explain("extended")
        write(frame.select("value"), servers, topic="u", **options)
        stream = source(spark, servers, streaming=True, startingOffsets="earliest", **options)
        run_to_end(stream, tmp_path / "stream", sink="kafka-lite", topic="u", **options)
        view = spark.sql  # its text has the options, and the event log shows its plan
        given = ", ".join(
            f"{name} '{value}'" for name, value in {**options, "subscribe": "t"}.items()
        )
        view(f"CREATE OR REPLACE TEMPORARY VIEW v USING `kafka-lite` OPTIONS ({given})")
    written = text_of(logs)
    assert "CreateTempViewUsing" in written
    assert "AppendData" in written
    data_source = KafkaLiteDataSource({**options, "subscribe": "t"})
    objects = [
        data_source,
        data_source.reader(frame.schema),
        data_source.streamReader(frame.schema),
    ]
    pickles = b"".join(map(pickle.dumps, objects))
    said, complained = capfd.readouterr()
    shown = {
        "Spark's logs": written,
        "the checkpoint": text_of(tmp_path / "stream"),
        "pickles": pickles.decode(errors="replace"),
        "the screen": said + complained + repr(vars(objects[1])) + repr(objects),
    }
    found = [
        (place, secret) for place, text in shown.items() for secret in secrets if secret in text
    ]
    assert found == []
