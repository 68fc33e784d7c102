"""Compiled functions of the messages in `produce.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch as LeaderIdAndEpoch_33
from aiokafka_lite.protocol.messages._leader import NodeEndpoint as NodeEndpoint_35
from aiokafka_lite.protocol.messages.produce import BatchIndexAndErrorMessage as BatchIndexAndErrorMessage_30
from aiokafka_lite.protocol.messages.produce import PartitionProduceResponse as PartitionProduceResponse_28
from aiokafka_lite.protocol.messages.produce import ProduceResponse as ProduceResponse_26
from aiokafka_lite.protocol.messages.produce import TopicProduceResponse as TopicProduceResponse_27
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.field_types import ZERO_UUID as DEFAULT_1
from aiokafka_lite.schema.versioned_struct import shared_default
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from aiokafka_lite.schema.wire_helpers import uneven_tag
from aiokafka_lite.schema.wire_helpers import uuid_of
from struct import Struct
from struct import error as StructError

pack_hiB = Struct('>hiB').pack
pack_hi = Struct('>hi').pack
pack_iB = Struct('>iB').pack
pack_i = Struct('>i').pack
new = object.__new__
unpack_from_ihqqqB = Struct('>ihqqqB').unpack_from
unpack_from_iB = Struct('>iB').unpack_from
DEFAULT_32 = shared_default(LeaderIdAndEpoch)
unpack_from_iiB = Struct('>iiB').unpack_from
pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
unpack_from_16sB = Struct('>16sB').unpack_from


def init_ProduceRequest(self, *, transactional_id=None, acks=0, timeout_ms=0, topic_data=_LIST):
    self.transactional_id = transactional_id
    self.acks = acks
    self.timeout_ms = timeout_ms
    self.topic_data = [] if topic_data is _LIST else topic_data


def init_TopicProduceData(self, *, name='', topic_id=DEFAULT_1, partition_data=_LIST):
    self.name = name
    self.topic_id = topic_id
    self.partition_data = [] if partition_data is _LIST else partition_data


def init_PartitionProduceData(self, *, index=0, records=None):
    self.index = index
    self.records = records


def encode_ProduceRequest_v12(message):
    parts = []
    out = []
    try:
        value_1 = message.transactional_id
        if value_1 is None:
            value_1 = b''
            n = 0
        else:
            value_1 = value_1.encode()
            n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        items_2 = message.topic_data
        n = len(items_2) + 1
        if n < 128:
            out.append(pack_hiB(message.acks, message.timeout_ms, n))
        else:
            out.append(pack_hi(message.acks, message.timeout_ms))
            out.append(uvarint(n))
        for item_3 in items_2:
            value_4 = item_3.name
            value_4 = value_4.encode()
            n = len(value_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_4)
            items_5 = item_3.partition_data
            n = len(items_5) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            for item_6 in items_5:
                value_7 = item_6.records
                if value_7 is None:
                    value_7 = b''
                    n = 0
                else:
                    n = len(value_7) + 1
                if n < 128:
                    out.append(pack_iB(item_6.index, n))
                else:
                    out.append(pack_i(item_6.index))
                    out.append(uvarint(n))
                if n > 1024:
                    parts.append(b''.join(out))
                    if value_7.__class__ is not memoryview:
                        value_7 = memoryview(value_7)
                    parts.append(value_7)
                    out.clear()
                else:
                    out.append(value_7)
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ProduceRequest v12', 12, error) from error


def decode_ProduceResponse_v12(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ProduceResponse_26)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 3 > size - pos:
                raise array_overrun('ProduceResponse v12', 'responses', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(TopicProduceResponse_27)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('ProduceResponse v12', 'responses.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('ProduceResponse v12', 'responses.name', end - pos, size - pos)
                    item_2.name = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('ProduceResponse v12', 'responses.name', -1)
                item_2.topic_id = DEFAULT_1
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 33 > size - pos:
                        raise array_overrun('ProduceResponse v12', 'responses.partition_responses', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(PartitionProduceResponse_28)
                        item_4.index, item_4.error_code, item_4.base_offset, item_4.log_append_time_ms, item_4.log_start_offset, n = unpack_from_ihqqqB(buf, pos)
                        pos += 31
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 6 > size - pos:
                                raise array_overrun('ProduceResponse v12', 'responses.partition_responses.record_errors', n, size - pos)
                            items_5 = []
                            for _ in range(n):
                                item_6 = new(BatchIndexAndErrorMessage_30)
                                item_6.batch_index, n = unpack_from_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 32768:
                                    raise overlong_string('ProduceResponse v12', 'responses.partition_responses.record_errors.batch_index_error_message', n - 1)
                                if n:
                                    end = pos + n - 1
                                    if end > size:
                                        raise overrun('ProduceResponse v12', 'responses.partition_responses.record_errors.batch_index_error_message', end - pos, size - pos)
                                    item_6.batch_index_error_message = buf[pos:end].decode()
                                    pos = end
                                else:
                                    item_6.batch_index_error_message = None
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_5.append(item_6)
                            item_4.record_errors = items_5
                        elif n == 1:
                            item_4.record_errors = []
                        else:
                            raise refused_length('ProduceResponse v12', 'responses.partition_responses.record_errors', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 32768:
                            raise overlong_string('ProduceResponse v12', 'responses.partition_responses.error_message', n - 1)
                        if n:
                            end = pos + n - 1
                            if end > size:
                                raise overrun('ProduceResponse v12', 'responses.partition_responses.error_message', end - pos, size - pos)
                            item_4.error_message = buf[pos:end].decode()
                            pos = end
                        else:
                            item_4.error_message = None
                        item_4.current_leader = DEFAULT_32
                        n = buf[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            for _ in range(n):
                                tag_7, pos = uvarint_at(buf, pos)
                                n, pos = uvarint_at(buf, pos)
                                if n > size - pos:
                                    raise overrun('ProduceResponse v12', f'responses.partition_responses.tag {tag_7}', n, size - pos)
                                stop_8 = pos + n
                                if tag_7 == 0:
                                    item_9 = new(LeaderIdAndEpoch_33)
                                    item_9.leader_id, item_9.leader_epoch, n = unpack_from_iiB(buf, pos)
                                    pos += 9
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_4.current_leader = item_9
                                    if pos != stop_8:
                                        raise uneven_tag('ProduceResponse v12', tag_7, stop_8, pos)
                                pos = stop_8
                        items_3.append(item_4)
                    item_2.partition_responses = items_3
                elif n == 1:
                    item_2.partition_responses = []
                else:
                    raise refused_length('ProduceResponse v12', 'responses.partition_responses', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.responses = items_1
        elif n == 1:
            message.responses = []
        else:
            raise refused_length('ProduceResponse v12', 'responses', -1)
        message.node_endpoints = []
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_10, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('ProduceResponse v12', f'tag {tag_10}', n, size - pos)
                stop_11 = pos + n
                if tag_10 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 11 > size - pos:
                            raise array_overrun('ProduceResponse v12', 'node_endpoints', n, size - pos)
                        items_12 = []
                        for _ in range(n):
                            item_13 = new(NodeEndpoint_35)
                            item_13.node_id, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ProduceResponse v12', 'node_endpoints.host', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ProduceResponse v12', 'node_endpoints.host', end - pos, size - pos)
                                item_13.host = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ProduceResponse v12', 'node_endpoints.host', -1)
                            item_13.port, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ProduceResponse v12', 'node_endpoints.rack', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ProduceResponse v12', 'node_endpoints.rack', end - pos, size - pos)
                                item_13.rack = buf[pos:end].decode()
                                pos = end
                            else:
                                item_13.rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_12.append(item_13)
                        message.node_endpoints = items_12
                    elif n == 1:
                        message.node_endpoints = []
                    else:
                        raise refused_length('ProduceResponse v12', 'node_endpoints', -1)
                    if pos != stop_11:
                        raise uneven_tag('ProduceResponse v12', tag_10, stop_11, pos)
                pos = stop_11
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ProduceResponse v12', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ProduceResponse v12', error) from None
    if pos != size:
        raise trailing('ProduceResponse v12', pos, size, message)
    return message


def encode_ProduceRequest_v13(message):
    parts = []
    out = []
    try:
        value_1 = message.transactional_id
        if value_1 is None:
            value_1 = b''
            n = 0
        else:
            value_1 = value_1.encode()
            n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        items_2 = message.topic_data
        n = len(items_2) + 1
        if n < 128:
            out.append(pack_hiB(message.acks, message.timeout_ms, n))
        else:
            out.append(pack_hi(message.acks, message.timeout_ms))
            out.append(uvarint(n))
        for item_3 in items_2:
            items_4 = item_3.partition_data
            n = len(items_4) + 1
            if n < 128:
                out.append(pack_16sB(item_3.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_3.topic_id.bytes))
                out.append(uvarint(n))
            for item_5 in items_4:
                value_6 = item_5.records
                if value_6 is None:
                    value_6 = b''
                    n = 0
                else:
                    n = len(value_6) + 1
                if n < 128:
                    out.append(pack_iB(item_5.index, n))
                else:
                    out.append(pack_i(item_5.index))
                    out.append(uvarint(n))
                if n > 1024:
                    parts.append(b''.join(out))
                    if value_6.__class__ is not memoryview:
                        value_6 = memoryview(value_6)
                    parts.append(value_6)
                    out.clear()
                else:
                    out.append(value_6)
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ProduceRequest v13', 13, error) from error


def decode_ProduceResponse_v13(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ProduceResponse_26)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 18 > size - pos:
                raise array_overrun('ProduceResponse v13', 'responses', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(TopicProduceResponse_27)
                item_2.name = ''
                raw_3, n = unpack_from_16sB(buf, pos)
                pos += 17
                item_2.topic_id = uuid_of(raw_3)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 33 > size - pos:
                        raise array_overrun('ProduceResponse v13', 'responses.partition_responses', n, size - pos)
                    items_4 = []
                    for _ in range(n):
                        item_5 = new(PartitionProduceResponse_28)
                        item_5.index, item_5.error_code, item_5.base_offset, item_5.log_append_time_ms, item_5.log_start_offset, n = unpack_from_ihqqqB(buf, pos)
                        pos += 31
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 6 > size - pos:
                                raise array_overrun('ProduceResponse v13', 'responses.partition_responses.record_errors', n, size - pos)
                            items_6 = []
                            for _ in range(n):
                                item_7 = new(BatchIndexAndErrorMessage_30)
                                item_7.batch_index, n = unpack_from_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 32768:
                                    raise overlong_string('ProduceResponse v13', 'responses.partition_responses.record_errors.batch_index_error_message', n - 1)
                                if n:
                                    end = pos + n - 1
                                    if end > size:
                                        raise overrun('ProduceResponse v13', 'responses.partition_responses.record_errors.batch_index_error_message', end - pos, size - pos)
                                    item_7.batch_index_error_message = buf[pos:end].decode()
                                    pos = end
                                else:
                                    item_7.batch_index_error_message = None
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_6.append(item_7)
                            item_5.record_errors = items_6
                        elif n == 1:
                            item_5.record_errors = []
                        else:
                            raise refused_length('ProduceResponse v13', 'responses.partition_responses.record_errors', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 32768:
                            raise overlong_string('ProduceResponse v13', 'responses.partition_responses.error_message', n - 1)
                        if n:
                            end = pos + n - 1
                            if end > size:
                                raise overrun('ProduceResponse v13', 'responses.partition_responses.error_message', end - pos, size - pos)
                            item_5.error_message = buf[pos:end].decode()
                            pos = end
                        else:
                            item_5.error_message = None
                        item_5.current_leader = DEFAULT_32
                        n = buf[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            for _ in range(n):
                                tag_8, pos = uvarint_at(buf, pos)
                                n, pos = uvarint_at(buf, pos)
                                if n > size - pos:
                                    raise overrun('ProduceResponse v13', f'responses.partition_responses.tag {tag_8}', n, size - pos)
                                stop_9 = pos + n
                                if tag_8 == 0:
                                    item_10 = new(LeaderIdAndEpoch_33)
                                    item_10.leader_id, item_10.leader_epoch, n = unpack_from_iiB(buf, pos)
                                    pos += 9
                                    if n:
                                        pos = skip_tagged_fields(buf, pos - 1, size)
                                    item_5.current_leader = item_10
                                    if pos != stop_9:
                                        raise uneven_tag('ProduceResponse v13', tag_8, stop_9, pos)
                                pos = stop_9
                        items_4.append(item_5)
                    item_2.partition_responses = items_4
                elif n == 1:
                    item_2.partition_responses = []
                else:
                    raise refused_length('ProduceResponse v13', 'responses.partition_responses', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.responses = items_1
        elif n == 1:
            message.responses = []
        else:
            raise refused_length('ProduceResponse v13', 'responses', -1)
        message.node_endpoints = []
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_11, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('ProduceResponse v13', f'tag {tag_11}', n, size - pos)
                stop_12 = pos + n
                if tag_11 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 11 > size - pos:
                            raise array_overrun('ProduceResponse v13', 'node_endpoints', n, size - pos)
                        items_13 = []
                        for _ in range(n):
                            item_14 = new(NodeEndpoint_35)
                            item_14.node_id, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ProduceResponse v13', 'node_endpoints.host', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ProduceResponse v13', 'node_endpoints.host', end - pos, size - pos)
                                item_14.host = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ProduceResponse v13', 'node_endpoints.host', -1)
                            item_14.port, n = unpack_from_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ProduceResponse v13', 'node_endpoints.rack', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ProduceResponse v13', 'node_endpoints.rack', end - pos, size - pos)
                                item_14.rack = buf[pos:end].decode()
                                pos = end
                            else:
                                item_14.rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_13.append(item_14)
                        message.node_endpoints = items_13
                    elif n == 1:
                        message.node_endpoints = []
                    else:
                        raise refused_length('ProduceResponse v13', 'node_endpoints', -1)
                    if pos != stop_12:
                        raise uneven_tag('ProduceResponse v13', tag_11, stop_12, pos)
                pos = stop_12
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ProduceResponse v13', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ProduceResponse v13', error) from None
    if pos != size:
        raise trailing('ProduceResponse v13', pos, size, message)
    return message


__all__ = [
    "decode_ProduceResponse_v12",
    "decode_ProduceResponse_v13",
    "encode_ProduceRequest_v12",
    "encode_ProduceRequest_v13",
    "init_PartitionProduceData",
    "init_ProduceRequest",
    "init_TopicProduceData",
]
