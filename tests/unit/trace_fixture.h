/* For tests of traces: a directory, files as bytes, a trace with values that tell their place. */
#ifndef DSE_TESTS_TRACE_FIXTURE_H
#define DSE_TESTS_TRACE_FIXTURE_H

#include "scratch.h"

#include "base/file.h"
#include "base/text.h"
#include "complaints.h"
#include "attention/trace_import.h"

#include <dirent.h>

struct bytes {
    unsigned char *p;
    size_t n;
};

static inline void bytes_write(const char *path, struct bytes b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.p, 1, b.n, f), b.n);
    assert_int_equal(fclose(f), 0);
}

static inline struct bytes bytes_read(const char *path)
{
    struct diags d;
    diags_init(&d);
    char *s;
    struct bytes b;
    assert_true(text_read_file(path, 1 << 24, &s, &b.n, &d));
    b.p = (unsigned char *)s;
    return b;
}

static inline size_t files_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static const int32_t toy_layers[] = {3, 0, 7}, toy_heads[] = {5, 2};

/* 3 layers x 2 heads x 5 positions of dimension 3. */
static inline struct trace_info toy_trace(int bits)
{
    return (struct trace_info){.model = "toy",
                               .source = "made up \xC3\xA9",
                               .layers = 3,
                               .heads = 2,
                               .layer_ids = toy_layers,
                               .head_ids = toy_heads,
                               .n = 5,
                               .d = 3,
                               .bits = bits};
}

/* What stands at a place, with layer and head as the model's; a half can hold it. */
static inline float toy_value(int32_t layer, int32_t head, size_t matrix, size_t position, size_t element)
{
    return (float)(layer * 30 + head * 5 + (int)matrix) + (float)position / 8 - (float)element / 2;
}

static inline bool toy_pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    const struct trace_info *info = user;
    head_init(ret, info->n, info->d);
    float *matrices[] = {ret->q, ret->k, ret->v};
    for (size_t i = 0; i < 3 * info->n * info->d; i++) {
        size_t m = i / (info->n * info->d), at = i % (info->n * info->d);
        matrices[m][at] = toy_value(info->layer_ids[layer], info->head_ids[head], m, at / info->d, at % info->d);
    }
    return true;
}

/* A head of a trace has the values of its place. */
static inline void check_head(const struct trace *t, size_t layer, size_t head)
{
    const struct trace_info *info = trace_info(t);
    struct diags d;
    diags_init(&d);
    struct head h;
    assert_true(trace_head(t, layer, head, &h, &d));
    assert_int_equal(h.n, info->n);
    assert_int_equal(h.d, info->d);
    const float *matrices[] = {h.q, h.k, h.v};
    for (size_t i = 0; i < 3 * h.n * h.d; i++) {
        size_t m = i / (h.n * h.d), at = i % (h.n * h.d);
        float want = toy_value(info->layer_ids[layer], info->head_ids[head], m, at / h.d, at % h.d);
        if (matrices[m][at] != want) fail_msg("%zu of matrix %zu: %g, not %g", at, m, (double)matrices[m][at], (double)want);
    }
    head_release(&h);
}

static inline void check_heads(const struct trace *t)
{
    for (size_t i = 0; i < trace_info(t)->layers; i++)
        for (size_t k = 0; k < trace_info(t)->heads; k++) check_head(t, i, k);
}

#endif
