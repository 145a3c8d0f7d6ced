/* Anchors of synthetic attention: whatever the bytes, errors, or anchors in their ranges that can be measured. */
#include "attention/anchors_file.h"
#include "memory_file.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_anchors(const struct anchor_set *set)
{
    need(set->heads >= 1 && set->low < set->high && set->n >= 1);
    for (size_t i = 0; i < set->n; i++) {
        const struct anchor *a = &set->list[i];
        need(a->n >= ANCHOR_N_MIN && a->n <= ANCHOR_N_MAX && isfinite(a->value) && a->tolerance > 0 && a->source);
        need(a->metric < ANCHOR_METRICS && a->kind <= ANCHOR_AT_MOST);
    }
    for (size_t i = 0; i < set->n_fitted; i++) need(set->fitted[i]->type == DSE_TYPE_F64);
}

/* One head of the short lengths alone: what takes no time. */
static void measure_some(struct anchor_set *set, struct diags *d)
{
    enum { SHORT = 64, DIMENSION = 16 };
    size_t kept = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (set->list[i].n <= SHORT) {
            struct anchor a = set->list[kept];
            set->list[kept++] = set->list[i];
            set->list[i] = a;
        }
    }
    size_t all = set->n;
    set->n = kept;
    set->heads = 1;
    set->start.d = set->start.d > DIMENSION ? DIMENSION : set->start.d;
    double *measured = xcalloc(kept + 1, sizeof *measured);
    need(anchors_measure(set, &set->start, measured, d));
    need(!(anchors_misfit(set, measured) < 0));
    free(measured);
    set->n = all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diags d;
    diags_init(&d);
    int fd;
    char *path = memory_file(data, n, &fd);
    struct anchor_set set;
    bool ok = anchors_read_file(path, &set, &d);
    need(ok == (d.errors == 0));
    if (ok) {
        check_anchors(&set);
        measure_some(&set, &d);
        anchor_set_release(&set);
    }
    need(ok == (d.errors == 0));
    free(path);
    close(fd);
    diags_release(&d);
    return 0;
}
