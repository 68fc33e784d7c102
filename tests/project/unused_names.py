"""Lists names that stay although no program of this repository uses them, each with the reason.

A row is (files, names, reason). Files and names are patterns of `fnmatch`; names are separated by
spaces. `tests/project/test_dead_code.py` fails for an unused name that is missing here. It also
fails for a listed name that is used, or that no longer exists.
"""

UNUSED = (
    # Called by the interpreter or by libraries…
    ("aiokafka_lite/__init__.py", "__getattr__ __dir__", "called by the interpreter (PEP 562)"),
    ("aiokafka_lite/admin/__init__.py", "__getattr__ __dir__", "called by the interpreter"),
    ("aiokafka_lite/admin/configs/config_entry.py", "_missing_", "called by Enum"),
    ("tools/docs_site.py", "on_config on_files on_page_markdown", "called by mkdocs"),
    ("aiokafka_lite/cli/connection.py", "__signature__", "read by Typer, through inspect"),
    ("aiokafka_lite/arrow/_record_columns_py.py", "requested_schema", "of Arrow's PyCapsule"),
    (
        "aiokafka_lite/net/frame_stream.py",
        "sizehint",
        "called by asyncio: a BufferedProtocol",
    ),
    (
        "aiokafka_lite/producer/batch/_record_ack_py.py",
        "msg remove_done_callback",
        "of asyncio.Future, which an ack can be used as",
    ),
    (
        "aiokafka_lite/spark/process/cargo.py",
        "get_filename get_source",
        "called by importlib",
    ),
    ("aiokafka_lite/consumer/consumer.py", "consumer_timeout_ms", "aiokafka's, without effect"),
    ("aiokafka_lite/spark/listener.py", "onQuery*", "called by Spark"),
    (
        "aiokafka_lite/spark/source.py",
        (
            "streamReader streamWriter initialOffset getDefaultReadLimit latestOffset"
            " reportLatestOffset prepareForTriggerAvailableNow"
        ),
        "called by Spark",
    ),
    (
        "aiokafka_lite/compat/*.py",
        ("create_module exec_module find_distributions invalidate_caches locate_file"),
        "called by importlib",
    ),
    # Called by users…
    ("aiokafka_lite/compat/*.py", "__signature__", "read by `inspect.signature`"),
    ("aiokafka_lite/compat/codecs.py", "*", "aiokafka's names, which `module_names` leads to"),
    ("aiokafka_lite/compat/records.py", "*", "aiokafka's names, which `module_names` leads to"),
    ("aiokafka_lite/compat/small_parts.py", "*", "aiokafka's names, which `module_names` leads to"),
    ("aiokafka_lite/compat/views.py", "*", "aiokafka's names, which programs read"),
    ("aiokafka_lite/compat/wire.py", "*", "aiokafka's names, which `module_names` leads to"),
    (
        "aiokafka_lite/client.py",
        "coordinator_lookup",
        "aiokafka's names, for users",
    ),
    ("aiokafka_lite/client.py", "_wait_on_metadata", "aiokafka's name, which OpenTelemetry calls"),
    (
        "aiokafka_lite/producer/producer.py",
        "_key_serializer _value_serializer",
        "aiokafka's names, which OpenTelemetry reads",
    ),
    (
        "aiokafka_lite/cluster/cluster_metadata.py",
        ("internal_topics unauthorized_topics available_partitions_for_topic"),
        "aiokafka's names, for users",
    ),
    (
        "aiokafka_lite/util.py",
        "INTEGER_MAX_VALUE INTEGER_MIN_VALUE",
        "aiokafka's names, for users and FastStream",
    ),
    ("aiokafka_lite/cluster/__init__.py", "__getattr__", "called by the interpreter (PEP 562)"),
    ("aiokafka_lite/consumer/__init__.py", "__getattr__", "called by the interpreter (PEP 562)"),
    ("aiokafka_lite/producer/__init__.py", "__getattr__", "called by the interpreter (PEP 562)"),
    (
        "aiokafka_lite/testing/schema_registry_server.py",
        "do_* daemon_threads log_message protocol_version",
        "of http.server",
    ),
    # Called by users…
    (
        "aiokafka_lite/schema_registry/schema_registry_client.py",
        "get_subjects get_versions delete_* test_compatibility get_compatibility set_compatibility",
        "calls of the registry's client",
    ),
    (
        "aiokafka_lite/workers/workers_statistics.py",
        "waiting_retries paused_partitions running_handlers unfinished_*",
        "figures for users",
    ),
    (
        "aiokafka_lite/workers/share/share_workers_statistics.py",
        "*_records running_handlers waiting_releases",
        "figures for users",
    ),
    ("aiokafka_lite/metrics/statistics.py", "held_records", "a figure for users"),
    (
        "aiokafka_lite/share/share_consumer.py",
        "set_acknowledgement_commit_callback",
        "Java's name, for users",
    ),
    ("aiokafka_lite/admin/calls/raw_answer.py", "to_object", "aiokafka's name, for users"),
    (
        "aiokafka_lite/admin/topics/*.py",
        ("topic_errors topic_error_codes eligible_leaders last_known_eligible_leaders offline"),
        "calls of the admin client, and figures in their answers",
    ),
    (
        "aiokafka_lite/admin/partitions/*.py",
        "elect_leaders describe_* alter_* future_path future_offset_lag",
        "calls of the admin client, and fields of their values",
    ),
    (
        "aiokafka_lite/testing/broker/embedded_broker.py",
        "hold_replica_moves release_replica_moves",
        "for users' tests",
    ),
    (
        "aiokafka_lite/admin/groups/group_calls.py",
        "describe_consumer_groups describe_streams_groups find_coordinator list_consumer_groups",
        "calls of the admin client",
    ),
    (
        "aiokafka_lite/admin/groups/streams_group.py",
        "standby warmup target_tasks topology_status",
        "fields of an answer, which users read",
    ),
    (
        "aiokafka_lite/admin/groups/group_offset_calls.py",
        "delete_consumer_group_offsets list_consumer_group_offsets",
        "calls of the admin client",
    ),
    (
        "aiokafka_lite/admin/groups/share_offset_calls.py",
        "delete_share_group_offsets",
        "calls of the admin client",
    ),
    (
        "aiokafka_lite/consumer/*.py",
        (
            "seek_to_end seek_to_timestamp highwater current_lag current_lead last_poll_timestamp"
            " incremental_assign incremental_unassign store_offsets"
        ),
        "the consumer's public methods",
    ),
    ("aiokafka_lite/observe/opentelemetry.py", "KafkaTracing", "spans, for users"),
    ("aiokafka_lite/observe/kafka_tracing.py", "KafkaTracing", "spans, for users"),
    ("aiokafka_lite/broker_errors.py", "*", "an error for each code that Apache has given"),
    ("aiokafka_lite/rare_broker_errors.py", "*", "an error for each code that Apache has given"),
    ("aiokafka_lite/errors.py", "__getattr__ __dir__", "Python asks them for names (PEP 562)"),
    (
        "aiokafka_lite/errors.py",
        (
            "AuthenticationMethodNotSupported"
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
        "GroupOffsetCommitter observe_sizes",
        "for users, who import them from here",
    ),
    (
        "aiokafka_lite/admin/security/*.py",
        "describe_* alter_* *_delegation_token",
        "calls of the admin client",
    ),
    ("aiokafka_lite/admin/security/scram_credential.py", "_missing_", "called by Enum"),
    ("aiokafka_lite/protocol/acl_types.py", "_missing_", "called by Enum"),
    (
        "aiokafka_lite/protocol/acl_types.py",
        "TWO_PHASE_COMMIT",
        "all numbers that Apache has given",
    ),
    (
        "aiokafka_lite/testing/broker/handlers/*_delegation_token.py",
        "token_requester_principal_*",
        "written into the answer",
    ),
    (
        "aiokafka_lite/admin/transactions/producer_calls.py",
        "force_terminate_transaction",
        "a call for users",
    ),
    (
        "aiokafka_lite/admin/cluster/quorum_calls.py",
        "add_raft_voter remove_raft_voter",
        "calls of the admin client",
    ),
    (
        "aiokafka_lite/protocol/consumer_protocol.py",
        "METADATA ASSIGNMENT",
        "aiokafka's names, for assignors that users write",
    ),
    ("aiokafka_lite/spark/jobs/job_config.py", "from_toml", "for programs that run a job"),
    ("aiokafka_lite/spark/jobs/program/job_signals.py", "Java", "py4j reads it"),
    ("aiokafka_lite/spark/jobs/program/job_signals.py", "implements", "py4j reads it"),
    (
        "aiokafka_lite/testing/broker/embedded_broker.py",
        (
            "move_coordinator move_transaction_coordinator"
            " expire_share_locks end_share_sessions expel_share_member"
            " hold_transaction_markers release_transaction_markers requests_of forget_requests"
            " wait_until"
        ),
        "for the tests of users",
    ),
    (
        "aiokafka_lite/testing/broker/state/groups/group_view.py",
        "in_state",
        "for the tests of users",
    ),
    ("aiokafka_lite/testing/broker/faults.py", "throttle corrupt", "for the tests of users"),
    (
        "aiokafka_lite/testing/broker/secured_listeners.py",
        "present_certificate",
        "for the tests of users",
    ),
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
        "aiokafka_lite/testing/virtual_loop.py",
        "_selector _process_events event_list _write_to_self executor",
        "read or called by asyncio's BaseEventLoop",
    ),
    ("aiokafka_lite/testing/virtual_network.py", "isolate reconnect", "for the tests of users"),
    ("aiokafka_lite/testing/fault_schedule.py", "playing", "for the tests of users"),
    ("aiokafka_lite/testing/fault_strategies.py", "fault_schedules", "for the tests of users"),
    ("aiokafka_lite/testing/fake_clock.py", "sleep_through", "for tests of a machine that sleeps"),
    ("aiokafka_lite/testing/fake_clock.py", "set_time", "for tests of a clock that is set"),
    (
        "aiokafka_lite/testing/fake_clock.py",
        "jump_to_next_timer",
        "for the tests of users",
    ),
    (
        "aiokafka_lite/testing/apache_kafka.py",
        "run_tool archive_classes real_kafka",
        "for the tests of users",
    ),
    ("aiokafka_lite/testing/broker/security/acl.py", "allow deny", "for the tests of users"),
    ("aiokafka_lite/testing/java_runtime.py", "kafka_clients_jar", "for tests with Java's clients"),
    # Found by their name, or used in files that vulture does not read…
    ("aiokafka_lite/arrow/record_schema.py", "import_record_batch", "called by the native leaf"),
    (
        "aiokafka_lite/producer/producer_config.py",
        "compression_*_level",
        "options that are read by their names",
    ),
    ("aiokafka_lite/*er_options.py", "*", "the types of options, for type checkers"),
    ("aiokafka_lite/options/constructor.py", "__signature__", "read by `inspect.signature`"),
    ("aiokafka_lite/spark/compat.py", "HAS_*", "says what tests need of PySpark's release"),
    ("benchmarks/peers/*.py", "*", "`run_peer` looks a path up by its name"),
    # Kept for completeness…
    ("aiokafka_lite/protocol/messages/*.py", "*", "declared whole, as Apache declares them"),
    ("aiokafka_lite/protocol/api_key.py", "[A-Z]*", "all numbers that Apache has given"),
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
