"""The inner parts of kafka-python that are measured alone.

Importing it warns about its resources.
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import codec
    from kafka.consumer.fetcher import ConsumerRecord
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
    from kafka.record.util import calc_crc32c

__all__ = [
    "ConsumerRecord",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "calc_crc32c",
    "codec",
]
