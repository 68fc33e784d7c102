"""Compiled functions of the messages in `list_offsets.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsPartitionResponse as ListOffsetsPartitionResponse_28
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsResponse as ListOffsetsResponse_25
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsTopicResponse as ListOffsetsTopicResponse_27
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from struct import Struct
from struct import error as StructError

pack_ibB = Struct('>ibB').pack
pack_ib = Struct('>ib').pack
pack_iiqx = Struct('>iiqx').pack
pack_ix = Struct('>ix').pack
new = object.__new__
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_ihqqiB = Struct('>ihqqiB').unpack_from


def init_ListOffsetsRequest(self, *, replica_id=0, isolation_level=0, topics=_LIST, timeout_ms=0):
    self.replica_id = replica_id
    self.isolation_level = isolation_level
    self.topics = [] if topics is _LIST else topics
    self.timeout_ms = timeout_ms


def init_ListOffsetsTopic(self, *, name='', partitions=_LIST):
    self.name = name
    self.partitions = [] if partitions is _LIST else partitions


def init_ListOffsetsPartition(self, *, partition_index=0, current_leader_epoch=-1, timestamp=0):
    self.partition_index = partition_index
    self.current_leader_epoch = current_leader_epoch
    self.timestamp = timestamp


def encode_ListOffsetsRequest_v10(message):
    parts = []
    out = []
    try:
        items_1 = message.topics
        n = len(items_1) + 1
        if n < 128:
            out.append(pack_ibB(message.replica_id, message.isolation_level, n))
        else:
            out.append(pack_ib(message.replica_id, message.isolation_level))
            out.append(uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.name
            value_3 = value_3.encode()
            n = len(value_3) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_3)
            items_4 = item_2.partitions
            n = len(items_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            for item_5 in items_4:
                out.append(pack_iiqx(item_5.partition_index, item_5.current_leader_epoch, item_5.timestamp))
            out.append(b'\x00')
        out.append(pack_ix(message.timeout_ms))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ListOffsetsRequest v10', 10, error) from error


def decode_ListOffsetsResponse_v10(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ListOffsetsResponse_25)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 3 > size - pos:
                raise array_overrun('ListOffsetsResponse v10', 'topics', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(ListOffsetsTopicResponse_27)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('ListOffsetsResponse v10', 'topics.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('ListOffsetsResponse v10', 'topics.name', end - pos, size - pos)
                    item_2.name = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('ListOffsetsResponse v10', 'topics.name', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 27 > size - pos:
                        raise array_overrun('ListOffsetsResponse v10', 'topics.partitions', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(ListOffsetsPartitionResponse_28)
                        item_4.partition_index, item_4.error_code, item_4.timestamp, item_4.offset, item_4.leader_epoch, n = unpack_from_ihqqiB(buf, pos)
                        pos += 27
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_3.append(item_4)
                    item_2.partitions = items_3
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('ListOffsetsResponse v10', 'topics.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.topics = items_1
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('ListOffsetsResponse v10', 'topics', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ListOffsetsResponse v10', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ListOffsetsResponse v10', error) from None
    if pos != size:
        raise trailing('ListOffsetsResponse v10', pos, size, message)
    return message


def encode_ListOffsetsRequest_v11(message):
    parts = []
    out = []
    try:
        items_1 = message.topics
        n = len(items_1) + 1
        if n < 128:
            out.append(pack_ibB(message.replica_id, message.isolation_level, n))
        else:
            out.append(pack_ib(message.replica_id, message.isolation_level))
            out.append(uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.name
            value_3 = value_3.encode()
            n = len(value_3) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_3)
            items_4 = item_2.partitions
            n = len(items_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            for item_5 in items_4:
                out.append(pack_iiqx(item_5.partition_index, item_5.current_leader_epoch, item_5.timestamp))
            out.append(b'\x00')
        out.append(pack_ix(message.timeout_ms))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ListOffsetsRequest v11', 11, error) from error


def decode_ListOffsetsResponse_v11(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ListOffsetsResponse_25)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 3 > size - pos:
                raise array_overrun('ListOffsetsResponse v11', 'topics', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(ListOffsetsTopicResponse_27)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('ListOffsetsResponse v11', 'topics.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('ListOffsetsResponse v11', 'topics.name', end - pos, size - pos)
                    item_2.name = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('ListOffsetsResponse v11', 'topics.name', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 27 > size - pos:
                        raise array_overrun('ListOffsetsResponse v11', 'topics.partitions', n, size - pos)
                    items_3 = []
                    for _ in range(n):
                        item_4 = new(ListOffsetsPartitionResponse_28)
                        item_4.partition_index, item_4.error_code, item_4.timestamp, item_4.offset, item_4.leader_epoch, n = unpack_from_ihqqiB(buf, pos)
                        pos += 27
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_3.append(item_4)
                    item_2.partitions = items_3
                elif n == 1:
                    item_2.partitions = []
                else:
                    raise refused_length('ListOffsetsResponse v11', 'topics.partitions', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.topics = items_1
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('ListOffsetsResponse v11', 'topics', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ListOffsetsResponse v11', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ListOffsetsResponse v11', error) from None
    if pos != size:
        raise trailing('ListOffsetsResponse v11', pos, size, message)
    return message


__all__ = [
    "decode_ListOffsetsResponse_v10",
    "decode_ListOffsetsResponse_v11",
    "encode_ListOffsetsRequest_v10",
    "encode_ListOffsetsRequest_v11",
    "init_ListOffsetsPartition",
    "init_ListOffsetsRequest",
    "init_ListOffsetsTopic",
]
