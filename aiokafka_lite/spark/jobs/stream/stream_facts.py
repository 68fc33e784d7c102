"""Sums up further facts of a stream's progress: observed metrics and state. Does not wait."""

from collections.abc import Mapping
from typing import Any, Final

LATE: Final = "late_rows"
DUPLICATES: Final = "duplicates"
STATE: Final = "state_rows"


class StreamFacts:
    """Sums over the batches of a run.

    The metrics of `DataFrame.observe` keep their names. A stream with state adds `late_rows` (left
    out because they came behind the watermark), `duplicates`, and `state_rows` (kept at the end).
    """

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}

    def note(self, report: Mapping[str, Any]) -> None:
        """Add the report of a batch, which is Spark's JSON."""
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
