/* The hash Java's client partitions by: org.apache.kafka.common.utils.Utils.murmur2. */
#ifndef AIOKAFKA_LITE_MURMUR2_H
#define AIOKAFKA_LITE_MURMUR2_H

#include <stddef.h>
#include <stdint.h>

/* Return the 32 bits Java returns signed; a key's partition is the remainder of those without the
 * sign bit. */
static inline uint32_t alk_murmur2(const uint8_t *data, size_t n)
{
    const uint32_t m = 0x5BD1E995u;
    uint32_t h = 0x9747B28Cu ^ (uint32_t)n;
    for (; n >= 4; n -= 4, data += 4) {
        uint32_t k = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                     (uint32_t)data[3] << 24;
        k *= m;
        k ^= k >> 24;
        h = (h * m) ^ (k * m);
    }
    if (n == 3)
        h ^= (uint32_t)data[2] << 16;
    if (n >= 2)
        h ^= (uint32_t)data[1] << 8;
    if (n >= 1)
        h = (h ^ data[0]) * m;
    h ^= h >> 13;
    h *= m;
    return h ^ (h >> 15);
}

#endif
