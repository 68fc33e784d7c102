"""Ours and the others, each as writer and as reader, in every codec, on real Kafka."""

from collections.abc import Callable

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import ON_NEWEST_FIRST
from tests.support.other_clients import (
    CODECS,
    CONSUMERS,
    EXPECTED,
    OURS,
    PRODUCERS,
    require_codec,
)

PAIRS = [(OURS, reader) for reader in CONSUMERS] + [
    (writer, OURS) for writer in PRODUCERS if writer != OURS
]

pytestmark = [
    ON_NEWEST_FIRST,
    pytest.mark.real_kafka,
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("others_may_leak"),
]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_what_one_client_writes_the_other_reads(
    apache_kafka: ApacheKafka,
    new_topic: Callable[[str], str],
    writer: str,
    reader: str,
    codec: str | None,
) -> None:
    require_codec(writer, codec)
    require_codec(reader, codec)
    address = apache_kafka.bootstrap_servers
    topic = new_topic(address)
    PRODUCERS[writer](address, topic, codec)
    assert CONSUMERS[reader](address, topic) == EXPECTED
