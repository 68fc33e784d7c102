"""Which records of a partition are to be deleted: RecordsToDelete. Does not wait."""

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import whole


class RecordsToDelete:
    """The records before the offset `before_offset`; -1 stands for all committed records."""

    def __init__(self, before_offset: int) -> None:
        self.before_offset: int = whole(before_offset)

    def __repr__(self) -> str:
        return f"RecordsToDelete({quoted(self.before_offset)})"


__all__ = ["RecordsToDelete"]
