"""Owns what a stream's progress tells besides rows and offsets: what was counted on the way, and
what became of its state.

Plain.
"""

from collections.abc import Mapping
from typing import Any, Final

LATE: Final = "late_rows"
DUPLICATES: Final = "duplicates"
STATE: Final = "state_rows"


class StreamFacts:
    """Sums over the batches of a run.

    The metrics of `DataFrame.observe` under their names; for streams with state: `late_rows`, which
    came behind the watermark and were left out, `duplicates`, and `state_rows`, kept at the end.
    """

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}

    def note(self, report: Mapping[str, Any]) -> None:
        """Take over the report of a batch, as Spark has it in JSON."""
        for metrics in (report.get("observedMetrics") or {}).values():
            for name, value in metrics.items():
                self._add(name, value or 0)
        operators = report.get("stateOperators") or ()
        for operator in operators:
            self._add(LATE, operator.get("numRowsDroppedByWatermark", 0))
            duplicates = operator.get("customMetrics", {}).get("numDroppedDuplicateRows")
            if duplicates is not None:
                self._add(DUPLICATES, duplicates)
        if operators:
            self._sums[STATE] = sum(each.get("numRowsTotal", 0) for each in operators)

    def _add(self, name: str, value: int) -> None:
        self._sums[name] = self._sums.get(name, 0) + int(value)

    def to_dict(self) -> dict[str, int]:
        """Return the sums, by name."""
        return dict(self._sums)


__all__ = ["DUPLICATES", "LATE", "STATE", "StreamFacts"]
