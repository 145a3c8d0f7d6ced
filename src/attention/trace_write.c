/* Writing a trace: into a new file beside the one that is asked for, which it becomes when it is whole. */
#include "attention/half.h"
#include "attention/trace_format.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

struct writer {
    const char *path;
    struct file *file;
    bool failed; /* to write */
    uint64_t hash;
    struct diags *diags;
};

static bool put(struct writer *w, const unsigned char *p, size_t n)
{
    w->hash = text_hash(w->hash, p, n);
    w->failed = !file_put(w->file, p, n);
    return !w->failed;
}

static bool put_header(struct writer *w, const struct trace_info *info)
{
    size_t size = (size_t)trace_header_bytes(info), model = strlen(info->model), source = strlen(info->source);
    unsigned char *bytes = xcalloc(size, 1), *p = bytes + sizeof trace_magic;
    int version = trace_version(info);
    memcpy(bytes, trace_magic, sizeof trace_magic);
    const size_t numbers[] = {(size_t)version, (size_t)info->bits,   info->layers,     info->heads, info->n, info->d, model,
                              source,          trace_kv_heads(info), trace_steps(info)};
    for (size_t i = 0; i < (version > 1 ? 10 : 8); i++, p += 4) put_le32(p, (uint32_t)numbers[i]);
    for (size_t i = 0; i < info->layers; i++, p += 4) put_le32(p, (uint32_t)info->layer_ids[i]);
    for (size_t i = 0; i < info->heads; i++, p += 4) put_le32(p, (uint32_t)info->head_ids[i]);
    for (size_t i = 0; version > 1 && i < info->heads; i++, p += 4) put_le32(p, (uint32_t)trace_kv_of(info, i));
    for (size_t i = 0; trace_steps(info) < info->n && i < info->n_steps; i++, p += 4) put_le32(p, (uint32_t)info->steps[i]);
    memcpy(p, info->model, model);
    memcpy(p + model, info->source, source);
    bool ok = put(w, bytes, size);
    free(bytes);
    return ok;
}

/* One matrix into bytes. Returns how many values could be written before the first that could not. */
static size_t encode(const float *v, size_t values, int bits, unsigned char *bytes)
{
    for (size_t i = 0; i < values; i++) {
        uint16_t half = half_from_float(v[i]);
        if (!isfinite(v[i]) || (bits == 16 && (half & 0x7c00) == 0x7c00)) return i;
        uint32_t as_bits;
        memcpy(&as_bits, &v[i], sizeof as_bits);
        if (bits == 16)
            put_le16(bytes + 2 * i, half);
        else
            put_le32(bytes + 4 * i, as_bits);
    }
    return values;
}

/* Which matrix of which head, and its rows. */
struct matrix {
    const struct trace_info *info;
    long layer, head;
    size_t which, rows;
};

static bool put_matrix(struct writer *w, const struct matrix *m, const float *v, unsigned char *bytes)
{
    size_t values = m->rows * m->info->d, done = encode(v, values, m->info->bits, bytes), row = done / m->info->d;
    if (done == values) return put(w, bytes, values * (size_t)m->info->bits / 8);
    char buf[TEXT_NUMBER_MAX];
    return diags_input(w->diags, (struct srcloc){.file = w->path}, NULL, NULL,
                       "layer %ld, head %ld: %c of position %zu, element %zu is %s, which %d bits cannot hold", m->layer, m->head,
                       trace_matrices[m->which], m->which ? row : trace_step(m->info, row), done % m->info->d,
                       text_number(buf, (double)v[done]), m->info->bits);
}

static bool put_head(struct writer *w, const struct trace_info *info, size_t layer, size_t head, const struct head *h)
{
    struct matrix m = {info, info->layer_ids[layer], info->head_ids[head], 0, trace_steps(info)};
    if (h->n != info->n || h->d != info->d || (h->steps ? h->n_steps : h->n) != m.rows)
        return diags_input(w->diags, (struct srcloc){.file = w->path}, NULL, NULL,
                           "layer %ld, head %ld: %zu positions of dimension %zu; the trace has %zu of %zu", m.layer, m.head, h->n,
                           h->d, info->n, info->d);
    unsigned char *bytes = xmalloc(info->n * info->d * (size_t)info->bits / 8);
    const float *matrices[3] = {h->q, h->k, h->v};
    bool ok = put_matrix(w, &m, matrices[0], bytes);
    m.rows = info->n;
    for (m.which = 1; ok && m.which < 3 && trace_leads(info, head); m.which++) ok = put_matrix(w, &m, matrices[m.which], bytes);
    free(bytes);
    return ok;
}

static bool put_all(struct writer *w, const struct trace_info *info, trace_pull pull, void *user)
{
    if (!put_header(w, info)) return false;
    for (size_t i = 0; i < info->layers * info->heads; i++) {
        struct head h = {0};
        if (!pull(user, i / info->heads, i % info->heads, &h, w->diags)) return false;
        bool ok = put_head(w, info, i / info->heads, i % info->heads, &h);
        head_release(&h);
        if (!ok) return false;
    }
    unsigned char sum[TRACE_CHECKSUM_BYTES];
    put_le32(sum, (uint32_t)w->hash);
    put_le32(sum + 4, (uint32_t)(w->hash >> 32));
    return put(w, sum, sizeof sum);
}

bool trace_write(const char *path, const struct trace_info *info, trace_pull pull, void *user, struct diags *diags)
{
    struct writer w = {.path = path, .hash = TEXT_HASH_INIT, .diags = diags};
    if (!trace_check(info, (struct srcloc){.file = path}, diags)) return false;
    w.file = file_begin(path, diags);
    if (!w.file) return false;
    bool ok = put_all(&w, info, pull, user);
    if (ok || w.failed) return file_commit(w.file, diags);
    file_abandon(w.file);
    return false;
}
