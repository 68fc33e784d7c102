"""Compiled functions of the messages in `consumer_group_heartbeat.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import Assignment as Assignment_30
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse as ConsumerGroupHeartbeatResponse_27
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import TopicPartitions as TopicPartitions_31
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.field_types import ZERO_UUID as DEFAULT_1
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
from aiokafka_lite.schema.wire_helpers import uuid_of
from struct import Struct
from struct import error as StructError

pack_iB = Struct('>iB').pack
pack_i = Struct('>i').pack
pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
RUNS_13 = integer_runs('i')
new = object.__new__
unpack_from_ihB = Struct('>ihB').unpack_from
unpack_from_iib = Struct('>iib').unpack_from
unpack_from_16sB = Struct('>16sB').unpack_from


def init_ConsumerGroupHeartbeatRequest(self, *, group_id='', member_id='', member_epoch=0, instance_id=None, rack_id=None, rebalance_timeout_ms=-1, subscribed_topic_names=None, subscribed_topic_regex=None, server_assignor=None, topic_partitions=None):
    self.group_id = group_id
    self.member_id = member_id
    self.member_epoch = member_epoch
    self.instance_id = instance_id
    self.rack_id = rack_id
    self.rebalance_timeout_ms = rebalance_timeout_ms
    self.subscribed_topic_names = subscribed_topic_names
    self.subscribed_topic_regex = subscribed_topic_regex
    self.server_assignor = server_assignor
    self.topic_partitions = topic_partitions


def init_TopicPartitions(self, *, topic_id=DEFAULT_1, partitions=_LIST):
    self.topic_id = topic_id
    self.partitions = [] if partitions is _LIST else partitions


def encode_ConsumerGroupHeartbeatRequest_v1(message):
    parts = []
    out = []
    try:
        value_1 = message.group_id
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        value_2 = message.member_id
        value_2 = value_2.encode()
        n = len(value_2) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_2)
        value_3 = message.instance_id
        if value_3 is None:
            value_3 = b''
            n = 0
        else:
            value_3 = value_3.encode()
            n = len(value_3) + 1
        if n < 128:
            out.append(pack_iB(message.member_epoch, n))
        else:
            out.append(pack_i(message.member_epoch))
            out.append(string_length(n))
        out.append(value_3)
        value_4 = message.rack_id
        if value_4 is None:
            value_4 = b''
            n = 0
        else:
            value_4 = value_4.encode()
            n = len(value_4) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_4)
        items_5 = message.subscribed_topic_names
        if items_5 is None:
            items_5 = ()
            n = 0
        else:
            n = len(items_5) + 1
        if n < 128:
            out.append(pack_iB(message.rebalance_timeout_ms, n))
        else:
            out.append(pack_i(message.rebalance_timeout_ms))
            out.append(uvarint(n))
        for item_6 in items_5:
            value_7 = item_6
            value_7 = value_7.encode()
            n = len(value_7) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_7)
        value_8 = message.subscribed_topic_regex
        if value_8 is None:
            value_8 = b''
            n = 0
        else:
            value_8 = value_8.encode()
            n = len(value_8) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_8)
        value_9 = message.server_assignor
        if value_9 is None:
            value_9 = b''
            n = 0
        else:
            value_9 = value_9.encode()
            n = len(value_9) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_9)
        items_10 = message.topic_partitions
        if items_10 is None:
            items_10 = ()
            n = 0
        else:
            n = len(items_10) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_11 in items_10:
            items_12 = item_11.partitions
            n = len(items_12) + 1
            if n < 128:
                out.append(pack_16sB(item_11.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_11.topic_id.bytes))
                out.append(uvarint(n))
            if items_12:
                out.append(RUNS_13.pack(items_12))
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ConsumerGroupHeartbeatRequest v1', 1, error) from error


def decode_ConsumerGroupHeartbeatResponse_v1(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ConsumerGroupHeartbeatResponse_27)
        message.throttle_time_ms, message.error_code, n = unpack_from_ihB(buf, pos)
        pos += 7
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('ConsumerGroupHeartbeatResponse v1', 'error_message', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('ConsumerGroupHeartbeatResponse v1', 'error_message', end - pos, size - pos)
            message.error_message = buf[pos:end].decode()
            pos = end
        else:
            message.error_message = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('ConsumerGroupHeartbeatResponse v1', 'member_id', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('ConsumerGroupHeartbeatResponse v1', 'member_id', end - pos, size - pos)
            message.member_id = buf[pos:end].decode()
            pos = end
        else:
            message.member_id = None
        message.member_epoch, message.heartbeat_interval_ms, n = unpack_from_iib(buf, pos)
        pos += 9
        if n < 0:
            message.assignment = None
        else:
            item_1 = new(Assignment_30)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                n -= 1
                if n * 18 > size - pos:
                    raise array_overrun('ConsumerGroupHeartbeatResponse v1', 'assignment.topic_partitions', n, size - pos)
                items_2 = []
                for _ in range(n):
                    item_3 = new(TopicPartitions_31)
                    raw_4, n = unpack_from_16sB(buf, pos)
                    pos += 17
                    item_3.topic_id = uuid_of(raw_4)
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 4 > size - pos:
                            raise array_overrun('ConsumerGroupHeartbeatResponse v1', 'assignment.topic_partitions.partitions', n, size - pos)
                        item_3.partitions = RUNS_13.unpack(buf, pos, n)
                        pos += n * 4
                    elif n == 1:
                        item_3.partitions = []
                    else:
                        raise refused_length('ConsumerGroupHeartbeatResponse v1', 'assignment.topic_partitions.partitions', -1)
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tagged_fields(buf, pos - 1, size)
                    items_2.append(item_3)
                item_1.topic_partitions = items_2
            elif n == 1:
                item_1.topic_partitions = []
            else:
                raise refused_length('ConsumerGroupHeartbeatResponse v1', 'assignment.topic_partitions', -1)
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tagged_fields(buf, pos - 1, size)
            message.assignment = item_1
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ConsumerGroupHeartbeatResponse v1', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ConsumerGroupHeartbeatResponse v1', error) from None
    if pos != size:
        raise trailing('ConsumerGroupHeartbeatResponse v1', pos, size, message)
    return message


__all__ = [
    "decode_ConsumerGroupHeartbeatResponse_v1",
    "encode_ConsumerGroupHeartbeatRequest_v1",
    "init_ConsumerGroupHeartbeatRequest",
    "init_TopicPartitions",
]
