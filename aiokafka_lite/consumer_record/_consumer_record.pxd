from libc.stdint cimport int32_t, int64_t, uint8_t


cdef extern from "aiokafka_lite/consumer_record/plain_record.h":
    ctypedef struct RawRecord "AlkRawRecord":
        int64_t timestamp_delta
        int64_t offset_delta
        const uint8_t *key
        int64_t key_size
        const uint8_t *value
        int64_t value_size
        const uint8_t *headers
        const uint8_t *end

    ctypedef struct PlainRun "AlkPlainRun":
        const uint8_t *at
        const uint8_t *end
        const uint8_t *stop
        int64_t left
        int64_t base_offset
        int64_t first_offset
        int64_t base_timestamp
        int64_t timestamp_mask


cdef class RecordOrigin:
    cdef object topic, partition, timestamp_type, checksum
    cdef dict odd
    cdef int32_t delivery_count


cdef class ConsumerRecord:
    cdef object key_, value_
    cdef object headers_
    cdef RecordOrigin origin
    cdef dict __dict__
    cdef int64_t offset_, timestamp_
    cdef int32_t key_size, value_size


cdef RecordOrigin make_origin(object topic, object partition, object timestamp_type)

cdef object make_record(
    RecordOrigin origin, int64_t offset, int64_t timestamp, const uint8_t *key, int32_t key_size,
    const uint8_t *value, int32_t value_size, object headers
)

cdef int make_plain_records(RecordOrigin origin, PlainRun *run, list records) except -1
