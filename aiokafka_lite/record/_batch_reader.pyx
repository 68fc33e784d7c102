# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""Decodes a fetched partition's bytes, record by record: the native twin of `_batch_reader_py`.

Every number off the wire is checked against the available bytes before it is used. Rare cases use
the same Python code as the twin: markers, aborted transactions, magic 0 and 1, error texts.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MAX, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from aiokafka_lite.consumer_record._consumer_record cimport (
    ConsumerRecord,
    PlainRun,
    RawRecord,
    RecordOrigin,
    make_origin,
    make_plain_records,
    make_record,
)

from aiokafka_lite.compression.compressor import DEFAULT_MAX_DECOMPRESSED_BYTES, decompress
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.cursor.aborted_transactions import AbortedTransactions
from aiokafka_lite.record.cursor.record_start import size_of_records
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.record.control_record import control_type
from aiokafka_lite.record.memory_records import has_complete_batch, next_batch_size


cdef extern from "../codec/crc32c.h":
    uint32_t alk_crc32c(uint32_t crc, const uint8_t *data, size_t n) nogil


cdef extern from "../consumer_record/varint.h":
    int ALK_VARINT_FINE, ALK_VARINT_CUT, ALK_VARINT_LONG
    int alk_read_varint(
        const uint8_t **at, const uint8_t *end, int max_bytes, int64_t *value
    ) noexcept nogil


cdef enum:
    HEADER_BYTES = 61
    LOG_OVERHEAD = 12
    MAGIC_OFFSET = 16
    CRC_OFFSET = 17
    ATTRIBUTES_OFFSET = 21
    MIN_RECORD_BYTES = 7
    CODEC_MASK = 0x07
    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
    ZSTD = 4


cdef enum Fault:
    """The faults of a record."""
    FINE
    CUT
    LONG_VARINT
    BAD_KEY
    BAD_VALUE
    BAD_HEADERS
    BAD_HEADER_NAME
    BAD_HEADER_VALUE
    BAD_END
    BAD_OFFSET


cdef inline uint32_t read_uint32(const uint8_t *at) noexcept nogil:
    return (<uint32_t>at[0] << 24) | (<uint32_t>at[1] << 16) | (<uint32_t>at[2] << 8) | at[3]


cdef inline int32_t read_int32(const uint8_t *at) noexcept nogil:
    return <int32_t>read_uint32(at)


cdef inline int64_t read_int64(const uint8_t *at) noexcept nogil:
    return <int64_t>((<uint64_t>read_uint32(at) << 32) | read_uint32(at + 4))


cdef struct Header:
    int64_t base_offset
    int64_t last_offset
    int64_t size
    int32_t leader_epoch
    uint32_t crc
    int attributes
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t producer_id
    int32_t records_count


cdef struct Hold:
    # In a struct, so that the garbage collector leaves the view alone. It would drop a view that
    # Cython manages, and never release its buffer.
    Py_buffer view


cdef inline int read_varint(
    const uint8_t **at, const uint8_t *end, int max_bytes, int64_t *value
) noexcept nogil:
    """Read a varint. One or two bytes are read without a call."""
    cdef const uint8_t *p = at[0]
    cdef uint32_t raw
    if end - p >= 2:
        if p[0] < 0x80:
            raw = p[0]
            at[0] = p + 1
            value[0] = <int64_t>(raw >> 1) ^ -<int64_t>(raw & 1)
            return ALK_VARINT_FINE
        if p[1] < 0x80:
            raw = (p[0] & 0x7F) | (<uint32_t>p[1] << 7)
            at[0] = p + 2
            value[0] = <int64_t>(raw >> 1) ^ -<int64_t>(raw & 1)
            return ALK_VARINT_FINE
    return alk_read_varint(at, end, max_bytes, value)


cdef inline int read_short(const uint8_t **at, const uint8_t *end, int64_t *value) noexcept nogil:
    """Read a varint of 32 bits."""
    return read_varint(at, end, 5, value)


