"""The names in the modules of aiokafka 0.14.0, and their kinds. Does not wait.

Made by `make aiokafka-names` from the wheel of aiokafka 0.14.0. `inside` reads it.
A section begins with the path of a module. It has the names that no other file stands for. A line
is a name, its kind, and what the kind needs. A line with `<` has names that come from another
module, and one with `*` has modules. An indented line continues the one before it.
"""

from typing import Final

NAMES: Final = """\
[]
[abc]
* abc
[admin]
[admin.client]
* async_timeout logging
< aiokafka.protocol.admin AlterConfigsRequest CreatePartitionsRequest CreateTopicsRequest
 DeleteRecordsRequest DeleteTopicsRequest DescribeConfigsRequest DescribeGroupsRequest
 ListGroupsRequest
< aiokafka.protocol.api Request Response
< aiokafka.protocol.commit OffsetFetchRequest
< aiokafka.protocol.coordination FindCoordinatorRequest
< aiokafka.protocol.metadata MetadataRequest
< collections defaultdict
< ssl SSLContext
log log aiokafka.admin.client
[admin.config_resource]
[admin.new_partitions]
[admin.new_topic]
[admin.records_to_delete]
[client]
* contextlib logging time
< aiokafka.conn CloseReason collect_hosts create_conn
< aiokafka.protocol.coordination FindCoordinatorRequest
< aiokafka.protocol.metadata MetadataRequest
< aiokafka.protocol.produce ProduceRequest
Errors module aiokafka.errors
log log aiokafka
[cluster]
* collections copy logging threading time
< aiokafka.conn collect_hosts
< concurrent.futures._base Future
Errors module aiokafka.errors
log log aiokafka.cluster
[codec]
* gzip io struct
< typing_extensions Buffer
_XERIAL_V1_FORMAT value 'bccccccBii'
_XERIAL_V1_HEADER value (-126, b'S', b'N', b'A', b'P', b'P', b'Y', 0, 1, 1)
_detect_xerial_stream function
[conn]
* async_timeout base64 collections functools hashlib hmac io logging random struct sys time
 traceback uuid warnings weakref
< aiokafka.protocol.admin ApiVersionRequest SaslAuthenticateRequest SaslHandShakeRequest
< aiokafka.protocol.coordination FindCoordinatorResponse_v0
< enum IntEnum
AIOKafkaConnection class builtins:object _reader _source_traceback connect! _do_version_lookup!
 _do_sasl_handshake! authenticator_plain() authenticator_gssapi() authenticator_scram()
 authenticator_oauth() sasl_principal _on_read_task_error() _idle_check() host port send()
 _send_sasl_token() connected() close() _create_reader_task() _read! _handle_frame()
 _next_correlation_id()
AIOKafkaProtocol class asyncio.streams:StreamReaderProtocol connection_lost()
BaseSaslAuthenticator class builtins:object step() _step()
CloseReason enum IntEnum CONNECTION_BROKEN=0 CONNECTION_TIMEOUT=1 OUT_OF_SYNC=2 IDLE_DROP=3
 SHUTDOWN=4 AUTH_FAILURE=5
Errors module aiokafka.errors
OAuthAuthenticator class aiokafka.conn:BaseSaslAuthenticator step! _build_oauth_client_request()
 _token_extensions()
READER_LIMIT value 65536
SASL_QOP_AUTH value 1
SaslGSSAPIAuthenticator class aiokafka.conn:BaseSaslAuthenticator authenticator_gssapi()
SaslPlainAuthenticator class aiokafka.conn:BaseSaslAuthenticator authenticator_plain()
ScramAuthenticator class aiokafka.conn:BaseSaslAuthenticator MECHANISMS first_message()
 process_server_first_message() final_message() process_server_final_message()
 authenticator_scram() hmac() create_salted_password() _xor_bytes()
create_conn async
gssapi value None
log log aiokafka.conn
[consumer]
[consumer.consumer]
* logging re sys traceback
< aiokafka.consumer.fetcher Fetcher OffsetResetStrategy
< aiokafka.consumer.group_coordinator GroupCoordinator NoGroupCoordinator
< aiokafka.consumer.subscription_state SubscriptionState
< aiokafka.util commit_structure_validate
log log aiokafka.consumer.consumer
[consumer.fetcher]
* async_timeout asyncio collections contextlib logging random time
< aiokafka.errors ConsumerStoppedError KafkaTimeoutError RecordTooLargeError
< aiokafka.protocol.fetch FetchRequest
< aiokafka.protocol.offset OffsetRequest
< aiokafka.structs ConsumerRecord OffsetAndTimestamp TopicPartition
< aiokafka.util create_future create_task
< itertools chain
Errors module aiokafka.errors
FetchError class builtins:object calculate_backoff() check_raise()
FetchResult class builtins:object calculate_backoff() check_assignment() _update_position()
 getone() getall() has_more()
Fetcher class builtins:object close! _notify() _create_fetch_waiter() error_future
 _fetch_requests_routine! _get_actions_per_node() _select_read_replica()
 _update_preferred_read_replica() _invalidate_preferred_read_replica_for_node()
 _proc_fetch_request! _set_error() _update_fetch_positions! _retrieve_offsets!
 _proc_offset_requests! _proc_offset_request! next_record! fetched_records! get_offsets_by_times!
 beginning_offsets! end_offsets! request_offset_reset() seek_to()
OffsetResetStrategy class builtins:object LATEST=-1 EARLIEST=-2 NONE=0 from_str() to_str()
PartitionRecords class builtins:object _unpack_records() _consume_aborted_up_to()
 _contains_abort_marker() _consumer_record()
READ_COMMITTED value 1
READ_UNCOMMITTED value 0
UNKNOWN_OFFSET value -1
log log aiokafka.consumer.fetcher
[consumer.group_coordinator]
* asyncio collections copy logging time
< aiokafka.client ConnectionGroup CoordinationType
< aiokafka.coordinator.assignors.roundrobin RoundRobinPartitionAssignor
< aiokafka.coordinator.protocol ConsumerProtocol
< aiokafka.protocol.api Response
< aiokafka.protocol.commit OffsetCommitRequest OffsetFetchRequest
< aiokafka.protocol.group HeartbeatRequest JoinGroupRequest LeaveGroupRequest SyncGroupRequest
< aiokafka.structs OffsetAndMetadata TopicPartition
< aiokafka.util create_future create_task
BaseCoordinator class builtins:object _handle_metadata_update() _get_metadata_snapshot()
CoordinatorGroupRebalance class builtins:object perform_group_join! _on_join_follower!
 _on_join_leader! _send_sync_group_request!
Errors module aiokafka.errors
GroupCoordinator class aiokafka.consumer.group_coordinator:BaseCoordinator _on_metadata_change()
 _send_req! check_errors() _push_error_to_user() close! maybe_leave_group() _maybe_leave_group!
 _lookup_assignor() _on_join_prepare! _perform_assignment! _on_join_complete! coordinator_dead()
 reset_generation() request_rejoin() need_rejoin() ensure_coordinator_known! _coordination_routine!
 _GroupCoordinator__coordination_routine! ensure_active_group! _start_heartbeat_task()
 _stop_heartbeat_task! _heartbeat_routine! _do_heartbeat! start_commit_offsets_refresh_task()
 _stop_commit_offsets_refresh_task! _commit_refresh_routine! _do_rejoin_group!
 _maybe_do_autocommit! _is_commit_retriable() _maybe_do_last_autocommit! commit_offsets!
 _do_commit_offsets! _maybe_refresh_commit_offsets! fetch_committed_offsets!
 _do_fetch_commit_offsets!
NoGroupCoordinator class aiokafka.consumer.group_coordinator:BaseCoordinator _on_metadata_change()
 assign_all_partitions() _reset_committed_routine! _group_subscription close! check_errors()
UNKNOWN_OFFSET value -1
log log aiokafka.consumer.group_coordinator
[consumer.subscription_state]
* contextlib copy logging time
< __future__ annotations
< asyncio.locks Event
< asyncio.tasks shield
< re Pattern
Assignment class builtins:object tps active _unassign() state_value() all_consumed_offsets()
 requesting_committed()
ManualSubscription class aiokafka.consumer.subscription_state:Subscription _assign()
 _reassignment_in_progress _begin_reassignment()
PartitionStatus enum Enum AWAITING_RESET=0 CONSUMING=1 UNASSIGNED=2
Subscription class builtins:object active topics assignment _assign() _unsubscribe()
 _begin_reassignment()
SubscriptionType enum Enum NONE=1 AUTO_TOPICS=2 AUTO_PATTERN=3 USER_ASSIGNED=4
TopicPartitionState class builtins:object paused resume_fut has_valid_position position
 awaiting_reset reset_strategy await_reset() fetch_committed() update_committed() consumed_to()
 reset_to() seek() wait_for_position() pause() resume()
log log aiokafka.consumer.subscription_state
[coordinator]
[coordinator.assignors]
[coordinator.assignors.abstract]
* abc logging
< collections.abc Iterable Mapping
log log aiokafka.coordinator.assignors.abstract
[coordinator.assignors.range]
* collections logging
< collections.abc Iterable Mapping
log log aiokafka.coordinator.assignors.range
[coordinator.assignors.roundrobin]
* collections itertools logging
< collections.abc Iterable Mapping
log log aiokafka.coordinator.assignors.roundrobin
[coordinator.assignors.sticky]
[coordinator.assignors.sticky.partition_movements]
* logging
< aiokafka.structs TopicPartition
< collections defaultdict
< collections.abc Sequence
< copy deepcopy
< typing Any NamedTuple
ConsumerPair tuple src_member_id dst_member_id
PartitionMovements class builtins:object move_partition() get_partition_to_be_moved() are_sticky()
 _remove_movement_record_of_partition() _add_partition_movement_record() _has_cycles()
 _is_subcycle() _is_linked()
is_sublist function
log log aiokafka.coordinator.assignors.sticky.partition_movements
[coordinator.assignors.sticky.sorted_set]
< collections.abc Callable Collection Iterable Iterator
< typing Any Generic TypeVar final
SortedSet class typing:Generic,collections.abc:Collection first() last() pop_last() add() remove()
T typevar
[coordinator.assignors.sticky.sticky_assignor]
* contextlib logging
< aiokafka.coordinator.assignors.sticky.partition_movements PartitionMovements
< aiokafka.coordinator.assignors.sticky.sorted_set SortedSet
< aiokafka.protocol.struct Struct
< aiokafka.protocol.types Array Int32 Schema String
< collections defaultdict
< collections.abc Collection Iterable Mapping MutableSequence Sequence Sized
< copy deepcopy
< typing Any NamedTuple
ConsumerGenerationPair tuple consumer generation
ConsumerSubscription tuple consumer partitions
StickyAssignmentExecutor class builtins:object perform_initial_assignment() balance()
 get_final_assignment() _initialize() _init_current_assignments() _are_subscriptions_identical()
 _populate_sorted_partitions() _populate_partitions_to_reassign()
 _initialize_current_subscriptions() _get_consumer_with_least_subscriptions()
 _get_consumer_with_most_subscriptions()
 _remove_consumer_from_current_subscriptions_and_maintain_order()
 _add_consumer_to_current_subscriptions_and_maintain_order() _is_balanced() _assign_partition()
 _can_partition_participate_in_reassignment() _can_consumer_participate_in_reassignment()
 _perform_reassignments() _reassign_partition() _reassign_partition_to_consumer() _move_partition()
 _get_balance_score()
StickyAssignorMemberMetadataV1 tuple subscription partitions generation
StickyAssignorUserDataV1 struct previous_assignment:[(topic:str,partitions:[i32])],generation:i32
has_identical_list_elements function
log log aiokafka.coordinator.assignors.sticky.sticky_assignor
partitions_comparator_key function
remove_if_present function
subscriptions_comparator_key function
[coordinator.protocol]
< aiokafka.protocol.struct Struct
< aiokafka.protocol.types Array Bytes Int16 Int32 Schema String
< typing NamedTuple
[errors]
< collections.abc Iterable
< typing TypeVar
_T typevar
_iter_subclasses function
[helpers]
* logging
< __future__ annotations
< collections.abc Callable
< os PathLike
< ssl Purpose create_default_context
< typing_extensions Buffer
log log aiokafka.helpers
[partitioner]
* random
[producer]
[producer.message_accumulator]
* collections copy time
< aiokafka.record._crecords.default_records DefaultRecordBatchBuilder
MessageAccumulator class builtins:object flush! flush_for_commit! fail_all() close! add_message!
 waiter() _pop_batch() reenqueue() drain_by_nodes() _wakeup() create_builder() _append_batch()
 add_batch!
MessageBatch class builtins:object tp record_count append() done() done_noack() failure()
 wait_drain! remaining_linger() expired() drain_ready() reset_drain() set_producer_state()
 get_data_buffer() is_empty() retry_count
[producer.producer]
* logging sys traceback
< aiokafka.codec has_gzip has_lz4 has_snappy has_zstd
< aiokafka.producer.message_accumulator MessageAccumulator
< aiokafka.producer.sender Sender
< aiokafka.producer.transaction_manager TransactionManager
< aiokafka.record._crecords.default_records DefaultRecordBatch DefaultRecordBatchBuilder
< aiokafka.util commit_structure_validate
TransactionContext class builtins:object
log log aiokafka.producer.producer
[producer.sender]
* asyncio collections logging
< aiokafka.client ConnectionGroup CoordinationType
< aiokafka.errors ConcurrentTransactions DuplicateSequenceNumber GroupAuthorizationFailedError
 IncompatibleBrokerVersion InvalidProducerEpoch InvalidProducerIdMapping InvalidTxnState KafkaError
 OperationNotAttempted OutOfOrderSequenceNumber ProducerFenced RequestTimedOutError
 TopicAuthorizationFailedError TransactionalIdAuthorizationFailed UnknownTopicOrPartitionError
< aiokafka.protocol.produce ProduceRequest
< aiokafka.protocol.transaction AddOffsetsToTxnRequest AddPartitionsToTxnRequest EndTxnRequest
 InitProducerIdRequest TxnOffsetCommitRequest
< aiokafka.structs TopicPartition
< aiokafka.util create_task
AddOffsetsToTxnHandler class aiokafka.producer.sender:BaseHandler group=1 create_request()
 handle_response() handle_error()
AddPartitionsToTxnHandler class aiokafka.producer.sender:BaseHandler group=1 create_request()
 handle_response() handle_error()
BACKOFF_OVERRIDE value 0.02
BaseHandler class builtins:object group=0 do! create_request() handle_response() handle_error()
CoordinatorLoadInProgressError from aiokafka.errors:GroupLoadInProgressError
CoordinatorNotAvailableError from aiokafka.errors:GroupCoordinatorNotAvailableError
EndTxnHandler class aiokafka.producer.sender:BaseHandler group=1 create_request() handle_response()
 handle_error()
Errors module aiokafka.errors
InitPIDHandler class aiokafka.producer.sender:BaseHandler create_request() handle_response()
 handle_error()
NotCoordinatorError from aiokafka.errors:NotCoordinatorForGroupError
SendProduceReqHandler class aiokafka.producer.sender:BaseHandler create_request() do!
 handle_response() handle_error() _can_retry()
Sender class builtins:object start! _fail_all() sender_task close! _sender_routine!
 _maybe_wait_for_pid! _coordinator_dead() _find_coordinator! _do_init_pid! _send_produce_req!
 _maybe_do_transactional_request() _do_add_partitions_to_txn! _do_add_offsets_to_txn!
 _do_txn_offset_commit! _do_txn_commit!
TxnOffsetCommitHandler class aiokafka.producer.sender:BaseHandler group=1 create_request()
 handle_response() handle_error()
log log aiokafka.producer.sender
[producer.transaction_manager]
< aiokafka.structs TopicPartition
< aiokafka.util create_future
< collections defaultdict deque namedtuple
< enum Enum IntEnum
NO_PRODUCER_EPOCH value -1
NO_PRODUCER_ID value -1
PidAndEpoch tuple pid epoch
SubscriptionType enum Enum NONE=1 AUTO_TOPICS=2 AUTO_PATTERN=3 USER_ASSIGNED=4
TransactionManager class builtins:object set_pid_and_epoch() has_pid() wait_for_pid!
 sequence_number() increment_sequence_number() producer_id producer_epoch _transition_to()
 begin_transaction() committing_transaction() aborting_transaction() complete_transaction()
 error_transaction() fatal_error() maybe_add_partition_to_txn() add_offsets_to_txn()
 is_in_transaction() partitions_to_add() consumer_group_to_add() offsets_to_commit()
 partition_added() consumer_group_added() offset_committed() txn_partitions
 needs_transaction_commit() is_empty_transaction() is_fatal_error() wait_for_transaction_end()
 notify_task_waiter() make_task_waiter()
TransactionResult enum IntEnum ABORT=0 COMMIT=1
TransactionState enum Enum UNINITIALIZED=1 READY=2 IN_TRANSACTION=3 COMMITTING_TRANSACTION=4
 ABORTING_TRANSACTION=5 ABORTABLE_ERROR=6 FATAL_ERROR=7
[protocol]
API_KEYS value {0: 'Produce', 1: 'Fetch', 2: 'ListOffsets', 3: 'Metadata', 4: 'LeaderAndIsr', 5:
 'StopReplica', 6: 'UpdateMetadata', 7: 'ControlledShutdown', 8: 'OffsetCommit', 9: 'OffsetFetch',
 10: 'FindCoordinator', 11: 'JoinGroup', 12: 'Heartbeat', 13: 'LeaveGroup', 14: 'SyncGroup', 15:
 'DescribeGroups', 16: 'ListGroups', 17: 'SaslHandshake', 18: 'ApiVersions', 19: 'CreateTopics',
 20: 'DeleteTopics', 21: 'DeleteRecords', 22: 'InitProducerId', 23: 'OffsetForLeaderEpoch', 24:
 'AddPartitionsToTxn', 25: 'AddOffsetsToTxn', 26: 'EndTxn', 27: 'WriteTxnMarkers', 28:
 'TxnOffsetCommit', 29: 'DescribeAcls', 30: 'CreateAcls', 31: 'DeleteAcls', 32: 'DescribeConfigs',
 33: 'AlterConfigs', 36: 'SaslAuthenticate', 37: 'CreatePartitions', 38: 'CreateDelegationToken',
 39: 'RenewDelegationToken', 40: 'ExpireDelegationToken', 41: 'DescribeDelegationToken', 42:
 'DeleteGroups', 45: 'AlterPartitionReassignments', 46: 'ListPartitionReassignments', 48:
 'DescribeClientQuotas'}
[protocol.abstract]
* abc
[protocol.admin]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Boolean Bytes CompactArray CompactString Float64 Int16 Int32 Int64
 Int8 Schema String TaggedFields
< collections.abc Iterable
< typing Any TypeAlias
AlterConfigsRequest builder 33 AlterConfigsRequest_v0,AlterConfigsRequest_v1 resources
 validate_only=False
AlterConfigsRequestStruct union AlterConfigsRequest_v0 AlterConfigsRequest_v1
AlterConfigsRequest_v0 request 33 0 AlterConfigsResponse_v0
 resources:[(resource_type:i8,resource_name:str,config_entries:[(config_name:str,config_value:str)])],validate_only:bool
AlterConfigsRequest_v1 request 33 1 AlterConfigsResponse_v1 =AlterConfigsRequest_v0
AlterConfigsResponse_v0 response 33 0
 throttle_time_ms:i32,resources:[(error_code:i16,error_message:str,resource_type:i8,resource_name:str)]
AlterConfigsResponse_v1 response 33 1 =AlterConfigsResponse_v0
AlterPartitionReassignmentsRequest builder 45 AlterPartitionReassignmentsRequest_v0 timeout_ms
 topics tags
AlterPartitionReassignmentsRequestStruct from
 aiokafka.protocol.admin:AlterPartitionReassignmentsRequest_v0
AlterPartitionReassignmentsRequest_v0 request 45 0+ AlterPartitionReassignmentsResponse_v0
 timeout_ms:i32,topics:<(name:cstr,partitions:<(partition_index:i32,replicas:<i32>,tags:tags)>,tags:tags)>,tags:tags
AlterPartitionReassignmentsResponse_v0 response 45 0
 throttle_time_ms:i32,error_code:i16,error_message:cstr,responses:<(name:cstr,partitions:<(partition_index:i32,error_code:i16,error_message:cstr,tags:tags)>,tags:tags)>,tags:tags
ApiVersionRequest builder 18? ApiVersionRequest_v0,ApiVersionRequest_v1,ApiVersionRequest_v2
ApiVersionRequestStruct union ApiVersionRequest_v0 ApiVersionRequest_v1 ApiVersionRequest_v2
ApiVersionRequest_v0 request 18 0 ApiVersionResponse_v0 -
ApiVersionRequest_v1 request 18 1 ApiVersionResponse_v1 =ApiVersionRequest_v0
ApiVersionRequest_v2 request 18 2 ApiVersionResponse_v1 =ApiVersionRequest_v0
ApiVersionResponse_v0 response 18 0
 error_code:i16,api_versions:[(api_key:i16,min_version:i16,max_version:i16)]
ApiVersionResponse_v1 response 18 1
 error_code:i16,api_versions:[(api_key:i16,min_version:i16,max_version:i16)],throttle_time_ms:i32
ApiVersionResponse_v2 response 18 2 =ApiVersionResponse_v1
CreateAclsRequest builder 30 CreateAclsRequest_v0,CreateAclsRequest_v1 resource_type resource_name
 resource_pattern_type_filter principal host operation permission_type
CreateAclsRequestStruct union CreateAclsRequest_v0 CreateAclsRequest_v1
CreateAclsRequest_v0 request 30 0 CreateAclsResponse_v0
 creations:[(resource_type:i8,resource_name:str,principal:str,host:str,operation:i8,permission_type:i8)]
CreateAclsRequest_v1 request 30 1 CreateAclsResponse_v1
 creations:[(resource_type:i8,resource_name:str,resource_pattern_type:i8,principal:str,host:str,operation:i8,permission_type:i8)]
CreateAclsResponse_v0 response 30 0
 throttle_time_ms:i32,creation_responses:[(error_code:i16,error_message:str)]
CreateAclsResponse_v1 response 30 1 =CreateAclsResponse_v0
CreatePartitionsRequest builder 37 CreatePartitionsRequest_v0,CreatePartitionsRequest_v1
 topic_partitions timeout validate_only
CreatePartitionsRequestStruct union CreatePartitionsRequest_v0 CreatePartitionsRequest_v1
CreatePartitionsRequest_v0 request 37 0 CreatePartitionsResponse_v0
 topic_partitions:[(topic:str,new_partitions:(count:i32,assignment:[[i32]]))],timeout:i32,validate_only:bool
CreatePartitionsRequest_v1 request 37 1 CreatePartitionsResponse_v1 =CreatePartitionsRequest_v0
CreatePartitionsResponse_v0 response 37 0
 throttle_time_ms:i32,topic_errors:[(topic:str,error_code:i16,error_message:str)]
CreatePartitionsResponse_v1 response 37 1 =CreatePartitionsResponse_v0
CreateTopicsRequest builder 19
 CreateTopicsRequest_v0,CreateTopicsRequest_v1,CreateTopicsRequest_v2,CreateTopicsRequest_v3
 create_topic_requests timeout validate_only
CreateTopicsRequestStruct union CreateTopicsRequest_v0 CreateTopicsRequest_v1
 CreateTopicsRequest_v2 CreateTopicsRequest_v3
CreateTopicsRequest_v0 request 19 0 CreateTopicsResponse_v0
 create_topic_requests:[(topic:str,num_partitions:i32,replication_factor:i16,replica_assignment:[(partition_id:i32,replicas:[i32])],configs:[(config_key:str,config_value:str)])],timeout:i32
CreateTopicsRequest_v1 request 19 1 CreateTopicsResponse_v1
 create_topic_requests:[(topic:str,num_partitions:i32,replication_factor:i16,replica_assignment:[(partition_id:i32,replicas:[i32])],configs:[(config_key:str,config_value:str)])],timeout:i32,validate_only:bool
CreateTopicsRequest_v2 request 19 2 CreateTopicsResponse_v2 =CreateTopicsRequest_v1
CreateTopicsRequest_v3 request 19 3 CreateTopicsResponse_v3 =CreateTopicsRequest_v1
CreateTopicsResponse_v0 response 19 0 topic_errors:[(topic:str,error_code:i16)]
CreateTopicsResponse_v1 response 19 1 topic_errors:[(topic:str,error_code:i16,error_message:str)]
CreateTopicsResponse_v2 response 19 2 =CreatePartitionsResponse_v0
CreateTopicsResponse_v3 response 19 3 =CreatePartitionsResponse_v0
DeleteAclsRequest builder 31 DeleteAclsRequest_v0,DeleteAclsRequest_v1 resource_type resource_name
 resource_pattern_type_filter principal host operation permission_type
DeleteAclsRequestStruct union DeleteAclsRequest_v0 DeleteAclsRequest_v1
DeleteAclsRequest_v0 request 31 0 DeleteAclsResponse_v0
 filters:[(resource_type:i8,resource_name:str,principal:str,host:str,operation:i8,permission_type:i8)]
DeleteAclsRequest_v1 request 31 1 DeleteAclsResponse_v1
 filters:[(resource_type:i8,resource_name:str,resource_pattern_type_filter:i8,principal:str,host:str,operation:i8,permission_type:i8)]
DeleteAclsResponse_v0 response 31 0
 throttle_time_ms:i32,filter_responses:[(error_code:i16,error_message:str,matching_acls:[(error_code:i16,error_message:str,resource_type:i8,resource_name:str,principal:str,host:str,operation:i8,permission_type:i8)])]
DeleteAclsResponse_v1 response 31 1
 throttle_time_ms:i32,filter_responses:[(error_code:i16,error_message:str,matching_acls:[(error_code:i16,error_message:str,resource_type:i8,resource_name:str,resource_pattern_type:i8,principal:str,host:str,operation:i8,permission_type:i8)])]
DeleteGroupsRequest builder 42 DeleteGroupsRequest_v0,DeleteGroupsRequest_v1 group_names
DeleteGroupsRequestStruct union DeleteGroupsRequest_v0 DeleteGroupsRequest_v1
DeleteGroupsRequest_v0 request 42 0 DeleteGroupsResponse_v0 groups_names:[str]
DeleteGroupsRequest_v1 request 42 1 DeleteGroupsResponse_v1 =DeleteGroupsRequest_v0
DeleteGroupsResponse_v0 response 42 0 throttle_time_ms:i32,results:[(group_id:str,error_code:i16)]
DeleteGroupsResponse_v1 response 42 1 =DeleteGroupsResponse_v0
DeleteRecordsRequest builder 21
 DeleteRecordsRequest_v0,DeleteRecordsRequest_v1,DeleteRecordsRequest_v2 topics timeout_ms
 tags=None
DeleteRecordsRequestStruct union DeleteRecordsRequest_v0 DeleteRecordsRequest_v1
 DeleteRecordsRequest_v2
DeleteRecordsRequest_v0 request 21 0 DeleteRecordsResponse_v0
 topics:[(name:str,partitions:[(partition_index:i32,offset:i64)])],timeout_ms:i32
DeleteRecordsRequest_v1 request 21 1 DeleteRecordsResponse_v1 =DeleteRecordsRequest_v0
DeleteRecordsRequest_v2 request 21 2+ DeleteRecordsResponse_v2
 topics:<(name:cstr,partitions:<(partition_index:i32,offset:i64,tags:tags)>,tags:tags)>,timeout_ms:i32,tags:tags
DeleteRecordsResponse_v0 response 21 0
 throttle_time_ms:i32,topics:[(name:str,partitions:[(partition_index:i32,low_watermark:i64,error_code:i16)])]
DeleteRecordsResponse_v1 response 21 1 =DeleteRecordsResponse_v0
DeleteRecordsResponse_v2 response 21 2
 throttle_time_ms:i32,topics:<(name:cstr,partitions:<(partition_index:i32,low_watermark:i64,error_code:i16,tags:tags)>,tags:tags)>,tags:tags
DeleteTopicsRequest builder 20
 DeleteTopicsRequest_v0,DeleteTopicsRequest_v1,DeleteTopicsRequest_v2,DeleteTopicsRequest_v3 topics
 timeout
DeleteTopicsRequestStruct union DeleteTopicsRequest_v0 DeleteTopicsRequest_v1
 DeleteTopicsRequest_v2 DeleteTopicsRequest_v3
DeleteTopicsRequest_v0 request 20 0 DeleteTopicsResponse_v0 topics:[str],timeout:i32
DeleteTopicsRequest_v1 request 20 1 DeleteTopicsResponse_v1 =DeleteTopicsRequest_v0
DeleteTopicsRequest_v2 request 20 2 DeleteTopicsResponse_v2 =DeleteTopicsRequest_v0
DeleteTopicsRequest_v3 request 20 3 DeleteTopicsResponse_v3 =DeleteTopicsRequest_v0
DeleteTopicsResponse_v0 response 20 0 topic_error_codes:[(topic:str,error_code:i16)]
DeleteTopicsResponse_v1 response 20 1
 throttle_time_ms:i32,topic_error_codes:[(topic:str,error_code:i16)]
DeleteTopicsResponse_v2 response 20 2 =DeleteTopicsResponse_v1
DeleteTopicsResponse_v3 response 20 3 =DeleteTopicsResponse_v1
DescribeAclsRequest builder 29 DescribeAclsRequest_v0,DescribeAclsRequest_v1 resource_type
 resource_name resource_pattern_type_filter principal host operation permission_type
DescribeAclsRequestStruct union DescribeAclsRequest_v0 DescribeAclsRequest_v1
DescribeAclsRequest_v0 request 29 0 DescribeAclsResponse_v0
 resource_type:i8,resource_name:str,principal:str,host:str,operation:i8,permission_type:i8
DescribeAclsRequest_v1 request 29 1 DescribeAclsResponse_v1
 resource_type:i8,resource_name:str,resource_pattern_type_filter:i8,principal:str,host:str,operation:i8,permission_type:i8
DescribeAclsRequest_v2 request 29 2 DescribeAclsResponse_v2 =DescribeAclsRequest_v1
DescribeAclsResponse_v0 response 29 0
 throttle_time_ms:i32,error_code:i16,error_message:str,resources:[(resource_type:i8,resource_name:str,acls:[(principal:str,host:str,operation:i8,permission_type:i8)])]
DescribeAclsResponse_v1 response 29 1
 throttle_time_ms:i32,error_code:i16,error_message:str,resources:[(resource_type:i8,resource_name:str,resource_pattern_type:i8,acls:[(principal:str,host:str,operation:i8,permission_type:i8)])]
DescribeAclsResponse_v2 response 29 2 =DescribeAclsResponse_v1
DescribeClientQuotasRequest builder 48 DescribeClientQuotasRequest_v0 components strict
DescribeClientQuotasRequestStruct from aiokafka.protocol.admin:DescribeClientQuotasRequest_v0
DescribeClientQuotasRequest_v0 request 48 0 DescribeClientQuotasResponse_v0
 components:[(entity_type:str,match_type:i8,match:str)],strict:bool
DescribeClientQuotasResponse_v0 response 48 0
 throttle_time_ms:i32,error_code:i16,error_message:str,entries:[(entity:[(entity_type:str,entity_name:str)],values:[(name:str,value:f64)])]
DescribeConfigsRequest builder 32
 DescribeConfigsRequest_v0,DescribeConfigsRequest_v1,DescribeConfigsRequest_v2 resources
 include_synonyms=False
DescribeConfigsRequestStruct union DescribeConfigsRequest_v0 DescribeConfigsRequest_v1
 DescribeConfigsRequest_v2
DescribeConfigsRequest_v0 request 32 0 DescribeConfigsResponse_v0
 resources:[(resource_type:i8,resource_name:str,config_names:[str])]
DescribeConfigsRequest_v1 request 32 1 DescribeConfigsResponse_v1
 resources:[(resource_type:i8,resource_name:str,config_names:[str])],include_synonyms:bool
DescribeConfigsRequest_v2 request 32 2 DescribeConfigsResponse_v2 =DescribeConfigsRequest_v1
DescribeConfigsResponse_v0 response 32 0
 throttle_time_ms:i32,resources:[(error_code:i16,error_message:str,resource_type:i8,resource_name:str,config_entries:[(config_names:str,config_value:str,read_only:bool,is_default:bool,is_sensitive:bool)])]
DescribeConfigsResponse_v1 response 32 1
 throttle_time_ms:i32,resources:[(error_code:i16,error_message:str,resource_type:i8,resource_name:str,config_entries:[(config_names:str,config_value:str,read_only:bool,config_source:i8,is_sensitive:bool,config_synonyms:[(config_name:str,config_value:str,config_source:i8)])])]
DescribeConfigsResponse_v2 response 32 2 =DescribeConfigsResponse_v1
DescribeGroupsRequest builder 15
 DescribeGroupsRequest_v0,DescribeGroupsRequest_v1,DescribeGroupsRequest_v2,DescribeGroupsRequest_v3
 groups include_authorized_operations=False
DescribeGroupsRequestStruct union DescribeGroupsRequest_v0 DescribeGroupsRequest_v1
 DescribeGroupsRequest_v2 DescribeGroupsRequest_v3
DescribeGroupsRequest_v0 request 15 0 DescribeGroupsResponse_v0 groups:[str]
DescribeGroupsRequest_v1 request 15 1 DescribeGroupsResponse_v1 =DescribeGroupsRequest_v0
DescribeGroupsRequest_v2 request 15 2 DescribeGroupsResponse_v2 =DescribeGroupsRequest_v0
DescribeGroupsRequest_v3 request 15 3 DescribeGroupsResponse_v2
 groups:[str],include_authorized_operations:bool
DescribeGroupsResponse_v0 response 15 0
 groups:[(error_code:i16,group:str,state:str,protocol_type:str,protocol:str,members:[(member_id:str,client_id:str,client_host:str,member_metadata:bytes,member_assignment:bytes)])]
DescribeGroupsResponse_v1 response 15 1
 throttle_time_ms:i32,groups:[(error_code:i16,group:str,state:str,protocol_type:str,protocol:str,members:[(member_id:str,client_id:str,client_host:str,member_metadata:bytes,member_assignment:bytes)])]
DescribeGroupsResponse_v2 response 15 2 =DescribeGroupsResponse_v1
DescribeGroupsResponse_v3 response 15 3
 throttle_time_ms:i32,groups:[(error_code:i16,group:str,state:str,protocol_type:str,protocol:str,members:[(member_id:str,client_id:str,client_host:str,member_metadata:bytes,member_assignment:bytes)],authorized_operations:i32)]
ListGroupsRequest builder 16 ListGroupsRequest_v0,ListGroupsRequest_v1,ListGroupsRequest_v2
ListGroupsRequestStruct union ListGroupsRequest_v0 ListGroupsRequest_v1 ListGroupsRequest_v2
ListGroupsRequest_v0 request 16 0 ListGroupsResponse_v0 =ApiVersionRequest_v0
ListGroupsRequest_v1 request 16 1 ListGroupsResponse_v1 =ApiVersionRequest_v0
ListGroupsRequest_v2 request 16 1 ListGroupsResponse_v2 =ApiVersionRequest_v0
ListGroupsResponse_v0 response 16 0 error_code:i16,groups:[(group:str,protocol_type:str)]
ListGroupsResponse_v1 response 16 1
 throttle_time_ms:i32,error_code:i16,groups:[(group:str,protocol_type:str)]
ListGroupsResponse_v2 response 16 2 =ListGroupsResponse_v1
ListPartitionReassignmentsRequest builder 46 ListPartitionReassignmentsRequest_v0 timeout_ms topics
 tags
ListPartitionReassignmentsRequestStruct from
 aiokafka.protocol.admin:ListPartitionReassignmentsRequest_v0
ListPartitionReassignmentsRequest_v0 request 46 0+ ListPartitionReassignmentsResponse_v0
 timeout_ms:i32,topics:<(name:cstr,partition_index:<i32>,tags:tags)>,tags:tags
ListPartitionReassignmentsResponse_v0 response 46 0
 throttle_time_ms:i32,error_code:i16,error_message:cstr,topics:<(name:cstr,partitions:<(partition_index:i32,replicas:<i32>,adding_replicas:<i32>,removing_replicas:<i32>,tags:tags)>,tags:tags)>,tags:tags
SaslAuthenticateRequest builder 36 SaslAuthenticateRequest_v0,SaslAuthenticateRequest_v1 payload
SaslAuthenticateRequestStruct union SaslAuthenticateRequest_v0 SaslAuthenticateRequest_v1
SaslAuthenticateRequest_v0 request 36 0 SaslAuthenticateResponse_v0 sasl_auth_bytes:bytes
SaslAuthenticateRequest_v1 request 36 1 SaslAuthenticateResponse_v1 =SaslAuthenticateRequest_v0
SaslAuthenticateResponse_v0 response 36 0 error_code:i16,error_message:str,sasl_auth_bytes:bytes
SaslAuthenticateResponse_v1 response 36 1
 error_code:i16,error_message:str,sasl_auth_bytes:bytes,session_lifetime_ms:i64
SaslHandShakeRequest builder 17 SaslHandShakeRequest_v0,SaslHandShakeRequest_v1 mechanism
SaslHandShakeRequestStruct union SaslHandShakeRequest_v0 SaslHandShakeRequest_v1
SaslHandShakeRequest_v0 request 17 0 SaslHandShakeResponse_v0 mechanism:str
SaslHandShakeRequest_v1 request 17 1 SaslHandShakeResponse_v1 =SaslHandShakeRequest_v0
SaslHandShakeResponse_v0 response 17 0 error_code:i16,enabled_mechanisms:[str]
SaslHandShakeResponse_v1 response 17 1 =SaslHandShakeResponse_v0
[protocol.api]
* abc
< __future__ annotations
[protocol.commit]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Int16 Int32 Int64 Schema String
< typing TypeAlias
OffsetCommitRequest builder 8 OffsetCommitRequest_v2,OffsetCommitRequest_v3 consumer_group
 consumer_group_generation_id consumer_id retention_time topics @DEFAULT_GENERATION_ID=-1
 @DEFAULT_RETENTION_TIME=-1
OffsetCommitRequestStruct union OffsetCommitRequest_v2 OffsetCommitRequest_v3
OffsetCommitRequest_v0 request 8 0 OffsetCommitResponse_v0
 consumer_group:str,topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str)])]
OffsetCommitRequest_v1 request 8 1 OffsetCommitResponse_v1
 consumer_group:str,consumer_group_generation_id:i32,consumer_id:str,topics:[(topic:str,partitions:[(partition:i32,offset:i64,timestamp:i64,metadata:str)])]
OffsetCommitRequest_v2 request 8 2 OffsetCommitResponse_v2
 consumer_group:str,consumer_group_generation_id:i32,consumer_id:str,retention_time:i64,topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str)])]
OffsetCommitRequest_v3 request 8 3 OffsetCommitResponse_v3 =OffsetCommitRequest_v2
OffsetCommitResponse_v0 response 8 0
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16)])]
OffsetCommitResponse_v1 response 8 1 =OffsetCommitResponse_v0
OffsetCommitResponse_v2 response 8 2 =OffsetCommitResponse_v0
OffsetCommitResponse_v3 response 8 3
 throttle_time_ms:i32,topics:[(topic:str,partitions:[(partition:i32,error_code:i16)])]
OffsetFetchRequest builder 9 OffsetFetchRequest_v1,OffsetFetchRequest_v2,OffsetFetchRequest_v3
 consumer_group partitions
OffsetFetchRequestStruct union OffsetFetchRequest_v1 OffsetFetchRequest_v2 OffsetFetchRequest_v3
OffsetFetchRequest_v0 request 9 0 OffsetFetchResponse_v0
 consumer_group:str,topics:[(topic:str,partitions:[i32])]
OffsetFetchRequest_v1 request 9 1 OffsetFetchResponse_v1 =OffsetFetchRequest_v0
OffsetFetchRequest_v2 request 9 2 OffsetFetchResponse_v2 =OffsetFetchRequest_v0
OffsetFetchRequest_v3 request 9 3 OffsetFetchResponse_v3 =OffsetFetchRequest_v0
OffsetFetchResponse_v0 response 9 0
 topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str,error_code:i16)])]
OffsetFetchResponse_v1 response 9 1 =OffsetFetchResponse_v0
OffsetFetchResponse_v2 response 9 2
 topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str,error_code:i16)])],error_code:i16
OffsetFetchResponse_v3 response 9 3
 throttle_time_ms:i32,topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str,error_code:i16)])],error_code:i16
[protocol.coordination]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Int16 Int32 Int8 Schema String
< typing TypeAlias
FindCoordinatorRequest builder 10 FindCoordinatorRequest_v0,FindCoordinatorRequest_v1
 coordinator_key coordinator_type
FindCoordinatorRequestStruct union FindCoordinatorRequest_v0 FindCoordinatorRequest_v1
FindCoordinatorRequest_v0 request 10 0 FindCoordinatorResponse_v0 consumer_group:str
FindCoordinatorRequest_v1 request 10 1 FindCoordinatorResponse_v1
 coordinator_key:str,coordinator_type:i8
FindCoordinatorResponse_v0 response 10 0 error_code:i16,coordinator_id:i32,host:str,port:i32
FindCoordinatorResponse_v1 response 10 1
 throttle_time_ms:i32,error_code:i16,error_message:str,coordinator_id:i32,host:str,port:i32
[protocol.fetch]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Bytes Int16 Int32 Int64 Int8 Schema String
< typing TypeAlias
FetchRequest builder 1
 FetchRequest_v1,FetchRequest_v2,FetchRequest_v3,FetchRequest_v4,FetchRequest_v5,FetchRequest_v6,FetchRequest_v7,FetchRequest_v8,FetchRequest_v9,FetchRequest_v10,FetchRequest_v11
 max_wait_time min_bytes max_bytes isolation_level topics rack_id=''
FetchRequestStruct union FetchRequest_v1 FetchRequest_v2 FetchRequest_v3 FetchRequest_v4
 FetchRequest_v5 FetchRequest_v6 FetchRequest_v7 FetchRequest_v8 FetchRequest_v9 FetchRequest_v10
 FetchRequest_v11
FetchRequest_v0 request 1 0 FetchResponse_v0
 replica_id:i32,max_wait_time:i32,min_bytes:i32,topics:[(topic:str,partitions:[(partition:i32,offset:i64,max_bytes:i32)])]
FetchRequest_v1 request 1 1 FetchResponse_v1 =FetchRequest_v0
FetchRequest_v10 request 1 10 FetchResponse_v10
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,isolation_level:i8,session_id:i32,session_epoch:i32,topics:[(topic:str,partitions:[(partition:i32,current_leader_epoch:i32,fetch_offset:i64,log_start_offset:i64,max_bytes:i32)])],forgotten_topics_data:[(topic:str,partitions:[i32])]
FetchRequest_v11 request 1 11 FetchResponse_v11
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,isolation_level:i8,session_id:i32,session_epoch:i32,topics:[(topic:str,partitions:[(partition:i32,current_leader_epoch:i32,fetch_offset:i64,log_start_offset:i64,max_bytes:i32)])],forgotten_topics_data:[(topic:str,partitions:[i32])],rack_id:str
FetchRequest_v2 request 1 2 FetchResponse_v2 =FetchRequest_v0
FetchRequest_v3 request 1 3 FetchResponse_v3
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,topics:[(topic:str,partitions:[(partition:i32,offset:i64,max_bytes:i32)])]
FetchRequest_v4 request 1 4 FetchResponse_v4
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,isolation_level:i8,topics:[(topic:str,partitions:[(partition:i32,offset:i64,max_bytes:i32)])]
FetchRequest_v5 request 1 5 FetchResponse_v5
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,isolation_level:i8,topics:[(topic:str,partitions:[(partition:i32,fetch_offset:i64,log_start_offset:i64,max_bytes:i32)])]
FetchRequest_v6 request 1 6 FetchResponse_v6 =FetchRequest_v5
FetchRequest_v7 request 1 7 FetchResponse_v7
 replica_id:i32,max_wait_time:i32,min_bytes:i32,max_bytes:i32,isolation_level:i8,session_id:i32,session_epoch:i32,topics:[(topic:str,partitions:[(partition:i32,fetch_offset:i64,log_start_offset:i64,max_bytes:i32)])],forgotten_topics_data:[(topic:str,partitions:[i32])]
FetchRequest_v8 request 1 8 FetchResponse_v8 =FetchRequest_v7
FetchRequest_v9 request 1 9 FetchResponse_v9 =FetchRequest_v10
FetchResponse_v0 response 1 0
 topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,message_set:bytes)])]
FetchResponse_v1 response 1 1
 throttle_time_ms:i32,topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,message_set:bytes)])]
FetchResponse_v10 response 1 10
 throttle_time_ms:i32,error_code:i16,session_id:i32,topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,last_stable_offset:i64,log_start_offset:i64,aborted_transactions:[(producer_id:i64,first_offset:i64)],message_set:bytes)])]
FetchResponse_v11 response 1 11
 throttle_time_ms:i32,error_code:i16,session_id:i32,topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,last_stable_offset:i64,log_start_offset:i64,aborted_transactions:[(producer_id:i64,first_offset:i64)],preferred_read_replica:i32,message_set:bytes)])]
FetchResponse_v2 response 1 2 =FetchResponse_v1
FetchResponse_v3 response 1 3 =FetchResponse_v1
FetchResponse_v4 response 1 4
 throttle_time_ms:i32,topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,last_stable_offset:i64,aborted_transactions:[(producer_id:i64,first_offset:i64)],message_set:bytes)])]
FetchResponse_v5 response 1 5
 throttle_time_ms:i32,topics:[(topics:str,partitions:[(partition:i32,error_code:i16,highwater_offset:i64,last_stable_offset:i64,log_start_offset:i64,aborted_transactions:[(producer_id:i64,first_offset:i64)],message_set:bytes)])]
FetchResponse_v6 response 1 6 =FetchResponse_v5
FetchResponse_v7 response 1 7 =FetchResponse_v10
FetchResponse_v8 response 1 8 =FetchResponse_v10
FetchResponse_v9 response 1 9 =FetchResponse_v10
[protocol.group]
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.struct Struct
< aiokafka.protocol.types Array Bytes Int16 Int32 Schema String
< typing TypeAlias
HeartbeatRequest builder 12 HeartbeatRequest_v0,HeartbeatRequest_v1 group generation_id member_id
HeartbeatRequestStruct union HeartbeatRequest_v0 HeartbeatRequest_v1
HeartbeatRequest_v0 request 12 0 HeartbeatResponse_v0 group:str,generation_id:i32,member_id:str
HeartbeatRequest_v1 request 12 1 HeartbeatResponse_v1 =HeartbeatRequest_v0
HeartbeatResponse_v0 response 12 0 error_code:i16
HeartbeatResponse_v1 response 12 1 throttle_time_ms:i32,error_code:i16
JoinGroupRequest builder 11
 JoinGroupRequest_v0,JoinGroupRequest_v1,JoinGroupRequest_v2,JoinGroupRequest_v5 group
 session_timeout rebalance_timeout member_id group_instance_id protocol_type group_protocols
 @UNKNOWN_MEMBER_ID=''
JoinGroupRequestStruct union JoinGroupRequest_v0 JoinGroupRequest_v1 JoinGroupRequest_v2
 JoinGroupRequest_v5
JoinGroupRequest_v0 request 11 0 JoinGroupResponse_v0
 group:str,session_timeout:i32,member_id:str,protocol_type:str,group_protocols:[(protocol_name:str,protocol_metadata:bytes)]
JoinGroupRequest_v1 request 11 1 JoinGroupResponse_v1
 group:str,session_timeout:i32,rebalance_timeout:i32,member_id:str,protocol_type:str,group_protocols:[(protocol_name:str,protocol_metadata:bytes)]
JoinGroupRequest_v2 request 11 2 JoinGroupResponse_v2 =JoinGroupRequest_v1
JoinGroupRequest_v5 request 11 5 JoinGroupResponse_v5
 group:str,session_timeout:i32,rebalance_timeout:i32,member_id:str,group_instance_id:str,protocol_type:str,group_protocols:[(protocol_name:str,protocol_metadata:bytes)]
JoinGroupResponse_v0 response 11 0
 error_code:i16,generation_id:i32,group_protocol:str,leader_id:str,member_id:str,members:[(member_id:str,member_metadata:bytes)]
JoinGroupResponse_v1 response 11 1 =JoinGroupResponse_v0
JoinGroupResponse_v2 response 11 2
 throttle_time_ms:i32,error_code:i16,generation_id:i32,group_protocol:str,leader_id:str,member_id:str,members:[(member_id:str,member_metadata:bytes)]
JoinGroupResponse_v5 response 11 5
 throttle_time_ms:i32,error_code:i16,generation_id:i32,group_protocol:str,leader_id:str,member_id:str,members:[(member_id:str,group_instance_id:str,member_metadata:bytes)]
LeaveGroupRequest builder 13 LeaveGroupRequest_v0,LeaveGroupRequest_v1 group member_id
LeaveGroupRequestStruct union LeaveGroupRequest_v0 LeaveGroupRequest_v1
LeaveGroupRequest_v0 request 13 0 LeaveGroupResponse_v0 group:str,member_id:str
LeaveGroupRequest_v1 request 13 1 LeaveGroupResponse_v1 =LeaveGroupRequest_v0
LeaveGroupResponse_v0 response 13 0 =HeartbeatResponse_v0
LeaveGroupResponse_v1 response 13 1 =HeartbeatResponse_v1
MemberAssignment struct version:i16,assignment:[(topic:str,partitions:[i32])],user_data:bytes
ProtocolMetadata struct version:i16,subscription:[str],user_data:bytes
SyncGroupRequest builder 14 SyncGroupRequest_v0,SyncGroupRequest_v1,SyncGroupRequest_v3 group
 generation_id member_id group_instance_id group_assignment
SyncGroupRequestStruct union SyncGroupRequest_v0 SyncGroupRequest_v1 SyncGroupRequest_v3
SyncGroupRequest_v0 request 14 0 SyncGroupResponse_v0
 group:str,generation_id:i32,member_id:str,group_assignment:[(member_id:str,member_metadata:bytes)]
SyncGroupRequest_v1 request 14 1 SyncGroupResponse_v1 =SyncGroupRequest_v0
SyncGroupRequest_v3 request 14 3 SyncGroupResponse_v3
 group:str,generation_id:i32,member_id:str,group_instance_id:str,group_assignment:[(member_id:str,member_metadata:bytes)]
SyncGroupResponse_v0 response 14 0 error_code:i16,member_assignment:bytes
SyncGroupResponse_v1 response 14 1 throttle_time_ms:i32,error_code:i16,member_assignment:bytes
SyncGroupResponse_v3 response 14 3 =SyncGroupResponse_v1
[protocol.message]
* io time
< aiokafka.codec gzip_decode has_gzip has_lz4 has_snappy has_zstd lz4_decode snappy_decode
 zstd_decode
< aiokafka.protocol.struct Struct
< aiokafka.protocol.types Bytes Int32 Int64 Int8 Schema UInt32
< binascii crc32
< collections.abc Iterable
< typing Literal Self cast overload
Message struct crc:u32,magic:i8,attributes:i8,timestamp:i64,key:bytes,value:bytes
MessageSet class builtins:object ITEM HEADER_SIZE=12 encode() decode() repr()
PartialMessage class builtins:bytes
[protocol.metadata]
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Boolean Int16 Int32 Schema String
< typing TypeAlias
MetadataRequest builder 3
 MetadataRequest_v0,MetadataRequest_v1,MetadataRequest_v2,MetadataRequest_v3,MetadataRequest_v4,MetadataRequest_v5
 topics=None allow_auto_topic_creation=None
MetadataRequestStruct union MetadataRequest_v0 MetadataRequest_v1 MetadataRequest_v2
 MetadataRequest_v3 MetadataRequest_v4 MetadataRequest_v5
MetadataRequest_v0 request 3 0 MetadataResponse_v0 topics:[str]
MetadataRequest_v1 request 3 1 MetadataResponse_v1 =MetadataRequest_v0
MetadataRequest_v2 request 3 2 MetadataResponse_v2 =MetadataRequest_v0
MetadataRequest_v3 request 3 3 MetadataResponse_v3 =MetadataRequest_v0
MetadataRequest_v4 request 3 4 MetadataResponse_v4 topics:[str],allow_auto_topic_creation:bool
MetadataRequest_v5 request 3 5 MetadataResponse_v5 =MetadataRequest_v4
MetadataResponse_v0 response 3 0
 brokers:[(node_id:i32,host:str,port:i32)],topics:[(error_code:i16,topic:str,partitions:[(error_code:i16,partition:i32,leader:i32,replicas:[i32],isr:[i32])])]
MetadataResponse_v1 response 3 1
 brokers:[(node_id:i32,host:str,port:i32,rack:str)],controller_id:i32,topics:[(error_code:i16,topic:str,is_internal:bool,partitions:[(error_code:i16,partition:i32,leader:i32,replicas:[i32],isr:[i32])])]
MetadataResponse_v2 response 3 2
 brokers:[(node_id:i32,host:str,port:i32,rack:str)],cluster_id:str,controller_id:i32,topics:[(error_code:i16,topic:str,is_internal:bool,partitions:[(error_code:i16,partition:i32,leader:i32,replicas:[i32],isr:[i32])])]
MetadataResponse_v3 response 3 3
 throttle_time_ms:i32,brokers:[(node_id:i32,host:str,port:i32,rack:str)],cluster_id:str,controller_id:i32,topics:[(error_code:i16,topic:str,is_internal:bool,partitions:[(error_code:i16,partition:i32,leader:i32,replicas:[i32],isr:[i32])])]
MetadataResponse_v4 response 3 4 =MetadataResponse_v3
MetadataResponse_v5 response 3 5
 throttle_time_ms:i32,brokers:[(node_id:i32,host:str,port:i32,rack:str)],cluster_id:str,controller_id:i32,topics:[(error_code:i16,topic:str,is_internal:bool,partitions:[(error_code:i16,partition:i32,leader:i32,replicas:[i32],isr:[i32],offline_replicas:[i32])])]
[protocol.offset]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Int16 Int32 Int64 Int8 Schema String
< typing TypeAlias
OffsetRequest builder 2 OffsetRequest_v0,OffsetRequest_v1,OffsetRequest_v2,OffsetRequest_v3
 replica_id isolation_level topics
OffsetRequestStruct union OffsetRequest_v0 OffsetRequest_v1 OffsetRequest_v2 OffsetRequest_v3
OffsetRequest_v0 request 2 0 OffsetResponse_v0 @DEFAULTS={'replica_id':-1}
 replica_id:i32,topics:[(topic:str,partitions:[(partition:i32,timestamp:i64,max_offsets:i32)])]
OffsetRequest_v1 request 2 1 OffsetResponse_v1 @DEFAULTS={'replica_id':-1}
 replica_id:i32,topics:[(topic:str,partitions:[(partition:i32,timestamp:i64)])]
OffsetRequest_v2 request 2 2 OffsetResponse_v2 @DEFAULTS={'replica_id':-1}
 replica_id:i32,isolation_level:i8,topics:[(topic:str,partitions:[(partition:i32,timestamp:i64)])]
OffsetRequest_v3 request 2 3 OffsetResponse_v3 @DEFAULTS={'replica_id':-1} =OffsetRequest_v2
OffsetRequest_v4 request 2 4 OffsetResponse_v4 @DEFAULTS={'replica_id':-1}
 replica_id:i32,isolation_level:i8,topics:[(topic:str,partitions:[(partition:i32,current_leader_epoch:i64,timestamp:i64)])]
OffsetRequest_v5 request 2 5 OffsetResponse_v5 @DEFAULTS={'replica_id':-1} =OffsetRequest_v4
OffsetResetStrategy class builtins:object LATEST=-1 EARLIEST=-2 NONE=0
OffsetResponse_v0 response 2 0
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offsets:[i64])])]
OffsetResponse_v1 response 2 1
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,timestamp:i64,offset:i64)])]
OffsetResponse_v2 response 2 2
 throttle_time_ms:i32,topics:[(topic:str,partitions:[(partition:i32,error_code:i16,timestamp:i64,offset:i64)])]
OffsetResponse_v3 response 2 3 =OffsetResponse_v2
OffsetResponse_v4 response 2 4
 throttle_time_ms:i32,topics:[(topic:str,partitions:[(partition:i32,error_code:i16,timestamp:i64,offset:i64,leader_epoch:i32)])]
OffsetResponse_v5 response 2 5 =OffsetResponse_v4
[protocol.produce]
< aiokafka.errors IncompatibleBrokerVersion
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Bytes Int16 Int32 Int64 Schema String
< typing TypeAlias
ProduceRequest builder 0
 ProduceRequest_v0,ProduceRequest_v1,ProduceRequest_v2,ProduceRequest_v3,ProduceRequest_v4,ProduceRequest_v5,ProduceRequest_v6,ProduceRequest_v7
 transactional_id required_acks timeout topics
ProduceRequestStruct union ProduceRequest_v0 ProduceRequest_v1 ProduceRequest_v2 ProduceRequest_v3
 ProduceRequest_v4 ProduceRequest_v5 ProduceRequest_v6 ProduceRequest_v7
ProduceRequest_v0 request 0 0 ProduceResponse_v0
 required_acks:i16,timeout:i32,topics:[(topic:str,partitions:[(partition:i32,messages:bytes)])]
ProduceRequest_v1 request 0 1 ProduceResponse_v1 =ProduceRequest_v0
ProduceRequest_v2 request 0 2 ProduceResponse_v2 =ProduceRequest_v0
ProduceRequest_v3 request 0 3 ProduceResponse_v3
 transactional_id:str,required_acks:i16,timeout:i32,topics:[(topic:str,partitions:[(partition:i32,messages:bytes)])]
ProduceRequest_v4 request 0 4 ProduceResponse_v4 =ProduceRequest_v3
ProduceRequest_v5 request 0 5 ProduceResponse_v5 =ProduceRequest_v3
ProduceRequest_v6 request 0 6 ProduceResponse_v6 =ProduceRequest_v3
ProduceRequest_v7 request 0 7 ProduceResponse_v7 =ProduceRequest_v3
ProduceRequest_v8 request 0 8 ProduceResponse_v8 =ProduceRequest_v3
ProduceResponse_v0 response 0 0
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offset:i64)])]
ProduceResponse_v1 response 0 1
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offset:i64)])],throttle_time_ms:i32
ProduceResponse_v2 response 0 2
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offset:i64,timestamp:i64)])],throttle_time_ms:i32
ProduceResponse_v3 response 0 3 =ProduceResponse_v2
ProduceResponse_v4 response 0 4 =ProduceResponse_v2
ProduceResponse_v5 response 0 5
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offset:i64,timestamp:i64,log_start_offset:i64)])],throttle_time_ms:i32
ProduceResponse_v6 response 0 6 =ProduceResponse_v5
ProduceResponse_v7 response 0 7 =ProduceResponse_v5
ProduceResponse_v8 response 0 8
 topics:[(topic:str,partitions:[(partition:i32,error_code:i16,offset:i64,timestamp:i64,log_start_offset:i64,record_errors:[(batch_index:i32,batch_index_error_message:str)],error_message:str)])],throttle_time_ms:i32
[protocol.struct]
[protocol.transaction]
< aiokafka.protocol.api Request RequestStruct Response
< aiokafka.protocol.types Array Boolean Int16 Int32 Int64 Schema String
< typing TypeAlias
AddOffsetsToTxnRequest builder 25 AddOffsetsToTxnRequest_v0 transactional_id producer_id
 producer_epoch group_id
AddOffsetsToTxnRequestStruct from aiokafka.protocol.transaction:AddOffsetsToTxnRequest_v0
AddOffsetsToTxnRequest_v0 request 25 0 AddOffsetsToTxnResponse_v0
 transactional_id:str,producer_id:i64,producer_epoch:i16,group_id:str
AddOffsetsToTxnResponse_v0 response 25 0 throttle_time_ms:i32,error_code:i16
AddPartitionsToTxnRequest builder 24 AddPartitionsToTxnRequest_v0 transactional_id producer_id
 producer_epoch topics
AddPartitionsToTxnRequestStruct from aiokafka.protocol.transaction:AddPartitionsToTxnRequest_v0
AddPartitionsToTxnRequest_v0 request 24 0 AddPartitionsToTxnResponse_v0
 transactional_id:str,producer_id:i64,producer_epoch:i16,topics:[(topic:str,partitions:[i32])]
AddPartitionsToTxnResponse_v0 response 24 0
 throttle_time_ms:i32,errors:[(topic:str,partition_errors:[(partition:i32,error_code:i16)])]
EndTxnRequest builder 26 EndTxnRequest_v0 transactional_id producer_id producer_epoch
 transaction_result
EndTxnRequestStruct from aiokafka.protocol.transaction:EndTxnRequest_v0
EndTxnRequest_v0 request 26 0 EndTxnResponse_v0
 transactional_id:str,producer_id:i64,producer_epoch:i16,transaction_result:bool
EndTxnResponse_v0 response 26 0 =AddOffsetsToTxnResponse_v0
InitProducerIdRequest builder 22 InitProducerIdRequest_v0 transactional_id transaction_timeout_ms
InitProducerIdRequestStruct from aiokafka.protocol.transaction:InitProducerIdRequest_v0
InitProducerIdRequest_v0 request 22 0 InitProducerIdResponse_v0
 transactional_id:str,transaction_timeout_ms:i32
InitProducerIdResponse_v0 response 22 0
 throttle_time_ms:i32,error_code:i16,producer_id:i64,producer_epoch:i16
TxnOffsetCommitRequest builder 28 TxnOffsetCommitRequest_v0 transactional_id group_id producer_id
 producer_epoch topics
TxnOffsetCommitRequestStruct from aiokafka.protocol.transaction:TxnOffsetCommitRequest_v0
TxnOffsetCommitRequest_v0 request 28 0 TxnOffsetCommitResponse_v0
 transactional_id:str,group_id:str,producer_id:i64,producer_epoch:i16,topics:[(topic:str,partitions:[(partition:i32,offset:i64,metadata:str)])]
TxnOffsetCommitResponse_v0 response 28 0 =AddPartitionsToTxnResponse_v0
[protocol.types]
< collections.abc Callable
< struct error
< typing TypeAlias Union cast overload
< typing_extensions Buffer
ValueT from typing:Union
_pack function
_unpack function
[record]
[record._crc32c]
* array
[record._crecords]
< aiokafka.record._crecords.legacy_records LegacyRecord LegacyRecordBatch LegacyRecordBatchBuilder
 LegacyRecordMetadata
[record._crecords.cutil]
_init_crc32c function
[record._crecords.default_records]
< aiokafka.codec gzip_decode gzip_encode lz4_decode lz4_encode snappy_decode snappy_encode
 zstd_decode zstd_encode
< aiokafka.errors UnsupportedCodecError
codecs module aiokafka.codec
[record._crecords.legacy_records]
< aiokafka.codec gzip_decode gzip_encode lz4_decode lz4_encode snappy_decode snappy_encode
< aiokafka.errors CorruptRecordException UnsupportedCodecError
LegacyRecord class builtins:object headers timestamp timestamp_type checksum offset key value
LegacyRecordBatch class builtins:object validate_crc() next_offset RECORD_OVERHEAD_V0=14
 RECORD_OVERHEAD_V1=22 CODEC_MASK=7 CODEC_GZIP=1 CODEC_SNAPPY=2 CODEC_LZ4=3 is_control_batch=False
 is_transactional=False producer_id
LegacyRecordBatchBuilder class builtins:object append() size() size_in_bytes() record_overhead()
 build() CODEC_MASK=7 CODEC_GZIP=1 CODEC_SNAPPY=2 CODEC_LZ4=3
LegacyRecordMetadata class builtins:object offset crc size timestamp
codecs module aiokafka.codec
py_crc32 from zlib:crc32
[record._crecords.memory_records]
[record._protocols]
< __future__ annotations
< collections.abc Iterable Iterator
< typing Any ClassVar Literal Never Protocol runtime_checkable
DefaultRecordBatchBuilderProtocol class typing:Protocol append() build() size() size_in_bytes()
 size_of() estimate_size_in_bytes() set_producer_state() producer_id producer_epoch base_sequence
DefaultRecordBatchProtocol class collections.abc:Iterator,typing:Protocol base_offset magic crc
 attributes compression_type timestamp_type is_transactional is_control_batch last_offset_delta
 first_timestamp max_timestamp producer_id producer_epoch base_sequence next_offset validate_crc()
DefaultRecordMetadataProtocol class typing:Protocol offset crc size timestamp
DefaultRecordProtocol class typing:Protocol offset timestamp timestamp_type key value headers
 checksum
LegacyRecordBatchBuilderProtocol class typing:Protocol append() build() size() size_in_bytes()
 record_overhead()
LegacyRecordBatchProtocol class collections.abc:Iterable,typing:Protocol next_offset validate_crc()
LegacyRecordMetadataProtocol class typing:Protocol offset crc size timestamp
LegacyRecordProtocol class typing:Protocol offset timestamp timestamp_type key value headers
 checksum
MemoryRecordsProtocol class typing:Protocol size_in_bytes() has_next() next_batch()
[record.control_record]
* struct
< dataclasses dataclass
[record.default_records]
* struct time
< aiokafka.errors UnsupportedCodecError
< aiokafka.record._protocols DefaultRecordBatchBuilderProtocol DefaultRecordBatchProtocol
 DefaultRecordMetadataProtocol DefaultRecordProtocol
< collections.abc Collection Sized
< dataclasses dataclass
< typing final
_DefaultRecordBatchBuilderCython from
 aiokafka.record._crecords.default_records:DefaultRecordBatchBuilder
_DefaultRecordBatchCython from aiokafka.record._crecords.default_records:DefaultRecordBatch
_DefaultRecordCython from aiokafka.record._crecords.default_records:DefaultRecord
_DefaultRecordMetadataCython from aiokafka.record._crecords.default_records:DefaultRecordMetadata
codecs module aiokafka.codec
[record.legacy_records]
* struct time
< __future__ annotations
< aiokafka.errors UnsupportedCodecError
< aiokafka.record._crecords.legacy_records LegacyRecord LegacyRecordBatch LegacyRecordBatchBuilder
 LegacyRecordMetadata
< aiokafka.record._protocols LegacyRecordBatchBuilderProtocol LegacyRecordBatchProtocol
 LegacyRecordMetadataProtocol LegacyRecordProtocol
< binascii crc32
< collections.abc Generator
< dataclasses dataclass
< typing Literal Never final
LegacyRecordBase class builtins:object HEADER_STRUCT_V0 HEADER_STRUCT_V1 LOG_OVERHEAD=12
 CRC_OFFSET=12 MAGIC_OFFSET=16 RECORD_OVERHEAD_V0=14 RECORD_OVERHEAD_V1=22 RECORD_OVERHEAD
 KEY_OFFSET_V0=18 KEY_OFFSET_V1=26 KEY_LENGTH=4 VALUE_LENGTH=4 CODEC_MASK=7 CODEC_GZIP=1
 CODEC_SNAPPY=2 CODEC_LZ4=3 TIMESTAMP_TYPE_MASK=8 LOG_APPEND_TIME=1 CREATE_TIME=0
 _assert_has_codec()
_LegacyRecordBatchBuilderCython from
 aiokafka.record._crecords.legacy_records:LegacyRecordBatchBuilder
_LegacyRecordBatchBuilderPy class
 aiokafka.record.legacy_records:LegacyRecordBase,aiokafka.record._protocols:LegacyRecordBatchBuilderProtocol
 _buffer append() _encode_msg() _maybe_compress() build() size() size_in_bytes() _size_in_bytes()
 record_overhead()
_LegacyRecordBatchCython from aiokafka.record._crecords.legacy_records:LegacyRecordBatch
_LegacyRecordBatchPy class
 aiokafka.record.legacy_records:LegacyRecordBase,aiokafka.record._protocols:LegacyRecordBatchProtocol
 is_control_batch=False is_transactional=False producer_id _timestamp_type _compression_type
 next_offset validate_crc() _decompress() _read_header() _read_all_headers() _read_key_value()
_LegacyRecordCython from aiokafka.record._crecords.legacy_records:LegacyRecord
_LegacyRecordMetadataCython from aiokafka.record._crecords.legacy_records:LegacyRecordMetadata
_LegacyRecordMetadataPy class aiokafka.record._protocols:LegacyRecordMetadataProtocol offset crc
 size timestamp _crc _offset _size _timestamp
_LegacyRecordPy class aiokafka.record._protocols:LegacyRecordProtocol headers checksum crc key
 offset timestamp timestamp_type value
codecs module aiokafka.codec
[record.memory_records]
* struct
< aiokafka.record._crecords.legacy_records LegacyRecordBatch
< aiokafka.record._protocols DefaultRecordBatchProtocol LegacyRecordBatchProtocol
 MemoryRecordsProtocol
< aiokafka.record.legacy_records _LegacyRecordBatchPy
< typing final
_MemoryRecordsCython from aiokafka.record._crecords.memory_records:MemoryRecords
[record.util]
[structs]
< __future__ annotations
< dataclasses dataclass
< typing Generic NamedTuple TypeVar
[util]
* async_timeout
< __future__ annotations
< asyncio.events AbstractEventLoop
< collections.abc Coroutine
< packaging.version Version
< typing cast
"""

__all__ = ["NAMES"]
