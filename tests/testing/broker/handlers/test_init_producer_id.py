"""InitProducerId: fresh ids; transactions are refused."""

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError, InvalidRequestError
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.testing.broker.handlers import init_producer_id
from tests.testing.broker.bench import Bench


def ask(bench: Bench, version: int = 5, **fields: object) -> tuple[int, int, int]:
    request = InitProducerIdRequest(
        **{"transactional_id": None, "transaction_timeout_ms": 1, **fields}  # type: ignore[arg-type]  # mixed values
    )
    answer = bench.ask(init_producer_id.HANDLER, request, version)
    return answer.error_code, answer.producer_id, answer.producer_epoch


@pytest.mark.parametrize("version", range(6))
def test_each_producer_gets_an_id_of_its_own_at_epoch_0(version: int) -> None:
    bench = Bench()
    assert [ask(bench, version) for _ in range(2)] == [(0, 0, 0), (0, 1, 0)]


def test_an_idempotent_producer_that_brings_its_id_gets_a_new_one() -> None:
    """TransactionCoordinator.handleInitProducerId; 2d-18: only when its epochs have run out."""
    bench = Bench()
    ask(bench)
    assert ask(bench, producer_id=0, producer_epoch=32767) == (0, 1, 0)


def test_an_id_without_an_epoch_is_an_invalid_request() -> None:
    assert ask(Bench(), producer_id=1) == (InvalidRequestError.errno, -1, -1)
    assert ask(Bench(), producer_epoch=1) == (InvalidRequestError.errno, -1, -1)


def test_transactions_are_refused() -> None:
    assert ask(Bench(), transactional_id="tx") == (InvalidRequestError.errno, -1, -1)


def test_an_injected_error_is_answered() -> None:
    bench = Bench()
    bench.faults.fail(InitProducerIdRequest, GroupLoadInProgressError)
    assert ask(bench) == (GroupLoadInProgressError.errno, -1, -1)
    assert ask(bench) == (0, 0, 0)