cdef inline Fault varint_fault(int fault) noexcept nogil:
    return CUT if fault == ALK_VARINT_CUT else LONG_VARINT


cdef Fault skip_headers(const uint8_t **at, const uint8_t *end, int64_t count, int64_t *bad) noexcept nogil:
    """Move behind the headers, whose count was already read.

    Check everything that the later parsing relies on.
    """
    cdef int64_t size = 0
    cdef int fault
    if not 0 <= count <= (end - at[0]) // 2:
        bad[0] = count
        return BAD_HEADERS
    while count > 0:
        count -= 1
        fault = read_short(at, end, &size)
        if fault:
            return varint_fault(fault)
        if size < 0:
            bad[0] = size
            return BAD_HEADER_NAME
        if size > end - at[0]:
            return CUT
        at[0] += size
        fault = read_short(at, end, &size)
        if fault:
            return varint_fault(fault)
        if size < -1:
            bad[0] = size
            return BAD_HEADER_VALUE
        if size > end - at[0]:
            return CUT
        if size > 0:
            at[0] += size
    return FINE


cdef inline Fault read_record(const uint8_t *at, const uint8_t *end, RawRecord *record, int64_t *bad) noexcept nogil:
    """Read the record at `at`. No byte at or behind `end` is read."""
    cdef int64_t size = 0, count = 0
    cdef const uint8_t *record_end
    cdef int64_t body
    cdef int fault = read_short(&at, end, &size)
    if fault:
        return varint_fault(fault)
    body = size
    record_end = at
    # One byte of attributes, all unused.
    if end - at < 1:
        return CUT
    at += 1
    fault = read_varint(&at, end, 10, &record.timestamp_delta)
    if fault:
        return varint_fault(fault)
    fault = read_short(&at, end, &record.offset_delta)
    if fault:
        return varint_fault(fault)
    fault = read_short(&at, end, &size)
    if fault:
        return varint_fault(fault)
    record.key_size = size
    record.key = at
    if size > 0:
        if size > end - at:
            return CUT
        at += size
    elif size < -1:
        bad[0] = size
        return BAD_KEY
    fault = read_short(&at, end, &size)
    if fault:
        return varint_fault(fault)
    record.value_size = size
    record.value = at
    if size > 0:
        if size > end - at:
            return CUT
        at += size
    elif size < -1:
        bad[0] = size
        return BAD_VALUE
    if end - at < 1:
        return CUT
    if at[0] == 0:
        record.headers = NULL
        at += 1
    else:
        record.headers = at
        fault = alk_read_varint(&at, end, 5, &count)
        if fault:
            return varint_fault(fault)
        fault = skip_headers(&at, end, count, bad)
        if fault:
            return <Fault>fault
        if count == 0:  # a count of 0 in more bytes than it needs
            record.headers = NULL
    if at - record_end != body:
        return BAD_END
    record.end = at
    return FINE


cdef object words_for(Fault fault, int64_t bad, int64_t left):
    """Return the text that describes a fault."""
    if fault == LONG_VARINT:
        return "a varint is longer than its type"
    if fault == BAD_KEY:
        return f"a key of {bad:,} bytes"
    if fault == BAD_VALUE:
        return f"a value of {bad:,} bytes"
    if fault == BAD_HEADERS:
        return f"{bad:,} headers in {left:,} bytes"
    if fault == BAD_HEADER_NAME:
        return f"a header name of {bad:,} bytes"
    if fault == BAD_HEADER_VALUE:
        return f"a header value of {bad:,} bytes"
    if fault == BAD_END:
        return "a record's fields do not end where it does"
    if fault == BAD_OFFSET:
        return f"a record of offset {bad} behind a later one"
    return "a record ends beyond its batch"


cdef object placed(object error, object topic, object partition, int64_t offset):
    from aiokafka_lite.record.cursor.error_place import with_place  # few programs meet such a batch

    return with_place(error, topic, partition, offset)


