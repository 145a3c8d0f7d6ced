/* Kept sets of a method: whatever the bytes, sets of every head with positions up to each step, or an error. */
#include "attention/kept_sets.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { LAYERS = 2, HEADS = 2, POSITIONS = 64 };

static void check(const struct kept_sets *k, const struct trace_info *info)
{
    size_t n_steps, n;
    const uint32_t *steps = kept_sets_steps(k, &n_steps);
    need(n_steps > 0);
    for (size_t i = 0; i < n_steps; i++) {
        need(steps[i] < POSITIONS && (i == 0 || steps[i] > steps[i - 1]));
        for (size_t h = 0; h < LAYERS * HEADS; h++) {
            const struct kept_range *r = kept_sets_at(k, (size_t)info->layer_ids[h / HEADS], h % HEADS, i, &n);
            need(r && n > 0 && r[n - 1].last <= steps[i]);
            for (size_t j = 0; j < n; j++) need(r[j].first <= r[j].last && (j == 0 || r[j].first > r[j - 1].last));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const int32_t layers[] = {0, 5}, heads[] = {0, 8};
    const struct trace_info info = {
        .layers = LAYERS, .heads = HEADS, .layer_ids = layers, .head_ids = heads, .n = POSITIONS, .d = 1, .n_steps = POSITIONS};
    struct diags d;
    diags_init(&d);
    int fd;
    char *path = memory_file(data, n, &fd);
    struct kept_sets *k = kept_sets_read(path, &info, &d);
    need((k != NULL) == (d.errors == 0));
    if (k) check(k, &info);
    kept_sets_free(k);
    free(path);
    close(fd);
    diags_release(&d);
    return 0;
}
