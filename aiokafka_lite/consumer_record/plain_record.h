/* The fields of a record of magic 2, in place: for the native reader. Safe to call without the GIL. */
#ifndef AIOKAFKA_LITE_PLAIN_RECORD_H
#define AIOKAFKA_LITE_PLAIN_RECORD_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t timestamp_delta;
    int64_t offset_delta;
    const uint8_t *key; /* its size is -1 for a record without a key */
    int64_t key_size;
    const uint8_t *value;
    int64_t value_size;
    const uint8_t *headers; /* NULL: the record has no headers */
    const uint8_t *end;
} AlkRawRecord;

/* A stretch of a batch, of which the plain records are made in one go. */
typedef struct {
    const uint8_t *at;   /* where the next record is; it moves behind each that was made */
    const uint8_t *end;  /* of the batch */
    const uint8_t *stop; /* no record is made that begins here or behind */
    int64_t left;        /* how many may be made yet */
    int64_t base_offset;
    int64_t first_offset; /* a record before it is not made, nor any behind that */
    int64_t base_timestamp;
    int64_t timestamp_mask; /* 0: all records have the base timestamp; else -1 */
} AlkPlainRun;

/* Read a varint of up to three bytes, and leave the function where it is longer. */
#define ALK_SHORT_VARINT(at, raw)                                \
    do {                                                         \
        (raw) = *(at)++;                                         \
        if ((raw) & 0x80) {                                      \
            uint32_t next = *(at)++;                             \
            (raw) = (raw) + (next << 7) - 0x80;                  \
            if (next & 0x80) {                                   \
                next = *(at)++;                                  \
                (raw) = (raw) + (next << 14) - 0x4000;           \
                if (next & 0x80)                                 \
                    return 0;                                    \
            }                                                    \
        }                                                        \
    } while (0)

static inline int64_t alk_signed(uint32_t raw)
{
    return (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
}

/* The most bytes that the small numbers of a plain record take, and those of them behind its key. */
enum { ALK_PLAIN_NUMBERS = 20, ALK_PLAIN_BEHIND_KEY = 4 };

/* Read a record as most are: small numbers, and no headers. Return 0 for any other one, whatever is
 * wrong with it: the reader then looks at each byte. Needs ALK_PLAIN_NUMBERS bytes before `end`.
 *
 * The bounds of the many small numbers are checked together, which halves the work of a record. */
static inline int alk_read_plain_record(const uint8_t *at, const uint8_t *end, AlkRawRecord *record)
{
    uint32_t size, timestamp, offset, key, value;
    const uint8_t *body;
    ALK_SHORT_VARINT(at, size);
    body = at++; /* one byte of attributes, all unused */
    ALK_SHORT_VARINT(at, timestamp);
    ALK_SHORT_VARINT(at, offset);
    ALK_SHORT_VARINT(at, key);
    record->key = at;
    if (key & 1) {
        if (key != 1)
            return 0;
        record->key_size = -1;
    } else {
        record->key_size = key >> 1;
        if (end - at < record->key_size + ALK_PLAIN_BEHIND_KEY)
            return 0;
        at += record->key_size;
    }
    ALK_SHORT_VARINT(at, value);
    record->value = at;
    if (value & 1) {
        if (value != 1)
            return 0;
        record->value_size = -1;
    } else {
        record->value_size = value >> 1;
        if (end - at <= record->value_size)
            return 0;
        at += record->value_size;
    }
    if (*at++ != 0 || 2 * (at - body) != (ptrdiff_t)size) /* zigzag: a size is doubled */
        return 0;
    record->timestamp_delta = alk_signed(timestamp);
    record->offset_delta = alk_signed(offset);
    record->headers = NULL;
    record->end = at;
    return 1;
}

#endif
