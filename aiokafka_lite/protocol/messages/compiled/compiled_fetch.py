"""Compiled functions of the messages in `fetch.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch as LeaderIdAndEpoch_45
from aiokafka_lite.protocol.messages._leader import NodeEndpoint as NodeEndpoint_49
from aiokafka_lite.protocol.messages.fetch import AbortedTransaction as AbortedTransaction_40
from aiokafka_lite.protocol.messages.fetch import EpochEndOffset
from aiokafka_lite.protocol.messages.fetch import EpochEndOffset as EpochEndOffset_43
from aiokafka_lite.protocol.messages.fetch import FetchResponse as FetchResponse_31
from aiokafka_lite.protocol.messages.fetch import FetchableTopicResponse as FetchableTopicResponse_33
from aiokafka_lite.protocol.messages.fetch import PartitionData as PartitionData_35
from aiokafka_lite.protocol.messages.fetch import ReplicaState
from aiokafka_lite.protocol.messages.fetch import SnapshotId
from aiokafka_lite.protocol.messages.fetch import SnapshotId as SnapshotId_47
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.field_types import ZERO_UUID as DEFAULT_2
from aiokafka_lite.schema.versioned_struct import shared_default
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import integer_runs
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from aiokafka_lite.schema.wire_helpers import uneven_tag
from aiokafka_lite.schema.wire_helpers import unsupported
from aiokafka_lite.schema.wire_helpers import uuid_of
from struct import Struct
from struct import error as StructError

DEFAULT_1 = shared_default(ReplicaState)
pack_iiibiiB = Struct('>iiibiiB').pack
pack_iiibii = Struct('>iiibii').pack
pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
pack_iiqiqi = Struct('>iiqiqi').pack
pack_iiqiqix = Struct('>iiqiqix').pack
RUNS_16 = integer_runs('i')
pack_iqx = Struct('>iqx').pack
new = object.__new__
unpack_from_ihiB = Struct('>ihiB').unpack_from
unpack_from_16sB = Struct('>16sB').unpack_from
DEFAULT_36 = shared_default(EpochEndOffset)
DEFAULT_37 = shared_default(LeaderIdAndEpoch)
DEFAULT_38 = shared_default(SnapshotId)
unpack_from_ihqqqB = Struct('>ihqqqB').unpack_from
unpack_from_qqB = Struct('>qqB').unpack_from
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_iqB = Struct('>iqB').unpack_from
unpack_from_iiB = Struct('>iiB').unpack_from
unpack_from_qiB = Struct('>qiB').unpack_from
pack_q = Struct('>q').pack


def init_FetchRequest(self, *, cluster_id=None, replica_id=-1, replica_state=DEFAULT_1, max_wait_ms=0, min_bytes=0, max_bytes=2147483647, isolation_level=0, session_id=0, session_epoch=-1, topics=_LIST, forgotten_topics_data=_LIST, rack_id=''):
    self.cluster_id = cluster_id
    self.replica_id = replica_id
    self.replica_state = replica_state
    self.max_wait_ms = max_wait_ms
    self.min_bytes = min_bytes
    self.max_bytes = max_bytes
    self.isolation_level = isolation_level
    self.session_id = session_id
    self.session_epoch = session_epoch
    self.topics = [] if topics is _LIST else topics
    self.forgotten_topics_data = [] if forgotten_topics_data is _LIST else forgotten_topics_data
    self.rack_id = rack_id


def init_ReplicaState(self, *, replica_id=-1, replica_epoch=-1):
    self.replica_id = replica_id
    self.replica_epoch = replica_epoch


def init_FetchTopic(self, *, topic='', topic_id=DEFAULT_2, partitions=_LIST):
    self.topic = topic
    self.topic_id = topic_id
    self.partitions = [] if partitions is _LIST else partitions


def init_ForgottenTopic(self, *, topic='', topic_id=DEFAULT_2, partitions=_LIST):
    self.topic = topic
    self.topic_id = topic_id
    self.partitions = [] if partitions is _LIST else partitions


def init_FetchPartition(self, *, partition=0, current_leader_epoch=-1, fetch_offset=0, last_fetched_epoch=-1, log_start_offset=-1, partition_max_bytes=0, replica_directory_id=DEFAULT_2, high_watermark=9223372036854775807):
    self.partition = partition
    self.current_leader_epoch = current_leader_epoch
    self.fetch_offset = fetch_offset
    self.last_fetched_epoch = last_fetched_epoch
    self.log_start_offset = log_start_offset
    self.partition_max_bytes = partition_max_bytes
    self.replica_directory_id = replica_directory_id
    self.high_watermark = high_watermark


def encode_FetchRequest_v17(message):
    parts = []
    out = []
    try:
        if message.replica_id != -1:
            raise unsupported('FetchRequest v17', 'replica_id', '')
        items_1 = message.topics
        n = len(items_1) + 1
        if n < 128:
            out.append(pack_iiibiiB(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n))
        else:
            out.append(pack_iiibii(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch))
            out.append(uvarint(n))
        for item_2 in items_1:
            items_3 = item_2.partitions
            n = len(items_3) + 1
            if n < 128:
                out.append(pack_16sB(item_2.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_2.topic_id.bytes))
                out.append(uvarint(n))
            for item_4 in items_3:
                if (item_4.replica_directory_id is not DEFAULT_2 and item_4.replica_directory_id != DEFAULT_2):
                    out.append(pack_iiqiqi(item_4.partition, item_4.current_leader_epoch, item_4.fetch_offset, item_4.last_fetched_epoch, item_4.log_start_offset, item_4.partition_max_bytes))
                    count_5 = 0
                    chunks_6 = []
                    if item_4.replica_directory_id is not DEFAULT_2 and item_4.replica_directory_id != DEFAULT_2:
                        body_7 = []
                        body_7.append(pack_16s(item_4.replica_directory_id.bytes))
                        body_7 = b''.join(body_7)
                        chunks_6 += (uvarint(0), uvarint(len(body_7)), body_7)
                        count_5 += 1
                    out.append(uvarint(count_5))
                    out += chunks_6
                else:
                    out.append(pack_iiqiqix(item_4.partition, item_4.current_leader_epoch, item_4.fetch_offset, item_4.last_fetched_epoch, item_4.log_start_offset, item_4.partition_max_bytes))
            out.append(b'\x00')
        items_8 = message.forgotten_topics_data
        n = len(items_8) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_9 in items_8:
            items_10 = item_9.partitions
            n = len(items_10) + 1
            if n < 128:
                out.append(pack_16sB(item_9.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_9.topic_id.bytes))
                out.append(uvarint(n))
            if items_10:
                out.append(RUNS_16.pack(items_10))
            out.append(b'\x00')
        value_11 = message.rack_id
        value_11 = value_11.encode()
        n = len(value_11) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_11)
        if (message.cluster_id is not None) or (message.replica_state is not DEFAULT_1 and message.replica_state != DEFAULT_1):
            count_12 = 0
            chunks_13 = []
            if message.cluster_id is not None:
                body_14 = []
                value_15 = message.cluster_id
                if value_15 is None:
                    value_15 = b''
                    n = 0
                else:
                    value_15 = value_15.encode()
                    n = len(value_15) + 1
                body_14.append(ONE_BYTE[n] if n < 128 else string_length(n))
                body_14.append(value_15)
                body_14 = b''.join(body_14)
                chunks_13 += (uvarint(0), uvarint(len(body_14)), body_14)
                count_12 += 1
            if message.replica_state is not DEFAULT_1 and message.replica_state != DEFAULT_1:
                body_16 = []
                item_17 = message.replica_state
                body_16.append(pack_iqx(item_17.replica_id, item_17.replica_epoch))
                body_16 = b''.join(body_16)
                chunks_13 += (uvarint(1), uvarint(len(body_16)), body_16)
                count_12 += 1
            out.append(uvarint(count_12))
            out += chunks_13
        else:
            out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'FetchRequest v17', 17, error) from error


def decode_FetchResponse_v17(view):
    buf = memoryview(view)
    size = len(buf)
    pos = 0
    try:
        message = new(FetchResponse_31)
        message.throttle_time_ms, message.error_code, message.session_id, n = unpack_from_ihiB(buf, pos)
        pos += 11
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 18 > size - pos:
                raise array_overrun('FetchResponse v17', 'responses', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(FetchableTopicResponse_33)
                item_2.topic = ''
                raw_3, n = unpack_from_16sB(buf, pos)
                pos += 17
                item_2.topic_id = uuid_of(raw_3)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 37 > size - pos:
                        raise array_overrun('FetchResponse v17', 'responses.partitions', n, size - pos)
                    items_4 = []
                    for _ in range(n):
                        item_5 = new(PartitionData_35)
                        item_5.diverging_epoch = DEFAULT_36
                        item_5.current_leader = DEFAULT_37
                        item_5.snapshot_id = DEFAULT_38
                        item_5.partition_index, item_5.error_code, item_5.high_watermark, item_5.last_stable_offset, item_5.log_start_offset, n = unpack_from_ihqqqB(buf, pos)
                        pos += 31
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 17 > size - pos:
                                raise array_overrun('FetchResponse v17', 'responses.partitions.aborted_transactions', n, size - pos)
                            items_6 = []
                            for _ in range(n):
                                item_7 = new(AbortedTransaction_40)
                                item_7.producer_id, item_7.first_offset, n = unpack_from_qqB(buf, pos)
                                pos += 17
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_6.append(item_7)
                            item_5.aborted_transactions = items_6
                        elif n == 1:
                            item_5.aborted_transactions = []
                        else:
                            item_5.aborted_transactions = None
                        item_5.preferred_read_replica, n = unpack_from_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            second = buf[pos]
                            if second < 128:
                                n = n & 127 | second << 7
                                pos += 1
                            else:
                                third = buf[pos + 1]
                                if third < 128:
                                    n = n & 127 | (second & 127) << 7 | third << 14
                                    pos += 2
                                else:
                                    n, pos = uvarint_at(buf, pos - 1)
                        if n:
                            end = pos + n - 1
                            if end > size:
                                raise overrun('FetchResponse v17', 'responses.partitions.records', end - pos, size - pos)
                            item_5.records = buf[pos:end]
                            pos = end
                        else:
                            item_5.records = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            for _ in range(n):
                                tag_8, pos = uvarint_at(buf, pos)
                                n, pos = uvarint_at(buf, pos)
                                if n > size - pos:
                                    raise overrun('FetchResponse v17', f'responses.partitions.tag {tag_8}', n, size - pos)
                                stop_9 = pos + n
                                if tag_8 == 0:
                                    item_10 = new(EpochEndOffset_43)
                                    item_10.epoch, item_10.end_offset, n = unpack_from_iqB(buf, pos)
                                    pos += 13
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.diverging_epoch = item_10
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v17', tag_8, stop_9, pos)
                                if tag_8 == 1:
                                    item_11 = new(LeaderIdAndEpoch_45)
                                    item_11.leader_id, item_11.leader_epoch, n = unpack_from_iiB(buf, pos)
                                    pos += 9
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.current_leader = item_11
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v17', tag_8, stop_9, pos)
                                if tag_8 == 2:
                                    item_12 = new(SnapshotId_47)
                                    item_12.end_offset, item_12.epoch, n = unpack_from_qiB(buf, pos)
                                    pos += 13
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.snapshot_id = item_12
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v17', tag_8, stop_9, pos)
                                pos = stop_9
                        items_4.append(item_5)
                    item_2.partitions = items_4
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('FetchResponse v17', 'responses.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.responses = items_1
        elif n == 1:
            message.responses = []
        else:
            raise refused_length('FetchResponse v17', 'responses', -1)
        message.node_endpoints = []
        n = buf[pos]
        pos += 1
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_13, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('FetchResponse v17', f'tag {tag_13}', n, size - pos)
                stop_14 = pos + n
                if tag_13 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 11 > size - pos:
                            raise array_overrun('FetchResponse v17', 'node_endpoints', n, size - pos)
                        items_15 = []
                        for _ in range(n):
                            item_16 = new(NodeEndpoint_49)
                            item_16.node_id, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('FetchResponse v17', 'node_endpoints.host', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('FetchResponse v17', 'node_endpoints.host', end - pos, size - pos)
                                item_16.host = str(buf[pos:end], 'utf-8')
                                pos = end
                            else:
                                raise refused_length('FetchResponse v17', 'node_endpoints.host', -1)
                            item_16.port, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('FetchResponse v17', 'node_endpoints.rack', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('FetchResponse v17', 'node_endpoints.rack', end - pos, size - pos)
                                item_16.rack = str(buf[pos:end], 'utf-8')
                                pos = end
                            else:
                                item_16.rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_15.append(item_16)
                        message.node_endpoints = items_15
                    elif n == 1:
                        message.node_endpoints = []
                    else:
                        raise refused_length('FetchResponse v17', 'node_endpoints', -1)
                    if pos != stop_14:
                        raise uneven_tag('FetchResponse v17', tag_13, stop_14, pos)
                pos = stop_14
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('FetchResponse v17', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('FetchResponse v17', error) from None
    if pos != size:
        raise trailing('FetchResponse v17', pos, size, message)
    return message


def encode_FetchRequest_v18(message):
    parts = []
    out = []
    try:
        if message.replica_id != -1:
            raise unsupported('FetchRequest v18', 'replica_id', '')
        items_1 = message.topics
        n = len(items_1) + 1
        if n < 128:
            out.append(pack_iiibiiB(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n))
        else:
            out.append(pack_iiibii(message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch))
            out.append(uvarint(n))
        for item_2 in items_1:
            items_3 = item_2.partitions
            n = len(items_3) + 1
            if n < 128:
                out.append(pack_16sB(item_2.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_2.topic_id.bytes))
                out.append(uvarint(n))
            for item_4 in items_3:
                if (item_4.replica_directory_id is not DEFAULT_2 and item_4.replica_directory_id != DEFAULT_2) or (item_4.high_watermark != 9223372036854775807):
                    out.append(pack_iiqiqi(item_4.partition, item_4.current_leader_epoch, item_4.fetch_offset, item_4.last_fetched_epoch, item_4.log_start_offset, item_4.partition_max_bytes))
                    count_5 = 0
                    chunks_6 = []
                    if item_4.replica_directory_id is not DEFAULT_2 and item_4.replica_directory_id != DEFAULT_2:
                        body_7 = []
                        body_7.append(pack_16s(item_4.replica_directory_id.bytes))
                        body_7 = b''.join(body_7)
                        chunks_6 += (uvarint(0), uvarint(len(body_7)), body_7)
                        count_5 += 1
                    if item_4.high_watermark != 9223372036854775807:
                        body_8 = []
                        body_8.append(pack_q(item_4.high_watermark))
                        body_8 = b''.join(body_8)
                        chunks_6 += (uvarint(1), uvarint(len(body_8)), body_8)
                        count_5 += 1
                    out.append(uvarint(count_5))
                    out += chunks_6
                else:
                    out.append(pack_iiqiqix(item_4.partition, item_4.current_leader_epoch, item_4.fetch_offset, item_4.last_fetched_epoch, item_4.log_start_offset, item_4.partition_max_bytes))
            out.append(b'\x00')
        items_9 = message.forgotten_topics_data
        n = len(items_9) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_10 in items_9:
            items_11 = item_10.partitions
            n = len(items_11) + 1
            if n < 128:
                out.append(pack_16sB(item_10.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_10.topic_id.bytes))
                out.append(uvarint(n))
            if items_11:
                out.append(RUNS_16.pack(items_11))
            out.append(b'\x00')
        value_12 = message.rack_id
        value_12 = value_12.encode()
        n = len(value_12) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_12)
        if (message.cluster_id is not None) or (message.replica_state is not DEFAULT_1 and message.replica_state != DEFAULT_1):
            count_13 = 0
            chunks_14 = []
            if message.cluster_id is not None:
                body_15 = []
                value_16 = message.cluster_id
                if value_16 is None:
                    value_16 = b''
                    n = 0
                else:
                    value_16 = value_16.encode()
                    n = len(value_16) + 1
                body_15.append(ONE_BYTE[n] if n < 128 else string_length(n))
                body_15.append(value_16)
                body_15 = b''.join(body_15)
                chunks_14 += (uvarint(0), uvarint(len(body_15)), body_15)
                count_13 += 1
            if message.replica_state is not DEFAULT_1 and message.replica_state != DEFAULT_1:
                body_17 = []
                item_18 = message.replica_state
                body_17.append(pack_iqx(item_18.replica_id, item_18.replica_epoch))
                body_17 = b''.join(body_17)
                chunks_14 += (uvarint(1), uvarint(len(body_17)), body_17)
                count_13 += 1
            out.append(uvarint(count_13))
            out += chunks_14
        else:
            out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'FetchRequest v18', 18, error) from error


def decode_FetchResponse_v18(view):
    buf = memoryview(view)
    size = len(buf)
    pos = 0
    try:
        message = new(FetchResponse_31)
        message.throttle_time_ms, message.error_code, message.session_id, n = unpack_from_ihiB(buf, pos)
        pos += 11
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 18 > size - pos:
                raise array_overrun('FetchResponse v18', 'responses', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(FetchableTopicResponse_33)
                item_2.topic = ''
                raw_3, n = unpack_from_16sB(buf, pos)
                pos += 17
                item_2.topic_id = uuid_of(raw_3)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 37 > size - pos:
                        raise array_overrun('FetchResponse v18', 'responses.partitions', n, size - pos)
                    items_4 = []
                    for _ in range(n):
                        item_5 = new(PartitionData_35)
                        item_5.diverging_epoch = DEFAULT_36
                        item_5.current_leader = DEFAULT_37
                        item_5.snapshot_id = DEFAULT_38
                        item_5.partition_index, item_5.error_code, item_5.high_watermark, item_5.last_stable_offset, item_5.log_start_offset, n = unpack_from_ihqqqB(buf, pos)
                        pos += 31
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 17 > size - pos:
                                raise array_overrun('FetchResponse v18', 'responses.partitions.aborted_transactions', n, size - pos)
                            items_6 = []
                            for _ in range(n):
                                item_7 = new(AbortedTransaction_40)
                                item_7.producer_id, item_7.first_offset, n = unpack_from_qqB(buf, pos)
                                pos += 17
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_6.append(item_7)
                            item_5.aborted_transactions = items_6
                        elif n == 1:
                            item_5.aborted_transactions = []
                        else:
                            item_5.aborted_transactions = None
                        item_5.preferred_read_replica, n = unpack_from_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            second = buf[pos]
                            if second < 128:
                                n = n & 127 | second << 7
                                pos += 1
                            else:
                                third = buf[pos + 1]
                                if third < 128:
                                    n = n & 127 | (second & 127) << 7 | third << 14
                                    pos += 2
                                else:
                                    n, pos = uvarint_at(buf, pos - 1)
                        if n:
                            end = pos + n - 1
                            if end > size:
                                raise overrun('FetchResponse v18', 'responses.partitions.records', end - pos, size - pos)
                            item_5.records = buf[pos:end]
                            pos = end
                        else:
                            item_5.records = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            for _ in range(n):
                                tag_8, pos = uvarint_at(buf, pos)
                                n, pos = uvarint_at(buf, pos)
                                if n > size - pos:
                                    raise overrun('FetchResponse v18', f'responses.partitions.tag {tag_8}', n, size - pos)
                                stop_9 = pos + n
                                if tag_8 == 0:
                                    item_10 = new(EpochEndOffset_43)
                                    item_10.epoch, item_10.end_offset, n = unpack_from_iqB(buf, pos)
                                    pos += 13
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.diverging_epoch = item_10
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v18', tag_8, stop_9, pos)
                                if tag_8 == 1:
                                    item_11 = new(LeaderIdAndEpoch_45)
                                    item_11.leader_id, item_11.leader_epoch, n = unpack_from_iiB(buf, pos)
                                    pos += 9
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.current_leader = item_11
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v18', tag_8, stop_9, pos)
                                if tag_8 == 2:
                                    item_12 = new(SnapshotId_47)
                                    item_12.end_offset, item_12.epoch, n = unpack_from_qiB(buf, pos)
                                    pos += 13
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.snapshot_id = item_12
                                    if pos != stop_9:
                                        raise uneven_tag('FetchResponse v18', tag_8, stop_9, pos)
                                pos = stop_9
                        items_4.append(item_5)
                    item_2.partitions = items_4
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('FetchResponse v18', 'responses.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.responses = items_1
        elif n == 1:
            message.responses = []
        else:
            raise refused_length('FetchResponse v18', 'responses', -1)
        message.node_endpoints = []
        n = buf[pos]
        pos += 1
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_13, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('FetchResponse v18', f'tag {tag_13}', n, size - pos)
                stop_14 = pos + n
                if tag_13 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 11 > size - pos:
                            raise array_overrun('FetchResponse v18', 'node_endpoints', n, size - pos)
                        items_15 = []
                        for _ in range(n):
                            item_16 = new(NodeEndpoint_49)
                            item_16.node_id, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('FetchResponse v18', 'node_endpoints.host', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('FetchResponse v18', 'node_endpoints.host', end - pos, size - pos)
                                item_16.host = str(buf[pos:end], 'utf-8')
                                pos = end
                            else:
                                raise refused_length('FetchResponse v18', 'node_endpoints.host', -1)
                            item_16.port, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('FetchResponse v18', 'node_endpoints.rack', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('FetchResponse v18', 'node_endpoints.rack', end - pos, size - pos)
                                item_16.rack = str(buf[pos:end], 'utf-8')
                                pos = end
                            else:
                                item_16.rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_15.append(item_16)
                        message.node_endpoints = items_15
                    elif n == 1:
                        message.node_endpoints = []
                    else:
                        raise refused_length('FetchResponse v18', 'node_endpoints', -1)
                    if pos != stop_14:
                        raise uneven_tag('FetchResponse v18', tag_13, stop_14, pos)
                pos = stop_14
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('FetchResponse v18', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('FetchResponse v18', error) from None
    if pos != size:
        raise trailing('FetchResponse v18', pos, size, message)
    return message


__all__ = [
    "decode_FetchResponse_v17",
    "decode_FetchResponse_v18",
    "encode_FetchRequest_v17",
    "encode_FetchRequest_v18",
    "init_FetchPartition",
    "init_FetchRequest",
    "init_FetchTopic",
    "init_ForgottenTopic",
    "init_ReplicaState",
]
