"""The bound of a call."""

import pytest

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AdminRequests
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import IllegalArgumentError


class Family(AdminFamily):
    def _running(self) -> AdminRequests:
        return AdminRequests(KafkaClient(ClientConfig(request_timeout_ms=2_500)))


@pytest.mark.parametrize(
    ("timeout_ms", "timeout_s"), [(None, 2.5), (1, 0.001), (2**31 - 1, 2147483.647)]
)
def test_a_bound_is_in_milliseconds_and_defaults_to_the_option(
    timeout_ms: int | None, timeout_s: float
) -> None:
    assert Family()._timeout_s(timeout_ms) == timeout_s


@pytest.mark.parametrize("timeout_ms", [0, 2**31, 1.5, False])
def test_other_bounds_are_refused(timeout_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match=r"from 1 to 2147483647"):
        Family()._timeout_s(timeout_ms)


def test_a_family_alone_has_no_requests() -> None:
    with pytest.raises(NotImplementedError):
        AdminFamily()._running()
