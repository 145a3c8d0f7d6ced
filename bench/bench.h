/* What all benches share: clocks, the short form, and rows of docs/speed.md's table, which bench/run.sh collects. */
#ifndef BENCH_H
#define BENCH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds of this process, all its threads. */
static inline double cpu_s(void)
{
    return bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double cpu_ns(void)
{
    return 1e9 * cpu_s();
}

static inline double wall_s(void)
{
    return bench_clock_s(CLOCK_MONOTONIC);
}

/* How much to do: `full`, or `brief` in the short form (DSE_BENCH_SHORT=1), which shows that a bench works; its numbers are no
 * measurements. */
static inline int bench_size(int full, int brief)
{
    static int is_short = -1;
    if (is_short < 0) {
        const char *s = getenv("DSE_BENCH_SHORT");
        is_short = s && *s;
    }
    return is_short ? brief : full;
}

/* A row of the table: "what" (TAB) what was measured, in parts with commas between; at the end of the file DSE_BENCH_ROWS, or,
 * without one, nowhere. */
struct bench_row {
    FILE *file;
    int parts;
};

static inline struct bench_row bench_row_open(const char *what)
{
    const char *path = getenv("DSE_BENCH_ROWS");
    FILE *file = fopen(path && *path ? path : "/dev/null", "a");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "%s\t", what);
    return (struct bench_row){.file = file};
}

__attribute__((format(printf, 2, 3))) static inline void bench_part(struct bench_row *r, const char *format, ...)
{
    va_list args;
    if (r->parts++) fputs(", ", r->file);
    va_start(args, format);
    vfprintf(r->file, format, args);
    va_end(args);
}

static inline void bench_row_close(const struct bench_row *r)
{
    putc('\n', r->file);
    if (fclose(r->file) == 0) return;
    perror("the row of a bench");
    exit(1);
}

#endif
