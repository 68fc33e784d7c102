"""Handles payments side by side, those of one account in order, and puts bad ones aside.

    python examples/keyed_workers.py [BOOTSTRAP_SERVERS]

Without an address it starts a broker of its own. SIGTERM would end it in order, as in Kubernetes.
"""

import asyncio
import sys
from collections import defaultdict

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRecord,
    DeadLetters,
    KeyedWorkers,
)
from aiokafka_lite.testing.broker import EmbeddedBroker

PAYMENTS, DEAD = "keyed-payments", "keyed-payments.dead"
COUNT, ACCOUNTS, BAD = 300, 10, 77


class Accounts:
    """Books payments, and checks that those of one account come in order."""

    def __init__(self) -> None:
        self.booked: dict[bytes, list[int]] = defaultdict(list)
        self.running = self.most_at_once = 0
        self.all_booked = asyncio.Event()

    async def book(self, record: ConsumerRecord[bytes, bytes]) -> None:
        """Handle one record."""
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await asyncio.sleep(0.001)  # a database would be asked here
            number = int(record.value or b"")
        finally:
            self.running -= 1
        self.booked[record.key or b""].append(number)
        if sum(map(len, self.booked.values())) == COUNT - 1:  # all but the bad one
            self.all_booked.set()


async def run(bootstrap_servers: str) -> None:
    """Write payments, handle them, and show what became of them."""
    accounts = Accounts()
    consumer = AIOKafkaConsumer(
        PAYMENTS,
        bootstrap_servers=bootstrap_servers,
        group_id="booking",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for number in range(COUNT):
            value = b"not a number" if number == BAD else b"%d" % number
            await producer.send(PAYMENTS, value, key=b"account %d" % (number % ACCOUNTS))
        workers = KeyedWorkers(
            consumer,
            accounts.book,
            concurrency=50,
            retries=2,
            retry_backoff_ms=10,
            dead_letters=DeadLetters(producer, DEAD),
        )
        async with workers, asyncio.TaskGroup() as tasks:
            workers.stop_on_signals()
            tasks.create_task(workers.run())  # a service awaits it instead
            letter = await dead_letter(bootstrap_servers)
            await accounts.all_booked.wait()
            workers.stop()
    in_order = all(numbers == sorted(numbers) for numbers in accounts.booked.values())
    print(f"{len(accounts.booked)} accounts, in order: {in_order}")
    print(f"side by side: {accounts.most_at_once > 1}")
    print(f"a dead letter: {letter.value!r}")


async def dead_letter(bootstrap_servers: str) -> ConsumerRecord[bytes, bytes]:
    """Return the first record that was put aside."""
    async with AIOKafkaConsumer(
        DEAD, bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        return await consumer.getone()


async def main() -> None:
    """Run on the given address, or on a broker of its own."""
    if len(sys.argv) > 1:
        await run(sys.argv[1])
    else:
        async with EmbeddedBroker() as broker:
            await run(broker.bootstrap_servers)


if __name__ == "__main__":
    asyncio.run(main())
