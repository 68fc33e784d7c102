"""Chooses what writes and reads the bytes of Fetch: `_fetch_bytes` if it was built,
`_fetch_bytes_py` otherwise. Does not wait.

Where records come one by one, a request names one partition or none, and a response has the records
of one. Their bytes are fixed but for the numbers. So they need no object for each part of the
message.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.consumer.fetch._fetch_bytes")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.consumer.fetch._fetch_bytes_py import (
        LoneAnswer,
        read_lone_answer,
        request_bytes,
    )
else:
    LoneAnswer = _twin.LoneAnswer
    read_lone_answer = _twin.read_lone_answer
    request_bytes = _twin.request_bytes

__all__ = ["LoneAnswer", "read_lone_answer", "request_bytes"]
