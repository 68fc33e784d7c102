"""The decode job reads the schemas of a real registry."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.schema_registry import Schema, SchemaRegistryClient
from aiokafka_lite.spark.jobs.decode import DecodeConfig, run
from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.decode.test_avro_decoder import record, written
from tests.spark.jobs.test_decode import send
from tests.support.apicurio_registry import apicurio_registry

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

OLDER = record(id="int")
NEWER = record(id="long", name={"type": "string", "default": "?"})
UNKNOWN = b"\0\0\0\x47\x11\2"


def test_values_of_two_versions_become_rows_and_an_unknown_id_a_dead_letter(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    for topic in ("t", "dead"):
        kafka_broker.create_topic(topic)
    with apicurio_registry(tmp_path) as url:

        async def register() -> list[int]:
            async with SchemaRegistryClient(url) as registry:
                found = [
                    await registry.register_schema("t-value", Schema(text))
                    for text in (OLDER, NEWER)
                ]
            return [each.schema_id for each in found]

        older, newer = asyncio.run(register())
        values = [
            written(OLDER, {"id": 1}, older),
            written(NEWER, {"id": 2**40, "name": "b"}, newer),
            UNKNOWN,
        ]
        send(kafka_broker, *((None, value) for value in values))
        config = DecodeConfig(
            bootstrap_servers=kafka_broker.bootstrap_servers,
            topics=("t",),
            checkpoint=str(tmp_path / "checkpoint"),
            path=str(tmp_path / "rows"),
            format="avro",
            framing="confluent",
            registry_urls=(url,),
            select=("value.*",),
            dead_letter_topic="dead",
        )
        result = run(spark, config, stop=StopSignal(), progress=NoProgress())
    assert (result.status, result.facts) == ("done", {"dead_letters": 1})
    rows = spark.read.parquet(config.path).drop("batch").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(1, "?"), (2**40, "b")]
    assert [each.value for each in kafka_broker.log(("dead", 0)).records()] == [UNKNOWN]
