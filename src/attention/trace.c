#include "attention/half.h"
#include "attention/mapped.h"
#include "attention/trace_format.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

struct trace {
    struct trace_info info;
    char *path, *model, *source;
    int32_t *ids; /* layers, heads, groups of heads, steps */
    struct mapped file;
    size_t values_at;
};

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static bool too_short(const struct trace *t, const char *about, uint64_t needed, struct diags *diags)
{
    return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL,
                       "is truncated: it has %zu bytes; its header asks for %s%llu", t->file.size, about,
                       (unsigned long long)needed);
}

static bool read_magic(const struct trace *t, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    size_t magic = t->file.size < sizeof trace_magic ? t->file.size : sizeof trace_magic;
    if (magic == 0 || memcmp(t->file.bytes, trace_magic, magic) != 0)
        return diags_input(diags, loc, NULL, "`dse trace import` makes a trace from arrays or CSV", "is not a trace%s",
                           t->file.size ? "" : ": it is empty");
    if (t->file.size < TRACE_FIXED_BYTES) return too_short(t, "at least ", TRACE_FIXED_BYTES, diags);
    uint32_t version = get_le32(t->file.bytes + 8);
    if (version < 1 || version > TRACE_VERSION)
        return diags_input(diags, loc, NULL, NULL, "is a trace of version %lu; this dse reads versions 1 to %d",
                           (unsigned long)version, TRACE_VERSION);
    size_t fixed = TRACE_FIXED_BYTES + (version > 1 ? TRACE_GROUPED_BYTES : 0);
    return t->file.size >= fixed || too_short(t, "at least ", fixed, diags);
}

/* How many of what the header has after its numbers. */
struct lengths {
    size_t groups, steps; /* of version 2; 0: the list is not there */
    size_t model, source;
};

static bool read_names(struct trace *t, const unsigned char *p, const struct lengths *l, struct diags *diags)
{
    size_t ids = t->info.layers + t->info.heads + l->groups + l->steps;
    size_t end = (size_t)(p - t->file.bytes) + 4 * ids + l->model + l->source;
    if (t->file.size < end) return too_short(t, "at least ", end, diags);
    t->ids = xcalloc(ids, sizeof *t->ids);
    for (size_t i = 0; i < ids; i++, p += 4) t->ids[i] = (int32_t)get_le32(p);
    t->values_at = (end + TRACE_ALIGNMENT - 1) / TRACE_ALIGNMENT * TRACE_ALIGNMENT;
    t->model = xstrndup((const char *)p, l->model);
    t->source = xstrndup((const char *)p + l->model, l->source);
    t->info.layer_ids = t->ids;
    t->info.head_ids = t->ids + t->info.layers;
    t->info.kv_of = l->groups ? t->info.head_ids + t->info.heads : NULL;
    t->info.steps = l->steps ? t->info.head_ids + t->info.heads + l->groups : NULL;
    t->info.model = t->model;
    t->info.source = t->source;
    if (strlen(t->model) == l->model && strlen(t->source) == l->source) return true;
    return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL, "the model's name or the source has a NUL byte");
}

/* The numbers that version 2 adds. */
static bool read_grouped(struct trace *t, const unsigned char *p, struct lengths *l, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    t->info.kv_heads = get_le32(p);
    t->info.n_steps = get_le32(p + 4);
    l->groups = t->info.heads;
    l->steps = t->info.n_steps < t->info.n ? t->info.n_steps : 0;
    return trace_check_number(t->info.kv_heads, t->info.heads, "groups of heads", loc, diags) &&
           trace_check_number(t->info.n_steps, t->info.n, "steps", loc, diags);
}

/* The numbers of the header, then what has their lengths. */
static bool read_header(struct trace *t, struct diags *diags)
{
    if (!read_magic(t, diags)) return false;
    struct srcloc loc = {.file = t->path};
    const unsigned char *p = t->file.bytes;
    uint32_t bits = get_le32(p + 12);
    struct lengths l = {.model = get_le32(p + 32), .source = get_le32(p + 36)};
    t->info.bits = bits < INT32_MAX ? (int)bits : INT32_MAX;
    t->info.layers = get_le32(p + 16);
    t->info.heads = t->info.kv_heads = get_le32(p + 20);
    t->info.n = t->info.n_steps = get_le32(p + 24);
    t->info.d = get_le32(p + 28);
    bool grouped = get_le32(p + 8) > 1;
    p += TRACE_FIXED_BYTES + (grouped ? TRACE_GROUPED_BYTES : 0);
    return trace_check_number(t->info.layers, TRACE_LAYERS_MAX, "layers", loc, diags) &&
           trace_check_number(t->info.heads, TRACE_HEADS_MAX, "heads", loc, diags) &&
           trace_check_number(t->info.n, TRACE_POSITIONS_MAX, "positions", loc, diags) &&
           trace_check_number(l.model, TRACE_TEXT_MAX, "bytes of the model's name", loc, diags) &&
           trace_check_number(l.source, TRACE_TEXT_MAX, "bytes of the source", loc, diags) &&
           (!grouped || read_grouped(t, p - TRACE_GROUPED_BYTES, &l, diags)) && read_names(t, p, &l, diags) &&
           trace_check(&t->info, loc, diags);
}

