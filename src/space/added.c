#include "space/added.h"

#include "base/xalloc.h"
#include "space/baseline.h"
#include "space/mix.h"

#include <math.h>
#include <string.h>

size_t added_offset(const struct model *m)
{
    size_t align = _Alignof(struct added);
    return (m->desc->metrics_size + align - 1) / align * align;
}

size_t added_size(const struct model *m)
{
    return added_offset(m) + sizeof(struct added);
}

/* Append the metrics, which stand at `offset`. `there` holds NaN for those without a value. */
static void append(struct schema *all, const struct dse_metric *table, size_t offset, const void *there)
{
    struct schema more;
    schema_init_metrics(&more, table, NULL);
    all->fields = xrealloc(all->fields, all->n + more.n, sizeof *all->fields);
    for (size_t i = 0; i < more.n; i++) {
        struct field *f = &all->fields[all->n++];
        *f = more.fields[i];
        f->without = isnan(field_number(&more.fields[i], there));
        f->offset += offset;
    }
    schema_release(&more);
}

void metrics_with_added(const struct sweep_file *s, const struct model *m, struct schema *ret)
{
    *ret = (struct schema){.n = m->metrics.n, .fields = xcalloc(m->metrics.n, sizeof *ret->fields)};
    memcpy(ret->fields, m->metrics.fields, m->metrics.n * sizeof *ret->fields);
    if (s->compares) {
        const struct measured own = measured_presence(m), other = s->baseline ? measured_presence(s->baseline->model) : own;
        const struct ratios there = ratios_of(&own, &other);
        append(ret, ratio_metrics, added_offset(m) + offsetof(struct added, ratios), &there);
    }
    if (s->averages) {
        const double usd = mix_knows_dollars(m) ? 0 : (double)NAN;
        const struct served there = {usd, usd};
        append(ret, served_metrics, added_offset(m) + offsetof(struct added, served), &there);
    }
}
