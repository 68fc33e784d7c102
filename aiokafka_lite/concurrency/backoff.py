"""Computes how long to wait before the next attempt. Does not wait."""

import random


class ExponentialBackoff:
    """Delays that double from `initial_s` up to `max_s`, each varied by ± `jitter` (a fraction).

    The upper limit is applied after the variation, so no delay exceeds `max_s`. Source: KIP-580,
    org.apache.kafka.common.utils.ExponentialBackoff.
    """

    __slots__ = ("_rng", "initial_s", "jitter", "max_s", "multiplier")

    def __init__(
        self,
        initial_s: float,
        max_s: float,
        multiplier: float = 2.0,
        jitter: float = 0.2,
        *,
        rng: random.Random,
    ) -> None:
        self.initial_s = min(initial_s, max_s)
        self.max_s = max_s
        self.multiplier = multiplier
        self.jitter = jitter
        self._rng = rng

    def delay(self, attempts: int) -> float:
        """Return the delay in seconds after `attempts` earlier waits (0 for the first)."""
        delay_s = self.initial_s
        for _ in range(attempts):
            if delay_s >= self.max_s:
                break
            delay_s *= self.multiplier
        blur = self._rng.uniform(1 - self.jitter, 1 + self.jitter) if self.jitter else 1.0
        return min(delay_s * blur, self.max_s)


__all__ = ["ExponentialBackoff"]
