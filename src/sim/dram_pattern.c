#include "sim/dram_pattern.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "desc/schema.h"
#include "sim/dram_lad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { SEQUENTIAL, RANDOM, STRIDE, COPY, LAD, KINDS };
enum arrival { EVENLY, POISSON };
static const char *const arrivals[] = {"even", "poisson", NULL};

struct settings {
    int64_t size, count, footprint, stride, offset, seed, context, heads, interleave, barriers;
    double write, load, interval_ns;
    int32_t arrival;
};

#define COUNT_MAX (INT64_C(1) << 50)
#define S struct settings
static const struct dse_param rows[] = {
    DSE_PARAM_I64_UNIT(S, size, "", 1, COUNT_MAX, "bytes of a request", ""),
    DSE_PARAM_I64(S, count, 1, COUNT_MAX, "requests; of copy, pairs of them", ""),
    DSE_PARAM_I64(S, footprint, 1, COUNT_MAX, "bytes that addresses spread over", ""),
    DSE_PARAM_I64(S, stride, 1, COUNT_MAX, "bytes from one request to the next", ""),
    DSE_PARAM_I64(S, offset, 0, COUNT_MAX, "bytes from what is read to what is written", ""),
    DSE_PARAM_I64(S, seed, 0, COUNT_MAX, "of all random numbers", ""),
    DSE_PARAM_I64(S, context, 64, 1 << 12, "positions of a head", ""),
    DSE_PARAM_I64(S, heads, 1, 64, "attention heads", ""),
    DSE_PARAM_I64(S, interleave, 1, 64, "heads at a time, in pieces of 256 bytes in turn; 1: one head after the other", ""),
    DSE_PARAM_I64(S, barriers, 0, 1, "1: every phase waits for the one before; with interleave=1", ""),
    DSE_PARAM_F64(S, write, "", 0, 1, "share of the requests that are writes", ""),
    DSE_PARAM_F64(S, load, "%", 0.001, 1000, "percent of the peak bandwidth that requests arrive at", ""),
    DSE_PARAM_F64(S, interval_ns, "ns", 0.001, 1e9, "from the arrival of a request to that of the next", ""),
    DSE_PARAM_ENUM(S, arrival, arrivals, "requests arrive evenly, or at random with that mean interval", ""),
    DSE_PARAM_END,
};
#undef S
#undef COUNT_MAX

/* Settings of a pattern, and what they are when not given. */
static const struct pattern {
    const char *name;
    const char *settings[10];
    struct settings defaults;
} patterns[KINDS] = {
    [SEQUENTIAL] = {"sequential",
                    {"size", "count", "write", "load", "interval_ns", "arrival", "seed"},
                    {.size = 4096, .count = 4096, .seed = 1}},
    [RANDOM] = {"random",
                {"size", "count", "footprint", "write", "load", "interval_ns", "arrival", "seed"},
                {.size = 64, .count = 262144, .footprint = INT64_C(1) << 32, .seed = 1}},
    [STRIDE] = {"stride",
                {"size", "count", "footprint", "stride", "write", "load", "interval_ns", "arrival", "seed"},
                {.size = 64, .count = 65536, .footprint = INT64_C(1) << 32, .stride = 4096, .seed = 1}},
    [COPY] = {"copy",
              {"size", "count", "offset", "load", "interval_ns", "arrival", "seed"},
              {.size = 4096, .count = 2048, .offset = INT64_C(1) << 30, .seed = 1}},
    [LAD] = {"lad",
             {"context", "heads", "interleave", "barriers", "seed"},
             {.context = 2048, .heads = 64, .interleave = 8, .seed = -1}},
};

struct dram_pattern {
    struct dram_source source;
    enum kind kind;
    struct settings s;
    double gap_ns;                              /* mean interval of arrivals; 0: all at once */
    double now_ns;                              /* arrival of the last request */
    uint64_t at;                                /* requests given */
    uint64_t address;                           /* stride: of the next */
    uint64_t state, arrival_state, write_state; /* of splitmix64 */
    struct dram_lad *lad;
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

struct parser {
    const char *text, *where;
    struct diags *diags;
    struct dram_pattern *p;
    struct schema schema;
};

static bool fault(const struct parser *r, const char *at, const char *hint, char *message)
{
    struct srcloc loc = {.file = r->where, .line = 1, .column = (int)(at - r->text) + 1};
    diags_input(r->diags, loc, r->text, hint, "%s", message);
    free(message);
    return false;
}

static char *list_of(const char *const *names, size_t n)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%s", i ? ", " : "", names[i]);
    return text_detach(&t);
}

