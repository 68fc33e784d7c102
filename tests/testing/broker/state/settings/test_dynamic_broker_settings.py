"""How far one change may move a number of threads."""

import pytest

from aiokafka_lite.errors import InvalidRequestError
from aiokafka_lite.testing.broker.state.settings.dynamic_broker_settings import check_threads


def test_threads_are_doubled_or_halved_at_most() -> None:
    for value in (4, 8, 16):
        check_threads("num.io.threads", value, 8)
    check_threads("max.connections", 9, 1)
    with pytest.raises(InvalidRequestError, match="not be greater than double the current value 8"):
        check_threads("num.io.threads", 17, 8)
    with pytest.raises(InvalidRequestError, match="at least half the current value 9"):
        check_threads("num.io.threads", 3, 9)
    with pytest.raises(InvalidRequestError, match="reduced to less than half the current value 4"):
        check_threads("log.cleaner.threads", 1, 4)
