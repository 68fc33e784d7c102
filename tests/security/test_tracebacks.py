"""A traceback with the values of local variables, as some log handlers print it, can be made of a
constructor's error, and shows no password.
"""

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker

REFUSED = {"security_protocol": "SASL_SSL", "sasl_plain_password": "hunter2", "client_id": 7}


@pytest.mark.parametrize("client", [AIOKafkaProducer, AIOKafkaConsumer])
def test_a_refused_client_has_a_text(client: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="client_id") as raised:
        client(**REFUSED)
    shown = "".join(traceback.TracebackException.from_exception(raised.value).format())
    assert "hunter2" not in shown


@pytest.mark.parametrize("kind", [AIOKafkaProducer, AIOKafkaConsumer, EmbeddedBroker])
def test_an_object_whose_constructor_raised_has_a_text(kind: type[Any]) -> None:
    made = kind.__new__(kind)  # type: ignore[call-overload]
    assert repr(made) == f"<{kind.__name__}, not made>"
