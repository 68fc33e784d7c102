"""Compiled functions of the messages in `offset_commit.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitResponse as OffsetCommitResponse_26
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitResponsePartition as OffsetCommitResponsePartition_29
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitResponseTopic as OffsetCommitResponseTopic_28
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.field_types import ZERO_UUID as DEFAULT_1
from aiokafka_lite.schema.wire_helpers import array_overrun
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
pack_iqiB = Struct('>iqiB').pack
pack_iqi = Struct('>iqi').pack
new = object.__new__
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_ihB = Struct('>ihB').unpack_from
pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
unpack_from_16sB = Struct('>16sB').unpack_from


def init_OffsetCommitRequest(self, *, group_id='', generation_id_or_member_epoch=-1, member_id='', group_instance_id=None, retention_time_ms=-1, topics=_LIST):
    self.group_id = group_id
    self.generation_id_or_member_epoch = generation_id_or_member_epoch
    self.member_id = member_id
    self.group_instance_id = group_instance_id
    self.retention_time_ms = retention_time_ms
    self.topics = [] if topics is _LIST else topics


def init_OffsetCommitRequestTopic(self, *, name='', topic_id=DEFAULT_1, partitions=_LIST):
    self.name = name
    self.topic_id = topic_id
    self.partitions = [] if partitions is _LIST else partitions


def init_OffsetCommitRequestPartition(self, *, partition_index=0, committed_offset=0, committed_leader_epoch=-1, committed_metadata=''):
    self.partition_index = partition_index
    self.committed_offset = committed_offset
    self.committed_leader_epoch = committed_leader_epoch
    self.committed_metadata = committed_metadata


def encode_OffsetCommitRequest_v9(message):
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
        if n < 128:
            out.append(pack_iB(message.generation_id_or_member_epoch, n))
        else:
            out.append(pack_i(message.generation_id_or_member_epoch))
            out.append(string_length(n))
        out.append(value_2)
        value_3 = message.group_instance_id
        if value_3 is None:
            value_3 = b''
            n = 0
        else:
            value_3 = value_3.encode()
            n = len(value_3) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_3)
        items_4 = message.topics
        n = len(items_4) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_5 in items_4:
            value_6 = item_5.name
            value_6 = value_6.encode()
            n = len(value_6) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_6)
            items_7 = item_5.partitions
            n = len(items_7) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            for item_8 in items_7:
                value_9 = item_8.committed_metadata
                if value_9 is None:
                    value_9 = b''
                    n = 0
                else:
                    value_9 = value_9.encode()
                    n = len(value_9) + 1
                if n < 128:
                    out.append(pack_iqiB(item_8.partition_index, item_8.committed_offset, item_8.committed_leader_epoch, n))
                else:
                    out.append(pack_iqi(item_8.partition_index, item_8.committed_offset, item_8.committed_leader_epoch))
                    out.append(string_length(n))
                out.append(value_9)
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'OffsetCommitRequest v9', 9, error) from error


def decode_OffsetCommitResponse_v9(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(OffsetCommitResponse_26)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 3 > size - pos:
                raise array_overrun('OffsetCommitResponse v9', 'topics', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(OffsetCommitResponseTopic_28)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('OffsetCommitResponse v9', 'topics.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('OffsetCommitResponse v9', 'topics.name', end - pos, size - pos)
                    item_2.name = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('OffsetCommitResponse v9', 'topics.name', -1)
                item_2.topic_id = DEFAULT_1
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 7 > size - pos:
                        raise array_overrun('OffsetCommitResponse v9', 'topics.partitions', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(OffsetCommitResponsePartition_29)
                        item_4.partition_index, item_4.error_code, n = unpack_from_ihB(buf, pos)
                        pos += 7
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_3.append(item_4)
                    item_2.partitions = items_3
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('OffsetCommitResponse v9', 'topics.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.topics = items_1
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('OffsetCommitResponse v9', 'topics', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('OffsetCommitResponse v9', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('OffsetCommitResponse v9', error) from None
    if pos != size:
        raise trailing('OffsetCommitResponse v9', pos, size, message)
    return message


def encode_OffsetCommitRequest_v10(message):
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
        if n < 128:
            out.append(pack_iB(message.generation_id_or_member_epoch, n))
        else:
            out.append(pack_i(message.generation_id_or_member_epoch))
            out.append(string_length(n))
        out.append(value_2)
        value_3 = message.group_instance_id
        if value_3 is None:
            value_3 = b''
            n = 0
        else:
            value_3 = value_3.encode()
            n = len(value_3) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_3)
        items_4 = message.topics
        n = len(items_4) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_5 in items_4:
            items_6 = item_5.partitions
            n = len(items_6) + 1
            if n < 128:
                out.append(pack_16sB(item_5.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_5.topic_id.bytes))
                out.append(uvarint(n))
            for item_7 in items_6:
                value_8 = item_7.committed_metadata
                if value_8 is None:
                    value_8 = b''
                    n = 0
                else:
                    value_8 = value_8.encode()
                    n = len(value_8) + 1
                if n < 128:
                    out.append(pack_iqiB(item_7.partition_index, item_7.committed_offset, item_7.committed_leader_epoch, n))
                else:
                    out.append(pack_iqi(item_7.partition_index, item_7.committed_offset, item_7.committed_leader_epoch))
                    out.append(string_length(n))
                out.append(value_8)
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'OffsetCommitRequest v10', 10, error) from error


def decode_OffsetCommitResponse_v10(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(OffsetCommitResponse_26)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 18 > size - pos:
                raise array_overrun('OffsetCommitResponse v10', 'topics', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(OffsetCommitResponseTopic_28)
                item_2.name = ''
                raw_3, n = unpack_from_16sB(buf, pos)
                pos += 17
                item_2.topic_id = uuid_of(raw_3)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 7 > size - pos:
                        raise array_overrun('OffsetCommitResponse v10', 'topics.partitions', n, size - pos)
                    items_4 = []
                    for _ in range(n):
                        item_5 = new(OffsetCommitResponsePartition_29)
                        item_5.partition_index, item_5.error_code, n = unpack_from_ihB(buf, pos)
                        pos += 7
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_4.append(item_5)
                    item_2.partitions = items_4
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('OffsetCommitResponse v10', 'topics.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.topics = items_1
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('OffsetCommitResponse v10', 'topics', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('OffsetCommitResponse v10', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('OffsetCommitResponse v10', error) from None
    if pos != size:
        raise trailing('OffsetCommitResponse v10', pos, size, message)
    return message


__all__ = [
    "decode_OffsetCommitResponse_v10",
    "decode_OffsetCommitResponse_v9",
    "encode_OffsetCommitRequest_v10",
    "encode_OffsetCommitRequest_v9",
    "init_OffsetCommitRequest",
    "init_OffsetCommitRequestPartition",
    "init_OffsetCommitRequestTopic",
]
