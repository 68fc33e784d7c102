"""Names that stay although no program of this repository uses them, each with the reason.

A row is (files, names, reason). Files and names are patterns of `fnmatch`; names are separated by
spaces. `tests/test_dead_code.py` fails for a name that is missing here, and for one that is here
although something uses it or nothing defines it.
"""

UNUSED = (
    # Called by what the language and its libraries define…
    ("aiokafka_lite/__init__.py", "__getattr__ __dir__", "called by the interpreter (PEP 562)"),
    ("aiokafka_lite/serialization.py", "__call__", "the method of a Protocol"),
    ("aiokafka_lite/spark/jobs/job.py", "__call__", "the method of a Protocol"),
    ("aiokafka_lite/cli/output.py", "trace", "a parameter of `__exit__`"),
    ("aiokafka_lite/testing/apache_kafka.py", "trace", "a parameter of `__exit__`"),
    ("examples/pipeline/report.py", "trace", "a parameter of `__exit__`"),
    ("aiokafka_lite/arrow/_record_columns_py.py", "requested_schema", "of Arrow's PyCapsule"),
    (
        "aiokafka_lite/net/transport.py",
        (
            "connection_made connection_lost eof_received get_buffer buffer_updated sizehint"
            " pause_writing resume_writing"
        ),
        "called by asyncio: a BufferedProtocol",
    ),
    (
        "aiokafka_lite/testing/broker/server.py",
        "connection_made connection_lost data_received pause_writing resume_writing",
        "called by asyncio: a Protocol",
    ),
    (
        "aiokafka_lite/producer/batch/_record_ack_py.py",
        "msg remove_done_callback",
        "of asyncio.Future, which an ack can be used as",
    ),
    (
        "aiokafka_lite/spark/process/cargo.py",
        "is_package get_filename get_source",
        "called by importlib",
    ),
    ("aiokafka_lite/spark/listener.py", "onQuery*", "called by Spark"),
    (
        "aiokafka_lite/spark/source.py",
        (
            "streamReader streamWriter initialOffset getDefaultReadLimit latestOffset"
            " reportLatestOffset prepareForTriggerAvailableNow"
        ),
        "called by Spark",
    ),
    ("aiokafka_lite/spark/decode/schema_registry.py", "redirect_request", "called by urllib"),
    # Called by users…
    (
        "aiokafka_lite/consumer/*.py",
        "seek_to_end highwater current_lag last_poll_timestamp enforce_rebalance",
        "the consumer's public methods",
    ),
    ("aiokafka_lite/metrics/statistics.py", "unacknowledged_batches", "of what users look at"),
    ("aiokafka_lite/broker_errors.py", "*", "an error for each code that Apache has given"),
    (
        "aiokafka_lite/errors.py",
        (
            "AuthenticationMethodNotSupported IncompatibleBrokerVersion"
            " KafkaUnavailableError NoBrokersAvailable QuotaViolationError StaleMetadata"
            " UnrecognizedBrokerVersion UnsupportedCodecError"
        ),
        "aiokafka's names, which users catch",
    ),
    (
        "aiokafka_lite/serialization.py",
        "*_serializer *_deserializer",
        "for users, who import them from here",
    ),
    (
        "aiokafka_lite/spark/listener.py",
        "GroupOffsetCommitter LagReporter",
        "for users, who import them from here",
    ),
    ("aiokafka_lite/producer/append/bulk_ack.py", "written_count", "public, beside failed_count"),
    (
        "aiokafka_lite/protocol/consumer_protocol.py",
        "METADATA ASSIGNMENT",
        "aiokafka's names, for assignors that users write",
    ),
    ("aiokafka_lite/spark/jobs/job.py", "NoProgress", "for programs that run a job"),
    ("aiokafka_lite/spark/jobs/job_config.py", "from_toml", "for programs that run a job"),
    (
        "aiokafka_lite/testing/broker/embedded_broker.py",
        (
            "stop_node start_node move_coordinator move_transaction_coordinator"
            " hold_transaction_markers release_transaction_markers requests_of forget_requests"
            " wait_until"
        ),
        "for the tests of users",
    ),
    ("aiokafka_lite/testing/broker/faults.py", "throttle corrupt", "for the tests of users"),
    (
        "aiokafka_lite/testing/broker/state/log/partition_log.py",
        "corrupt",
        "for the tests of users",
    ),
    (
        "aiokafka_lite/testing/broker/state/groups/group_view.py",
        "pending_offsets",
        "for tests of users",
    ),
    (
        "aiokafka_lite/testing/fake_clock.py",
        "pending_timers jump_to_next_timer",
        "for the tests of users",
    ),
    (
        "aiokafka_lite/testing/apache_kafka.py",
        "run_tool archive_classes real_kafka",
        "for the tests of users",
    ),
    ("aiokafka_lite/testing/java_runtime.py", "kafka_clients_jar", "for tests with Java's clients"),
    # Found by name, or by what vulture does not read…
    ("aiokafka_lite/arrow/record_schema.py", "import_record_batch", "called by the native leaf"),
    (
        "aiokafka_lite/cluster/client_config.py",
        "sasl_kerberos_* sasl_oauth_token_provider",
        "options that are read by their names",
    ),
    (
        "aiokafka_lite/producer/producer_config.py",
        "compression_*_level",
        "options that are read by their names",
    ),
    ("aiokafka_lite/*er_options.py", "*", "the types of options, for type checkers"),
    ("aiokafka_lite/options/constructor.py", "__signature__", "read by `inspect.signature`"),
    ("aiokafka_lite/spark/compat.py", "HAS_*", "says what tests need of PySpark's release"),
    ("aiokafka_lite/record/memory_records.py", "iter_batches", "takes apart what tests compare"),
    ("benchmarks/peers/*.py", "*", "`run_peer` looks a path up by its name"),
    # Complete, whether all of it is read or not…
    ("aiokafka_lite/protocol/messages/*.py", "*", "declared whole, as Apache declares them"),
    ("aiokafka_lite/protocol/api_registry.py", "[A-Z]*", "all numbers that Apache has given"),
    (
        "aiokafka_lite/schema/field_types.py",
        "UInt16 UInt32 Float64",
        "all types of the protocol",
    ),
    ("aiokafka_lite/cluster/metadata_snapshot.py", "isr", "beside the other two lists of replicas"),
    (
        "aiokafka_lite/testing/broker/handlers/*.py",
        "cluster_authorized_operations",
        "written into the answer",
    ),
    (
        "aiokafka_lite/testing/broker/handlers/find_coordinator.py",
        "SHARE_PARTITION",
        "all kinds of coordinators",
    ),
)
