"""Functions that do the same work, timed in turn in this process: CPU per unit of work."""

import time
from collections.abc import Callable, Mapping

Contender = Callable[[], int]
"""Does its work once and returns the number of units."""
Samples = dict[str, list[float]]


def measure(contenders: Mapping[str, Contender], rounds: int) -> Samples:
    """Return seconds per unit of each, a sample per round, after one round that does not count.

    A contender that cannot do this work (a peer without a library) raises, and is left out.
    """
    samples: Samples = {}
    for name, run in contenders.items():
        try:
            run()
        except Exception:  # noqa: BLE001  each peer has its own kind of error for it
            continue
        samples[name] = []
    for _ in range(rounds):
        for name, taken in samples.items():
            start = time.process_time()
            units = contenders[name]()
            taken.append((time.process_time() - start) / units)
    return samples