static bool check_rest(struct trace *t, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    uint64_t end = t->values_at + trace_value_bytes(&t->info);
    if (t->file.size < end + TRACE_CHECKSUM_BYTES) return too_short(t, "", end + TRACE_CHECKSUM_BYTES, diags);
    if (t->file.size > end + TRACE_CHECKSUM_BYTES)
        return diags_input(diags, loc, NULL, NULL, "%llu bytes follow its end",
                           (unsigned long long)(t->file.size - end - TRACE_CHECKSUM_BYTES));
    const unsigned char *sum = t->file.bytes + end;
    uint64_t said = (uint64_t)get_le32(sum + 4) << 32 | get_le32(sum);
    t->info.hash = text_hash(TEXT_HASH_INIT, t->file.bytes, (size_t)end);
    if (t->info.hash == said) return true;
    return diags_input(diags, loc, NULL, NULL, "is damaged: its checksum is %016llx, that of its bytes is %016llx",
                       (unsigned long long)said, (unsigned long long)t->info.hash);
}

struct trace *trace_open(const char *path, struct diags *diags)
{
    struct trace *t = xcalloc(1, sizeof *t);
    t->path = xstrdup(path);
    if (mapped_open(&t->file, t->path, "a trace", diags) && read_header(t, diags) && check_rest(t, diags)) return t;
    trace_close(t);
    return NULL;
}

void trace_close(struct trace *t)
{
    if (!t) return;
    mapped_release(&t->file);
    free(t->ids);
    free(t->model);
    free(t->source);
    free(t->path);
    free(t);
}

const struct trace_info *trace_info(const struct trace *t)
{
    return &t->info;
}

/* ---- heads --------------------------------------------------------------------------------------------------------------- */

static float get_value(const unsigned char *p, int bits)
{
    if (bits == 16) return half_to_float(get_le16(p));
    uint32_t as_bits = get_le32(p);
    float v;
    memcpy(&v, &as_bits, sizeof v);
    return v;
}

bool trace_check_finite(const struct trace_matrix *m, const float *values, struct srcloc loc, struct diags *diags)
{
    for (size_t i = 0; i < m->n * m->d; i++) {
        if (isfinite(values[i])) continue;
        char buf[TEXT_NUMBER_MAX];
        return diags_input(diags, loc, NULL, NULL, "layer %ld, head %ld: %c of position %zu, element %zu is %s", (long)m->layer,
                           (long)m->head, m->which, m->steps ? (size_t)m->steps[i / m->d] : i / m->d, i % m->d,
                           text_number(buf, (double)values[i]));
    }
    return true;
}

bool trace_get_matrix(const unsigned char *p, const struct trace_matrix *m, float *ret, struct srcloc loc, struct diags *diags)
{
    size_t step = (size_t)m->bits / 8;
    for (size_t i = 0; i < m->n * m->d; i++) ret[i] = get_value(p + i * step, m->bits);
    return trace_check_finite(m, ret, loc, diags);
}

/* Where q of a head lies within its layer, in values; what follows it is k and v if it leads its group. */
static size_t place_of_q(const struct trace_info *info, size_t head)
{
    return (head * trace_steps(info) + 2 * trace_leaders(info, head) * info->n) * info->d;
}

static bool read_matrices(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    const struct trace_info *info = &t->info;
    size_t leader = 0, value = (size_t)info->bits / 8, of_layer = (size_t)(trace_value_bytes(info) / info->layers);
    while (trace_kv_of(info, leader) != ret->group) leader++;
    const unsigned char *p = t->file.bytes + t->values_at + layer * of_layer;
    const unsigned char *q = p + place_of_q(info, head) * value;
    const unsigned char *k = p + (place_of_q(info, leader) + trace_steps(info) * info->d) * value;
    const unsigned char *bytes[3] = {q, k, k + info->n * info->d * value};
    float *matrices[3] = {ret->q, ret->k, ret->v};
    for (size_t i = 0; i < 3; i++) {
        struct trace_matrix m = {info->layer_ids[layer],
                                 info->head_ids[i ? leader : head],
                                 trace_matrices[i],
                                 i ? info->n : trace_steps(info),
                                 info->d,
                                 info->bits,
                                 i ? NULL : info->steps};
        if (!trace_get_matrix(bytes[i], &m, matrices[i], (struct srcloc){.file = t->path}, diags)) return false;
    }
    return true;
}

bool trace_head_sampled(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    const struct trace_info *info = &t->info;
    if (layer >= info->layers || head >= info->heads)
        return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL,
                           "there is no head %zu of layer %zu: the trace has %zu heads of %zu layers", head, layer, info->heads,
                           info->layers);
    head_init_sampled(ret, info->n, info->d, info->steps, trace_steps(info));
    ret->group = trace_kv_of(info, head);
    if (read_matrices(t, layer, head, ret, diags)) return true;
    head_release(ret);
    return false;
}

bool trace_head(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    if (t->info.steps)
        return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL,
                           "has q of %zu of its %zu steps; this follows every step", t->info.n_steps, t->info.n);
    return trace_head_sampled(t, layer, head, ret, diags);
}
