#include "model/breakdown.h"

#include <dse/units.h>

#include <math.h>

static double metric(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

/* Tokens that a step yields: batch, or batch times context of a prefill, in the mean over a request. */
static double tokens_of(const struct model *m, const void *metrics)
{
    double tokens = metric(m, metrics, "tokens_per_s") * metric(m, metrics, "latency_us") / DSE_US_PER_S;
    return tokens > 0 ? tokens : (double)NAN;
}

static struct part_row row_of(const struct dse_part *part, double tokens, double step_us)
{
    return (struct part_row){
        .part = part->name,
        .bound = part->bound,
        .depth = part->depth,
        .time_us = part->time_us,
        .share = step_us > 0 ? part->time_us / step_us : 0,
        .dram_mib = part->dram_bytes / DSE_MIB / tokens,
        .gop = part->ops / DSE_GIGA / tokens,
        .energy_mj = part->energy_mj / tokens,
    };
}

static struct dse_part sum_of(const struct dse_breakdown *b)
{
    struct dse_part sum = {.name = "total", .depth = -1};
    for (int i = 0; i < b->n; i++) {
        const struct dse_part *part = &b->part[i];
        if (part->depth != 0) continue;
        sum.time_us += part->time_us;
        sum.dram_bytes += part->dram_bytes;
        sum.ops += part->ops;
        sum.energy_mj += part->energy_mj;
    }
    return sum;
}

struct part_row breakdown_row(const struct model *m, const void *metrics, const struct dse_breakdown *b, int i)
{
    return row_of(&b->part[i], tokens_of(m, metrics), sum_of(b).time_us);
}

struct part_row breakdown_total(const struct model *m, const void *metrics, const struct dse_breakdown *b)
{
    struct dse_part sum = sum_of(b);
    return row_of(&sum, tokens_of(m, metrics), sum.time_us);
}

struct cause_row breakdown_cause(const struct model *m, const void *metrics, const struct dse_breakdown *b, int i)
{
    double all = 0;
    for (int k = 0; k < b->n_causes; k++) all += b->cause[k].energy_mj;
    const struct dse_cause *c = &b->cause[i];
    return (struct cause_row){c->name, c->energy_mj / tokens_of(m, metrics), all > 0 ? c->energy_mj / all : 0};
}
