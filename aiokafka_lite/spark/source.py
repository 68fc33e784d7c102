"""The classes that Spark calls: the data source `kafka-lite`, its readers, and its writers'
factory.

They only translate between PySpark's interfaces and the parts that decide and read. Their objects
travel to planners and executors. So they hold plain values, and find loop and clients on arrival. A
query starts up to a dozen Python processes, and each imports only what it needs. The clients are
imported only where brokers are asked.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.compat import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from aiokafka_lite.spark.offsets import OffsetRange, Offsets, group_ranges
from aiokafka_lite.spark.options.copy_options import CopyOptions, is_copy, parse_copy
from aiokafka_lite.spark.options.kafka_keys import boolean
from aiokafka_lite.spark.options.sealed_properties import (
    SECURITY,
    SealedOptions,
    SealedProperties,
)
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.spark.options.user_words import told
from aiokafka_lite.spark.process.cargo import Travels
from aiokafka_lite.spark.read.arrow import COLUMNS, SparkColumns, ddl, default_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from aiokafka_lite.spark.read.stream_offsets import StreamOffsets
    from aiokafka_lite.spark.sink import BatchWriter


class KafkaRanges(InputPartition):
    """The ranges of one task."""

    def __init__(
        self,
        wanted: tuple[OffsetRange, ...],
        topic_ids: Mapping[str, str],
        security: SealedProperties | None = None,
    ) -> None:
        super().__init__(wanted)
        self.topic_ids = {
            each.topic: topic_ids[each.topic] for each in wanted if each.topic in topic_ids
        }
        """By name, the ids of the topics that were planned. Another one means lost data."""
        self.security = security
        """With delegation tokens: how the task logs in. Each batch has the token of its time."""


COPIED: Final = "rows bigint"
"""The columns of a stream that copies: how many records of a range it has copied."""


class KafkaLiteDataSource(Travels, DataSource):
    """Kafka topics as tables and streams, and as targets of rows.

    After `register(spark)`, `spark.read`, `spark.readStream`, `df.write` and `df.writeStream` find
    it by the name `kafka-lite`. Options, columns and their meaning are those of Spark's own `kafka`
    source and sink.
    """

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(SealedOptions(options))

    @classmethod
    def name(cls) -> str:
        return "kafka-lite"

    @told()
    def schema(self) -> str:
        """Return the default columns of a read. Spark asks for them in `load()`.

        Raises: KafkaConfigurationError for options that neither a batch nor a stream can have.
        """
        if is_copy(self.options):
            of_source, _ = parse_copy(self.options)
            SourceOptions.check(of_source)
            return COPIED
        SourceOptions.check(dict(self.options))
        headers = dict(self.options).get("includeheaders", "false")
        return ddl(default_columns(include_headers=boolean(headers)))

    @told()
    def reader(self, schema: "StructType") -> "BatchReader":
        if is_copy(self.options):
            raise KafkaConfigurationError("the options copyTo.* are for streams (readStream)")
        options = SourceOptions.parse(dict(self.options), streaming=False)
        kind = PushdownBatchReader if options.pushdown else BatchReader
        return kind(_columns(schema), options)

    @told()
    def streamReader(self, schema: "StructType") -> "StreamReader":  # noqa: N802 - PySpark's
        if is_copy(self.options):
            of_source, copied = parse_copy(self.options)
            return CopyStreamReader(SourceOptions.parse(of_source, streaming=True), copied)
        options = SourceOptions.parse(dict(self.options), streaming=True)
        return StreamReader(_columns(schema), options)

    @told()
    def writer(self, schema: "StructType", overwrite: bool) -> "BatchWriter":
        from aiokafka_lite.spark.sink import BatchWriter, checked_columns  # noqa: PLC0415

        options = SinkOptions.parse(dict(self.options))
        columns = checked_columns(_fields(schema), options)
        return BatchWriter(columns, _by_token(options), overwrite=overwrite)

    @told()
    def streamWriter(self, schema: "StructType", overwrite: bool) -> Any:  # noqa: ARG002, N802
        from aiokafka_lite.spark.sink import (  # noqa: PLC0415
            checked_columns,
            stream_writer,
        )

        # Complete mode asks for overwriting at every batch. A log cannot do that, so it appends.
        options = SinkOptions.parse(dict(self.options))
        return stream_writer(checked_columns(_fields(schema), options), _by_token(options))


def _by_token(options: SinkOptions) -> SinkOptions:
    """Return the options of a write with a delegation token in place of the user, if it has one.

    Spark plans each batch of a stream anew, so each has the token of its time. Raises: as
    `ExecutorTokens.for_executors`.
    """
    if options.token_mechanism is None:
        return options
    from aiokafka_lite.spark.process.executor_tokens import executor_tokens  # noqa: PLC0415

    security = executor_tokens().for_executors(options.client, options.token_mechanism)
    return replace(options, client={**options.client, SECURITY: security})


def _fields(schema: "StructType") -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def _columns(schema: "StructType") -> SparkColumns:
    return SparkColumns(_fields(schema))


class _RangeReader(Travels):
    """The common part of both readers in an executor."""

    def __init__(self, columns: SparkColumns, options: SourceOptions) -> None:
        self._columns = columns
        self._options = options

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """Yield the records of a task's ranges. If the plan has none, Spark invents a partition."""
        from aiokafka_lite.spark.read.range_reader import read_ranges  # noqa: PLC0415

        if isinstance(partition, KafkaRanges):
            options = self._options
            if partition.security is not None:
                options = options.with_security(partition.security)
            with told():
                yield from read_ranges(partition.value, self._columns, options, partition.topic_ids)

    def _ranges(
        self, planned: list[OffsetRange], topic_ids: Mapping[str, str]
    ) -> list[KafkaRanges]:
        """Return the tasks of a batch. Raises: as `ExecutorTokens.for_executors`."""
        tasks = group_ranges(planned, self._options.min_offsets_per_task)
        mechanism = self._options.token_mechanism
        if mechanism is None or not tasks:
            return [KafkaRanges(each, topic_ids) for each in tasks]
        from aiokafka_lite.spark.process.executor_tokens import (  # noqa: PLC0415
            executor_tokens,
        )

        security = executor_tokens().for_executors(self._options.client, mechanism)
        return [KafkaRanges(each, topic_ids, security) for each in tasks]

    def _taken_along(self) -> dict[str, Any]:
        if self._options.token_mechanism is None:
            return self.__dict__
        # Executors get a token with each task, and nothing of the user.
        return {**self.__dict__, "_options": self._options.with_security(None)}


