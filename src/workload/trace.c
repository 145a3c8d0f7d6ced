#include "base/text.h"
#include "base/xalloc.h"
#include "workload/half.h"
#include "workload/trace_format.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace {
    struct trace_info info;
    char *path, *model, *source;
    int32_t *ids; /* layers, then heads */
    void *map;
    const unsigned char *bytes; /* of the map */
    size_t size;
};

/* ---- what a trace may be ------------------------------------------------------------------------------------------------- */

static bool check_number(uint64_t v, uint64_t max, const char *what, struct srcloc loc, struct diags *diags)
{
    if (v >= 1 && v <= max) return true;
    return diags_input(diags, loc, NULL, NULL, "%s: %llu is not within 1 to %llu", what, (unsigned long long)v,
                       (unsigned long long)max);
}

static bool check_ids(const int32_t *ids, size_t n, const char *what, struct srcloc loc, struct diags *diags)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0) return diags_input(diags, loc, NULL, NULL, "%s %ld is negative", what, (long)ids[i]);
        for (size_t k = 0; k < i; k++)
            if (ids[k] == ids[i]) return diags_input(diags, loc, NULL, NULL, "%s %ld is there twice", what, (long)ids[i]);
    }
    return true;
}

/* Text that can stand in a line of a CSV file or of a terminal: UTF-8 without control characters. */
static bool check_text(const char *s, const char *what, struct srcloc loc, struct diags *diags)
{
    if (!*s) return diags_input(diags, loc, NULL, NULL, "%s: is empty", what);
    if (strlen(s) > TRACE_TEXT_MAX)
        return diags_input(diags, loc, NULL, NULL, "%s: %zu bytes; %d are the most", what, strlen(s), TRACE_TEXT_MAX);
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
        bool ok = n > 1 || (*p >= 0x20 && *p != 0x7f && n);
        for (size_t i = 1; ok && i < n; i++) ok = (p[i] & 0xc0) == 0x80;
        if (!ok)
            return diags_input(diags, loc, NULL, NULL, "%s: has a control character or is not UTF-8 at byte %zu", what,
                               (size_t)(p - (const unsigned char *)s) + 1);
        p += n;
    }
    return true;
}

bool trace_check(const struct trace_info *info, struct srcloc loc, struct diags *diags)
{
    bool ok = check_number(info->layers, TRACE_LAYERS_MAX, "layers", loc, diags);
    ok = check_number(info->heads, TRACE_HEADS_MAX, "heads", loc, diags) && ok;
    ok = check_number(info->n, TRACE_POSITIONS_MAX, "positions", loc, diags) && ok;
    ok = check_number(info->d, TRACE_DIM_MAX, "dimension", loc, diags) && ok;
    if (info->bits != 16 && info->bits != 32) ok = diags_input(diags, loc, NULL, NULL, "bits: %d is neither 16 nor 32", info->bits);
    if (!ok) return false;
    ok = check_ids(info->layer_ids, info->layers, "layer", loc, diags);
    ok = check_ids(info->head_ids, info->heads, "head", loc, diags) && ok;
    ok = check_text(info->model, "model", loc, diags) && ok;
    return check_text(info->source, "source", loc, diags) && ok;
}

uint64_t trace_header_bytes(const struct trace_info *info)
{
    uint64_t n = TRACE_FIXED_BYTES + 4 * (info->layers + info->heads) + strlen(info->model) + strlen(info->source);
    return (n + TRACE_ALIGNMENT - 1) / TRACE_ALIGNMENT * TRACE_ALIGNMENT;
}

uint64_t trace_value_bytes(const struct trace_info *info)
{
    return (uint64_t)info->layers * info->heads * 3 * info->n * info->d * (uint64_t)info->bits / 8;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static bool map_file(struct trace *t, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would be waited for */
    if (fd < 0) return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (!ok)
        diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    else if (!S_ISREG(st.st_mode))
        ok = diags_input(diags, loc, NULL, NULL, "is not a regular file; a trace is needed");
    else if ((t->size = (size_t)st.st_size) > 0) {
        t->map = mmap(NULL, t->size, PROT_READ, MAP_PRIVATE, fd, 0);
        t->bytes = t->map;
        if (t->map == MAP_FAILED) ok = diags_input(diags, loc, NULL, NULL, "cannot map the file into memory: %s", strerror(errno));
    }
    close(fd);
    return ok;
}

static bool too_short(const struct trace *t, const char *about, uint64_t needed, struct diags *diags)
{
    return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL,
                       "is truncated: it has %zu bytes; its header asks for %s%llu", t->size, about, (unsigned long long)needed);
}

static bool read_magic(const struct trace *t, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    size_t magic = t->size < sizeof trace_magic ? t->size : sizeof trace_magic;
    if (magic == 0 || memcmp(t->bytes, trace_magic, magic) != 0)
        return diags_input(diags, loc, NULL, "`dse trace import` makes a trace from arrays or CSV", "is not a trace%s",
                           t->size ? "" : ": it is empty");
    if (t->size < TRACE_FIXED_BYTES) return too_short(t, "at least ", TRACE_FIXED_BYTES, diags);
    uint32_t version = get_le32(t->bytes + 8);
    if (version == TRACE_VERSION) return true;
    return diags_input(diags, loc, NULL, NULL, "is a trace of version %lu; this dse reads version %d", (unsigned long)version,
                       TRACE_VERSION);
}