cdef class RecordCursor:
    """The records of one partition's bytes in a fetch response, decoded batch by batch.

    The twin's docstring has the promises.
    """

    cdef object data  # None once all of it is used up
    cdef Hold data_hold
    cdef bint has_data_view
    cdef const uint8_t *bytes_
    cdef Py_ssize_t size
    cdef object topic, partition
    cdef bint check_crcs
    cdef object aborted
    cdef object max_decompressed_bytes
    cdef readonly int64_t next_offset
    cdef readonly int64_t read_bytes
    cdef readonly int32_t last_leader_epoch
    cdef readonly bint has_complete_batch
    cdef object error
    cdef Py_ssize_t position  # of the next batch to look at
    cdef Header header  # of the open batch, or of the next one with records to show
    cdef bint has_header
    # The open batch, if it has records left:
    cdef int32_t left
    cdef object payload
    cdef Hold payload_hold
    cdef bint has_payload_view
    cdef const uint8_t *at
    cdef const uint8_t *end
    cdef RecordOrigin origin, create_time, log_append_time
    cdef list messages  # the messages of an open magic 0 or 1 batch, the next one last

    def __cinit__(self):
        self.has_data_view = self.has_payload_view = False

    def __init__(
        self,
        data,
        *,
        topic,
        partition,
        fetch_offset,
        check_crcs=True,
        read_committed=False,
        aborted_transactions=(),
        max_decompressed_bytes=DEFAULT_MAX_DECOMPRESSED_BYTES,
    ):
        close_payload(self)
        close_data(self)
        PyObject_GetBuffer(data, &self.data_hold.view, PyBUF_SIMPLE)
        self.has_data_view = True
        self.data = data
        self.bytes_ = <const uint8_t *>self.data_hold.view.buf
        self.size = self.data_hold.view.len
        self.topic = topic
        self.partition = partition
        self.check_crcs = check_crcs
        self.aborted = AbortedTransactions(aborted_transactions) if read_committed else None
        self.max_decompressed_bytes = max_decompressed_bytes
        self.next_offset = fetch_offset
        self.last_leader_epoch = -1
        self.error = None
        self.position = 0
        self.has_header = False
        self.left = 0
        self.messages = None
        try:
            self.has_complete_batch = batch_size(self) > 0
        except CorruptRecordException:
            self.has_complete_batch = True  # the reading code says what is wrong

    def __dealloc__(self):
        close_payload(self)
        close_data(self)

    @property
    def exhausted(self):
        """Whether nothing is left to take: no record, no error, no batch to skip."""
        return is_exhausted(self)

    def __repr__(self):
        state = "readable"
        if self.error is not None:
            state = "failed"
        elif is_exhausted(self):
            state = "exhausted"
        return f"<RecordCursor {self.topic}-{self.partition} at {self.next_offset}, {state}>"

    def take(self, max_records, max_bytes=None):
        """As the twin."""
        cdef list records = []
        cdef int64_t room = min(max_records, INT64_MAX)
        cdef int64_t byte_room = INT64_MAX if max_bytes is None else min(max_bytes, INT64_MAX)
        if self.error is not None:
            raise self.error.with_traceback(None)
        try:
            fill(self, records, room, byte_room)
        except CorruptRecordException as error:
            self.error = placed(error, self.topic, self.partition, self.next_offset)
        if self.error is not None and not records:
            raise self.error
        return records

    def take_columns(self, columns not None):
        """As the twin."""
        cdef Py_ssize_t before = len(columns), taken
        if self.error is not None:
            raise self.error.with_traceback(None)
        columns.begin(self.topic, self.partition)
        try:
            fill_columns(self, columns)
        except CorruptRecordException as error:
            self.error = placed(error, self.topic, self.partition, self.next_offset)
        taken = len(columns) - before
        if self.error is not None and not taken:
            raise self.error
        return taken

    def end_offset(self):
        """As the twin."""
        return end_of_batches(self)

    def own_bytes(self):
        """As the twin."""
        cdef bint is_open_in_place = self.left and not self.has_payload_view
        cdef Py_ssize_t start = self.position, end = 0
        if not self.has_data_view:
            return
        if is_open_in_place:
            start, end = self.at - self.bytes_, self.end - self.bytes_
        data = PyBytes_FromStringAndSize(<const char *>self.bytes_ + start, self.size - start)
        PyBuffer_Release(&self.data_hold.view)
        self.has_data_view = False
        PyObject_GetBuffer(data, &self.data_hold.view, PyBUF_SIMPLE)
        self.has_data_view = True
        self.data = data
        self.bytes_ = <const uint8_t *>self.data_hold.view.buf
        self.size = self.data_hold.view.len
        self.position -= start
        if is_open_in_place:
            self.at = self.bytes_
            self.end = self.bytes_ + (end - start)

    def release(self):
        """As the twin."""
        close_payload(self)
        close_data(self)
        self.messages = None
        self.left = 0
        self.has_header = False
        self.error = None


