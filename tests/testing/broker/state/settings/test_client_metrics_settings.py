"""Settings of subscriptions of client metrics."""

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidConfigurationError,
    InvalidRequestError,
)
from aiokafka_lite.testing.broker.state.settings.client_metrics_settings import (
    check_client_metrics_settings,
)


def test_good_settings() -> None:
    check_client_metrics_settings(
        {"interval.ms": "100", "metrics": "*", "match": "client_id=a.*,client_source_port=9"}
    )


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("interval.ms", "99", InvalidRequestError),
        ("interval.ms", "3600001", InvalidRequestError),
        ("interval.ms", "soon", InvalidConfigurationError),
        ("match", "client_id=(", InvalidConfigurationError),
        ("match", "client_id", InvalidConfigurationError),
        ("match", "nothing=a", InvalidConfigurationError),
        ("nothing", "1", InvalidRequestError),
    ],
)
def test_what_is_refused(name: str, value: str, error: type[BrokerResponseError]) -> None:
    with pytest.raises(error):
        check_client_metrics_settings({name: value})
