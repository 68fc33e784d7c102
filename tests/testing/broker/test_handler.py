"""Handlers are declared in one way: request type, function, versions."""

import pytest

from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.router import HANDLERS
from tests.testing.broker.bench import Bench


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda h: h.request_type.__name__)
def test_a_handler_serves_only_versions_that_its_request_has(handler: Handler) -> None:
    assert handler.versions.min >= handler.request_type.versions.min
    assert handler.versions.max <= handler.request_type.versions.max


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda h: h.request_type.__name__)
def test_a_handlers_file_has_the_stem_of_its_message(handler: Handler) -> None:
    message, function = handler.request_type.__module__, handler.handle.__module__
    assert message.rpartition(".")[2] == function.rpartition(".")[2]


def test_the_context_names_cluster_and_node() -> None:
    from aiokafka_lite.testing.broker.faults import NOTHING_INJECTED

    bench = Bench(2)
    context = RequestContext(bench.nodes[2], 4, NOTHING_INJECTED)
    assert context.node_id == 2
    assert context.cluster is bench.cluster
