/* What an event level in C asks of the equations: dse/closed.h. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A number on its way between a struct in C and a slot. */
struct passed {
    int slot; /* -1: of a parameter, whose number stands here */
    size_t offset;
    double scale, number;
};

struct dse_closed_at {
    struct dse_closed_at *next;
    const struct toml_model *variant;
    const void *params;
    struct dse_oplist list;
    struct groups groups;
    const struct plan *plan;
    double *v; /* by slot */
    struct passed *in, *out;
    int n_in, n_out;
};

struct dse_closed {
    const struct toml_model *m;
    const void *params;
    struct groups groups; /* of the step */
    struct dse_workload step;
    struct dse_closed_at *variants; /* that were made ready */
};

/* ---- groups ------------------------------------------------------------------------------------------------------------------ */

static const void *group(const struct dse_closed *c, const char *name)
{
    for (int g = 0; g < GROUPS; g++)
        if (c->m->groups.has[g] && strcmp(group_rows[g].name, name) == 0) return (const char *)c->params + c->m->groups.offset[g];
    return NULL;
}

const struct dse_workload *dse_closed_workload(const struct dse_closed *c)
{
    return c->groups.workload;
}

const struct dse_request *dse_closed_request(const struct dse_closed *c)
{
    return group(c, "request");
}

const struct dse_dram *dse_closed_memory(const struct dse_closed *c)
{
    return group(c, "memory");
}

const struct dse_links *dse_closed_links(const struct dse_closed *c)
{
    return group(c, "links");
}

const struct dse_cache *dse_closed_cache(const struct dse_closed *c)
{
    return group(c, "cache");
}

const struct dse_local *dse_closed_locality(const struct dse_closed *c)
{
    return group(c, "locality");
}

const struct dse_economics *dse_closed_economics(const struct dse_closed *c)
{
    return group(c, "economics");
}

const struct dse_events *dse_closed_events(const struct dse_closed *c)
{
    return group(c, "events");
}

const struct dse_sampling *dse_closed_sampling(const struct dse_closed *c)
{
    return group(c, "sampling");
}

void dse_closed_operators(const struct dse_closed *c, struct dse_oplist *ret)
{
    expand(c->m, dse_closed_workload(c), ret);
}

/* ---- making ready ------------------------------------------------------------------------------------------------------------ */

/* The operators of a model without the group workload are none. */
static void set_list(struct dse_closed_at *at, const struct dse_closed *c, const struct dse_oplist *list)
{
    if (!at->variant->expands)
        at->list.n = at->list.n_attentions = 0;
    else if (list)
        at->list = *list;
    else
        dse_closed_operators(c, &at->list);
}

/* Parameters go into their slots; of given numbers it is noted where they come from. */
static void set_inputs(struct dse_closed_at *at)
{
    const struct toml_model *m = at->variant;
    at->in = xcalloc((size_t)at->plan->n_inputs + 1, sizeof *at->in);
    for (int i = 0; i < at->plan->n_inputs; i++) {
        const struct plan_input *p = &at->plan->inputs[i];
        const struct input *in = &m->inputs[p->what];
        if (!is_given(in)) {
            at->v[p->slot] = point_input(m, p, at->params, &at->list);
            continue;
        }
        const int place = p->element < at->list.n ? p->element : p->element - at->list.n;
        at->in[at->n_in++] = (struct passed){
            .slot = p->slot, .offset = in->offset + (size_t)(place < 0 ? 0 : place) * sizeof(double), .scale = in->measure.scale};
    }
}

/* Where number k of what is read goes, at an element or (-1) of none. */
static void add_out(struct dse_closed_at *at, int k, int element)
{
    const struct event_number *r = &at->variant->reads[k];
    const int node = plan_read(at->plan, k, element), place = element < at->list.n ? element : element - at->list.n;
    struct passed *to = &at->out[at->n_out];
    *to = (struct passed){.slot = -1, .offset = r->offset + (size_t)(place < 0 ? 0 : place) * sizeof(double), .scale = 1};
    if (r->parameter) {
        const struct field *f = r->parameter;
        to->number = f->type == DSE_TYPE_ENUM ? field_get(f, at->params).choice : field_number(f, at->params);
    } else if (node < 0) {
        return;
    } else {
        const struct equation *e = &at->variant->equations[r->equations[0]];
        to->slot = at->plan->slots.of[node];
        to->scale = e->has_measure ? e->measure.scale : 1;
    }
    at->n_out++;
}

static void set_outputs(struct dse_closed_at *at)
{
    const int elements = elements_of(&at->list);
    at->out = xcalloc((size_t)at->variant->n_reads * (size_t)(1 + elements) + 1, sizeof *at->out);
    for (int k = 0; k < at->variant->n_reads; k++) {
        if (!at->variant->reads[k].of_elements) add_out(at, k, -1);
        for (int e = 0; e < elements && at->variant->reads[k].of_elements; e++) add_out(at, k, e);
    }
}

static const struct toml_model *find_variant(const struct toml_model *m, const struct dse_closed_variant *table)
{
    int i = 0;
    while (i < m->n_variants && m->variants[i]->table != table) i++;
    assert(i < m->n_variants); /* else the table is of another model */
    variant_ready(m->variants[i]);
    return m->variants[i];
}

struct dse_closed_at *dse_closed_at(struct dse_closed *c, const struct dse_closed_variant *v, const struct dse_oplist *list)
{
    struct dse_closed_at *at = xmalloc(sizeof *at); /* its list is long, and written before it is read */
    struct signature s;
    at->variant = find_variant(c->m, v);
    at->params = c->params;
    at->n_in = at->n_out = 0;
    set_list(at, c, list);
    const struct dse_oplist *read = at->variant->expands ? &at->list : NULL;
    signature_of(read, &s);
    at->groups = c->groups;
    at->plan = plan_find(at->variant, read, &s);
    at->v = slots_numbers(&at->plan->slots, &at->plan->graph);
    set_inputs(at);
    set_outputs(at);
    if (at->variant->n_reads) program_run(&at->plan->fixed, at->v, &at->groups);
    at->next = c->variants;
    c->variants = at;
    return at;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

void dse_closed_run(struct dse_closed_at *at, const void *given, void *ret)
{
    for (int i = 0; i < at->n_in; i++) {
        const struct passed *p = &at->in[i];
        at->v[p->slot] = *(const double *)(const void *)((const char *)given + p->offset) * p->scale;
    }
    if (at->variant->n_reads) program_run(&at->plan->depends, at->v, &at->groups);
    for (int i = 0; i < at->n_out; i++) {
        const struct passed *p = &at->out[i];
        *(double *)(void *)((char *)ret + p->offset) = p->slot < 0 ? p->number : at->v[p->slot] / p->scale;
    }
}

void dse_closed_report(struct dse_closed_at *at, const void *given, void *metrics, struct dse_breakdown *breakdown)
{
    point_report(at->variant, at->params, &at->list, given, metrics, breakdown);
}

bool closed_simulate(const struct toml_model *m, const void *params, struct dse_sim *sim, void *metrics,
                     struct dse_breakdown *breakdown)
{
    void *own = xmalloc(m->desc.params_size);
    point_chosen(m, params, own);
    struct dse_closed c = {.m = m, .params = own};
    params = own;
    c.groups = groups_of_step(&m->groups, params, &c.step);
    const bool ok = m->built_in->simulate(&c, sim, metrics, breakdown);
    for (struct dse_closed_at *at = c.variants, *next; at; at = next) {
        next = at->next;
        free(at->v);
        plan_let_go(at->plan);
        free(at->in);
        free(at->out);
        free(at);
    }
    free(own);
    return ok;
}
