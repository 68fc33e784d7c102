"""Compiled functions of the messages in `join_group.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponse as JoinGroupResponse_23
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponseMember as JoinGroupResponseMember_26
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

pack_iiB = Struct('>iiB').pack
pack_ii = Struct('>ii').pack
new = object.__new__
unpack_from_ihiB = Struct('>ihiB').unpack_from
unpack_from__bool_B = Struct('>?B').unpack_from


def init_JoinGroupRequest(self, *, group_id='', session_timeout_ms=0, rebalance_timeout_ms=-1, member_id='', group_instance_id=None, protocol_type='', protocols=_LIST, reason=None):
    self.group_id = group_id
    self.session_timeout_ms = session_timeout_ms
    self.rebalance_timeout_ms = rebalance_timeout_ms
    self.member_id = member_id
    self.group_instance_id = group_instance_id
    self.protocol_type = protocol_type
    self.protocols = [] if protocols is _LIST else protocols
    self.reason = reason


def init_JoinGroupRequestProtocol(self, *, name='', metadata=b''):
    self.name = name
    self.metadata = metadata


def encode_JoinGroupRequest_v9(message):
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
            out.append(pack_iiB(message.session_timeout_ms, message.rebalance_timeout_ms, n))
        else:
            out.append(pack_ii(message.session_timeout_ms, message.rebalance_timeout_ms))
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
        value_4 = message.protocol_type
        value_4 = value_4.encode()
        n = len(value_4) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_4)
        items_5 = message.protocols
        n = len(items_5) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_6 in items_5:
            value_7 = item_6.name
            value_7 = value_7.encode()
            n = len(value_7) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_7)
            value_8 = item_6.metadata
            n = len(value_8) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            out.append(value_8)
            out.append(b'\x00')
        value_9 = message.reason
        if value_9 is None:
            value_9 = b''
            n = 0
        else:
            value_9 = value_9.encode()
            n = len(value_9) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_9)
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'JoinGroupRequest v9', 9, error) from error


def decode_JoinGroupResponse_v9(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(JoinGroupResponse_23)
        message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_from_ihiB(buf, pos)
        pos += 11
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('JoinGroupResponse v9', 'protocol_type', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('JoinGroupResponse v9', 'protocol_type', end - pos, size - pos)
            message.protocol_type = buf[pos:end].decode()
            pos = end
        else:
            message.protocol_type = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('JoinGroupResponse v9', 'protocol_name', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('JoinGroupResponse v9', 'protocol_name', end - pos, size - pos)
            message.protocol_name = buf[pos:end].decode()
            pos = end
        else:
            message.protocol_name = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('JoinGroupResponse v9', 'leader', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('JoinGroupResponse v9', 'leader', end - pos, size - pos)
            message.leader = buf[pos:end].decode()
            pos = end
        else:
            raise refused_length('JoinGroupResponse v9', 'leader', -1)
        message.skip_assignment, n = unpack_from__bool_B(buf, pos)
        pos += 2
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('JoinGroupResponse v9', 'member_id', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('JoinGroupResponse v9', 'member_id', end - pos, size - pos)
            message.member_id = buf[pos:end].decode()
            pos = end
        else:
            raise refused_length('JoinGroupResponse v9', 'member_id', -1)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 4 > size - pos:
                raise array_overrun('JoinGroupResponse v9', 'members', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(JoinGroupResponseMember_26)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('JoinGroupResponse v9', 'members.member_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('JoinGroupResponse v9', 'members.member_id', end - pos, size - pos)
                    item_2.member_id = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('JoinGroupResponse v9', 'members.member_id', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('JoinGroupResponse v9', 'members.group_instance_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('JoinGroupResponse v9', 'members.group_instance_id', end - pos, size - pos)
                    item_2.group_instance_id = buf[pos:end].decode()
                    pos = end
                else:
                    item_2.group_instance_id = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('JoinGroupResponse v9', 'members.metadata', end - pos, size - pos)
                    item_2.metadata = buf[pos:end]
                    pos = end
                else:
                    raise refused_length('JoinGroupResponse v9', 'members.metadata', -1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.members = items_1
        elif n == 1:
            message.members = []
        else:
            raise refused_length('JoinGroupResponse v9', 'members', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('JoinGroupResponse v9', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('JoinGroupResponse v9', error) from None
    if pos != size:
        raise trailing('JoinGroupResponse v9', pos, size, message)
    return message


__all__ = [
    "decode_JoinGroupResponse_v9",
    "encode_JoinGroupRequest_v9",
    "init_JoinGroupRequest",
    "init_JoinGroupRequestProtocol",
]
