/* The time of day in milliseconds, for code that asks for it with each record.
 *
 * The system's call took 23 ns in a virtual machine, a tenth of what a sent record costs. x86-64 has
 * a counter of constant rate, which took 10. While it says that the millisecond has not ended, the
 * answer is that of the call before. So a clock that was set is noticed a millisecond later at most.
 */
#ifndef AIOKAFKA_LITE_TIME_OF_DAY_H
#define AIOKAFKA_LITE_TIME_OF_DAY_H

#include <stdint.h>
#include <time.h>

/* The clock that goes on while the machine sleeps. Return 0 without one. */
static inline int alk_with_sleep(double *seconds)
{
#if defined(CLOCK_BOOTTIME)
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) == 0) {
        *seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
        return 1;
    }
#endif
    *seconds = 0;
    return 0;
}

/* Ask the system; `left_ns` is what is left of the millisecond. -1: it does not tell. */
static inline int64_t alk_system_ms(long *left_ns)
{
#if defined(CLOCK_REALTIME)
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0) {
        *left_ns = 1000000 - now.tv_nsec % 1000000;
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    }
#endif
    *left_ns = 0;
    return -1;
}

#if defined(__GNUC__) && defined(__x86_64__) && defined(CLOCK_MONOTONIC)

#include <cpuid.h>
#include <x86intrin.h>

#define ALK_SLOW_READ 1000 /* ticks; a virtual machine that emulates the counter takes more */
#define ALK_LONG_READ 100000 /* ticks; the thread was interrupted between two reads */
#define ALK_SHORTEST_NS 50000000 /* over which the rate is measured */
#define ALK_LONGEST_NS 1000000000

/* The counter and what it told. Read and written under the GIL. */
static struct {
    int64_t ms;          /* the answer of the newest call of the system, */
    uint64_t at, ticks;  /* made at this count, and right for so many ticks */
    double rate;         /* ticks in a nanosecond; 0: not known */
    uint64_t began;      /* where the measurement of the rate began, */
    int64_t began_ns;    /* at this time; 0: it did not begin */
    int is_constant;     /* whether the processor says so; 0: not asked yet, -1: it does not */
} alk_counter;

static inline void alk_measure_rate(uint64_t at)
{
    struct timespec now;
    unsigned int a, b, c, d;
    if (alk_counter.is_constant == 0)
        alk_counter.is_constant = __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8 ? 1 : -1;
    if (alk_counter.is_constant < 0 || __rdtsc() - at > ALK_SLOW_READ) {
        alk_counter.rate = 0;
        return;
    }
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || __rdtsc() - at > ALK_LONG_READ)
        return;
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t passed_ns = now_ns - alk_counter.began_ns;
    if (alk_counter.began_ns != 0 && passed_ns < ALK_SHORTEST_NS)
        return;
    if (alk_counter.began_ns != 0)
        alk_counter.rate = (double)(at - alk_counter.began) / (double)passed_ns;
    if (alk_counter.began_ns == 0 || passed_ns > ALK_LONGEST_NS) {
        alk_counter.began = at;
        alk_counter.began_ns = now_ns;
    }
}

/* The answer's time is counted from before the system was asked. A sixteenth of what is left is no
 * part of it, in case the rate is not exact. */
static inline int64_t alk_now_ms(void)
{
    uint64_t at = __rdtsc();
    if (at - alk_counter.at < alk_counter.ticks)
        return alk_counter.ms;
    alk_measure_rate(at);
    long left_ns;
    alk_counter.at = at;
    alk_counter.ms = alk_system_ms(&left_ns);
    alk_counter.ticks = (uint64_t)((double)left_ns * alk_counter.rate * 0.9375);
    return alk_counter.ms;
}

#else

static inline int64_t alk_now_ms(void)
{
    long left_ns;
    return alk_system_ms(&left_ns);
}

#endif

#endif