cdef bint is_exhausted(RecordCursor self):
    return not (
        self.left
        or self.messages
        or self.has_header
        or self.error is not None
        or self.size
    )


cdef void close_data(RecordCursor self) noexcept:
    self.size = 0
    self.bytes_ = NULL
    if self.has_data_view:
        self.has_data_view = False
        PyBuffer_Release(&self.data_hold.view)
    self.data = None


cdef void close_payload(RecordCursor self) noexcept:
    self.at = self.end = NULL
    if self.has_payload_view:
        self.has_payload_view = False
        PyBuffer_Release(&self.payload_hold.view)
    self.payload = None


cdef object rest_of_data(RecordCursor self):
    return memoryview(self.data).cast("B")


cdef object batch_view(RecordCursor self, int64_t size):
    return rest_of_data(self)[self.position : self.position + size]


# Moving from batch to batch…


cdef int fill(RecordCursor self, list records, int64_t max_records, int64_t byte_room) except -1:
    """Append records until a limit is reached or nothing is left.

    Raises: CorruptRecordException.
    """
    while len(records) < max_records and (byte_room > 0 or not records):
        if not stand_at_record(self):
            return 0
        if self.left:
            byte_room -= decode(self, records, max_records - len(records), byte_room)
            if not self.left:
                close_batch(self)
        else:
            byte_room -= take_message(self, records)
    return look_ahead(self)


cdef int fill_columns(RecordCursor self, columns) except -1:
    """Do the same as `fill` for columns, which know when they are full."""
    while not columns.is_full:
        if not stand_at_record(self):
            return 0
        if self.left:
            decode_columns(self, columns)
        elif not take_message_into(self, columns):
            return 0
    return look_ahead(self)


cdef bint stand_at_record(RecordCursor self) except -1:
    """Open the batch of the next record; return False if none is left.

    Raises: CorruptRecordException.
    """
    while not (self.left or self.messages):
        if self.has_header:
            open_batch(self)
        elif not advance(self):
            return False
    return True


cdef int look_ahead(RecordCursor self) except -1:
    """If no record is left before them, skip batches that are not shown, such as markers.

    So the position is behind them before the next fetch, and the buffer counts as used up.
    """
    if not self.left and not self.messages:
        try:
            advance(self)
        except CorruptRecordException as error:
            self.error = placed(error, self.topic, self.partition, self.next_offset)
    return 0


cdef int64_t batch_size(RecordCursor self) except -1:
    """Return the bytes of the batch at the position; 0 if it is not complete.

    Raises: CorruptRecordException for an impossible length or an unknown magic.
    """
    cdef Py_ssize_t available = self.size - self.position
    cdef const uint8_t *at = self.bytes_ + self.position
    cdef int64_t offset, size
    if available < LOG_OVERHEAD:
        return 0
    offset = read_int64(at)
    size = <int64_t>read_int32(at + 8) + LOG_OVERHEAD
    if size >= HEADER_BYTES and 0 <= offset < INT64_MAX:
        if size > available:
            return 0
        if at[MAGIC_OFFSET] == 2:
            return size
    return next_batch_size(rest_of_data(self), self.position)


