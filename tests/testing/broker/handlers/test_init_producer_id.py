"""InitProducerId: fresh ids; the next epoch for a transactional one (KIP-98, KIP-360)."""

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError, InvalidRequestError
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.testing.broker.handlers import init_producer_id
from tests.testing.broker.bench import Bench


def ask(bench: Bench, version: int = 5, node_id: int = 1, **fields: object) -> tuple[int, int, int]:
    request = InitProducerIdRequest(
        **{"transactional_id": None, "transaction_timeout_ms": 1, **fields}  # type: ignore[arg-type]  # mixed values
    )
    answer = bench.ask(init_producer_id.HANDLER, request, version, node_id)
    return answer.error_code, answer.producer_id, answer.producer_epoch


@pytest.mark.parametrize("version", range(6))
def test_each_producer_gets_an_id_of_its_own_at_epoch_0(version: int) -> None:
    bench = Bench()
    assert [ask(bench, version) for _ in range(2)] == [(0, 0, 0), (0, 1, 0)]


def test_an_idempotent_producer_that_brings_its_id_gets_a_new_one() -> None:
    """A producer without transactions asks again only once its epochs have run out (2d-18)."""
    bench = Bench()
    ask(bench)
    assert ask(bench, producer_id=0, producer_epoch=32767) == (0, 1, 0)


def test_an_id_without_an_epoch_is_an_invalid_request() -> None:
    assert ask(Bench(), producer_id=1) == (InvalidRequestError.errno, -1, -1)
    assert ask(Bench(), producer_epoch=1) == (InvalidRequestError.errno, -1, -1)


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_id_keeps_its_producer_id_and_gets_the_next_epoch(version: int) -> None:
    bench = Bench()
    assert [ask(bench, version, transactional_id="tx") for _ in range(2)] == [(0, 0, 0), (0, 0, 1)]
    assert ask(bench, version, transactional_id="other") == (0, 1, 0)


def test_an_empty_transactional_id_is_an_invalid_request() -> None:
    assert ask(Bench(), transactional_id="") == (InvalidRequestError.errno, -1, -1)


def test_other_nodes_do_not_coordinate() -> None:
    bench = Bench(2)
    coordinator = bench.transactions.nodes.node_of("tx")
    assert coordinator is not None
    assert ask(bench, node_id=3 - coordinator, transactional_id="tx") == (16, -1, -1)
    assert ask(bench, node_id=coordinator, transactional_id="tx") == (0, 0, 0)


@pytest.mark.parametrize(("version", "code"), [(3, 47), (4, 90), (5, 90)])
def test_fencing_has_a_name_of_its_own_from_version_4_on(version: int, code: int) -> None:
    """InitProducerId answers PRODUCER_FENCED from version 4 on (KIP-588)."""
    bench = Bench()
    for _ in range(3):
        ask(bench, transactional_id="tx")
    told = ask(bench, version, transactional_id="tx", producer_id=0, producer_epoch=0)
    assert told == (code, -1, -1)


def test_an_injected_error_is_answered() -> None:
    bench = Bench()
    bench.faults.fail(InitProducerIdRequest, GroupLoadInProgressError)
    assert ask(bench) == (GroupLoadInProgressError.errno, -1, -1)
    assert ask(bench) == (0, 0, 0)