class BatchReader(_RangeReader, DataSourceReader):
    """A read between given offsets."""

    @told()
    def partitions(self) -> list[KafkaRanges]:
        """Return the ranges of each task. Raises: as `plan_batch`."""
        return self._plan([])

    def _plan(self, filters: list[Any]) -> list[KafkaRanges]:
        from aiokafka_lite.spark.read.batch_plan import plan_batch  # noqa: PLC0415
        from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415

        planner = Planner(self._options)
        return self._ranges(plan_batch(self._options, planner, filters), planner.topic_ids)


class PushdownBatchReader(BatchReader):
    """A read that excludes records by filters.

    Spark refuses such a reader unless `spark.sql.python.filterPushdown.enabled` is set.
    """

    def pushFilters(self, filters: "list[Any]") -> "Iterable[Any]":  # noqa: N802 - PySpark's
        """Note the filters, and return all of them: Spark applies them to each row."""
        self._filters = filters
        return filters

    @told()
    def partitions(self) -> list[KafkaRanges]:
        return self._plan(getattr(self, "_filters", []))


class StreamReader(_RangeReader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A read in batches without end.

    Spark makes one object for planning, and others for reading.
    """

    def __init__(self, columns: SparkColumns, options: SourceOptions) -> None:
        super().__init__(columns, options)
        self._known: StreamOffsets | None = None

    @property
    def _stream(self) -> "StreamOffsets":
        """The offsets of the stream. The one process that plans the whole stream makes them."""
        from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415
        from aiokafka_lite.spark.read.stream_offsets import StreamOffsets  # noqa: PLC0415

        if self._known is None:
            self._known = StreamOffsets(self._options, Planner(self._options))
        return self._known

    @told()
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - PySpark's
        return self._stream.initial().to_nested()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - PySpark's
        """Return a limit if one is set, so that Spark can override it."""
        if self._options.max_offsets_per_trigger is not None:
            return ReadMaxRows(self._options.max_offsets_per_trigger)
        if self._options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(self._options.max_bytes_per_trigger)
        if self._options.min_offsets_per_trigger is not None:
            return ReadMinRows(self._options.min_offsets_per_trigger)
        return ReadAllAvailable()

    @told()
    def latestOffset(  # noqa: N802 - PySpark's
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        begin = None if start is None else Offsets.from_nested(start)
        takes_all = isinstance(limit, ReadAllAvailable)
        return self._stream.latest(begin, takes_all=takes_all).to_nested()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - PySpark's
        newest = self._stream.newest
        # For reports alone, so nothing needs to tell a log from another.
        return None if newest is None else Offsets(newest).to_nested()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - PySpark's
        self._stream.prepare_available_now()

    @told()
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[KafkaRanges]:
        planned = self._stream.plan(Offsets.from_nested(start), Offsets.from_nested(end))
        return self._ranges(planned, self._stream.topic_ids)

    def commit(self, end: dict[str, Any]) -> None:
        self._stream.done(Offsets.from_nested(end))


class CopyStreamReader(StreamReader):
    """A stream whose tasks copy their ranges to topics, in the process that reads them.

    Raises: KafkaConfigurationError with delegation tokens, which Spark would not renew for it.
    """

    def __init__(self, options: SourceOptions, copied: CopyOptions) -> None:
        super().__init__(SparkColumns([COLUMNS["offset"]]), options)
        if options.token_mechanism is not None:
            raise KafkaConfigurationError(
                "option delegationToken has no effect in a stream that copies; write the rows of"
                " a stream instead"
            )
        self._copied = copied

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """Copy the ranges of a task, and yield how many records of each. Raises: as
        `copy_ranges`.
        """
        import pyarrow as pa  # noqa: PLC0415

        from aiokafka_lite.spark.range_copy import copy_ranges  # noqa: PLC0415
        from aiokafka_lite.spark.sink import attempt_note  # noqa: PLC0415
        from aiokafka_lite.spark.write.final_errors import ends_attempts  # noqa: PLC0415

        if isinstance(partition, KafkaRanges):
            with told(), ends_attempts(*attempt_note()):
                counts = copy_ranges(
                    partition.value, self._options, self._copied, partition.topic_ids
                )
            yield pa.RecordBatch.from_arrays([pa.array(counts, pa.int64())], names=["rows"])


__all__ = [
    "COPIED",
    "BatchReader",
    "CopyStreamReader",
    "KafkaLiteDataSource",
    "KafkaRanges",
    "PushdownBatchReader",
    "StreamReader",
]
