#include "cli/measure_report.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "cli/progress.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plan ------------------------------------------------------------------------------------------------------------ */

static void print_points(const struct meter_point *points, size_t n, enum output_format format)
{
    static const char *const columns[] = {"kind", "what", "seconds", "split"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        char *what = meter_point_text(&points[i]);
        output_text(o, meter_kind_names[points[i].kind]);
        output_text(o, what);
        output_f64(o, points[i].seconds);
        output_text(o, points[i].calibrate ? "calibrate" : "test");
        free(what);
    }
    output_end(o);
}

/* What is varied in a kind, in words. */
static const char *const kind_texts[] = {
    [METER_BANDWIDTH] = "reading, writing and copying 4 MiB to 4 GiB: the cache's speed, then the memory's",
    [METER_GEMM] = "matrix products of 1 to 4096 rows by the layers of Llama 3 8B and others, bf16 and fp16 (cuBLAS)",
    [METER_ATTENTION] = "a decode step of 1 to 256 sequences over 128 to 131072 positions, 4 kinds of heads (a kernel of dse)",
    [METER_LAUNCH] = "a kernel that does nothing: from the host, in a CUDA graph, and there and back",
    [METER_POWER] = "what the board draws idle, streaming, computing and serving; with --clocks at lower clocks, too",
};

static void print_kinds(const struct meter_point *points, size_t n)
{
    static const char *const columns[] = {"KIND", "POINTS", "TIME", "WHAT"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (int k = 0; k < METER_KINDS; k++) {
        size_t count = 0;
        double seconds = 0;
        char buf[32];
        for (size_t i = 0; i < n; i++) {
            if ((int)points[i].kind != k) continue;
            count++;
            seconds += meter_plan_seconds(&points[i], 1);
        }
        if (count == 0) continue;
        output_text(o, meter_kind_names[k]);
        output_i64(o, (int64_t)count);
        output_text(o, progress_duration(buf, seconds));
        output_text(o, kind_texts[k]);
    }
    output_end(o);
    char all[32];
    printf("\n%zu points in about %s; --format csv lists them.\n", n, progress_duration(all, meter_plan_seconds(points, n)));
}

void measure_print_plan(const struct meter_point *points, size_t n, enum output_format format)
{
    if (format == OUTPUT_TABLE)
        print_kinds(points, n);
    else
        print_points(points, n, format);
}

/* ---- what was reached ---------------------------------------------------------------------------------------------------- */

struct best {
    const char *what, *unit;
    double value, peak; /* NaN: none */
    const struct meter_point *at;
};

/* Take what a point reached, if it is better. */
static void take(struct best *b, double value, bool more, const struct meter_point *p)
{
    if (!isnan(b->value) && (more ? value <= b->value : value >= b->value)) return;
    b->value = value;
    b->at = p;
}

enum { READ, MATMUL, DECODE, STREAM, NODE, GRAPH, TRIP, IDLE, READING, COMPUTING, BESTS };

static void look_at(struct best best[BESTS], const struct meter_point *p, const struct meter_result *r)
{
    static const double LARGE = 256e6; /* beyond every last-level cache */
    if (p->kind == METER_POWER && p->clock_share <= 0) {
        if (p->work == METER_IDLE) take(&best[IDLE], r->power_w, false, p);
        if (p->work == METER_READ) take(&best[READING], r->power_w, true, p);
        if (p->work == METER_MATMUL) take(&best[COMPUTING], r->power_w, true, p);
        return;
    }
    if (p->kind == METER_POWER) return;
    const double s = r->time.median;
    if (p->work == METER_READ && meter_point_bytes(p) > LARGE) take(&best[READ], 1e-9 * meter_point_bytes(p) / s, true, p);
    if (p->work == METER_MATMUL) take(&best[MATMUL], 1e-12 * meter_point_flops(p) / s, true, p);
    if (p->work == METER_DECODE && meter_point_bytes(p) > LARGE) take(&best[DECODE], 1e-9 * meter_point_bytes(p) / s, true, p);
    if (p->kind == METER_LAUNCH) take(&best[STREAM + p->work - METER_LAUNCH_STREAM], 1e6 * s, false, p);
}

void measure_print_best(const struct meter_point *points, const struct meter_result *results, size_t n, const struct dse_gpu *gpu,
                        enum output_format format)
{
    struct best best[BESTS] = {
        [READ] = {"read", "GB/s"},
        [MATMUL] = {"matmul", "Tflop/s"},
        [DECODE] = {"attention, KV read", "GB/s"},
        [STREAM] = {"launch", "us"},
        [NODE] = {"node of a graph", "us"},
        [GRAPH] = {"launch of a graph", "us"},
        [TRIP] = {"launch and wait", "us"},
        [IDLE] = {"power, idle", "W"},
        [READING] = {"power, read", "W"},
        [COMPUTING] = {"power, matmul", "W"},
    };
    static const char *const columns[] = {"WHAT", "REACHED", "UNIT", "CATALOG", "SHARE", "AT"};
    static const char *const keys[] = {"what", "reached", "unit", "catalog", "share", "at"};
    for (int i = 0; i < BESTS; i++) best[i].value = best[i].peak = NAN;
    if (gpu) {
        best[READ].peak = best[DECODE].peak = gpu->bandwidth_gbs;
        best[MATMUL].peak = gpu->tensor_tflops;
        best[IDLE].peak = gpu->power.idle_w;
        best[READING].peak = best[COMPUTING].peak = gpu->board_power_w;
    }
    for (size_t i = 0; i < n; i++)
        if (results[i].is_done) look_at(best, &points[i], &results[i]);
    struct output *o = output_new(stdout, format, format == OUTPUT_TABLE ? columns : keys, sizeof columns / sizeof *columns);
    for (int i = 0; i < BESTS; i++) {
        if (isnan(best[i].value)) continue;
        char *at = meter_point_text(best[i].at);
        output_text(o, best[i].what);
        output_f64(o, best[i].value);
        output_text(o, best[i].unit);
        output_f64(o, best[i].peak);
        output_f64(o, best[i].value / best[i].peak);
        output_text(o, at);
        free(at);
    }
    output_end(o);
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

/* The word s[0..n) in `text`, whatever its case, between characters that are no letters or digits. */
static bool has_word(const char *text, const char *s, size_t n)
{
    for (const char *at = text; *at; at++) {
        const bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && strncasecmp(at, s, n) == 0 && !isalnum((unsigned char)at[n])) return true;
    }
    return false;
}

/* How many words a catalog's name has, if the machine's has them all; else 0. Boards for PCIe are others than those without. */
static int words_in(const char *name, const char *machine)
{
    int words = 0;
    if (has_word(machine, "pcie", 4) && !has_word(name, "pcie", 4)) return 0;
    for (size_t n; *name; name += n + (name[n] == '-')) {
        n = strcspn(name, "-");
        if (!has_word(machine, name, n)) return 0;
        words++;
    }
    return words;
}

const struct dse_gpu *measure_find_gpu(const struct catalog *c, const struct meter_machine *m)
{
    const struct dse_gpu *best = NULL;
    int most = 0;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, DSE_KIND_GPU, i)) != NULL; i++) {
        const struct dse_gpu *g = (const struct dse_gpu *)e;
        const int words = words_in(e->name, m->name);
        if (words <= most || g->sms != m->sms || fabs(m->capacity_gib / g->capacity_gib - 1) > 0.1) continue;
        best = g;
        most = words;
    }
    return best;
}