static bool read_names(struct trace *t, const unsigned char *p, size_t model, size_t source, struct diags *diags)
{
    size_t ids = t->info.layers + t->info.heads, end = TRACE_FIXED_BYTES + 4 * ids + model + source;
    if (t->size < end) return too_short(t, "at least ", end, diags);
    t->ids = xcalloc(ids, sizeof *t->ids);
    for (size_t i = 0; i < ids; i++, p += 4) t->ids[i] = (int32_t)get_le32(p);
    t->model = xstrndup((const char *)p, model);
    t->source = xstrndup((const char *)p + model, source);
    t->info.layer_ids = t->ids;
    t->info.head_ids = t->ids + t->info.layers;
    t->info.model = t->model;
    t->info.source = t->source;
    if (strlen(t->model) == model && strlen(t->source) == source) return true;
    return diags_input(diags, (struct srcloc){.file = t->path}, NULL, NULL, "the model's name or the source has a NUL byte");
}

/* The numbers of the header, then what has their lengths. */
static bool read_header(struct trace *t, struct diags *diags)
{
    if (!read_magic(t, diags)) return false;
    struct srcloc loc = {.file = t->path};
    const unsigned char *p = t->bytes;
    uint32_t bits = get_le32(p + 12), model = get_le32(p + 32), source = get_le32(p + 36);
    t->info.bits = bits < INT32_MAX ? (int)bits : INT32_MAX;
    t->info.layers = get_le32(p + 16);
    t->info.heads = get_le32(p + 20);
    t->info.n = get_le32(p + 24);
    t->info.d = get_le32(p + 28);
    return check_number(t->info.layers, TRACE_LAYERS_MAX, "layers", loc, diags) &&
           check_number(t->info.heads, TRACE_HEADS_MAX, "heads", loc, diags) &&
           check_number(model, TRACE_TEXT_MAX, "bytes of the model's name", loc, diags) &&
           check_number(source, TRACE_TEXT_MAX, "bytes of the source", loc, diags) &&
           read_names(t, p + TRACE_FIXED_BYTES, model, source, diags) && trace_check(&t->info, loc, diags);
}

static bool check_rest(struct trace *t, struct diags *diags)
{
    struct srcloc loc = {.file = t->path};
    uint64_t end = trace_header_bytes(&t->info) + trace_value_bytes(&t->info);
    if (t->size < end + TRACE_CHECKSUM_BYTES) return too_short(t, "", end + TRACE_CHECKSUM_BYTES, diags);
    if (t->size > end + TRACE_CHECKSUM_BYTES)
        return diags_input(diags, loc, NULL, NULL, "%llu bytes follow its end",
                           (unsigned long long)(t->size - end - TRACE_CHECKSUM_BYTES));
    const unsigned char *sum = t->bytes + end;
    uint64_t said = (uint64_t)get_le32(sum + 4) << 32 | get_le32(sum);
    t->info.hash = text_hash(TEXT_HASH_INIT, t->bytes, (size_t)end);
    if (t->info.hash == said) return true;
    return diags_input(diags, loc, NULL, NULL, "is damaged: its checksum is %016llx, that of its bytes is %016llx",
                       (unsigned long long)said, (unsigned long long)t->info.hash);
}

struct trace *trace_open(const char *path, struct diags *diags)
{
    struct trace *t = xcalloc(1, sizeof *t);
    t->path = xstrdup(path);
    if (map_file(t, diags) && read_header(t, diags) && check_rest(t, diags)) return t;
    trace_close(t);
    return NULL;
}

void trace_close(struct trace *t)
{
    if (!t) return;
    if (t->map && t->map != MAP_FAILED) munmap(t->map, t->size);
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

bool trace_get_matrix(const unsigned char *p, const struct trace_matrix *m, float *ret, struct srcloc loc, struct diags *diags)
{
    size_t step = (size_t)m->bits / 8;
    for (size_t i = 0; i < m->n * m->d; i++) {
        ret[i] = get_value(p + i * step, m->bits);
        if (isfinite(ret[i])) continue;
        char buf[TEXT_NUMBER_MAX];
        return diags_input(diags, loc, NULL, NULL, "layer %ld, head %ld: %c of position %zu, element %zu is %s", (long)m->layer,
                           (long)m->head, m->which, i / m->d, i % m->d, text_number(buf, (double)ret[i]));
    }
    return true;
}

bool trace_head(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    const struct trace_info *info = &t->info;
    struct srcloc loc = {.file = t->path};
    if (layer >= info->layers || head >= info->heads)
        return diags_input(diags, loc, NULL, NULL, "there is no head %zu of layer %zu: the trace has %zu heads of %zu layers", head,
                           layer, info->heads, info->layers);
    size_t values = info->n * info->d, bytes = values * (size_t)info->bits / 8;
    const unsigned char *p = t->bytes + trace_header_bytes(info) + 3 * (layer * info->heads + head) * bytes;
    head_init(ret, info->n, info->d);
    float *matrices[3] = {ret->q, ret->k, ret->v};
    struct trace_matrix m = {info->layer_ids[layer], info->head_ids[head], 0, info->n, info->d, info->bits};
    for (size_t i = 0; i < 3; i++) {
        m.which = trace_matrices[i];
        if (trace_get_matrix(p + i * bytes, &m, matrices[i], loc, diags)) continue;
        head_release(ret);
        return false;
    }
    return true;
}
