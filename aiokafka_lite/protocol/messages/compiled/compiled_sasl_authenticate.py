"""Compiled functions of the messages in `sasl_authenticate.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateResponse as SaslAuthenticateResponse_21
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import trailing
from struct import Struct
from struct import error as StructError

new = object.__new__
unpack_from_hB = Struct('>hB').unpack_from
unpack_from_qB = Struct('>qB').unpack_from


def init_SaslAuthenticateRequest(self, *, auth_bytes=b''):
    self.auth_bytes = auth_bytes


def encode_SaslAuthenticateRequest_v2(message):
    parts = []
    out = []
    try:
        value_1 = message.auth_bytes
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        out.append(value_1)
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'SaslAuthenticateRequest v2', 2, error) from error


def decode_SaslAuthenticateResponse_v2(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(SaslAuthenticateResponse_21)
        message.error_code, n = unpack_from_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('SaslAuthenticateResponse v2', 'error_message', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('SaslAuthenticateResponse v2', 'error_message', end - pos, size - pos)
            message.error_message = buf[pos:end].decode()
            pos = end
        else:
            message.error_message = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('SaslAuthenticateResponse v2', 'auth_bytes', end - pos, size - pos)
            message.auth_bytes = buf[pos:end]
            pos = end
        else:
            raise refused_length('SaslAuthenticateResponse v2', 'auth_bytes', -1)
        message.session_lifetime_ms, n = unpack_from_qB(buf, pos)
        pos += 9
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('SaslAuthenticateResponse v2', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('SaslAuthenticateResponse v2', error) from None
    if pos != size:
        raise trailing('SaslAuthenticateResponse v2', pos, size, message)
    return message


__all__ = [
    "decode_SaslAuthenticateResponse_v2",
    "encode_SaslAuthenticateRequest_v2",
    "init_SaslAuthenticateRequest",
]
