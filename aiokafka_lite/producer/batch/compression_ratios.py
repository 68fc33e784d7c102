"""Estimates how far compression shrinks the records of a topic, so that a compressed batch comes
near its limit. Does not wait.

Source: CompressionRatioEstimator, and the safety factor of MemoryRecordsBuilder.
"""

_SAFETY = 1.05
_WORSENS_BY = 0.05
_IMPROVES_BY = 0.005
_MOST_ROOM = 16
"""A batch takes at most that many times its compressed size: its memory is taken before."""


class CompressionRatios:
    """Compressed / uncompressed size by topic, for one codec; 1.0 before the first batch."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}

    def ratio(self, topic: str) -> float:
        """Return the present estimate."""
        return self._ratios.get(topic, 1.0)

    def observe(self, topic: str, uncompressed_bytes: int, compressed_bytes: int) -> None:
        """Learn from a batch: fast if it shrank less than estimated, slowly if it shrank more."""
        observed = compressed_bytes / max(1, uncompressed_bytes)
        guess = self.ratio(topic)
        if observed > guess:
            guess = max(guess + _WORSENS_BY, observed)
        else:
            guess = max(guess - _IMPROVES_BY, observed)
        self._ratios[topic] = guess

    def was_too_large(self, topic: str) -> None:
        """Estimate that nothing shrinks: a broker refused a batch for its size (2d-14)."""
        self._ratios[topic] = max(1.0, self.ratio(topic))

    def uncompressed_room(self, topic: str, compressed_bytes: int) -> int:
        """Return how many bytes of records shrink to about `compressed_bytes`."""
        factor = min(1 / (self.ratio(topic) * _SAFETY), _MOST_ROOM)
        return int(compressed_bytes * factor)

    def compressed_size(self, topic: str, uncompressed_bytes: int) -> int:
        """Return the estimated compressed size, rather too large than too small."""
        return int(uncompressed_bytes * min(1.0, self.ratio(topic) * _SAFETY))


__all__ = ["CompressionRatios"]