static size_t count_settings(const struct pattern *p)
{
    size_t n = 0;
    while (p->settings[n]) n++;
    return n;
}

/* Read a number with a unit: "4KiB" is 4096. */
static bool parse_count(const char *s, int64_t *ret)
{
    static const struct {
        const char *suffix;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    size_t n = strlen(s);
    for (size_t i = 0; i < 3; i++) {
        if (n < 4 || strcmp(s + n - 3, units[i].suffix) != 0) continue;
        char *digits = xstrndup(s, n - 3);
        int64_t v = 0;
        bool ok = text_parse_i64(digits, &v) && v >= 0 && v <= INT64_MAX >> units[i].shift;
        free(digits);
        if (ok) *ret = v << units[i].shift;
        return ok;
    }
    return text_parse_i64(s, ret);
}

static bool set(const struct parser *r, const struct field *f, const char *at, const char *value)
{
    struct value v = {0};
    bool ok = false;
    if (f->type == DSE_TYPE_I64)
        ok = parse_count(value, &v.i64);
    else if (f->type == DSE_TYPE_F64)
        ok = text_parse_f64(value, &v.f64);
    else
        for (; f->choices[v.choice] && !(ok = strcmp(f->choices[v.choice], value) == 0); v.choice++) {
        }
    if (!ok) {
        char *allowed = field_allowed(f);
        fault(r, at, allowed, xasprintf("%s: \"%s\" is not allowed", f->name, value));
        free(allowed);
        return false;
    }
    struct srcloc loc = {.file = r->where, .line = 1, .column = (int)(at - r->text) + 1};
    if (!field_check(f, v, loc, r->text, NULL, r->diags)) return false;
    field_set(f, &r->p->s, v);
    return true;
}

/* Read one setting, NAME=VALUE. */
static bool read_setting(const struct parser *r, const char *at, size_t n)
{
    const struct pattern *p = &patterns[r->p->kind];
    size_t name_n = strcspn(at, "=,");
    char *word = xstrndup(at, n), *name = xstrndup(at, name_n);
    size_t known = count_settings(p), i = 0;
    while (i < known && strcmp(p->settings[i], name) != 0) i++;
    bool ok = false;
    if (name_n >= n) {
        fault(r, at, NULL, xasprintf("\"%s\" is not NAME=VALUE", word));
    } else if (i < known) {
        ok = set(r, schema_find(&r->schema, name), at + name_n + 1, word + name_n + 1);
    } else {
        const char *near = text_nearest(name, p->settings, known);
        char *all = list_of(p->settings, known);
        fault(r, at, all,
              near ? xasprintf("%s has no setting \"%s\"; did you mean %s?", p->name, name, near)
                   : xasprintf("%s has no setting \"%s\"", p->name, name));
        free(all);
    }
    free(name);
    free(word);
    return ok;
}

static bool read_name(struct parser *r, size_t n)
{
    const char *names[KINDS];
    char *word = xstrndup(r->text, n);
    int k = 0;
    for (int i = 0; i < KINDS; i++) names[i] = patterns[i].name;
    while (k < KINDS && strcmp(names[k], word) != 0) k++;
    if (k == KINDS) {
        const char *near = text_nearest(word, names, KINDS);
        char *all = list_of(names, KINDS);
        fault(r, r->text, all,
              near ? xasprintf("there is no pattern \"%s\"; did you mean %s?", word, near)
                   : xasprintf("there is no pattern \"%s\"", word));
        free(all);
    } else {
        r->p->kind = (enum kind)k;
        r->p->s = patterns[k].defaults;
    }
    free(word);
    return k < KINDS;
}

/* Check settings that depend on each other. */
static bool check(const struct parser *r)
{
    const struct settings *s = &r->p->s;
    const bool spread = r->p->kind == RANDOM || r->p->kind == STRIDE;
    if (spread && s->size > s->footprint)
        return fault(r, r->text, NULL,
                     xasprintf("size (%lld) is more than footprint (%lld)", (long long)s->size, (long long)s->footprint));
    if (s->load > 0 && s->interval_ns > 0) return fault(r, r->text, NULL, xstrdup("load and interval_ns say the same: give one"));
    if (s->arrival == POISSON && !(s->load > 0) && !(s->interval_ns > 0))
        return fault(r, r->text, NULL, xstrdup("arrival=poisson needs load or interval_ns"));
    if (s->barriers && s->interleave > 1)
        return fault(r, r->text, NULL, xstrdup("barriers=1 goes with interleave=1: heads at a time have no phases in common"));
    return true;
}

static bool read_pattern(struct parser *r)
{
    size_t n = strcspn(r->text, ",");
    if (!read_name(r, n)) return false;
    bool ok = true;
    for (const char *at = r->text + n; *at == ','; at += n) {
        at++;
        n = strcspn(at, ",");
        ok = read_setting(r, at, n) && ok;
    }
    return ok && check(r);
}

/* ---- giving -------------------------------------------------------------------------------------------------------------- */

/* Is the next request a write? At random for random ones, evenly spread for others. */
static bool next_is_write(struct dram_pattern *p)
{
    const double share = p->s.write;
    if (share <= 0 || share >= 1) return share >= 1;
    if (p->kind == RANDOM) return (double)(dram_splitmix(&p->write_state) >> 11) * 0x1p-53 < share;
    return floor((double)(p->at + 1) * share) > floor((double)p->at * share);
}

static void set_arrival(struct dram_pattern *p, struct dram_request *q)
{
    if (!(p->gap_ns > 0)) return;
    if (p->s.arrival == POISSON)
        p->now_ns += -log((double)((dram_splitmix(&p->arrival_state) >> 11) + 1) / 9007199254740992.0) * p->gap_ns;
    else
        p->now_ns = (double)p->at * p->gap_ns;
    q->arrival_ns = p->now_ns;
    q->timed = true;
}

static bool next(struct dram_source *source, struct dram_request *ret, struct diags *diags)
{
    struct dram_pattern *p = (struct dram_pattern *)source;
    const struct settings *s = &p->s;
    (void)diags;
    if (p->kind == LAD) return dram_lad_next(p->lad, ret);
    const uint64_t size = (uint64_t)s->size, i = p->at, footprint = (uint64_t)s->footprint;
    const uint64_t requests = (uint64_t)s->count * (p->kind == COPY ? 2 : 1);
    if (i == requests) return false;
    *ret = (struct dram_request){.bytes = size, .kind = next_is_write(p) ? DRAM_WRITE : DRAM_READ};
    switch (p->kind) {
    case SEQUENTIAL: ret->address = i * size; break;
    case RANDOM: ret->address = dram_splitmix(&p->state) % (footprint / size) * size; break;
    case STRIDE:
        ret->address = p->address;
        p->address = (p->address + (uint64_t)s->stride % footprint) % footprint;
        break;
    default: /* COPY */ ret->address = i / 2 * size + (i % 2 ? (uint64_t)s->offset : 0); ret->kind = i % 2 ? DRAM_WRITE : DRAM_READ;
    }
    set_arrival(p, ret);
    p->at++;
    return true;
}

struct dram_pattern *dram_pattern_new(const char *text, double peak_gbs, const char *where, struct diags *diags)
{
    struct dram_pattern *p = xcalloc(1, sizeof *p);
    struct parser r = {.text = text, .where = where, .diags = diags, .p = p};
    schema_init_params(&r.schema, rows);
    const bool ok = read_pattern(&r);
    schema_release(&r.schema);
    if (!ok) {
        free(p);
        return NULL;
    }
    const struct settings *s = &p->s;
    p->source.next = next;
    p->gap_ns = s->load > 0 ? (double)s->size / (peak_gbs * s->load / 100) : s->interval_ns;
    p->state = (uint64_t)s->seed;
    p->arrival_state = (uint64_t)s->seed + 1;
    p->write_state = (uint64_t)s->seed + 2;
    if (p->kind == LAD)
        p->lad = dram_lad_new((uint32_t)s->context, (uint32_t)s->heads, (uint32_t)s->interleave, s->barriers != 0,
                              s->seed < 0 ? (uint64_t)(6000 + s->context) : (uint64_t)s->seed);
    return p;
}

void dram_pattern_free(struct dram_pattern *p)
{
    if (!p) return;
    dram_lad_free(p->lad);
    free(p);
}

struct dram_source *dram_pattern_source(struct dram_pattern *p)
{
    return &p->source;
}
