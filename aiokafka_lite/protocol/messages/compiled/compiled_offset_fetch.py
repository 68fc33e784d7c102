"""Compiled functions of the messages in `offset_fetch.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchResponse as OffsetFetchResponse_26
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchResponseGroup as OffsetFetchResponseGroup_28
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchResponsePartitions as OffsetFetchResponsePartitions_30
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchResponseTopics as OffsetFetchResponseTopics_29
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
from aiokafka_lite.schema.wire_helpers import unsupported
from aiokafka_lite.schema.wire_helpers import uuid_of
from struct import Struct
from struct import error as StructError

pack_iB = Struct('>iB').pack
pack_i = Struct('>i').pack
RUNS_11 = integer_runs('i')
pack__bool_x = Struct('>?x').pack
new = object.__new__
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_iqiB = Struct('>iqiB').unpack_from
unpack_from_hB = Struct('>hB').unpack_from
pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
unpack_from_16sB = Struct('>16sB').unpack_from


def init_OffsetFetchRequest(self, *, group_id='', topics=_LIST, groups=_LIST, require_stable=False):
    self.group_id = group_id
    self.topics = [] if topics is _LIST else topics
    self.groups = [] if groups is _LIST else groups
    self.require_stable = require_stable


def init_OffsetFetchRequestTopic(self, *, name='', partition_indexes=_LIST):
    self.name = name
    self.partition_indexes = [] if partition_indexes is _LIST else partition_indexes


def init_OffsetFetchRequestGroup(self, *, group_id='', member_id=None, member_epoch=-1, topics=_LIST):
    self.group_id = group_id
    self.member_id = member_id
    self.member_epoch = member_epoch
    self.topics = [] if topics is _LIST else topics


def init_OffsetFetchRequestTopics(self, *, name='', topic_id=DEFAULT_1, partition_indexes=_LIST):
    self.name = name
    self.topic_id = topic_id
    self.partition_indexes = [] if partition_indexes is _LIST else partition_indexes


def encode_OffsetFetchRequest_v9(message):
    parts = []
    out = []
    try:
        if message.group_id != '':
            raise unsupported('OffsetFetchRequest v9', 'group_id', '')
        if message.topics:
            raise unsupported('OffsetFetchRequest v9', 'topics', '')
        items_1 = message.groups
        n = len(items_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.group_id
            value_3 = value_3.encode()
            n = len(value_3) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_3)
            value_4 = item_2.member_id
            if value_4 is None:
                value_4 = b''
                n = 0
            else:
                value_4 = value_4.encode()
                n = len(value_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_4)
            items_5 = item_2.topics
            if items_5 is None:
                items_5 = ()
                n = 0
            else:
                n = len(items_5) + 1
            if n < 128:
                out.append(pack_iB(item_2.member_epoch, n))
            else:
                out.append(pack_i(item_2.member_epoch))
                out.append(uvarint(n))
            for item_6 in items_5:
                value_7 = item_6.name
                value_7 = value_7.encode()
                n = len(value_7) + 1
                out.append(ONE_BYTE[n] if n < 128 else string_length(n))
                out.append(value_7)
                items_8 = item_6.partition_indexes
                n = len(items_8) + 1
                out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
                if items_8:
                    out.append(RUNS_11.pack(items_8))
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(pack__bool_x(message.require_stable))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'OffsetFetchRequest v9', 9, error) from error


def decode_OffsetFetchResponse_v9(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(OffsetFetchResponse_26)
        message.topics = []
        message.error_code = 0
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 5 > size - pos:
                raise array_overrun('OffsetFetchResponse v9', 'groups', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(OffsetFetchResponseGroup_28)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('OffsetFetchResponse v9', 'groups.group_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('OffsetFetchResponse v9', 'groups.group_id', end - pos, size - pos)
                    item_2.group_id = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('OffsetFetchResponse v9', 'groups.group_id', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 3 > size - pos:
                        raise array_overrun('OffsetFetchResponse v9', 'groups.topics', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(OffsetFetchResponseTopics_29)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 32768:
                            raise overlong_string('OffsetFetchResponse v9', 'groups.topics.name', n - 1)
                        if n:
                            end = pos + n - 1
                            if end > size:
                                raise overrun('OffsetFetchResponse v9', 'groups.topics.name', end - pos, size - pos)
                            item_4.name = buf[pos:end].decode()
                            pos = end
                        else:
                            raise refused_length('OffsetFetchResponse v9', 'groups.topics.name', -1)
                        item_4.topic_id = DEFAULT_1
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 20 > size - pos:
                                raise array_overrun('OffsetFetchResponse v9', 'groups.topics.partitions', n, size - pos)
                            items_5 = []
                            for _ in range(n):
                                item_6 = new(OffsetFetchResponsePartitions_30)
                                item_6.partition_index, item_6.committed_offset, item_6.committed_leader_epoch, n = unpack_from_iqiB(buf, pos)
                                pos += 17
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 32768:
                                    raise overlong_string('OffsetFetchResponse v9', 'groups.topics.partitions.metadata', n - 1)
                                if n:
                                    end = pos + n - 1
                                    if end > size:
                                        raise overrun('OffsetFetchResponse v9', 'groups.topics.partitions.metadata', end - pos, size - pos)
                                    item_6.metadata = buf[pos:end].decode()
                                    pos = end
                                else:
                                    item_6.metadata = None
                                item_6.error_code, n = unpack_from_hB(buf, pos)
                                pos += 3
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_5.append(item_6)
                            item_4.partitions = items_5
                        elif n == 1:
                            item_4.partitions = []
                        else:
                            raise refused_length('OffsetFetchResponse v9', 'groups.topics.partitions', -1)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_3.append(item_4)
                    item_2.topics = items_3
                elif n == 1:
                    item_2.topics = []
                else:
                    raise refused_length('OffsetFetchResponse v9', 'groups.topics', -1)
                item_2.error_code, n = unpack_from_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.groups = items_1
        elif n == 1:
            message.groups = []
        else:
            raise refused_length('OffsetFetchResponse v9', 'groups', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('OffsetFetchResponse v9', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('OffsetFetchResponse v9', error) from None
    if pos != size:
        raise trailing('OffsetFetchResponse v9', pos, size, message)
    return message


def encode_OffsetFetchRequest_v10(message):
    parts = []
    out = []
    try:
        if message.group_id != '':
            raise unsupported('OffsetFetchRequest v10', 'group_id', '')
        if message.topics:
            raise unsupported('OffsetFetchRequest v10', 'topics', '')
        items_1 = message.groups
        n = len(items_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.group_id
            value_3 = value_3.encode()
            n = len(value_3) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_3)
            value_4 = item_2.member_id
            if value_4 is None:
                value_4 = b''
                n = 0
            else:
                value_4 = value_4.encode()
                n = len(value_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_4)
            items_5 = item_2.topics
            if items_5 is None:
                items_5 = ()
                n = 0
            else:
                n = len(items_5) + 1
            if n < 128:
                out.append(pack_iB(item_2.member_epoch, n))
            else:
                out.append(pack_i(item_2.member_epoch))
                out.append(uvarint(n))
            for item_6 in items_5:
                items_7 = item_6.partition_indexes
                n = len(items_7) + 1
                if n < 128:
                    out.append(pack_16sB(item_6.topic_id.bytes, n))
                else:
                    out.append(pack_16s(item_6.topic_id.bytes))
                    out.append(uvarint(n))
                if items_7:
                    out.append(RUNS_11.pack(items_7))
                out.append(b'\x00')
            out.append(b'\x00')
        out.append(pack__bool_x(message.require_stable))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'OffsetFetchRequest v10', 10, error) from error


def decode_OffsetFetchResponse_v10(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(OffsetFetchResponse_26)
        message.topics = []
        message.error_code = 0
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 5 > size - pos:
                raise array_overrun('OffsetFetchResponse v10', 'groups', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(OffsetFetchResponseGroup_28)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('OffsetFetchResponse v10', 'groups.group_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('OffsetFetchResponse v10', 'groups.group_id', end - pos, size - pos)
                    item_2.group_id = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('OffsetFetchResponse v10', 'groups.group_id', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 18 > size - pos:
                        raise array_overrun('OffsetFetchResponse v10', 'groups.topics', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(OffsetFetchResponseTopics_29)
                        item_4.name = ''
                        raw_5, n = unpack_from_16sB(buf, pos)
                        pos += 17
                        item_4.topic_id = uuid_of(raw_5)
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 20 > size - pos:
                                raise array_overrun('OffsetFetchResponse v10', 'groups.topics.partitions', n, size - pos)
                            items_6 = []
                            for _ in range(n):
                                item_7 = new(OffsetFetchResponsePartitions_30)
                                item_7.partition_index, item_7.committed_offset, item_7.committed_leader_epoch, n = unpack_from_iqiB(buf, pos)
                                pos += 17
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 32768:
                                    raise overlong_string('OffsetFetchResponse v10', 'groups.topics.partitions.metadata', n - 1)
                                if n:
                                    end = pos + n - 1
                                    if end > size:
                                        raise overrun('OffsetFetchResponse v10', 'groups.topics.partitions.metadata', end - pos, size - pos)
                                    item_7.metadata = buf[pos:end].decode()
                                    pos = end
                                else:
                                    item_7.metadata = None
                                item_7.error_code, n = unpack_from_hB(buf, pos)
                                pos += 3
                                if n:
                                    pos = skip_tagged_fields(buf, pos - 1, size)
                                items_6.append(item_7)
                            item_4.partitions = items_6
                        elif n == 1:
                            item_4.partitions = []
                        else:
                            raise refused_length('OffsetFetchResponse v10', 'groups.topics.partitions', -1)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_3.append(item_4)
                    item_2.topics = items_3
                elif n == 1:
                    item_2.topics = []
                else:
                    raise refused_length('OffsetFetchResponse v10', 'groups.topics', -1)
                item_2.error_code, n = unpack_from_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.groups = items_1
        elif n == 1:
            message.groups = []
        else:
            raise refused_length('OffsetFetchResponse v10', 'groups', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('OffsetFetchResponse v10', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('OffsetFetchResponse v10', error) from None
    if pos != size:
        raise trailing('OffsetFetchResponse v10', pos, size, message)
    return message


__all__ = [
    "decode_OffsetFetchResponse_v10",
    "decode_OffsetFetchResponse_v9",
    "encode_OffsetFetchRequest_v10",
    "encode_OffsetFetchRequest_v9",
    "init_OffsetFetchRequest",
    "init_OffsetFetchRequestGroup",
    "init_OffsetFetchRequestTopic",
    "init_OffsetFetchRequestTopics",
]
