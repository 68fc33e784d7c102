"""Random schedules over real sockets: whatever a network does short of changing bytes, each promise
of producers, transactions and consumers holds.

The other schedules run in virtual time, whose network is memory. Here frames leave by `sendmsg`,
stop in the middle, come byte by byte or never, by asyncio, uvloop and TLS. `storm` says what
happens; `producer_rounds` and `consumer_rounds` say what has to be true.
"""

import random

import pytest

from tests.adversity.soak import repeatable, seeds
from tests.adversity.sockets.consumer_rounds import play_consumers
from tests.adversity.sockets.producer_rounds import play_producer, play_transactions
from tests.adversity.sockets.worker_rounds import play_workers

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]

ACKS = (0, 1, "all")
PROTOCOLS = (None, "eager", "cooperative", "consumer")
OF_WORKERS = ("share", "eager", "cooperative", "consumer")
of_each_acks = pytest.mark.parametrize("acks", ACKS)
of_each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
of_each_workers = pytest.mark.parametrize("protocol", OF_WORKERS)


@of_each_acks
@pytest.mark.parametrize("tls", [False, True])
async def test_what_a_producer_was_told_is_in_the_log(acks: int | str, tls: bool) -> None:
    """Each acknowledged record is whole and at its offset; once and in order with acks=all."""
    await play_producer(ACKS.index(acks) + 1, tls=tls, acks=acks, calls=60)


@pytest.mark.parametrize("tls", [False, True])
async def test_a_transaction_is_there_whole_or_not_at_all(tls: bool) -> None:
    """Readers see all of a committed transaction, and nothing of an aborted one."""
    await play_transactions(7, tls=tls, calls=8, transactions=10)


@of_each_protocol
async def test_members_return_every_record(protocol: str | None) -> None:
    """No record is lost, damaged or of another place, and none is skipped within a tenure."""
    seed = PROTOCOLS.index(protocol) + 1
    await play_consumers(seed, tls=seed == 1, protocol=protocol, lives=2)


@of_each_workers
async def test_workers_handle_every_record(protocol: str) -> None:
    """Each record that is in the log at the end was handled, by keyed or by share workers."""
    seed = OF_WORKERS.index(protocol) + 1
    await play_workers(seed, tls=seed == 1, protocol=protocol, lives=2)


@pytest.mark.soak
@of_each_acks
async def test_producers_for_a_long_time(request: pytest.FixtureRequest, acks: int | str) -> None:
    """The same by other seeds."""
    for seed in seeds(request):
        with repeatable(request, seed):
            await play_producer(seed, tls=_is_tls(seed), acks=acks, calls=120)


@pytest.mark.soak
async def test_transactions_for_a_long_time(request: pytest.FixtureRequest) -> None:
    """The same by other seeds."""
    for seed in seeds(request):
        with repeatable(request, seed):
            await play_transactions(seed, tls=_is_tls(seed), calls=12, transactions=25)


@pytest.mark.soak
@of_each_protocol
async def test_consumers_for_a_long_time(
    request: pytest.FixtureRequest, protocol: str | None
) -> None:
    """The same by other seeds."""
    for seed in seeds(request):
        with repeatable(request, seed):
            await play_consumers(seed, tls=_is_tls(seed), protocol=protocol, lives=4)


@pytest.mark.soak
@of_each_workers
async def test_workers_for_a_long_time(request: pytest.FixtureRequest, protocol: str) -> None:
    """The same by other seeds."""
    for seed in seeds(request):
        with repeatable(request, seed):
            await play_workers(seed, tls=_is_tls(seed), protocol=protocol, lives=4)


def _is_tls(seed: int) -> bool:
    return random.Random(seed).random() < 0.3