cdef bint advance(RecordCursor self) except -1:
    """Move to the next batch with something to show; return False if none is left.

    Raises: CorruptRecordException.
    """
    cdef int64_t size
    while not self.has_header and not self.messages:
        size = batch_size(self)
        if not size:
            close_data(self)
            return False
        if self.bytes_[self.position + MAGIC_OFFSET] < 2:
            open_message(self, size)
        else:
            read_header(self, size)
            if is_shown(self):
                self.has_header = True
                return True
            self.last_leader_epoch = self.header.leader_epoch
            self.next_offset = max(self.next_offset, self.header.last_offset + 1)
        self.position += size
    return True


cdef object end_of_batches(RecordCursor self):
    cdef Py_ssize_t before = self.position
    cdef int64_t size, last, delta, end = self.next_offset
    cdef const uint8_t *at
    try:
        while True:
            size = batch_size(self)
            if not size:
                return end
            at = self.bytes_ + self.position
            last = read_int64(at)
            if at[MAGIC_OFFSET] == 2:
                delta = read_int32(at + 23)
                if delta < 0 or last > INT64_MAX - 1 - delta:
                    return None
                last += delta
            end = max(end, last + 1)
            self.position += size
    except CorruptRecordException:
        return None
    finally:
        self.position = before


cdef int read_header(RecordCursor self, int64_t size) except -1:
    """Fill in the header of the batch at the position. Raises: CorruptRecordException."""
    cdef const uint8_t *at = self.bytes_ + self.position
    cdef Header *header = &self.header
    cdef int64_t delta
    header.size = size
    header.base_offset = read_int64(at)
    header.leader_epoch = read_int32(at + 12)
    header.crc = read_uint32(at + CRC_OFFSET)
    header.attributes = at[ATTRIBUTES_OFFSET] << 8 | at[ATTRIBUTES_OFFSET + 1]
    delta = read_int32(at + 23)
    header.base_timestamp = read_int64(at + 27)
    header.max_timestamp = read_int64(at + 35)
    header.producer_id = read_int64(at + 43)
    header.records_count = read_int32(at + 57)
    if (
        header.base_offset < 0
        or delta < 0
        or header.base_offset > INT64_MAX - 1 - delta
        or header.attributes & CODEC_MASK > ZSTD
        or header.records_count < 0
        or (
            not header.attributes & CODEC_MASK
            and <int64_t>header.records_count * MIN_RECORD_BYTES > size - HEADER_BYTES
        )
    ):
        parse_header(batch_view(self, size))  # raises an error that says why
        raise CorruptRecordException("an impossible batch header")
    header.last_offset = header.base_offset + delta
    return 0


cdef int check_crc(RecordCursor self) except -1:
    """Raise CorruptRecordException unless the batch has the checksum its header names."""
    cdef uint32_t actual = alk_crc32c(
        0,
        self.bytes_ + self.position + ATTRIBUTES_OFFSET,
        <size_t>(self.header.size - ATTRIBUTES_OFFSET),
    )
    if actual != self.header.crc:
        raise CorruptRecordException(
            f"the batch's CRC-32C is {actual:#010x}, its header says {self.header.crc:#010x}"
        )
    return 0


cdef bint is_shown(RecordCursor self) except -1:
    """Return whether the batch has records for the user; process the marker of a control batch."""
    cdef bint is_control = self.header.attributes & CONTROL
    if is_control and self.check_crcs:
        check_crc(self)
    if self.aborted is not None and self.header.producer_id >= 0:
        header = parse_header(batch_view(self, self.header.size))
        self.aborted.advance_to(header)
        if is_control:
            if self.header.records_count:  # the cleaner keeps some markers without their record
                content = bytes(unpacked(self))
                self.aborted.see_marker(header.producer_id, control_type(content))
        elif self.aborted.hides(header):
            return False
    if is_control or not self.header.records_count:
        return False
    return self.header.last_offset >= self.next_offset


