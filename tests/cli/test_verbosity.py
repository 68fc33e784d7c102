"""`-v` shows what the library logs."""

import logging
from collections.abc import Iterator

import pytest

from aiokafka_lite.cli.verbosity import log_to_stderr


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    """The root logger as it was before, afterwards."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    for handler in set(logger.handlers) - set(handlers):
        logger.removeHandler(handler)
    logger.handlers[:] = handlers
    logger.setLevel(level)


@pytest.mark.parametrize(("times", "shown"), [(0, []), (1, ["i"]), (2, ["i", "d"])])
def test_each_v_shows_more(
    times: int, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(times)
    logging.getLogger("aiokafka_lite").info("i")
    logging.getLogger("aiokafka_lite").debug("d")
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == shown
