"""The headers of a dead letter are Kafka Connect's."""

import pytest

from aiokafka_lite.workers.connect_headers import MOST_TEXT, PREFIX, dead_letter_headers
from tests.workers.records import record_at


def refuse(text: str) -> None:
    raise ValueError(text)


def failed(text: str) -> Exception:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - so that it has a traceback
        refuse(text)
    return raised.value


def test_where_and_why_stand_behind_the_records_own_headers() -> None:
    headers = dead_letter_headers(
        record_at(5, b"k", headers=[("own", b"1"), ("own", None)]),
        failed("ä bad"),
        name="group",
        member="client-1",
        handler="app.handle",
    )
    assert headers[:2] == [("own", b"1"), ("own", None)]
    added = {name.removeprefix(PREFIX): value for name, value in headers[2:]}
    trace = added.pop("exception.stacktrace") or b""
    assert added == {
        "topic": b"t",
        "partition": b"0",
        "offset": b"5",
        "connector.name": b"group",
        "task.id": b"client-1",
        "stage": b"TASK_PUT",
        "class.name": b"app.handle",
        "exception.class.name": b"builtins.ValueError",
        "exception.message": "ä bad".encode(),
    }
    assert b"in refuse" in trace


def test_long_texts_are_cut_so_that_the_record_fits() -> None:
    error = failed("x" * 100_000 + "\ud800")
    headers = dead_letter_headers(record_at(0), error, name="g", member="", handler="h")
    assert max(len(value or b"") for _, value in headers) <= MOST_TEXT
