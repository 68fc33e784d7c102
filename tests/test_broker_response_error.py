"""The base of the errors of a broker: facts that a subclass inherits, codes that exist once."""

import pytest

from aiokafka_lite.broker_errors import NotLeaderForPartitionError, for_code
from aiokafka_lite.broker_response_error import BrokerResponseError
from aiokafka_lite.kafka_error import KafkaError


def test_own_subclass_shares_the_facts_of_its_base() -> None:
    class Moved(NotLeaderForPartitionError):
        """Mine."""

    assert Moved.errno == 6
    assert Moved.retriable
    assert Moved.invalid_metadata
    assert for_code(6) is NotLeaderForPartitionError
    assert issubclass(Moved, KafkaError)


def test_code_cannot_be_given_twice() -> None:
    with pytest.raises(TypeError, match="code 6 belongs to NotLeaderForPartitionError already"):

        class Again(BrokerResponseError, code=6, name="AGAIN"):
            """No."""
