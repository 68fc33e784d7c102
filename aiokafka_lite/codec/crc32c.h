/* CRC-32C for the native leaves, by the processor's own instruction if it has one.
 *
 * x86-64: SSE4.2's crc32 on three parts of the data in turn, since each step waits three cycles for
 * the step before. Carry-less multiplication joins the parts. With AVX-512 and VPCLMULQDQ that
 * multiplication does nearly all the work, 256 bytes at a time, three times as fast.
 * ARMv8: its crc32c instructions. Other processors and compilers: slicing by 8.
 * The first use chooses the routine. Safe to call without the GIL.
 */
#ifndef AIOKAFKA_LITE_CRC32C_H
#define AIOKAFKA_LITE_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define ALK_CRC32C_SSE42 1
#include <immintrin.h>
#if defined(__clang__) && __clang_major__ >= 14 /* clang has a separate feature for crc32 */
#define ALK_SSE42 "sse4.2,crc32,pclmul"
#else
#define ALK_SSE42 "sse4.2,pclmul"
#endif
#if defined(__clang__) ? __clang_major__ >= 8 : __GNUC__ >= 9
#define ALK_CRC32C_AVX512 1
#endif
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#define ALK_CRC32C_ARMV8 1
#if defined(__linux__) && !defined(__ARM_FEATURE_CRC32)
#include <sys/auxv.h>
#endif
#endif

#if defined(__GNUC__)
#define ALK_LOAD(where) __atomic_load_n(&(where), __ATOMIC_ACQUIRE)
#define ALK_STORE(where, what) __atomic_store_n(&(where), (what), __ATOMIC_RELEASE)
#else /* with MSVC on x86 a volatile access orders enough, given the GIL */
#define ALK_LOAD(where) (*(volatile int *)&(where))
#define ALK_STORE(where, what) (*(volatile int *)&(where) = (what))
#endif

/* -- Everywhere: slicing by 8 (Kounavis and Berry, 2005); endianness does not matter. */

static uint32_t alk_crc32c_tables[8][256];
static int alk_crc32c_tables_made;

/* Two threads may fill the table at once: both write the same numbers. */
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
__attribute__((target(ALK_SSE42), always_inline)) static inline uint64_t
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

__attribute__((target(ALK_SSE42))) static inline uint32_t
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

#if defined(ALK_CRC32C_AVX512)

#define ALK_AVX512 __attribute__((target(ALK_SSE42 ",avx512f,vpclmulqdq")))

/* Fold `part` over `next`: move each 128 bits by the distance that `over` encodes, then xor. */
ALK_AVX512 static inline __m512i alk_crc32c_fold(__m512i part, __m512i over, __m512i next)
{
    __m512i low = _mm512_clmulepi64_epi128(part, over, 0x00);
    __m512i high = _mm512_clmulepi64_epi128(part, over, 0x11);
    return _mm512_ternarylogic_epi64(low, high, next, 0x96); /* xor of the three */
}

/* Source: Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ" (2009). To
 * move 128 bits over n bits their lower half is multiplied by x^(n + 31), their upper one by
 * x^(n - 33), modulo the polynomial, in reflected bits. Needs 256 bytes at least. */
ALK_AVX512 static inline uint32_t alk_crc32c_wide(uint32_t crc, const uint8_t *data, size_t n)
{
    const __m512i over_2048 = _mm512_set4_epi64(0xB9E02B86, 0xDCB17AA4, 0xB9E02B86, 0xDCB17AA4);
    const __m512i over_512 = _mm512_set4_epi64(0x9E4ADDF8, 0x740EEF02, 0x9E4ADDF8, 0x740EEF02);
    const __m512i to_the_last = /* 384, 256, 128 bits; the last stays where it is */
        _mm512_set_epi64(0, 0, 0x493C7D27, 0xF20C0DFE, 0xBA4FC28E, 0x3DA6D0CB, 0xDDC0152B,
                         0x1C291D04);
    __m512i a = _mm512_loadu_si512(data), b = _mm512_loadu_si512(data + 64);
    __m512i c = _mm512_loadu_si512(data + 128), d = _mm512_loadu_si512(data + 192);
    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
    for (data += 256, n -= 256; n >= 256; data += 256, n -= 256) {
        a = alk_crc32c_fold(a, over_2048, _mm512_loadu_si512(data));
        b = alk_crc32c_fold(b, over_2048, _mm512_loadu_si512(data + 64));
        c = alk_crc32c_fold(c, over_2048, _mm512_loadu_si512(data + 128));
        d = alk_crc32c_fold(d, over_2048, _mm512_loadu_si512(data + 192));
    }
    b = alk_crc32c_fold(a, over_512, b);
    c = alk_crc32c_fold(b, over_512, c);
    d = alk_crc32c_fold(c, over_512, d);
    for (; n >= 64; data += 64, n -= 64)
        d = alk_crc32c_fold(d, over_512, _mm512_loadu_si512(data));
    __m512i moved = alk_crc32c_fold(d, to_the_last, _mm512_setzero_si512());
    __m128i last = _mm_xor_si128(_mm512_extracti32x4_epi32(d, 3), _mm512_castsi512_si128(moved));
    last = _mm_xor_si128(last, _mm512_extracti32x4_epi32(moved, 1));
    last = _mm_xor_si128(last, _mm512_extracti32x4_epi32(moved, 2));
    uint64_t state = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(last));
    state = _mm_crc32_u64(state, (uint64_t)_mm_extract_epi64(last, 1));
    return alk_crc32c_by_instruction(~(uint32_t)state, data, n);
}

#endif

/* 1: no instruction, 2: crc32, 3: the wide multiplication as well. */
static inline int alk_crc32c_find_instruction(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul"))
        return 1;
#if defined(ALK_CRC32C_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq"))
        return 3;
#endif
    return 2;
}

#elif defined(ALK_CRC32C_ARMV8)

/* In assembler: the intrinsics' names and headers differ between compilers. */
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
    return 2; /* a compiler option says so, as on every Mac */
#elif defined(__linux__)
    return getauxval(AT_HWCAP) & (1ul << 7) ? 2 : 1; /* HWCAP_CRC32 */
#else
    return 1;
#endif
}

#else

#define alk_crc32c_by_instruction alk_crc32c_by_table

static inline int alk_crc32c_find_instruction(void)
{
    return 1;
}

#endif

static int alk_crc32c_instruction; /* 0: not determined yet, else a routine's number */

/* Return the best routine here, for alk_crc32c_by. */
static inline int alk_crc32c_best(void)
{
    int best = ALK_LOAD(alk_crc32c_instruction);
    if (!best) {
        best = alk_crc32c_find_instruction();
        ALK_STORE(alk_crc32c_instruction, best);
    }
    return best;
}

/* The same by one routine: from 1, the table, to the best one here. */
static inline uint32_t alk_crc32c_by(int routine, uint32_t crc, const uint8_t *data, size_t n)
{
#if defined(ALK_CRC32C_AVX512)
    if (routine == 3 && n >= 256)
        return alk_crc32c_wide(crc, data, n);
#endif
    return routine > 1 ? alk_crc32c_by_instruction(crc, data, n)
                       : alk_crc32c_by_table(crc, data, n);
}

/* Return the CRC-32C of `n` bytes, continuing from `crc` (the CRC of the bytes before, 0 at first). */
static inline uint32_t alk_crc32c(uint32_t crc, const uint8_t *data, size_t n)
{
    return alk_crc32c_by(alk_crc32c_best(), crc, data, n);
}

#endif
