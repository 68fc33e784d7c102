"""One request of a connection, from its caller to its response. Does not wait."""

import asyncio
from typing import Any

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.net.answer_callback import Answer
from aiokafka_lite.protocol.message_header import read_response
from aiokafka_lite.protocol.request_frame import RequestHead
from aiokafka_lite.schema.message import Request


class PendingRequest:
    """A request that is to be sent, or waits for its response. `answer` gets its outcome."""

    __slots__ = (
        "answer",
        "correlation_id",
        "deadline_s",
        "expects_response",
        "head",
        "is_use",
        "oddity",
        "request",
        "sent_at_s",
        "timeout_s",
        "version",
    )

    def __init__(
        self,
        request: Request[Any],
        version: int,
        answer: "asyncio.Future[Any] | Answer",
        now_s: float,
        timeout_s: float,
        expects_response: bool = True,
        is_use: bool = True,
    ) -> None:
        self.request = request
        self.version = version
        self.answer = answer
        self.timeout_s = timeout_s
        self.deadline_s = now_s + timeout_s
        self.expects_response = expects_response
        self.head: RequestHead | None = None
        """What its frame begins with, if the connection knows it already."""
        self.is_use = is_use
        """Whether it shows that the connection is in use."""
        self.oddity: ProtocolDecodeError | None = None
        """What is odd about the bytes of the response, which were read all the same."""
        self.sent_at_s = 0.0
        self.correlation_id = -1  # until it is sent

    @property
    def was_sent(self) -> bool:
        """Whether the socket has got at least a part of it, so that the node may act on it."""
        return self.correlation_id >= 0

    def frame(self, correlation_id: int, client_id: str) -> Parts:
        """Return its frame in parts. Raises: as `request_frame.encode_request`."""
        callback = self.answer if isinstance(self.answer, Answer) else None
        parts = None if callback is None else callback.write_usual(self.version)
        if parts is None:
            parts = self.request.encode(self.version)
        head = self.head
        if head is None:
            head = RequestHead(type(self.request), self.version, client_id)
        return head.frame(parts, correlation_id)

    def result_of(self, frame: memoryview) -> Any:
        """Return what the caller gets for the response's frame: the decoded response."""
        response, self.oddity = read_response(self.request.response_type, frame, self.version)
        return response

    def received(self, frame: memoryview) -> None:
        """Give the caller its response, unless the caller was cancelled.

        An error reaches the caller as it is, and is raised. The transport closes the connection
        because of it, and so it reaches the other requests.
        """
        answer = self.answer
        if answer.done():
            return
        callback = answer if isinstance(answer, Answer) else None
        try:
            response = None if callback is None else callback.read_usual(frame, self.version)
            if response is None:
                response = self.result_of(frame)
        except Exception as error:
            give_error(answer, error)
            raise
        if callback is None:
            give(answer, response)
        else:
            callback.give(response)

    def has_left(self) -> None:
        """Tell the caller of a request without a response that all its bytes have left."""
        give(self.answer, None)

    def fail(self, error: Exception) -> None:
        """Give the caller an error instead, unless the caller was cancelled."""
        give_error(self.answer, error)

    def __str__(self) -> str:
        number = f", correlation id {self.correlation_id}" if self.was_sent else ", not sent yet"
        return f"{type(self.request).__name__} (version {self.version}{number})"


class PendingStep(PendingRequest):
    """A request of an authentication, which the connection sends for itself."""

    __slots__ = ()

    def result_of(self, frame: memoryview) -> memoryview:
        """Return the frame, which the steps decode."""
        return frame


__all__ = ["PendingRequest", "PendingStep"]
