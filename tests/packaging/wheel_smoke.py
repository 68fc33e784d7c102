"""Says whether an installed wheel works: a record goes out and comes back through each codec.

Run by `python wheel_smoke.py native|pure` where only the wheel and its dependencies are installed;
the argument is what every leaf must be. No test itself.
"""

import asyncio
import sys
from typing import Any

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.native import leaves
from aiokafka_lite.testing.broker import EmbeddedBroker

CODECS: tuple[Any, ...] = (None, "gzip", "snappy", "lz4", "zstd")


async def there_and_back(bootstrap_servers: str) -> None:
    """Send a record with each codec, and read them all."""
    for codec in CODECS:
        async with AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers, compression_type=codec
        ) as producer:
            await producer.send_and_wait("smoke", b"value" * 20, key=str(codec).encode())
    async with AIOKafkaConsumer(
        bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition("smoke", 0)])
        keys = [(await consumer.getone()).key for _ in CODECS]
    assert keys == [str(codec).encode() for codec in CODECS], keys


def main() -> None:
    expected = sys.argv[1] == "native"
    with EmbeddedBroker.threaded() as broker:
        asyncio.run(there_and_back(broker.bootstrap_servers))
    wrong = [module for module, is_native in leaves().items() if is_native is not expected]
    assert leaves(), "no leaf was chosen at all"
    assert not wrong, f"not {sys.argv[1]}: {wrong}"


if __name__ == "__main__":
    main()
