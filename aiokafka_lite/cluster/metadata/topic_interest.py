"""Which topics a client wants metadata of.

A consumer wants a fixed set, or all topics of the cluster. A producer wants the topics in use, and
forgets a topic that it did not use for long (KIP-526). Does not wait.
"""

from collections.abc import Callable, Iterable


class TopicInterest:
    """The topics of interest. `max_idle_s`: how long a topic is kept after its last use."""

    def __init__(self, max_idle_s: float) -> None:
        self._max_idle_s = max_idle_s
        self._fixed: frozenset[str] = frozenset()
        self._wants_all = False
        self._matters: Callable[[str], bool] | None = None
        self._used_at_s: dict[str, float] = {}

    @property
    def wants_all(self) -> bool:
        """Whether every topic of the cluster is of interest."""
        return self._wants_all

    def __contains__(self, topic: str) -> bool:
        return self._wants_all or topic in self._used_at_s or topic in self._fixed

    def matters(self, topic: str) -> bool:
        """Return whether a topic that is not fully described yet is asked about again soon."""
        if self._matters is None or topic in self._used_at_s:
            return True
        return self._matters(topic)

    def fix(
        self, topics: Iterable[str] | None, matters: Callable[[str], bool] | None = None
    ) -> bool:
        """Replace the fixed topics; None: all topics of the cluster. Return whether there are new
        ones. `matters`: see the method; None: every topic matters.
        """
        self._matters = matters
        if topics is None:
            grows = not self._wants_all
            self._wants_all, self._fixed = True, frozenset()
            return grows
        fixed = frozenset(topics)
        grows = not all(topic in self for topic in fixed)
        self._wants_all, self._fixed = False, fixed
        return grows

    def use(self, topic: str, now_s: float) -> bool:
        """Note that `topic` is used now. Return whether it is new."""
        is_new = topic not in self._used_at_s and topic not in self
        self._used_at_s[topic] = now_s
        return is_new

    def expire(self, now_s: float) -> None:
        """Forget the topics that were not used for `max_idle_s`."""
        oldest_s = now_s - self._max_idle_s
        for topic in [name for name, used_s in self._used_at_s.copy().items() if used_s < oldest_s]:
            del self._used_at_s[topic]

    def named(self) -> list[str]:
        """Return the names of the topics of interest, sorted."""
        return sorted(self._fixed.union(self._used_at_s))


__all__ = ["TopicInterest"]
