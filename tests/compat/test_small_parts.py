"""Small functions of aiokafka's inside do what their namesakes do."""

import asyncio

import aiokafka.conn
import aiokafka.util
import pytest

from aiokafka_lite.compat import small_parts
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.testing.virtual_loop import run_virtual

TP = TopicPartition("t", 0)


@pytest.mark.parametrize("text", ["0.9", "2.8", "2.8.1", "0.10.2", "3.0", "auto", "2", "1.2.3.4"])
def test_a_version_is_read_or_refused(text: str) -> None:
    try:
        expected = aiokafka.util.parse_kafka_version(text)
    except ValueError:
        with pytest.raises(ValueError, match=text):
            small_parts.parse_kafka_version(text)
    else:
        assert small_parts.parse_kafka_version(text) == expected


def test_offsets_are_checked_as_by_commit() -> None:
    for offsets in ({TP: 5}, {TP: (5, "note")}, {TP: OffsetAndMetadata(5, "note")}):
        (told,) = small_parts.commit_structure_validate(offsets).values()
        assert told.offset == 5
    for wrong, error in (({}, ValueError), ([TP], ValueError), ({"t": 5}, TypeError)):
        with pytest.raises(error):
            small_parts.commit_structure_validate(wrong)


@pytest.mark.parametrize(
    "hosts", ["a", "a:1,b:2", "127.0.0.1:9092", "[::1]:9093", ["a:1", "[::1]"]]
)
def test_addresses_are_read(hosts: str | list[str]) -> None:
    ours = small_parts.collect_hosts(hosts, randomize=False)
    theirs = aiokafka.conn.collect_hosts(hosts, randomize=False)
    assert ours == theirs
    assert sorted(small_parts.collect_hosts(hosts)) == sorted(theirs)
    with pytest.raises(ValueError, match="port"):
        small_parts.get_ip_port_afi("a:no-port")


def test_a_wait_has_its_end() -> None:
    async def main(*_: object) -> None:
        with pytest.raises(TimeoutError):
            await small_parts.wait_for(asyncio.sleep(10), 1)
        assert await small_parts.wait_for(asyncio.sleep(1, "slept"), None) == "slept"

    run_virtual(main)
