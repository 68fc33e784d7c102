"""How the time a consumer has to stop is divided between the steps of stopping. Does not wait.

A consumer gives up its group if no broker of the group has answered for 4.5 s, whatever
`stop_timeout_ms` is. Any response, a refusal too, means that more time may help. Without one, the
wait only adds to that of a producer in the same process. Kubernetes kills a process after 30 s. A
silent connection counts as no response; a frozen node would otherwise cost the whole time. While a
broker throttles the client, the client is the silent one, so that time does not count.
"""

from aiokafka_lite.light_dataclass import dataclass

LEAVE_S = 2.0
"""Leaving is a courtesy to the other members: without it they wait for the session to expire."""
_UNREACHABLE_S = 5.0
"""A consumer that hears of no broker of its group for that long stops without them."""
_LEAST_S = 1.0
_SHARE_OF_GROUP = 0.9
"""Of the time to stop, how much the last commit, the listener and the leaving may take."""
_SESSIONS_S = 1.0
"""Closing fetch sessions is a courtesy to the brokers."""


@dataclass(frozen=True, slots=True, eq=False)
class StopBounds:
    """The bounds of one stop, in seconds."""

    total_s: float
    group_s: float
    """Counted from the begin: when the group is left, whatever is not done by then."""
    commit_s: float
    """Counted from the begin: when the last commit is given up, if it is not stored by then."""
    silence_s: float
    """How long no broker needs to be heard of for the group to be given up."""

    def leave_s(self, elapsed_s: float, unheard_s: float, throttle_s: float = 0.0) -> float:
        """Return how long leaving the group may take: `elapsed_s` into the stop, with no broker
        heard of for the newest `unheard_s` of it. The coordinator takes no request for
        `throttle_s`: it can be reached, so that time is waited for.
        """
        left_s = min(self.group_s - elapsed_s, self.silence_s - unheard_s)
        if throttle_s > 0:
            left_s = self.group_s - elapsed_s
        return max(0.0, min(LEAVE_S + throttle_s, left_s))

    def sessions_s(self, elapsed_s: float, unheard_s: float) -> float:
        """Return how long closing fetch sessions may take; as `leave_s`."""
        left_s = min(self.total_s - elapsed_s, _UNREACHABLE_S - unheard_s)
        return max(0.0, min(_SESSIONS_S, left_s))


def divide_stop_time(timeout_ms: float) -> StopBounds:
    """Return the bounds of a stop that may take `timeout_ms`, a second at least."""
    total_s = max(timeout_ms / 1000, _LEAST_S)
    group_s = total_s * _SHARE_OF_GROUP
    return StopBounds(
        total_s=total_s,
        group_s=group_s,
        commit_s=max(group_s - LEAVE_S, group_s / 2),
        silence_s=min(total_s, _UNREACHABLE_S) * _SHARE_OF_GROUP,
    )


__all__ = ["LEAVE_S", "StopBounds", "divide_stop_time"]
