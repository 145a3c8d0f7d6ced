#include "toml_model/reads.h"

#include "base/xalloc.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- axes -------------------------------------------------------------------------------------------------------------------- */

bool reads_in_group(const struct toml_model *m, enum group g, size_t offset)
{
    return m->groups.has[g] && offset >= m->groups.offset[g] && offset < m->groups.offset[g] + group_rows[g].size;
}

static uint32_t reads_input(const struct reads *r, const struct input *in)
{
    return in->kind >= INPUT_ELEMENT ? r->of_operators : reads_param(r, in->ref);
}

/* dse_workload_resolve. */
static const struct {
    size_t width, of;
} resolved[] = {{offsetof(struct dse_workload, value_bits), offsetof(struct dse_workload, kv_bits)},
                {offsetof(struct dse_workload, exchange_bits), offsetof(struct dse_workload, activation_bits)}};

uint32_t reads_param(const struct reads *r, size_t offset)
{
    for (int g = 0; g < GROUPS; g++)
        if (group_is_resolved((enum group)g) && reads_in_group(r->m, (enum group)g, offset)) return r->of_group[g];
    const size_t workload = r->m->groups.offset[GROUP_WORKLOAD];
    uint32_t ret = 0;
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++)
        if (reads_in_group(r->m, GROUP_WORKLOAD, offset) && offset - workload == resolved[i].width)
            ret = reads_param(r, workload + resolved[i].of);
    for (size_t i = 0; i < r->m->schema.n; i++)
        if (r->m->schema.fields[i].offset == offset) ret |= r->lattice->axes[i];
    for (int i = 0; i < r->m->n_autos; i++) {
        const struct auto_number *a = &r->m->autos[i];
        for (int k = 0; k < a->n_steps && a->offset == offset; k++) ret |= reads_node(r, &a->steps[k], a->steps);
    }
    return ret;
}

uint32_t reads_node(const struct reads *r, const struct graph_node *n, const struct graph_node *of)
{
    uint32_t ret = 0;
    if (n->op == GRAPH_INPUT) return reads_input(r, &r->m->inputs[n->what]);
    if (n->op != GRAPH_CALL) return 0;
    for (int k = 0; k < n->n_args; k++)
        if (*primitives[n->what].arguments[k] == '@') ret |= reads_param(r, (size_t)of[n->args[k]].number);
    return ret | reads_groups(r, primitives[n->what].groups);
}

/* What operators of a row follow from, of the workload: all but lengths and numbers of sequences. */
static bool is_of_row(const struct toml_model *m, size_t offset)
{
    static const size_t others[] = {offsetof(struct dse_workload, phase),        offsetof(struct dse_workload, batch),
                                    offsetof(struct dse_workload, context),      offsetof(struct dse_workload, context_spread),
                                    offsetof(struct dse_workload, chunk_tokens), offsetof(struct dse_workload, chunk_context)};
    bool ret = reads_in_group(m, GROUP_WORKLOAD, offset);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) ret = ret && offset - m->groups.offset[GROUP_WORKLOAD] != others[i];
    return ret;
}

void reads_init(struct reads *r, const struct toml_model *m, const struct many_lattice *lattice)
{
    *r = (struct reads){.m = m, .lattice = lattice, .of_input = xcalloc((size_t)m->n_inputs + 1, sizeof *r->of_input)};
    for (int g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < m->schema.n; i++)
            if (reads_in_group(m, (enum group)g, m->schema.fields[i].offset)) r->of_group[g] |= lattice->axes[i];
    r->of_group[GROUP_WORKLOAD] |= r->of_group[GROUP_REQUEST]; /* the step of a generation */
    if (!m->of_rows) r->of_operators = r->of_group[GROUP_WORKLOAD];
    for (size_t i = 0; i < m->schema.n && m->of_rows; i++)
        if (is_of_row(m, m->schema.fields[i].offset)) r->of_operators |= lattice->axes[i];
    for (int i = 0; i < m->n_inputs; i++) r->of_input[i] = reads_input(r, &m->inputs[i]);
}

void reads_release(struct reads *r)
{
    free(r->of_input);
    r->of_input = NULL;
}

uint32_t reads_groups(const struct reads *r, unsigned groups)
{
    uint32_t ret = 0;
    for (int g = 0; g < GROUPS; g++)
        if (groups >> g & 1) ret |= r->of_group[g];
    return ret;
}

uint32_t reads_plan(const struct reads *r)
{
    uint32_t ret = r->m->expands ? r->of_operators : 0;
    for (int i = 0; i < r->m->n_inputs; i++)
        if (r->m->inputs[i].kind < INPUT_ELEMENT && r->m->inputs[i].type == DSE_TYPE_ENUM) ret |= r->of_input[i];
    return ret;
}

/* ---- what is wanted ---------------------------------------------------------------------------------------------------------- */

struct wanted wanted_of(const struct toml_model *m, const bool *metrics)
{
#define T(t) (1u << TOTAL_##t)
    enum { STEP = T(TIME) | T(TOKENS), COSTS = STEP | T(ENERGY) | T(DIE) | T(NODE) | T(CHIPS) };
    static const unsigned needs[] = {
        STEP,                  /* tokens_per_s */
        T(TIME),               /* latency_us */
        T(ATTENTION),          /* attention_us */
        T(ENERGY) | T(TOKENS), /* energy_mj */
        T(ENERGY) | T(TIME),   /* power_w */
        T(AREA),               /* area_mm2 */
        T(BYTES) | T(TOKENS),  /* dram_mib */
        T(OPS) | T(PEAK_OPS) | T(TIME) /* compute_utilization */,
        T(BYTES) | T(PEAK_BYTES) | T(TIME) /* dram_utilization */,
        T(OPS) | T(PEAK_OPS) | T(BYTES) | T(PEAK_BYTES) | T(COMPUTE) | T(DRAM) | T(LATENCY) /* bound */,
    };
#undef T
    enum { NEEDS = sizeof needs / sizeof *needs };
    struct wanted w = {.metrics = metrics};
    for (size_t i = 0; i < m->n_common; i++) {
        if (metrics && !metrics[i]) continue;
        w.totals |= i < NEEDS ? needs[i] : COSTS;
        w.bill = w.bill || i >= NEEDS;
    }
    return w;
}

bool wanted_same(const struct wanted *a, const struct wanted *b)
{
    return a->totals == b->totals && a->bill == b->bill && a->metrics == b->metrics;
}

bool wanted_own(const struct toml_model *m, const struct wanted *w, int own)
{
    return !w->metrics || w->metrics[m->n_common + (size_t)own]; /* they stand behind the common ones */
}

int *wanted_roots(const struct toml_model *m, const struct wanted *w, const struct plan *p, int *ret_n)
{
    const size_t most = (size_t)m->check.n + TOTALS + (size_t)m->n_own;
    int *roots = xcalloc(most + 1, sizeof *roots), n = 0;
    for (int i = 0; i < m->check.n; i++) roots[n++] = p->equations[m->check.list[i].equation];
    for (int i = 0; i < TOTALS; i++)
        if (m->totals[i] >= 0 && w->totals >> i & 1) roots[n++] = p->equations[m->totals[i]];
    for (int i = 0; i < m->n_own; i++)
        if (wanted_own(m, w, i)) roots[n++] = p->equations[m->own[i].equation];
    *ret_n = n;
    return roots;
}
