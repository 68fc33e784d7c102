"""Fixtures of all schedules."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Switch the log off: thousands of clients in trouble write to it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
