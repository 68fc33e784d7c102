/* CRC-32C for the native leaves, by the processor's own instruction where it has one.
 *
 * x86-64: SSE4.2's crc32 on three parts of the data at a time, since each step waits three cycles
 * for the one before; the parts are joined by carry-less multiplication. ARMv8: its crc32c
 * instructions. Elsewhere, and where the compiler is neither gcc nor clang: slicing by 8.
 * Which one is decided at first use. Safe to call without the GIL.
 */
#ifndef AIOKAFKA_LITE_CRC32C_H
#define AIOKAFKA_LITE_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define ALK_CRC32C_SSE42 1
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#define ALK_CRC32C_ARMV8 1
#if defined(__linux__) && !defined(__ARM_FEATURE_CRC32)
#include <sys/auxv.h>
#endif
#endif

#if defined(__GNUC__)
#define ALK_LOAD(where) __atomic_load_n(&(where), __ATOMIC_ACQUIRE)
#define ALK_STORE(where, what) __atomic_store_n(&(where), (what), __ATOMIC_RELEASE)
#else /* a volatile access orders as much with MSVC on x86, and the GIL does the rest */
#define ALK_LOAD(where) (*(volatile int *)&(where))
#define ALK_STORE(where, what) (*(volatile int *)&(where) = (what))
#endif

/* -- Everywhere: slicing by 8 (Kounavis and Berry, 2005); endianness does not matter. */

static uint32_t alk_crc32c_tables[8][256];
static int alk_crc32c_tables_made;

/* Two threads at once write the same numbers. */
static inline void alk_crc32c_make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0);
        alk_crc32c_tables[0][byte] = crc;
    }
    for (int table = 1; table < 8; table++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t crc = alk_crc32c_tables[table - 1][byte];
            alk_crc32c_tables[table][byte] = alk_crc32c_tables[0][crc & 0xFF] ^ (crc >> 8);
        }
    ALK_STORE(alk_crc32c_tables_made, 1);
}

static inline uint32_t alk_crc32c_by_table(uint32_t crc, const uint8_t *data, size_t n)
{
    if (!ALK_LOAD(alk_crc32c_tables_made))
        alk_crc32c_make_tables();
    const uint32_t(*t)[256] = (const uint32_t(*)[256])alk_crc32c_tables;
    crc = ~crc;
    for (; n >= 8; n -= 8, data += 8) {
        uint32_t low = crc ^ (data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                              (uint32_t)data[3] << 24);
        crc = t[7][low & 0xFF] ^ t[6][low >> 8 & 0xFF] ^ t[5][low >> 16 & 0xFF] ^ t[4][low >> 24] ^
              t[3][data[4]] ^ t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
    }
    for (; n > 0; n--, data++)
        crc = t[0][(crc ^ *data) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

/* -- The processor's instruction. */

#if defined(ALK_CRC32C_SSE42)

static inline uint64_t alk_crc32c_word(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, 8);
    return word;
}

/* Go on over as many three parts of `part` bytes each as there are. The checksums of the first two
 * are moved over what follows them: multiplied by x^(8 * bytes - 33) modulo the polynomial, in
 * reflected bits; one crc32 instruction does what is left of both divisions. */
__attribute__((target("sse4.2,pclmul"), always_inline)) static inline uint64_t
alk_crc32c_three_parts(uint64_t first, const uint8_t **data, size_t *n, const size_t part,
                       const uint32_t move_two, const uint32_t move_one)
{
    for (; *n >= 3 * part; *n -= 3 * part, *data += 3 * part) {
        const uint8_t *here = *data;
        uint64_t second = 0, third = 0;
        for (size_t at = 0; at < part; at += 8) {
            first = _mm_crc32_u64(first, alk_crc32c_word(here + at));
            second = _mm_crc32_u64(second, alk_crc32c_word(here + part + at));
            third = _mm_crc32_u64(third, alk_crc32c_word(here + 2 * part + at));
        }
        __m128i over_two = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)first),
                                                _mm_cvtsi32_si128((int)move_two), 0);
        __m128i over_one = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)second),
                                                _mm_cvtsi32_si128((int)move_one), 0);
        uint64_t moved = (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(over_two, over_one));
        first = _mm_crc32_u64(0, moved) ^ third;
    }
    return first;
}

__attribute__((target("sse4.2,pclmul"))) static inline uint32_t
alk_crc32c_by_instruction(uint32_t crc, const uint8_t *data, size_t n)
{
    uint64_t first = (uint32_t)~crc;
    first = alk_crc32c_three_parts(first, &data, &n, 1024, 0xA51B6135u, 0x170076FAu);
    first = alk_crc32c_three_parts(first, &data, &n, 128, 0xB9E02B86u, 0x0D3B6092u);
    for (; n >= 8; n -= 8, data += 8)
        first = _mm_crc32_u64(first, alk_crc32c_word(data));
    for (; n > 0; n--, data++)
        first = _mm_crc32_u8((uint32_t)first, *data);
    return ~(uint32_t)first;
}

static inline int alk_crc32c_find_instruction(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#elif defined(ALK_CRC32C_ARMV8)

/* In assembler: what the intrinsics are called and need differs from compiler to compiler. */
static inline uint32_t alk_crc32c_by_instruction(uint32_t crc, const uint8_t *data, size_t n)
{
    crc = ~crc;
    for (; n >= 8; n -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    }
    for (; n > 0; n--, data++)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*data));
    return ~crc;
}

static inline int alk_crc32c_find_instruction(void)
{
#if defined(__ARM_FEATURE_CRC32)
    return 1; /* the compiler was told so, as on every Mac */
#elif defined(__linux__)
    return (getauxval(AT_HWCAP) & (1ul << 7)) != 0; /* HWCAP_CRC32 */
#else
    return 0;
#endif
}

#else

#define alk_crc32c_by_instruction alk_crc32c_by_table

static inline int alk_crc32c_find_instruction(void)
{
    return 0;
}

#endif

static int alk_crc32c_instruction; /* 0: not looked yet, 1: none, 2: there is one */

static inline int alk_crc32c_has_instruction(void)
{
    int state = ALK_LOAD(alk_crc32c_instruction);
    if (!state) {
        state = 1 + alk_crc32c_find_instruction();
        ALK_STORE(alk_crc32c_instruction, state);
    }
    return state == 2;
}

/* Return the CRC-32C of `n` bytes, going on from `crc` (the CRC of what came before, 0 at first). */
static inline uint32_t alk_crc32c(uint32_t crc, const uint8_t *data, size_t n)
{
    return alk_crc32c_has_instruction() ? alk_crc32c_by_instruction(crc, data, n)
                                        : alk_crc32c_by_table(crc, data, n);
}

#endif
