"""What all schedules need."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Nobody reads what thousands of clients in trouble log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
