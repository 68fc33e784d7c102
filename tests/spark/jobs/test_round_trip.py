"""Topics into an archive, the archive checked against them and back into a topic, as people do it:
jobs one after the other, on the embedded broker.
"""

import json
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.spark.compat import HAS_READ_LIMITS
from aiokafka_lite.spark.jobs import aggregate, archive, audit, decode, dedupe, mirror, replay
from aiokafka_lite.spark.jobs.job import JobFailedError, JobResult, NoProgress, StopSignal
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.topics import fill, fill_transaction
from tests.support.unusual_records import ANY_TIME, UNUSUAL, fields_of, put

# A name that is a number: folders of Parquet have no types.
P0, P1 = TopicPartition("2024", 0), TopicPartition("2024", 1)


def run(module: Any, spark: Any, config: Any) -> JobResult:
    made: JobResult = module.run(spark, config, stop=StopSignal(), progress=NoProgress())
    return made


def records(broker: EmbeddedBroker, tp: tuple[str, int]) -> list[tuple[Any, ...]]:
    return [
        (each.key, each.value, each.timestamp, list(each.headers))
        for each in broker.log(tp).records()
    ]


def test_a_record_of_any_kind_stays_as_it_is(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = kafka_broker.bootstrap_servers
    for name in ("t", "mirrored", "replayed", "written"):
        kafka_broker.create_topic(name, configs=ANY_TIME)
    put(kafka_broker, TopicPartition("t", 0), *UNUSUAL.values())
    read: dict[str, Any] = {"bootstrap_servers": servers, "topics": ("t",)}
    through_rows = mirror.MirrorConfig(
        **read, topic="mirrored", checkpoint=str(tmp_path / "mirror"), where="offset >= 0"
    )
    archived = archive.ArchiveConfig(**read, path=str(tmp_path / "archive"))
    replayed = replay.ReplayConfig(bootstrap_servers=servers, path=archived.path, topic="replayed")
    for module, config in ((mirror, through_rows), (archive, archived), (replay, replayed)):
        assert run(module, spark, config).rows == len(UNUSUAL)
    rows = spark.read.format("kafka-lite").options(
        **{"kafka.bootstrap.servers": servers, "subscribe": "t", "includeHeaders": "true"}
    )
    written = rows.load().select("key", "value", "headers", "timestamp").write.format("kafka-lite")
    options = {"kafka.bootstrap.servers": servers, "topic": "written"}
    written.options(**options).mode("append").save()
    for name in ("mirrored", "replayed", "written"):
        assert fields_of(kafka_broker, TopicPartition(name, 0)) == list(UNUSUAL.values()), name


@needs("StreamArrowWriter")
def test_a_record_of_any_kind_passes_the_jobs_that_look_into_records(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    targets = ("first", "last", "decoded", "dead", "counted")
    for name in ("t", *targets):
        kafka_broker.create_topic(name, configs=ANY_TIME)
    put(kafka_broker, TopicPartition("t", 0), *UNUSUAL.values())
    read: dict[str, Any] = {"bootstrap_servers": kafka_broker.bootstrap_servers, "topics": ("t",)}

    def stream(target: str) -> dict[str, Any]:
        return {**read, "topic": target, "checkpoint": str(tmp_path / target)}

    each = ("offset",)
    first = dedupe.DedupeConfig(**stream("first"), key=each, event_time="current_timestamp()")
    last = dedupe.DedupeConfig(**read, topic="last", mode="compact", key=each, keep_tombstones=True)
    decoded = decode.DecodeConfig(
        **stream("decoded"), schema="id bigint", dead_letter_topic="dead", select=("value.id",)
    )
    counted = aggregate.AggregateConfig(
        **stream("counted"),
        sql="SELECT year(event_time) AS year, count(*) AS n FROM records GROUP BY 1",
        output_mode="complete",
    )
    jobs = ((dedupe, first), (dedupe, last), (decode, decoded), (aggregate, counted))
    for module, config in jobs:
        assert run(module, spark, config).rows == len(UNUSUAL)
    for name in ("first", "last"):
        found = fields_of(kafka_broker, TopicPartition(name, 0))
        assert sorted(found, key=repr) == sorted(UNUSUAL.values(), key=repr), name
    # None of the values is JSON. Those that are none at all are kept as deletions.
    dead = [
        (*fields[:3], tuple(h for h in fields[3] if not h[0].startswith("__connect")))
        for fields in fields_of(kafka_broker, TopicPartition("dead", 0))
    ]
    deletions = [fields[:3] for fields in fields_of(kafka_broker, TopicPartition("decoded", 0))]
    assert dead == [each for each in UNUSUAL.values() if each[2] is not None]
    assert deletions == [each[:3] for each in UNUSUAL.values() if each[2] is None]
    counts = [
        json.loads(record.value or b"") for record in kafka_broker.log(("counted", 0)).records()
    ]
    years = {each["year"]: each["n"] for each in counts}
    assert (years[1], years[10000], sum(years.values())) == (1, 1, len(UNUSUAL))


def test_what_was_archived_comes_back_as_it_was(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = kafka_broker.bootstrap_servers
    kafka_broker.create_topic("2024", partitions=2)
    kafka_broker.create_topic("back", partitions=2)
    kafka_broker.create_topic("once", partitions=2)
    fill(kafka_broker, P0, 10, 5)
    special = RecordBatchBuilder(bytearray(1 << 16))
    special.append(3_600_000, b"k", None, [("h", b"1"), ("h", None)])  # a tombstone, an hour later
    special.append(3_600_001, None, b"", [])
    special.seal()
    kafka_broker.append(P1, special.wire())
    fill_transaction(kafka_broker, P1, 3, ControlRecordType.ABORT)
    config = archive.ArchiveConfig(
        bootstrap_servers=servers,
        topics=("2024",),
        path=str(tmp_path / "archive"),
        partition_by="hour",
        files_per_partition=1,
        source={"kafka.isolation.level": "read_committed"},
    )
    first = run(archive, spark, config)
    assert (first.status, first.rows, first.lag) == ("done", 17, 0)
    fill(kafka_broker, P0, 7)
    second = run(archive, spark, config)
    assert (second.rows, second.offsets) == (7, {"2024": {"0": 22, "1": 6}})
    folder = tmp_path / "archive" / "topic=2024" / "date=1970-01-01"
    assert len(list(folder.glob("hour=0/*.zstd.parquet"))) == 2  # one for each run
    assert len(list(folder.glob("hour=1/*.zstd.parquet"))) == 1

    fill(kafka_broker, P1, 2)  # not archived yet
    audited = run(
        audit,
        spark,
        audit.AuditConfig(
            bootstrap_servers=servers,
            topics=("2024",),
            archive=config.path,
            transactions=True,
            source={"kafka.isolation.level": "read_committed"},
        ),
    )
    assert (audited.problems, audited.rows, audited.lag) == ((), 29, 2)
    one, two = audited.facts["partitions"]
    assert one | {"records": 22, "archived": 22, "missing": 0, "duplicates": 0, "holes": 0} == one
    expected = {"records": 7, "aborted": 3, "holes": 1, "archived": 2, "missing": 0, "pending": 2}
    assert two | expected == two

    replayed = run(
        replay,
        spark,
        replay.ReplayConfig(
            bootstrap_servers=servers,
            path=config.path,
            topic="back",
            keep_partition=True,
            batch_rows=16,
            starting_offsets='{"2024":{"0":3}}',
        ),
    )
    assert (replayed.status, replayed.rows, replayed.batches) == ("done", 21, 2)
    assert replayed.offsets == {"2024": {"0": 22, "1": 2}}
    assert records(kafka_broker, ("back", 0)) == records(kafka_broker, P0)[3:]
    assert records(kafka_broker, ("back", 1)) == records(kafka_broker, P1)[:2]

    noted = replay.ReplayConfig(
        bootstrap_servers=servers,
        path=config.path,
        topic="once",
        keep_partition=True,
        batch_rows=16,
        delivery="transactional",
        checkpoint=str(tmp_path / "replay"),
    )
    assert (run(replay, spark, noted).rows, run(replay, spark, noted).rows) == (24, 0)
    rmtree(tmp_path / "replay" / "commits" / "1")  # as if it was killed behind the last batch
    assert run(replay, spark, noted).batches == 1
    for partition in (P0, P1):
        once = records(kafka_broker, ("once", partition.partition))
        assert once == records(kafka_broker, ("2024", partition.partition))[: len(once)]
    assert sum(len(records(kafka_broker, ("once", number))) for number in range(2)) == 24


def test_a_mirror_copies_what_its_projection_makes(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("2024", partitions=2)
    kafka_broker.create_topic("copy")
    fill(kafka_broker, P0, 3)
    fill(kafka_broker, P1, 2)
    config = mirror.MirrorConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers,
        topics=("2024",),
        topic="copy",
        checkpoint=str(tmp_path),
        select="""key, upper(string(value)) || '{}' AS value, timestamp,
            try_cast(string(value) AS int) AS not_the_sinks""",
        where="partition = 0",
    )
    result = run(mirror, spark, config)
    assert (result.status, result.rows, result.lag) == ("done", 5, 0)
    assert records(kafka_broker, ("copy", 0)) == [
        (b"%d" % n, b"V%d{}" % n, 1000 + n, []) for n in range(3)
    ]


def test_a_mirror_copies_unchanged_records_and_counts_them(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("2024", partitions=2)
    kafka_broker.create_topic("copy", partitions=2)
    fill(kafka_broker, P0, 30)
    fill(kafka_broker, P1, 20)
    fill_transaction(kafka_broker, P1, 3, ControlRecordType.ABORT)
    config = mirror.MirrorConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers,
        topics=("2024",),
        topic="copy",
        checkpoint=str(tmp_path),
        keep_partition=True,
        max_offsets_per_trigger=30,
        source={"kafka.isolation.level": "read_committed"},
    )
    first = run(mirror, spark, config)
    assert (first.status, first.rows, first.lag) == ("done", 50, 0)
    assert first.batches >= 2 or not HAS_READ_LIMITS
    fill(kafka_broker, P0, 4)
    second = run(mirror, spark, config)
    assert (second.rows, second.batches) == (4, 1)
    assert records(kafka_broker, ("copy", 0)) == records(kafka_broker, P0)
    assert records(kafka_broker, ("copy", 1)) == records(kafka_broker, P1)[:20]


def test_a_topic_that_was_made_anew_while_the_job_was_down_is_lost_data(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = kafka_broker.bootstrap_servers
    config = archive.ArchiveConfig(
        bootstrap_servers=servers, topics=("2024",), path=str(tmp_path / "archive")
    )
    kafka_broker.create_topic("2024")
    fill(kafka_broker, P0, 3)
    assert run(archive, spark, config).rows == 3

    kafka_broker.delete_topic("2024")
    kafka_broker.create_topic("2024")
    fill(kafka_broker, P0, 5)  # more than before: by offsets alone, nothing is missing
    with pytest.raises(JobFailedError, match="2024 was deleted and created again"):
        run(archive, spark, config)
    going_on = replace(config, source={"failOnDataLoss": "false"})
    assert run(archive, spark, going_on).rows == 5
