"""Decides how much may be on its way to a node, by the time that earlier requests took. Does not
wait.

It limits how large a batch for the node may grow, too. `batch_sizes` has the other rules of growth.
Without this one, requests on a slow link wait for each other until the last is late. Their
connection is closed then, and all are sent again: nothing arrives at all.
"""

from bisect import bisect_right

_LEAST_BYTES = 16_384
"""At least so many bytes may be on their way to a node, also with a smaller max_batch_size. Of
fewer bytes one cannot tell the speed of the link from its latency."""
_FIRST_BATCHES = 4
"""At least so many usual batches may be on their way to a node that has not answered yet. 64 KB
take 1.1 s at 60 KB/s."""
_FIRST_SPEED = 70_000
"""Bytes a second by which such a node may get more, if request_timeout_ms is long: 525 KB by
default. So it costs a fast node next to nothing to be new."""
_FIRST_LEAP = 16
"""An answer allows at most so many times the bytes that were on their way. So a link that takes
only its first bytes fast is found out, and a fast node soon gets all that is ever sent."""
_LATER_LEAP = 2
"""The same for a node that did not answer in time once."""
_LINK_SHARE = 4
"""What is on its way to a node needs at most this part of request_timeout_ms. The link may become
so many times slower before a request is late."""
_BATCHES_ON_THEIR_WAY = 2
"""A batch has at most this part of what may be on its way: one leaves while another is answered."""
_NO_LIMIT = 2**62
"""More than any number of bytes."""


class NodePace:
    """How many bytes may be on their way to one node."""

    __slots__ = (
        "_enough_bytes",
        "_first_bytes",
        "_is_free",
        "_leap",
        "_most_factor",
        "_share_s",
        "_steps",
        "bytes_on_their_way",
        "most_batch_bytes",
        "most_bytes",
    )

    def __init__(self, steps: tuple[int, ...], request_timeout_s: float, enough_bytes: int) -> None:
        """`steps`: the sizes of batches. `enough_bytes`: no more than these are ever sent."""
        self._steps = steps
        self._share_s = request_timeout_s / _LINK_SHARE
        self._enough_bytes = enough_bytes
        self._first_bytes = max(
            _FIRST_BATCHES * max(steps[0], _LEAST_BYTES), int(_FIRST_SPEED * self._share_s)
        )
        self._leap = _FIRST_LEAP
        self._most_factor = 1.0
        self._is_free = False
        self.bytes_on_their_way = 0
        """Those of the batches in requests without an outcome."""
        self.most_bytes = self._first_bytes
        """How many may be on their way. A larger batch goes alone."""
        self.most_batch_bytes = steps[0]
        """The size up to which a batch grows."""

    def was_answered(self, bytes_on_their_way: int, taken_s: float) -> None:
        """Learn from a response. So many bytes were on their way when its request was sent, those
        of the request included. The limit only rises, since slow answers may be the broker's.
        """
        if self._most_factor > 1.0:
            self._most_factor = _NO_LIMIT
        if self._is_free:
            return
        most = max(self._leap * bytes_on_their_way, self._first_bytes)
        shown = max(bytes_on_their_way, _LEAST_BYTES) * self._share_s
        if taken_s * most > shown:
            most = int(shown / taken_s)
        if most > self.most_bytes:
            self.most_bytes = _NO_LIMIT if most >= self._enough_bytes else most
        most //= _BATCHES_ON_THEIR_WAY
        if most > self.most_batch_bytes:
            self.most_batch_bytes = self._steps[bisect_right(self._steps, most) - 1]
        self._is_free = (
            self.most_batch_bytes == self._steps[-1] and self.most_bytes >= self._enough_bytes
        )

    def was_late(self) -> None:
        """Learn that a request was not answered in time."""
        self.most_bytes = self._first_bytes = max(self._steps[0], _LEAST_BYTES)
        self.most_batch_bytes = self._steps[0]
        self._is_free = False
        self._leap = _LATER_LEAP
        self._most_factor = 2.0 if self._most_factor == _NO_LIMIT else 2.0 * self._most_factor

    def time_factor(self, request_bytes: int) -> float:
        """Return how many times request_timeout_ms a request may take.

        More than once only on a link that made a request late, for one that is larger than all that
        may be on its way: a batch that grew while the link was faster, or a large record. It may be
        written, so it cannot be split, and would be late again and again. It gets twice the time
        after each late request, and as much as its size stands for once an answer came.
        """
        return max(min(request_bytes / self.most_bytes, self._most_factor), 1.0)


__all__ = ["NodePace"]
