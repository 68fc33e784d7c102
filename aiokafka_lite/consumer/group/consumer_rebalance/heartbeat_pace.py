"""Decides when a member's next heartbeat is due: after the broker's interval, or sooner.

A new member often gets nothing at first. Others have to give partitions up, or the coordinator
waits before it assigns anew (KIP-1263). Only the answer to a heartbeat tells that partitions are
there, and brokers ask for one each five seconds. So a member without partitions asks again after
0.1 s, then after twice as long each time, up to a tenth of the interval. It does so for two
intervals after its epoch moved. 50 members that started at once over 100 partitions took two
intervals until each had its own, 10.2 s on Kafka 4.4.0. Does not wait.
"""

from typing import Final

_SOONER: Final = 10
"""A member without partitions asks so many times in an interval, after the first times."""

_LEAST_S: Final = 0.1
"""After how long it asks for the first time, unless the broker's interval is shorter."""

_INTERVALS: Final = 2
"""So many intervals after its epoch moved, a member without partitions asks as all others."""


class HeartbeatPace:
    """The moments of one member's heartbeats. Does not wait; times are monotonic, in seconds."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._sooner_until_s = 0.0
        self._empty_answers = 0

    def next_at_s(
        self, sent_at_s: float, interval_s: float, epoch: int, *, has_partitions: bool
    ) -> float:
        """Return when the next heartbeat is due. The last one was sent at `sent_at_s`; its answer
        had the other values.
        """
        if epoch != self._epoch:
            self._epoch = epoch
            self._sooner_until_s = sent_at_s + _INTERVALS * interval_s
            self._empty_answers = 0
        if has_partitions or sent_at_s >= self._sooner_until_s:
            return sent_at_s + interval_s
        longest_s = max(interval_s / _SOONER, _LEAST_S)
        sooner_s = min(_LEAST_S * float(2**self._empty_answers), longest_s)
        self._empty_answers += 1
        return sent_at_s + min(interval_s, sooner_s)


__all__ = ["HeartbeatPace"]
