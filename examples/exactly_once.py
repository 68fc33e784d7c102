"""Reads orders and writes one invoice for each, exactly once.

That holds even if the program is killed, or its group rebalances, between the two.

    python examples/exactly_once.py [BOOTSTRAP_SERVERS]

Without an address it starts a broker of its own. It places some orders and fails once in the middle
of a batch. At the end it shows that each order has one invoice.
"""

import asyncio
import sys
from collections import Counter

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, ExactlyOnceSession
from aiokafka_lite.testing.broker import EmbeddedBroker

ORDERS, INVOICES = "orders", "invoices"
COUNT = 50


class Hiccup(Exception):
    """An error that occurs once."""


class Billing:
    """Makes an invoice out of an order, and fails once."""

    def __init__(self, fail_at: int) -> None:
        self._fails_at = fail_at

    def invoice(self, order: ConsumerRecord) -> bytes:
        if order.offset == self._fails_at:
            self._fails_at = -1
            raise Hiccup
        return b"invoice of " + (order.value or b"")


async def invoice(bootstrap_servers: str, *, fail_at: int) -> None:
    """Turn orders into invoices until all are done."""
    consumer = AIOKafkaConsumer(
        ORDERS,
        bootstrap_servers=bootstrap_servers,
        group_id="invoicing",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, transactional_id="invoicing-1")
    done = 0
    billing = Billing(fail_at)
    async with ExactlyOnceSession(consumer, producer) as session:
        while done < COUNT:
            try:
                async with session.batch(timeout_ms=1000, max_records=10) as records:
                    for batch in records.values():
                        for record in batch:
                            await session.producer.send(INVOICES, billing.invoice(record))
                done += sum(map(len, records.values()))
            except Hiccup:
                print("a batch failed: its invoices do not count, its orders come again")


async def run(bootstrap_servers: str) -> None:
    """Place orders, invoice them, count."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for number in range(COUNT):
            await producer.send(ORDERS, b"order %d" % number)
    await invoice(bootstrap_servers, fail_at=17)
    invoices: Counter[bytes] = Counter()
    async with AIOKafkaConsumer(
        INVOICES,
        bootstrap_servers=bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        while records := await consumer.getmany(timeout_ms=1000):
            for batch in records.values():
                invoices.update(record.value or b"" for record in batch)
    print(f"{len(invoices)} orders, {invoices.total()} invoices")
    assert len(invoices) == invoices.total() == COUNT


async def main() -> None:
    """Use the broker at the given address, or start one."""
    if len(sys.argv) > 1:
        await run(sys.argv[1])
    else:
        async with EmbeddedBroker() as broker:
            await run(broker.bootstrap_servers)


if __name__ == "__main__":
    asyncio.run(main())
