/* Zigzag varints, read within bounds: for the native leaves. Safe to call without the GIL. */
#ifndef AIOKAFKA_LITE_VARINT_H
#define AIOKAFKA_LITE_VARINT_H

#include <stdint.h>

enum {
    ALK_VARINT_FINE = 0,
    ALK_VARINT_CUT = -1,  /* the data ends within it */
    ALK_VARINT_LONG = -2, /* it goes on for longer than max_bytes */
};

/* Read the varint at *at into *value and move *at behind it; nothing at or behind `end` is read.
 * Five bytes hold 32 bits, ten 64; what a tenth byte has beyond the 64th bit is ignored. */
static inline int alk_read_varint(const uint8_t **at, const uint8_t *end, int max_bytes,
                                  int64_t *value)
{
    const uint8_t *p = *at;
    uint64_t raw = 0;
    for (int i = 0; i < max_bytes; i++) {
        if (p >= end)
            return ALK_VARINT_CUT;
        uint8_t byte = *p++;
        raw |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *at = p;
            *value = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
            return ALK_VARINT_FINE;
        }
    }
    return ALK_VARINT_LONG;
}

#endif
