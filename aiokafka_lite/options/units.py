"""Owns the units of options: what the number of an option counts is its type's name.

To type checkers, and at run time, each of these is an int. Does not wait.
"""

Milliseconds = int
ByteCount = int
RecordCount = int
RequestCount = int
RetryCount = int
IterationCount = int

UNITS = {
    "Milliseconds": "milliseconds",
    "ByteCount": "bytes",
    "RecordCount": "records",
    "RequestCount": "requests",
    "RetryCount": "retries",
    "IterationCount": "iterations",
}
"""The name of a type -> the unit in words."""

__all__ = [
    "UNITS",
    "ByteCount",
    "IterationCount",
    "Milliseconds",
    "RecordCount",
    "RequestCount",
    "RetryCount",
]