cdef object unpacked(RecordCursor self):
    """Return the batch's records, decompressed, as any bytes-like.

    Raises: CorruptRecordException.
    """
    content = batch_view(self, self.header.size)[HEADER_BYTES:]
    cdef int codec = self.header.attributes & CODEC_MASK
    if codec:
        return decompress(codec, content, self.max_decompressed_bytes)
    return content


cdef int open_batch(RecordCursor self) except -1:
    """Open the cursor's batch for `decode`. Raises: CorruptRecordException."""
    cdef Py_ssize_t length
    if self.check_crcs:
        check_crc(self)
    if self.header.attributes & CODEC_MASK:
        self.payload = unpacked(self)
        PyObject_GetBuffer(self.payload, &self.payload_hold.view, PyBUF_SIMPLE)
        self.has_payload_view = True
        self.at = <const uint8_t *>self.payload_hold.view.buf
        length = self.payload_hold.view.len
    else:  # uncompressed: the data stays alive as long as the batch is open
        self.at = self.bytes_ + self.position + HEADER_BYTES
        length = self.header.size - HEADER_BYTES
    if <int64_t>self.header.records_count * MIN_RECORD_BYTES > length:
        close_payload(self)
        raise CorruptRecordException(
            f"records count {self.header.records_count:,} does not fit {length:,} bytes"
        )
    self.end = self.at + length
    self.position += self.header.size
    self.has_header = False
    self.last_leader_epoch = self.header.leader_epoch
    self.left = self.header.records_count
    if self.header.attributes & LOG_APPEND_TIME:
        if self.log_append_time is None:
            self.log_append_time = make_origin(self.topic, self.partition, 1)
        self.origin = self.log_append_time
    else:
        if self.create_time is None:
            self.create_time = make_origin(self.topic, self.partition, 0)
        self.origin = self.create_time
    return 0


cdef int close_batch(RecordCursor self) except -1:
    """Move behind the batch, all of whose records were read. Raises: CorruptRecordException."""
    cdef Py_ssize_t extra = self.end - self.at
    if extra:
        raise CorruptRecordException(f"{extra:,} bytes follow a batch's last record")
    close_payload(self)
    # A compacted batch keeps its last offset even if its last record was removed.
    self.next_offset = max(self.next_offset, self.header.last_offset + 1)
    return 0


# Records of magic 2…


cdef int64_t decode(RecordCursor self, list records, int64_t room, int64_t byte_room) except -1:
    """Append up to `room` records of the open batch; return how many bytes they took.

    Reads at least one record, and stops after `byte_room` bytes.

    Raises: CorruptRecordException; the records before the bad one are appended.
    """
    cdef const uint8_t *start = self.at
    cdef const uint8_t *kept_from = start
    cdef Header *header = &self.header
    cdef int64_t offset = -1, bad = 0
    cdef int64_t to_read = min(room, self.left)
    cdef bint is_first = True, is_plain = True
    cdef Py_ssize_t kept = len(records)
    cdef Fault fault = FINE
    cdef PlainRun run
    cdef RawRecord raw
    cdef object headers
    # A garbage collection may run code that releases this cursor. So hold the bytes here.
    cdef object held = (self.data, self.payload)
    cdef RecordOrigin origin = self.origin
    run.at, run.end, run.stop = start, self.end, self.end
    if byte_room < run.end - start:
        run.stop = start + max(byte_room, 1)
    run.left = to_read
    run.base_offset = header.base_offset
    run.first_offset = self.next_offset
    if header.attributes & LOG_APPEND_TIME:
        run.base_timestamp, run.timestamp_mask = header.max_timestamp, 0
    else:
        run.base_timestamp, run.timestamp_mask = header.base_timestamp, -1
    while run.left > 0:
        if is_plain:
            make_plain_records(origin, &run, records)
            if not run.left or (run.at >= run.stop and len(records) > kept):
                break
        fault = read_record(run.at, run.end, &raw, &bad)
        if fault != FINE:
            break
        is_plain = raw.headers == NULL
        # at most 2**35, so an overflow does not matter
        offset = run.base_offset + raw.offset_delta
        if offset < run.first_offset:
            if offset < run.base_offset or len(records) > kept:
                fault, bad = BAD_OFFSET, offset
                break
            run.at = kept_from = raw.end
            run.left -= 1
            is_plain = False  # the next one may lie before the offset, too
            continue
        headers = None
        if raw.headers != NULL:
            headers = PyBytes_FromStringAndSize(
                <const char *>raw.headers, raw.end - raw.headers
            )
        records.append(
            make_record(
                origin,
                offset,
                # wraps around like a long in Java
                <int64_t>(
                    <uint64_t>run.base_timestamp
                    + <uint64_t>(raw.timestamp_delta & run.timestamp_mask)
                ),
                raw.key,
                <int32_t>raw.key_size,
                raw.value,
                <int32_t>raw.value_size,
                headers,
            )
        )
        run.at = raw.end
        run.left -= 1
        if run.at >= run.stop:
            break
    if len(records) > kept:
        offset = (<ConsumerRecord>records[len(records) - 1]).offset_
        if offset > header.last_offset:
            del records[kept:]
            raise CorruptRecordException("a record lies behind its batch's last offset")
        self.next_offset = offset + 1
    if fault != FINE:
        raise CorruptRecordException(words_for(fault, bad, run.end - run.at))
    self.left -= <int32_t>(to_read - run.left)
    self.at = run.at
    self.read_bytes += run.at - kept_from
    return run.at - start


