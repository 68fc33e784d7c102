"""Compiled functions of the messages in `metadata.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.metadata import MetadataResponse as MetadataResponse_25
from aiokafka_lite.protocol.messages.metadata import MetadataResponseBroker as MetadataResponseBroker_27
from aiokafka_lite.protocol.messages.metadata import MetadataResponsePartition as MetadataResponsePartition_31
from aiokafka_lite.protocol.messages.metadata import MetadataResponseTopic as MetadataResponseTopic_28
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

pack_16sB = Struct('>16sB').pack
pack_16s = Struct('>16s').pack
pack__bool__bool_x = Struct('>??x').pack
new = object.__new__
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_hB = Struct('>hB').unpack_from
unpack_from_16s_bool_B = Struct('>16s?B').unpack_from
unpack_from_hiiiB = Struct('>hiiiB').unpack_from
RUNS_33 = integer_runs('i')


def init_MetadataRequest(self, *, topics=_LIST, allow_auto_topic_creation=True, include_cluster_authorized_operations=False, include_topic_authorized_operations=False):
    self.topics = [] if topics is _LIST else topics
    self.allow_auto_topic_creation = allow_auto_topic_creation
    self.include_cluster_authorized_operations = include_cluster_authorized_operations
    self.include_topic_authorized_operations = include_topic_authorized_operations


def init_MetadataRequestTopic(self, *, topic_id=DEFAULT_1, name=''):
    self.topic_id = topic_id
    self.name = name


def encode_MetadataRequest_v12(message):
    parts = []
    out = []
    try:
        items_1 = message.topics
        if items_1 is None:
            items_1 = ()
            n = 0
        else:
            n = len(items_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.name
            if value_3 is None:
                value_3 = b''
                n = 0
            else:
                value_3 = value_3.encode()
                n = len(value_3) + 1
            if n < 128:
                out.append(pack_16sB(item_2.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_2.topic_id.bytes))
                out.append(string_length(n))
            out.append(value_3)
            out.append(b'\x00')
        if message.include_cluster_authorized_operations != False:
            raise unsupported('MetadataRequest v12', 'include_cluster_authorized_operations', 'the authorized operations of the cluster need Kafka 2.3 (KIP-430)')
        out.append(pack__bool__bool_x(message.allow_auto_topic_creation, message.include_topic_authorized_operations))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'MetadataRequest v12', 12, error) from error


def decode_MetadataResponse_v12(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(MetadataResponse_25)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 11 > size - pos:
                raise array_overrun('MetadataResponse v12', 'brokers', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(MetadataResponseBroker_27)
                item_2.node_id, n = unpack_from_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v12', 'brokers.host', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v12', 'brokers.host', end - pos, size - pos)
                    item_2.host = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('MetadataResponse v12', 'brokers.host', -1)
                item_2.port, n = unpack_from_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v12', 'brokers.rack', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v12', 'brokers.rack', end - pos, size - pos)
                    item_2.rack = buf[pos:end].decode()
                    pos = end
                else:
                    item_2.rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.brokers = items_1
        elif n == 1:
            message.brokers = []
        else:
            raise refused_length('MetadataResponse v12', 'brokers', -1)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('MetadataResponse v12', 'cluster_id', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('MetadataResponse v12', 'cluster_id', end - pos, size - pos)
            message.cluster_id = buf[pos:end].decode()
            pos = end
        else:
            message.cluster_id = None
        message.controller_id, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 26 > size - pos:
                raise array_overrun('MetadataResponse v12', 'topics', n, size - pos)
            items_3 = []
            for _ in range(n):
                item_4 = new(MetadataResponseTopic_28)
                item_4.error_code, n = unpack_from_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v12', 'topics.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v12', 'topics.name', end - pos, size - pos)
                    item_4.name = buf[pos:end].decode()
                    pos = end
                else:
                    item_4.name = None
                raw_5, item_4.is_internal, n = unpack_from_16s_bool_B(buf, pos)
                pos += 18
                item_4.topic_id = uuid_of(raw_5)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 18 > size - pos:
                        raise array_overrun('MetadataResponse v12', 'topics.partitions', n, size - pos)
                    items_6 = []
                    for _ in range(n):
                        item_7 = new(MetadataResponsePartition_31)
                        item_7.error_code, item_7.partition_index, item_7.leader_id, item_7.leader_epoch, n = unpack_from_hiiiB(buf, pos)
                        pos += 15
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v12', 'topics.partitions.replica_nodes', n, size - pos)
                            item_7.replica_nodes = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.replica_nodes = []
                        else:
                            raise refused_length('MetadataResponse v12', 'topics.partitions.replica_nodes', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v12', 'topics.partitions.isr_nodes', n, size - pos)
                            item_7.isr_nodes = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.isr_nodes = []
                        else:
                            raise refused_length('MetadataResponse v12', 'topics.partitions.isr_nodes', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v12', 'topics.partitions.offline_replicas', n, size - pos)
                            item_7.offline_replicas = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.offline_replicas = []
                        else:
                            raise refused_length('MetadataResponse v12', 'topics.partitions.offline_replicas', -1)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_6.append(item_7)
                    item_4.partitions = items_6
                elif n == 1:
                    item_4.partitions = []
                else:
                    raise refused_length('MetadataResponse v12', 'topics.partitions', -1)
                item_4.topic_authorized_operations, n = unpack_from_iB(buf, pos)
                pos += 5
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_3.append(item_4)
            message.topics = items_3
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('MetadataResponse v12', 'topics', -1)
        message.cluster_authorized_operations = -2147483648
        message.error_code = 0
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('MetadataResponse v12', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('MetadataResponse v12', error) from None
    if pos != size:
        raise trailing('MetadataResponse v12', pos, size, message)
    return message


def encode_MetadataRequest_v13(message):
    parts = []
    out = []
    try:
        items_1 = message.topics
        if items_1 is None:
            items_1 = ()
            n = 0
        else:
            n = len(items_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_2 in items_1:
            value_3 = item_2.name
            if value_3 is None:
                value_3 = b''
                n = 0
            else:
                value_3 = value_3.encode()
                n = len(value_3) + 1
            if n < 128:
                out.append(pack_16sB(item_2.topic_id.bytes, n))
            else:
                out.append(pack_16s(item_2.topic_id.bytes))
                out.append(string_length(n))
            out.append(value_3)
            out.append(b'\x00')
        if message.include_cluster_authorized_operations != False:
            raise unsupported('MetadataRequest v13', 'include_cluster_authorized_operations', 'the authorized operations of the cluster need Kafka 2.3 (KIP-430)')
        out.append(pack__bool__bool_x(message.allow_auto_topic_creation, message.include_topic_authorized_operations))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'MetadataRequest v13', 13, error) from error


def decode_MetadataResponse_v13(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(MetadataResponse_25)
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 11 > size - pos:
                raise array_overrun('MetadataResponse v13', 'brokers', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(MetadataResponseBroker_27)
                item_2.node_id, n = unpack_from_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v13', 'brokers.host', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v13', 'brokers.host', end - pos, size - pos)
                    item_2.host = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('MetadataResponse v13', 'brokers.host', -1)
                item_2.port, n = unpack_from_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v13', 'brokers.rack', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v13', 'brokers.rack', end - pos, size - pos)
                    item_2.rack = buf[pos:end].decode()
                    pos = end
                else:
                    item_2.rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.brokers = items_1
        elif n == 1:
            message.brokers = []
        else:
            raise refused_length('MetadataResponse v13', 'brokers', -1)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('MetadataResponse v13', 'cluster_id', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('MetadataResponse v13', 'cluster_id', end - pos, size - pos)
            message.cluster_id = buf[pos:end].decode()
            pos = end
        else:
            message.cluster_id = None
        message.controller_id, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 26 > size - pos:
                raise array_overrun('MetadataResponse v13', 'topics', n, size - pos)
            items_3 = []
            for _ in range(n):
                item_4 = new(MetadataResponseTopic_28)
                item_4.error_code, n = unpack_from_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('MetadataResponse v13', 'topics.name', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('MetadataResponse v13', 'topics.name', end - pos, size - pos)
                    item_4.name = buf[pos:end].decode()
                    pos = end
                else:
                    item_4.name = None
                raw_5, item_4.is_internal, n = unpack_from_16s_bool_B(buf, pos)
                pos += 18
                item_4.topic_id = uuid_of(raw_5)
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 1:
                    n -= 1
                    if n * 18 > size - pos:
                        raise array_overrun('MetadataResponse v13', 'topics.partitions', n, size - pos)
                    items_6 = []
                    for _ in range(n):
                        item_7 = new(MetadataResponsePartition_31)
                        item_7.error_code, item_7.partition_index, item_7.leader_id, item_7.leader_epoch, n = unpack_from_hiiiB(buf, pos)
                        pos += 15
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v13', 'topics.partitions.replica_nodes', n, size - pos)
                            item_7.replica_nodes = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.replica_nodes = []
                        else:
                            raise refused_length('MetadataResponse v13', 'topics.partitions.replica_nodes', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v13', 'topics.partitions.isr_nodes', n, size - pos)
                            item_7.isr_nodes = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.isr_nodes = []
                        else:
                            raise refused_length('MetadataResponse v13', 'topics.partitions.isr_nodes', -1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            n -= 1
                            if n * 4 > size - pos:
                                raise array_overrun('MetadataResponse v13', 'topics.partitions.offline_replicas', n, size - pos)
                            item_7.offline_replicas = RUNS_33.unpack(buf, pos, n)
                            pos += n * 4
                        elif n == 1:
                            item_7.offline_replicas = []
                        else:
                            raise refused_length('MetadataResponse v13', 'topics.partitions.offline_replicas', -1)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tagged_fields(buf, pos - 1, size)
                        items_6.append(item_7)
                    item_4.partitions = items_6
                elif n == 1:
                    item_4.partitions = []
                else:
                    raise refused_length('MetadataResponse v13', 'topics.partitions', -1)
                item_4.topic_authorized_operations, n = unpack_from_iB(buf, pos)
                pos += 5
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_3.append(item_4)
            message.topics = items_3
        elif n == 1:
            message.topics = []
        else:
            raise refused_length('MetadataResponse v13', 'topics', -1)
        message.cluster_authorized_operations = -2147483648
        message.error_code, n = unpack_from_hB(buf, pos)
        pos += 3
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('MetadataResponse v13', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('MetadataResponse v13', error) from None
    if pos != size:
        raise trailing('MetadataResponse v13', pos, size, message)
    return message


__all__ = [
    "decode_MetadataResponse_v12",
    "decode_MetadataResponse_v13",
    "encode_MetadataRequest_v12",
    "encode_MetadataRequest_v13",
    "init_MetadataRequest",
    "init_MetadataRequestTopic",
]
