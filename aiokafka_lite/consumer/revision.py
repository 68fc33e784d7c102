"""Owns one number that grows with each change that may set a partition free to fetch, or stop it.

Subscription and buffer share it, so that whoever has seen a number need not look again.
It does not wait.
"""


class Revision:
    """Compare `number`, or note a change with `number += 1`."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


__all__ = ["Revision"]