cdef int decode_columns(RecordCursor self, columns) except -1:
    """Append records of the open batch to `columns`. Raises: CorruptRecordException."""
    cdef Header *header = &self.header
    cdef object buffer = self.payload if self.has_payload_view else self.data
    cdef const uint8_t *start = self.bytes_
    cdef Py_ssize_t before, skipped, rows = len(columns)
    if self.has_payload_view:
        start = <const uint8_t *>self.payload_hold.view.buf
    before = self.at - start
    try:
        columns.decode(
            buffer,
            self.at - start,
            self.left,
            header.base_offset,
            header.last_offset,
            header.base_timestamp,
            header.attributes >> 3 & 1,
            header.max_timestamp,
            self.next_offset,
            self.end - start,
        )
    finally:
        if self.at != NULL:  # else the cursor was released meanwhile
            self.at = start + <Py_ssize_t>columns.position
            self.left -= <int32_t>columns.records_read
        self.next_offset = columns.next_offset
    skipped = columns.records_read - (len(columns) - rows)
    self.read_bytes += columns.position - before
    if skipped:
        self.read_bytes -= size_of_records(buffer, before, skipped)
    if not self.left:
        close_batch(self)
    return 0


# Messages of magic 0 and 1…


cdef int open_message(RecordCursor self, int64_t size) except -1:
    # In logs that brokers before 0.11 wrote; Kafka 4 converted them. Others need not load it.
    from aiokafka_lite.record.cursor.message_set import read_messages

    messages = read_messages(
        batch_view(self, size),
        check_crcs=self.check_crcs,
        max_decompressed_bytes=self.max_decompressed_bytes,
    )
    self.messages = [message for message in messages if message.offset >= self.next_offset]
    self.messages.reverse()
    return 0


cdef int64_t take_message(RecordCursor self, list records) except -1:
    """Append the next message; return about how many bytes it took."""
    message = self.messages.pop()
    records.append(message.record(self.topic, self.partition))
    self.next_offset = message.offset + 1
    self.read_bytes += message.size_in_bytes
    return message.size_in_bytes


cdef bint take_message_into(RecordCursor self, columns) except -1:
    """Append the next message to `columns`; return False without room for it."""
    message = self.messages[len(self.messages) - 1]
    if not columns.append(
        message.offset, message.timestamp, message.timestamp_type, message.key, message.value
    ):
        return False
    self.messages.pop()
    self.next_offset = message.offset + 1
    self.read_bytes += message.size_in_bytes
    return True


__all__ = ["RecordCursor"]
