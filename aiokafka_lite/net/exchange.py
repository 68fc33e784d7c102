"""One request and its response: how the bytes are made, and who takes the outcome.

A response is taken in the call in which its bytes were read. A future would tell it one turn of the
event loop later. An error is told in a later turn, because it may come while the request is being
sent. So is the news that a request without a response has left. Does not wait.
"""

import asyncio
from collections.abc import Generator
from typing import Any

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.message_header import read_response
from aiokafka_lite.protocol.request_frame import RequestHead
from aiokafka_lite.schema.message import Request


class Exchange:
    """A request that is to be sent, or waits for its response. To await it gives the response, or
    raises what went wrong, once.

    Those of Fetch and Produce write, read and take what is usual in one go, without a message.
    """

    __slots__ = (
        "_error",
        "_has_ended",
        "_head",
        "_response",
        "_waiter",
        "correlation_id",
        "deadline_s",
        "expects_response",
        "is_over",
        "is_use",
        "max_version",
        "oddity",
        "request",
        "sent_at_s",
        "timeout_s",
        "version",
    )

    def __init__(
        self,
        request: Request[Any],
        max_version: int | None = None,
        expects_response: bool = True,
        timeout_s: float | None = None,
    ) -> None:
        """`max_version`: the newest version that it may have; None: any. `timeout_s`: from the call
        that sends it; None: as the connection has it.
        """
        self.request = request
        self.max_version = max_version
        self.expects_response = expects_response
        self.timeout_s = timeout_s
        self.is_use = True
        """Whether it shows that the connection is in use."""
        self.version = -1
        self.deadline_s = 0.0
        self.sent_at_s = 0.0
        self.correlation_id = -1  # until it is sent
        self.oddity: ProtocolDecodeError | None = None
        """What is odd about the bytes of the response, which were read all the same."""
        self.is_over = False
        """Whether there is an outcome, also if `ended` was not called yet."""
        self._head: RequestHead | None = None
        self._has_ended = False
        self._response: Any = None
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    # What those of Fetch and Produce do otherwise…

    def write(self, version: int) -> Parts:
        """Return the parts of the request behind its header. Raises: KafkaError, ValueError or
        TypeError for what does not fit its field.
        """
        parts: Parts = self.request.encode(version)
        return parts

    def read(self, frame: memoryview, version: int) -> Any:
        """Read a response. Raises: ProtocolDecodeError."""
        response, self.oddity = read_response(self.request.response_type, frame, version)
        return response

    def ended(self, response: Any, error: BaseException | None) -> None:
        """Take the outcome: for a response in the reader's call. The response to a request without
        one is None. Must not raise.
        """
        self._has_ended = True
        self._response, self._error = response, error
        if self._waiter is not None:
            give(self._waiter, None)

    # For its caller…

    def __await__(self) -> Generator[Any, None, Any]:
        """Return the response, or raise. Cancelled: the exchange goes on; see `is_wanted`."""
        if not self._has_ended:
            self._waiter = asyncio.get_running_loop().create_future()
            yield from self._waiter
        if self._error is not None:
            raise self._take_error()
        return self._response

    def _take_error(self) -> BaseException:
        """Return the error and forget it, for its traceback will refer to this exchange."""
        error, self._error = self._error, None
        assert error is not None
        return error

    @property
    def was_sent(self) -> bool:
        """Whether the socket has got at least a part of it, so that the node may act on it."""
        return self.correlation_id >= 0

    # For the connection…

    def is_wanted(self) -> bool:
        """Say whether somebody may take the outcome: it is not over, nor has its caller gone."""
        return not self.is_over and (self._waiter is None or not self._waiter.cancelled())

    def begin(self, head: RequestHead, now_s: float, usual_timeout_s: float) -> None:
        """Note that a connection takes it, and what its frame begins with."""
        self._head = head
        self.version = head.version
        if self.timeout_s is None:
            self.timeout_s = usual_timeout_s
        self.deadline_s = now_s + self.timeout_s

    def frame(self, correlation_id: int) -> Parts:
        """Return its frame in parts. Raises: as `write`."""
        head = self._head
        assert head is not None
        return head.frame(self.write(self.version), correlation_id)

    def received(self, frame: memoryview) -> None:
        """Take the response, unless the caller has gone.

        An error reaches the caller as it is, and is raised. The transport closes the connection
        because of it, and so it reaches the other requests.
        """
        if not self.is_wanted():
            return
        try:
            response = self.read(frame, self.version)
        except Exception as error:
            self.fail(error)
            raise
        self.is_over = True
        self.ended(response, None)

    def has_left(self) -> None:
        """Note that all bytes of a request without a response have left."""
        if not self.is_over:
            self.is_over = True
            # Here and not before: on 3.11 each question for the loop is a system call.
            asyncio.get_running_loop().call_soon(self.ended, None, None)

    def fail(self, error: BaseException) -> None:
        """Give the caller an error instead."""
        if not self.is_over:
            self.is_over = True
            asyncio.get_running_loop().call_soon(self.ended, None, error)

    def __str__(self) -> str:
        number = f", correlation id {self.correlation_id}" if self.was_sent else ", not sent yet"
        return f"{type(self.request).__name__} (version {self.version}{number})"


class FrameExchange(Exchange):
    """A request whose caller reads the frame of the response: a step of an authentication."""

    __slots__ = ()

    def read(self, frame: memoryview, version: int) -> memoryview:  # noqa: ARG002  it decides
        """Return the frame."""
        return frame


__all__ = ["Exchange", "FrameExchange"]
