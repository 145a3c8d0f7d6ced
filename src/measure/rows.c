#include "base/text.h"
#include "base/xalloc.h"
#include "measure/meter_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char HEADER[] = "source,gpu,engine,operator,number_format,m,n,k,phase,kv_bits,batch,context,heads,kv_heads,head_dim,"
                             "bytes,clock_set_mhz,clock_mhz,clock_limit,quantity,value,unit,repeats,far_out,spread,split\n";
static const char SOURCE[] = "dse-measure";
enum { KV_BITS = 16 };

/* A text of somebody else's in one line. */
static void add_comment(struct text *t, const char *s)
{
    for (; *s; s++) text_add_bytes(t, (unsigned char)*s >= ' ' ? s : " ", 1);
}

/* In one cell. */
static void add_plain(struct text *t, const char *s)
{
    for (; *s; s++) {
        const bool harmless = (unsigned char)*s >= ' ' && *s != ',' && *s != '"' && *s != 0x7f;
        text_add_bytes(t, harmless ? s : " ", 1);
    }
}

/* ---- the head ------------------------------------------------------------------------------------------------------------ */

static void add_known(struct text *t, const char *before, double v, const char *unit)
{
    if (v > 0) text_addf(t, "%s%.6g%s", before, v, unit);
}

static void add_line(struct text *t, const char *before, const char *s)
{
    if (!*s) return;
    text_addf(t, "# %s: ", before);
    add_comment(t, s);
    text_add(t, "\n");
}

static void add_machine(struct text *t, const struct meter_machine *m)
{
    text_add(t, "# machine: ");
    add_comment(t, m->name);
    text_addf(t, ", %lld SMs, compute capability %d.%d", (long long)m->sms, m->major, m->minor);
    add_known(t, ", ", m->capacity_gib, " GiB");
    add_known(t, ", L2 ", m->l2_mib, " MiB");
    add_known(t, ", memory bus ", (double)m->bus_bits, " bit");
    text_addf(t, ", ECC %s\n", m->has_ecc ? "on" : "off");
    add_line(t, "driver", m->driver);
    add_line(t, "software", m->software);
    text_add(t, "# clocks: ");
    add_known(t, "SMs at most ", m->clock_mhz, " MHz");
    add_known(t, ", memory ", m->memory_mhz, " MHz");
    add_known(t, "; power limit ", m->limit_w, " W");
    add_known(t, ", by default ", m->default_limit_w, " W");
    add_known(t, ", from ", m->lowest_limit_w, " W");
    add_known(t, " to ", m->highest_limit_w, " W");
    text_add(t, "\n");
    add_line(t, "host", m->host);
}

static const char *const ends[] = {
    [METER_WHOLE] = "all", [METER_STOPPED] = "interrupted", [METER_LATE] = "out of time", [METER_BROKEN] = "the device failed"};

static size_t count_done(const struct meter_result *results, size_t n)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) done += results[i].is_done;
    return done;
}

static void add_left_out(struct text *t, const struct meter_point *points, const struct meter_result *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (results[i].is_done || !*results[i].reason) continue;
        char *what = meter_point_text(&points[i]), *line = xasprintf("%s: %s", what, results[i].reason);
        add_line(t, "left out", line);
        free(line);
        free(what);
    }
}

static void add_head(struct text *t, const struct meter_device *d, const struct meter_about *about,
                     const struct meter_point *points, const struct meter_result *results, size_t n, enum meter_end end)
{
    text_addf(t, "# source: measured by %s measure on %s; licence: ", about->tool, about->date);
    add_comment(t, about->licence);
    text_add(t, "\n");
    add_machine(t, &d->machine);
    text_add(
        t, "# how: a number is the median of its repeats (far_out of them further off than 5 deviations and 2 %; spread: standard "
           "deviation over the median); weights and KV caches come from DRAM, numbers are random, CUDA graphs but for launches; "
           "read, write and copy go over one buffer again and again, of which copy counts both ways; power: mean of the whole "
           "board over some seconds\n");
    text_addf(t, "# measured: %zu of %zu points%s%s\n", count_done(results, n), n, end == METER_WHOLE ? "" : ", ",
              end == METER_WHOLE ? "" : ends[end]);
    add_left_out(t, points, results, n);
    text_add(t, HEADER);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static void add_count(struct text *t, bool is_there, int64_t v)
{
    if (is_there) text_addf(t, "%lld", (long long)v);
    text_add(t, ",");
}

static void add_number(struct text *t, double v)
{
    if (!isnan(v)) text_addf(t, "%.5g", v);
    text_add(t, ",");
}

/* The columns that say what was measured. */
static void add_conditions(struct text *t, const struct meter_device *d, const char *gpu, const struct meter_point *p,
                           const struct meter_result *r)
{
    const bool matmul = p->work == METER_MATMUL, decode = p->work == METER_DECODE;
    text_addf(t, "%s,", SOURCE);
    add_plain(t, gpu);
    text_add(t, ",");
    add_plain(t, d->machine.engines[p->work]);
    text_addf(t, ",%s,%s,", meter_work_names[p->work],
              matmul   ? meter_format_names[p->format]
              : decode ? meter_format_names[METER_FP16]
                       : "");
    add_count(t, matmul, p->m);
    add_count(t, matmul, p->n);
    add_count(t, matmul, p->k);
    text_add(t, decode ? "decode," : ",");
    add_count(t, decode, KV_BITS);
    add_count(t, decode, p->batch);
    add_count(t, decode, p->context);
    add_count(t, decode, p->heads);
    add_count(t, decode, p->kv_heads);
    add_count(t, decode, p->head_dim);
    add_count(t, p->bytes > 0, p->bytes);
    add_number(t, r->set_mhz);
    add_number(t, r->clock_mhz);
    text_addf(t, "%s,", r->limit);
}

static void add_time(struct text *t, const struct meter_point *p, const struct meter_summary *time)
{
    const bool streams = p->work <= METER_COPY;
    text_addf(t, "%s,%.5g,%s,%zu,%zu,%.2g,", streams ? "bandwidth" : "time",
              streams ? 1e-9 * meter_point_bytes(p) / time->median : 1e6 * time->median, streams ? "GB/s" : "us", time->n,
              time->far_out, time->spread);
}

static void add_rows(struct text *t, const struct meter_device *d, const char *gpu, const struct meter_point *p,
                     const struct meter_result *r)
{
    const char *split = p->calibrate ? "calibrate" : "test";
    if (p->kind == METER_POWER) {
        add_conditions(t, d, gpu, p, r);
        text_addf(t, "power,%.5g,W,,,,%s\n", r->power_w, split);
    }
    if (r->time.n == 0 || (p->kind == METER_POWER && p->clock_share <= 0)) return; /* it stands there as a time of its own */
    add_conditions(t, d, gpu, p, r);
    add_time(t, p, &r->time);
    text_addf(t, "%s\n", split);
}

char *meter_rows(const struct meter_device *device, const struct meter_about *about, const struct meter_point *points,
                 const struct meter_result *results, size_t n, enum meter_end end)
{
    struct text t;
    text_init(&t);
    add_head(&t, device, about, points, results, n, end);
    for (size_t i = 0; i < n; i++)
        if (results[i].is_done) add_rows(&t, device, about->gpu, &points[i], &results[i]);
    return text_detach(&t);
}
