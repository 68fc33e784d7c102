/* Sizes of varints, and memory for batches. */

#ifndef AIOKAFKA_LITE_BATCH_MEMORY_H
#define AIOKAFKA_LITE_BATCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; earlier ones refuse it */
#endif
#endif

/* How many bytes the varint of a number has: one for each seven bits. */
static inline int alk_varint_bytes(uint64_t raw)
{
#if defined(__GNUC__) || defined(__clang__)
    int highest = 63 - __builtin_clzll(raw | 1);
    return (highest * 9 + 73) >> 6;
#else
    int size = 1;
    while (raw > 0x7F) {
        raw >>= 7;
        size++;
    }
    return size;
#endif
}

/* Ask for the pages of memory that will be written: one call costs less than a fault for each. */
static inline void alk_populate(char *data, size_t size)
{
#if defined(__linux__)
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)data + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)data + size) & ~(page - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_POPULATE_WRITE);
#else
    (void)data;
    (void)size;
#endif
}

#endif
