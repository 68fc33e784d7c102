"""Compiled functions of the messages in `sasl_handshake.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeResponse as SaslHandshakeResponse_22
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import trailing
from struct import Struct
from struct import error as StructError

pack_h = Struct('>h').pack
new = object.__new__
unpack_from_hi = Struct('>hi').unpack_from
unpack_from_h = Struct('>h').unpack_from


def init_SaslHandshakeRequest(self, *, mechanism=''):
    self.mechanism = mechanism


def encode_SaslHandshakeRequest_v1(message):
    parts = []
    out = []
    try:
        value_1 = message.mechanism
        value_1 = value_1.encode()
        n = len(value_1)
        out.append(pack_h(n))
        out.append(value_1)
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'SaslHandshakeRequest v1', 1, error) from error


def decode_SaslHandshakeResponse_v1(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(SaslHandshakeResponse_22)
        message.error_code, n = unpack_from_hi(buf, pos)
        pos += 6
        if n > 0:
            if n * 2 > size - pos:
                raise array_overrun('SaslHandshakeResponse v1', 'mechanisms', n, size - pos)
            items_1 = []
            for _ in range(n):
                n = unpack_from_h(buf, pos)[0]
                pos += 2
                if n >= 0:
                    end = pos + n
                    if end > size:
                        raise overrun('SaslHandshakeResponse v1', 'mechanisms', end - pos, size - pos)
                    item_2 = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('SaslHandshakeResponse v1', 'mechanisms', n)
                items_1.append(item_2)
            message.mechanisms = items_1
        elif n == 0:
            message.mechanisms = []
        else:
            raise refused_length('SaslHandshakeResponse v1', 'mechanisms', n)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('SaslHandshakeResponse v1', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('SaslHandshakeResponse v1', error) from None
    if pos != size:
        raise trailing('SaslHandshakeResponse v1', pos, size, message)
    return message


__all__ = [
    "decode_SaslHandshakeResponse_v1",
    "encode_SaslHandshakeRequest_v1",
    "init_SaslHandshakeRequest",
]
