/* A design point: its parameters go into slots, programs run over them, and metrics come out.
 *
 * Each thread that is at work has slots of its own: it takes a context out of the model's pool and puts it back. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 64 };

/* A plan that was run, and the numbers of its graph. */
struct seat {
    const struct plan *plan;
    double *v;
};
enum { SEATS = 8 };

struct point_context {
    const struct toml_model *m;
    struct seat seats[SEATS], now;
    int last;             /* seat that was taken */
    struct groups groups; /* of the point at hand */
    struct dse_workload step;
    void *checked; /* the parameters whose check the numbers hold, where is_checked */
    bool is_checked;
    void *asked, *chosen; /* of a model that chooses: the parameters that were asked for last, and those that it chose of them */
    bool has_chosen;
    struct dse_oplist ops;         /* of the point, where the model reads them */
    const struct dse_oplist *told; /* of a report: its operators, and the numbers that are given; else NULL */
    const void *given;
};

/* ---- contexts ---------------------------------------------------------------------------------------------------------------- */

static struct point_context *new_context(const struct toml_model *m)
{
    struct point_context *c = xcalloc(1, sizeof *c);
    c->m = m;
    c->checked = xcalloc(1, m->desc.params_size + 1);
    c->asked = xcalloc(1, m->desc.params_size + 1);
    c->chosen = xcalloc(1, m->desc.params_size + 1);
    return c;
}

static void free_context(struct point_context *c)
{
    if (!c) return;
    for (int i = 0; i < SEATS; i++) {
        free(c->seats[i].v);
        plan_let_go(c->seats[i].plan);
    }
    free(c->checked);
    free(c->asked);
    free(c->chosen);
    free(c);
}

/* Where in the pool a thread looks first. */
static unsigned place(void)
{
    static _Atomic unsigned threads;
    static _Thread_local unsigned own;
    if (!own) own = atomic_fetch_add(&threads, 1) + 1;
    return own;
}

static struct point_context *take(const struct toml_model *m, const void *params)
{
    struct point_context *c = NULL;
    for (unsigned i = 0, at = place(); i < POOL && !c; i++) c = atomic_exchange(&m->pool[(at + i) % POOL], NULL);
    if (!c) c = new_context(m);
    c->groups = groups_of_step(&m->groups, params, &c->step);
    return c;
}

static void put_back(struct point_context *c)
{
    for (unsigned i = 0, at = place(); i < POOL && c; i++) {
        struct point_context *none = NULL;
        if (atomic_compare_exchange_strong(&c->m->pool[(at + i) % POOL], &none, c)) return;
    }
    free_context(c);
}

void point_pool_release(struct toml_model *m)
{
    for (int i = 0; m->pool && i < POOL; i++) free_context(atomic_exchange(&m->pool[i], NULL));
    free(m->pool);
    m->pool = NULL;
}

/* ---- plans ------------------------------------------------------------------------------------------------------------------- */

static double number_at(const struct input *in, const void *object)
{
    const char *at = (const char *)object + in->offset;
    switch (in->type) {
    case DSE_TYPE_F64: return *(const double *)(const void *)at;
    case DSE_TYPE_I64: return (double)*(const int64_t *)(const void *)at;
    default: return *(const int32_t *)(const void *)at;
    }
}

static double input_value(const struct input *in, const void *params)
{
    if (in->kind == INPUT_POLICY) {
        const struct dse_eviction *policy = dse_eviction_at(*(const int32_t *)(const void *)((const char *)params + in->ref));
        const bool is = *(const bool *)((const char *)policy + in->offset);
        return in->offset == offsetof(struct dse_eviction, selects) ? is || policy->reads_part : is;
    }
    if (in->kind == INPUT_NUMBER) return in->number;
    if (in->kind == INPUT_AUTO) return 1;
    if (in->kind == INPUT_FIELD) return number_at(in, params) * in->measure.scale;
    const void *const *entry = (const void *const *)(const void *)((const char *)params + in->ref);
    if (in->kind == INPUT_ENTRY_NAMED) return strcmp(((const struct dse_entry *)*entry)->name, in->text) == 0;
    return number_at(in, *entry) * in->measure.scale;
}

static const void *element_at(const struct dse_oplist *list, int element)
{
    return element < list->n ? (const void *)&list->op[element] : &list->attention[element - list->n];
}

double point_input(const struct toml_model *m, const struct plan_input *i, const void *params, const struct dse_oplist *list)
{
    const struct input *in = &m->inputs[i->what];
    return i->element < 0 ? input_value(in, params) : number_at(in, element_at(list, i->element));
}

double point_workload_input(const struct toml_model *m, int what, const struct dse_workload *w)
{
    struct input in = m->inputs[what];
    in.offset -= m->groups.offset[GROUP_WORKLOAD];
    return number_at(&in, w) * in.measure.scale;
}

double point_given(const struct toml_model *m, const struct plan_input *i, const struct dse_oplist *list, const void *given)
{
    const struct input *in = &m->inputs[i->what];
    const double *at = (const double *)(const void *)((const char *)given + in->offset);
    if (i->element < 0) return *at * in->measure.scale;
    return at[i->element < list->n ? i->element : i->element - list->n] * in->measure.scale;
}

/* Take a seat for the plan. */
static void sit(struct point_context *c, const struct plan *p)
{
    for (int i = 0; i < SEATS; i++)
        if (c->seats[i].plan == p) {
            c->now = c->seats[i];
            return;
        }
    c->last = (c->last + 1) % SEATS;
    struct seat *s = &c->seats[c->last];
    free(s->v);
    plan_let_go(s->plan);
    *s = (struct seat){p, slots_numbers(&p->slots, &p->graph)};
    c->now = *s;
}

/* The operators of the point's step, and the plan for them. */
static void enter(struct point_context *c)
{
    const struct dse_oplist *list = c->m->expands ? &c->ops : NULL;
    const struct plan *p = c->now.plan;
    struct signature s;
    if (list && c->told)
        c->ops = *c->told;
    else if (list)
        expand(c->m, c->groups.workload, &c->ops);
    signature_of(list, &s);
    const bool same = p && p->n_structure == s.n && memcmp(p->structure, s.key, (size_t)s.n * sizeof *s.key) == 0;
    if (!same) sit(c, plan_find(c->m, list, &s));
}

static void load(struct point_context *c, const void *params, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct plan_input *in = &c->now.plan->inputs[i];
        c->now.v[in->slot] =
            is_given(&c->m->inputs[in->what]) ? point_given(c->m, in, &c->ops, c->given) : point_input(c->m, in, params, &c->ops);
    }
}

/* Answer a question that stands by itself. */
static void answer(struct point_context *c, enum question q, const void *params)
{
    enter(c);
    load(c, params, 0, c->now.plan->n_inputs);
    program_run(&c->now.plan->programs[q], c->now.v, &c->groups);
    c->is_checked = false;
}

static void run_check(struct point_context *c, const void *params)
{
    enter(c);
    load(c, params, 0, c->now.plan->n_main);
    program_run(&c->now.plan->programs[QUESTION_CHECK], c->now.v, &c->groups);
    memcpy(c->checked, params, c->m->desc.params_size);
    c->is_checked = true;
}

/* Right behind a check of the same point, only what that has not computed. */
static void run_estimate(struct point_context *c, const void *params)
{
    if (!c->is_checked || memcmp(c->checked, params, c->m->desc.params_size) != 0) run_check(c, params);
    program_run(&c->now.plan->programs[QUESTION_ESTIMATE], c->now.v, &c->groups);
}

static double at(const struct point_context *c, int node, double otherwise)
{
    return node < 0 ? otherwise : c->now.v[c->now.plan->slots.of[node]];
}

static double number_of(const struct point_context *c, int equation, double otherwise)
{
    return equation < 0 ? otherwise : at(c, c->now.plan->equations[equation], otherwise);
}

/* ---- what the model chooses -------------------------------------------------------------------------------------------------- */

static void go_to(struct point_context *c, const void *params)
{
    c->groups = groups_of_step(&c->m->groups, params, &c->step);
}

static double number_to_choose_by(void *object, const void *params, enum chosen_number which)
{
    struct point_context *c = object;
    go_to(c, params);
    answer(c, QUESTION_CHOOSE, params);
    return number_of(c, c->m->chosen.equations[which], (double)NAN);
}

/* The parameters of the point as the equations see them: with the number that the model chooses. They live as long as the context
 * is taken. */
static const void *choose(struct point_context *c, const void *params)
{
    const struct chosen_ask ask = {number_to_choose_by, c};
    const size_t size = c->m->desc.params_size;
    if (c->m->of || !chooses(c->m, params)) return params;
    if (!c->has_chosen || memcmp(c->asked, params, size) != 0) {
        memcpy(c->asked, params, size);
        memcpy(c->chosen, params, size);
        chosen_take(c->m, &ask, c->chosen);
        c->has_chosen = true;
    }
    go_to(c, c->chosen);
    return c->chosen;
}

void point_chosen(const struct toml_model *m, const void *params, void *ret)
{
    struct point_context *c = take(m, params);
    memcpy(ret, choose(c, params), m->desc.params_size);
    put_back(c);
}

/* ---- check ------------------------------------------------------------------------------------------------------------------- */

static struct dse_cache_steps steps_of(const struct groups *s)
{
    static const struct dse_request one_step = {1, 0};
    return dse_cache_steps_of(s->cache, s->workload, s->request ? s->request : &one_step);
}

/* The positions that the LLM sees: of a generation those of its end. */
static struct dse_workload seen_workload(const struct groups *s)
{
    struct dse_workload w = *s->workload;
    if (s->request && w.phase == DSE_DECODE && s->request->generate > 0) w.context = s->request->prompt + s->request->generate;
    return w;
}

static const char *check_cache(const struct groups *s)
{
    const struct dse_cache_steps steps = steps_of(s);
    return dse_cache_check(s->cache, s->workload, s->workload->phase == DSE_PREFILL ? (double)s->workload->context : steps.before);
}

static const char *check_workload(const struct toml_model *m, const struct groups *s)
{
    const struct dse_workload w = seen_workload(s);
    const char *why = dse_workload_check(&w, m->can);
    return why ? why : dse_kv_format_check(s->workload);
}

const char *point_refusal(const struct toml_model *m, const struct groups *s)
{
    const char *why = s->workload ? check_workload(m, s) : NULL;
    if (!why && s->memory) why = dse_dram_check(s->memory);
    if (!why && s->cache && s->workload) why = check_cache(s);
    if (!why && s->links && s->workload) why = dse_links_check(s->links, (double)dse_workload_chips(s->workload));
    const struct dse_local_of o = {s->local, s->cache, s->workload};
    if (!why && s->local) why = dse_local_check(&o);
    return why;
}

/* The first of the file's conditions that does not hold; NULL: all do. */
static const char *unmet(const struct point_context *c, int from, int to)
{
    for (int i = from; i < to; i++) {
        const double holds = number_of(c, c->m->check.list[i].equation, 0);
        if (isnan(holds) || holds == 0) return c->m->check.list[i].reason;
    }
    return NULL;
}

const char *point_check(const struct toml_model *m, const void *params)
{
    const struct groups s = groups_of(&m->groups, params);
    const char *why = m->n_refuse == 0 ? point_refusal(m, &s) : NULL;
    if (why || m->check.n == 0) return why;
    struct point_context *c = take(m, params);
    run_check(c, choose(c, params));
    why = unmet(c, 0, m->n_refuse);
    if (!why && m->n_refuse > 0) why = point_refusal(m, &s);
    if (!why) why = unmet(c, m->n_refuse, m->check.n);
    put_back(c);
    return why;
}

/* In the unit that a designer would take. */
static struct dse_shortage in_unit(struct dimension d, double needed, double there)
{
    static const struct {
        struct dimension dim;
        double least, scale;
        const char *unit;
    } units[] = {
        {{{[DIM_BYTE] = 2}}, DSE_GIB, DSE_GIB, "GiB"}, {{{[DIM_BYTE] = 2}}, DSE_MIB, DSE_MIB, "MiB"},
        {{{[DIM_BYTE] = 2}}, 0, DSE_KIB, "KiB"},       {{{[DIM_SECOND] = 2}}, 0, 1e-6, "us"},
        {{{[DIM_METRE] = 4}}, 0, 1e-6, "mm2"},         {{{[DIM_BYTE] = 2, [DIM_SECOND] = -2}}, 0, 1e9, "GB/s"},
        {{{[DIM_METRE] = 2}}, 0, 1e-3, "mm"},          {{{[DIM_SECOND] = -2}}, 0, 1e9, "GHz"},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (dimension_same(units[i].dim, d) && needed >= units[i].least)
            return (struct dse_shortage){needed / units[i].scale, there / units[i].scale, units[i].unit};
    return (struct dse_shortage){needed, there, ""};
}

bool point_shortage(const struct toml_model *m, const void *params, const char *reason, struct dse_shortage *ret)
{
    const struct condition *found = NULL;
    for (int i = 0; i < m->check.n && !found; i++)
        if (m->check.list[i].reason == reason && m->check.list[i].needed >= 0) found = &m->check.list[i];
    if (!found) return false;
    struct point_context *c = take(m, params);
    answer(c, QUESTION_SHORTAGE, choose(c, params));
    const double needed = number_of(c, found->needed, 0), there = number_of(c, found->there, 0);
    put_back(c);
    *ret = in_unit(m->equations[found->needed].measure.dim, needed, there);
    return ret->needed > ret->there;
}

/* ---- estimate ---------------------------------------------------------------------------------------------------------------- */

/* A peak may be 0: it is the model's. */
__attribute__((no_sanitize("undefined"))) static double over(double work, double peak)
{
    return work / peak;
}

static double total(const struct toml_model *m, const double *totals, enum total t, double otherwise)
{
    return m->totals[t] < 0 ? otherwise : totals[t];
}

/* What limits the step: the shares of its time that the model gives, or what the operations and the bytes take at the peaks. */
static int32_t bound_of(const struct toml_model *m, const double *totals, const struct dse_totals *t)
{
    const double compute = total(m, totals, TOTAL_COMPUTE, over(t->ops, t->peak_ops)),
                 dram = total(m, totals, TOTAL_DRAM, over(t->bytes, t->peak_bytes));
    return dse_bound_of(isnan(compute) ? 0 : compute, isnan(dram) ? 0 : dram, total(m, totals, TOTAL_LATENCY, 0));
}

const struct dse_entry *point_board(const struct toml_model *m, const struct groups *g)
{
    return m->board ? field_get(m->board, g->params).ref : NULL;
}

static struct dse_bill bill_of_computers(const struct toml_model *m, const struct groups *g, double chips, double nm)
{
    const double none = (double)NAN;
    const struct dse_economics *e = g->economics;
    struct dse_trade sold = {.node_nm = nm, .low_usd_h = none, .rent_usd_h = none, .high_usd_h = none};
    double *const usd[DSE_BANDS] = {&sold.low_usd, &sold.price_usd, &sold.high_usd};
    for (int band = 0; band < DSE_BANDS; band++) *usd[band] = dse_constant(e->costs, m->sold_usd, band, e->price_year);
    struct dse_bill bill = dse_bill_of_boards(e, chips, &sold);
    bill.is_whole = true;
    bill.die_mm2 = dse_physical(e->costs, m->sold_mm2);
    bill.memory_kind = g->memory->memory->make.kind;
    bill.memory_gib = g->memory->capacity_gib;
    return bill;
}

static struct dse_bill bill_of_gpus(const struct groups *g, const struct dse_gpu *gpu, const struct bill_numbers *n)
{
    struct dse_bill bill = dse_bill_of_gpus(g->economics, n->chips, gpu);
    if (!isnan(n->peak_w)) bill.peak_w = n->peak_w;
    bill.idle_w = n->idle_w;
    return bill;
}

struct dse_bill bill_of(const struct toml_model *m, const struct groups *g, const struct bill_numbers *n)
{
    const void *board = point_board(m, g);
    if (board && m->board->kind == DSE_KIND_GPU) return bill_of_gpus(g, board, n);
    if (board) return dse_bill_of_boards(g->economics, n->chips, &((const struct dse_fpga *)board)->trade);
    return m->sold_usd >= 0 ? bill_of_computers(m, g, n->chips, n->nm)
                            : dse_bill_of_chip(g->economics, n->chips, n->die_mm2, n->nm, g->memory);
}

/* The bill of the chips that are paid for: as many as [step] says, or as the degrees of parallelism ask for. */
struct dse_bill point_bill(const struct toml_model *m, const struct groups *g, const double *totals)
{
    const double none = (double)NAN, asked = g->workload ? (double)dse_workload_chips(g->workload) : 1;
    const struct bill_numbers n = {.chips = total(m, totals, TOTAL_CHIPS, asked),
                                   .die_mm2 = total(m, totals, TOTAL_DIE, none) * 1e6,
                                   .nm = nm_of_metres(total(m, totals, TOTAL_NODE, none)),
                                   .peak_w = total(m, totals, TOTAL_PEAK_W, none),
                                   .idle_w = total(m, totals, TOTAL_IDLE_W, none)};
    return bill_of(m, g, &n);
}

void point_common_built(const struct toml_model *m, const struct groups *g, const double *totals, const struct dse_bill *bill,
                        const struct dse_built *built, struct dse_common *ret)
{
    const double none = (double)NAN;
    struct dse_totals t = {
        .bill = bill,
        .tokens = m->totals[TOTAL_TOKENS] < 0 ? dse_workload_tokens(g->workload) : totals[TOTAL_TOKENS],
        .seconds = total(m, totals, TOTAL_TIME, none),
        .attention_s = total(m, totals, TOTAL_ATTENTION, none),
        .joules = total(m, totals, TOTAL_ENERGY, none),
        .bytes = total(m, totals, TOTAL_BYTES, none),
        .ops = total(m, totals, TOTAL_OPS, none),
        .peak_ops = total(m, totals, TOTAL_PEAK_OPS, none),
        .peak_bytes = total(m, totals, TOTAL_PEAK_BYTES, none),
        .area_mm2 = total(m, totals, TOTAL_AREA, none) * 1e6,
    };
    t.bound = bound_of(m, totals, &t);
    *ret = dse_common_built(&t, built);
}

void point_common(const struct toml_model *m, const struct groups *g, const double *totals, bool with_bill, struct dse_common *ret)
{
    struct dse_bill bill;
    struct dse_built built = {0};
    const bool is_billed = with_bill && has_bill(m);
    if (is_billed) bill = point_bill(m, g, totals);
    if (is_billed) dse_bill_build(&bill, &built);
    point_common_built(m, g, totals, is_billed ? &bill : NULL, &built, ret);
}

/* The totals of the point at hand. */
static void totals_of(const struct point_context *c, double *ret)
{
    for (int i = 0; i < TOTALS; i++) ret[i] = number_of(c, c->m->totals[i], 0);
}

/* Numbers of a part, 0 where the model gives none. */
struct part_numbers {
    double is[PART_NUMBERS];
};

/* Seconds that a part is bound by: as the model says, or what it does at the peak of the step. */
static double part_seconds(const struct point_context *c, const struct part_row *p, const struct part_numbers *n,
                           enum part_number said, enum part_number work, enum total peak)
{
    if (p->equations[said] >= 0) return n->is[said];
    const bool known = p->equations[work] >= 0 && c->m->totals[peak] >= 0;
    return known ? over(n->is[work], number_of(c, c->m->totals[peak], 1)) : 0;
}

static const char *bound_name(const struct point_context *c, const struct part_row *p, const struct part_numbers *n)
{
    const double compute = part_seconds(c, p, n, PART_COMPUTE, PART_OPS, TOTAL_PEAK_OPS),
                 dram = part_seconds(c, p, n, PART_DRAM, PART_BYTES, TOTAL_PEAK_BYTES);
    for (int i = 0; i < p->n_limits; i++) {
        const double limit = number_of(c, p->limits[i].equation, 0);
        if (limit > compute && limit > dram && limit >= n->is[PART_TIME]) return p->limits[i].name;
    }
    if (!(compute > 0 || dram > 0)) return dse_bound_names[DSE_BOUND_LATENCY];
    return dse_bound_names[compute > dram ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
}

static void add_part(const struct point_context *c, const struct part_row *p, const char *name, const struct part_numbers *n,
                     struct dse_breakdown *out)
{
    const struct dse_part part =
        dse_part_of(name, p->depth, bound_name(c, p, n), n->is[PART_TIME], n->is[PART_ENERGY], n->is[PART_BYTES], n->is[PART_OPS]);
    if (out->n == DSE_PARTS_MAX) return;
    if (p->domain == DOMAIN_NONE)
        dse_breakdown_add(out, part);
    else
        dse_breakdown_merge(out, part); /* operators of one name are one part */
}

static void add_elements(const struct point_context *c, int i, struct dse_breakdown *out)
{
    const struct part_row *p = &c->m->parts[i];
    for (int e = 0; e < elements_of(&c->ops); e++) {
        struct part_numbers n;
        if (!element_in(p->domain, &c->ops, e)) continue;
        for (int k = 0; k < PART_NUMBERS; k++) n.is[k] = at(c, plan_part(c->m, c->now.plan, i, e, k), k == PART_WHEN);
        if (n.is[PART_WHEN] == 0) continue;
        add_part(c, p, p->domain == DOMAIN_ATTENTION ? p->name : c->ops.op[e].name, &n, out);
    }
}

static void break_down(struct point_context *c, const void *params, struct dse_breakdown *out)
{
    answer(c, QUESTION_BREAKDOWN, params);
    for (int i = 0; i < c->m->n_parts; i++) {
        const struct part_row *p = &c->m->parts[i];
        struct part_numbers n;
        if (number_of(c, p->equations[PART_WHEN], 1) == 0) continue;
        for (int k = 0; k < PART_NUMBERS && p->domain == DOMAIN_NONE; k++) n.is[k] = number_of(c, p->equations[k], 0);
        if (p->domain == DOMAIN_NONE)
            add_part(c, p, p->name, &n, out);
        else
            add_elements(c, i, out);
    }
    for (int i = 0; i < c->m->n_causes; i++) {
        const double joules = number_of(c, c->m->causes[i].equation, 0);
        if (joules != 0) dse_breakdown_cause(out, c->m->causes[i].name, joules);
    }
}

static void estimate(struct point_context *c, const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct toml_model *m = c->m;
    double totals[TOTALS];
    run_estimate(c, params);
    totals_of(c, totals);
    point_common(m, &c->groups, totals, true, metrics);
    for (int i = 0; i < m->n_own; i++) own_store(&m->own[i], number_of(c, m->own[i].equation, 0), metrics);
    if (breakdown) break_down(c, params, breakdown);
}

void point_estimate(const struct toml_model *m, const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct point_context *c = take(m, params);
    estimate(c, choose(c, params), metrics, breakdown);
    put_back(c);
}

void point_report(const struct toml_model *variant, const void *params, const struct dse_oplist *list, const void *given,
                  void *metrics, struct dse_breakdown *breakdown)
{
    struct point_context *c = take(variant, params);
    c->told = list;
    c->given = given;
    c->is_checked = false;
    estimate(c, params, metrics, breakdown);
    c->told = NULL;
    c->given = NULL;
    put_back(c);
}

/* Values of a parameter that are tried at a point, from the one that is least so far. */
struct search {
    struct point_context *c;
    const struct toml_model *m;
    const struct trying *t;
    void *params, *best; /* of the point at hand; of the best one */
    double least;
    bool found;
};

static void try_value(struct search *s, double x)
{
    const struct field *f = s->t->parameter;
    const bool whole = f->type == DSE_TYPE_I64;
    if (!(x >= f->min && x <= f->max)) return;
    field_set(f, s->params, whole ? (struct value){.i64 = (int64_t)x} : (struct value){.f64 = x});
    if (point_check(s->m, s->params)) return;
    answer(s->c, QUESTION_EQUATE, s->params);
    const double is = number_of(s->c, s->t->least, 0);
    if (!(is < s->least)) return;
    s->least = is;
    s->found = true;
    memcpy(s->best, s->params, s->m->desc.params_size);
}

/* Multiples of a step, and above EACH of them only shares of a number. False: no point of those that are tried can be built. */
static bool search_best(struct point_context *c, const struct trying *t, const void *params, void *ret_best)
{
    enum { EACH = 64, SHARES = 1000000 };
    struct search s = {
        .c = c, .m = c->m, .t = t, .params = xmalloc(c->m->desc.params_size), .best = ret_best, .least = (double)INFINITY};
    memcpy(s.params, params, c->m->desc.params_size);
    const double step = number_of(c, t->step, 0), all = number_of(c, t->shares, 0);
    for (int i = 1; i <= EACH && step > 0; i++) try_value(&s, i * step);
    for (int i = 1; i <= SHARES && step > 0 && all / i > EACH * step; i++) try_value(&s, dse_ceil(all / i / step) * step);
    free(s.params);
    return s.found;
}

/* What `first` gives at another value of the parameter. */
static double gain_at(const struct search *s, double x)
{
    const struct field *f = s->t->parameter;
    field_set(f, s->params, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)x} : (struct value){.f64 = x});
    answer(s->c, QUESTION_EQUATE, s->params);
    return number_of(s->c, s->t->first, 0);
}

/* The first whole number that has a gain, if there is one in steps of a quarter. */
static bool search_first(struct point_context *c, const struct trying *t, const void *params, void *ret_first)
{
    struct search s = {.c = c, .m = c->m, .t = t, .params = ret_first};
    memcpy(ret_first, params, c->m->desc.params_size);
    const double most = number_of(c, t->most, 0), step = 1.25;
    double low = 1, high = 1;
    while (!(gain_at(&s, high) > 0)) {
        if (high >= most) return false;
        low = high;
        high = dse_min(most, dse_max(low + 1, dse_ceil(low * step)));
    }
    while (high - low > 1) {
        const double half = dse_floor((low + high) / 2);
        *(gain_at(&s, half) > 0 ? &high : &low) = half;
    }
    gain_at(&s, high);
    return true;
}

void point_equate(const struct toml_model *m, const void *params, void *equations)
{
    struct point_context *c = take(m, params);
    void *best = xmalloc(m->desc.params_size);
    params = choose(c, params);
    answer(c, QUESTION_EQUATE, params);
    for (int i = 0; i < m->n_shown; i++) {
        const struct trying *t = m->equations[m->shown[i].equation].trying;
        const bool found = !t || (t->first >= 0 ? search_first : search_best)(c, t, params, best);
        if (t) answer(c, QUESTION_EQUATE, found ? best : params);
        const double x = number_of(c, m->shown[i].equation, 0) / m->shown[i].scale;
        *(double *)(void *)((char *)equations + m->shown[i].offset) = isfinite(x) && found ? x : (double)NAN;
        if (t) answer(c, QUESTION_EQUATE, params);
    }
    free(best);
    put_back(c);
}

/* ---- what the groups bring --------------------------------------------------------------------------------------------------- */

void point_resolve(const struct toml_model *m, void *params)
{
    char *p = params;
    if (m->groups.has[GROUP_WORKLOAD]) dse_workload_resolve((struct dse_workload *)(void *)(p + m->groups.offset[GROUP_WORKLOAD]));
    if (m->groups.has[GROUP_MEMORY]) dse_dram_resolve((struct dse_dram *)(void *)(p + m->groups.offset[GROUP_MEMORY]));
    if (m->groups.has[GROUP_ECONOMICS])
        dse_economics_resolve((struct dse_economics *)(void *)(p + m->groups.offset[GROUP_ECONOMICS]));
    resolve_autos(m, params);
}

/* The first condition of [unmeasured] that holds; NULL: none. Behind the answer to QUESTION_STAND, as the next one. */
static const char *why_unmeasured(const struct point_context *c)
{
    const struct conditions *u = &c->m->unmeasured;
    for (int i = 0; i < u->n; i++)
        if (number_of(c, u->list[i].equation, 0) != 0) return u->list[i].reason;
    return NULL;
}

/* What the steps of a point see of the cache, in the numbers that [arithmetic] says; *ret_arithmetic outlives it. */
static struct dse_cache_steps inexact_steps_of(const struct point_context *c, const struct groups *g,
                                               struct dse_arithmetic *ret_arithmetic)
{
    const int *inexact = c->m->inexact;
    struct dse_cache_steps ret = steps_of(g);
    if (inexact[INEXACT_WHEN] < 0 || number_of(c, inexact[INEXACT_WHEN], 0) == 0) return ret;
    const double first = number_of(c, inexact[INEXACT_FIRST], 0), second = number_of(c, inexact[INEXACT_SECOND], 0),
                 third = number_of(c, inexact[INEXACT_THIRD], 0);
    *ret_arithmetic = (c->m->inexact_method == INEXACT_SOFTMAX ? dse_partial_softmax : dse_fixed_point)(first, second, third);
    ret.arithmetic = ret_arithmetic;
    return ret;
}

/* Does LAD's decoding work on it? */
static bool is_local(const struct groups *g)
{
    return g->local && g->workload && dse_local_works(g->local, g->workload);
}

static bool stands_by_equations(const struct toml_model *m)
{
    return m->beyond.n > 0 || m->unmeasured.n > 0 || m->inexact[0] >= 0;
}

void point_stand(const struct toml_model *m, const void *params, struct dse_standing *ret)
{
    const struct groups s = groups_of(&m->groups, params);
    struct point_context *c = take(m, params);
    struct dse_arithmetic arithmetic;
    if (stands_by_equations(m)) answer(c, QUESTION_STAND, choose(c, params));
    if (s.cache && s.workload && !is_local(&s)) {
        const struct dse_cache_steps steps = inexact_steps_of(c, &s, &arithmetic);
        dse_cache_stand(&steps, ret);
    } else if (s.workload) {
        ret->quality = dse_quality_of_exact(s.workload);
    }
    const char *unknown = why_unmeasured(c);
    if (unknown && !is_local(&s)) dse_standing_unknown(ret, unknown);
    if (s.workload) dse_standing_wide(ret, s.workload);
    for (int i = 0; i < m->beyond.n; i++)
        if (number_of(c, m->beyond.list[i].equation, 0) != 0) dse_standing_add(ret, m->beyond.list[i].reason);
    const struct dse_local_of o = {s.local, s.cache, s.workload};
    if (is_local(&s)) dse_local_stand(&o, unknown, ret);
    put_back(c);
}

/* Of a metric of the model's own that has no number. */
static const char *why_own(const struct point_context *c, const struct groups *s, int i)
{
    static const char *const of_output[] = {"retained_mass", "attention_error", "attention_error_sd",
                                            "task_score",    "task_loss",       "false_negative"};
    const struct toml_model *m = c->m;
    const struct dse_local_of o = {s->local, s->cache, s->workload};
    const char *why = m->own[i].why_null, *name = m->equations[m->own[i].equation].name;
    if (!why && is_local(s)) why = dse_local_why_null(&o, name);
    for (size_t k = 0; k < sizeof of_output / sizeof *of_output && !why; k++)
        if (strcmp(name, of_output[k]) == 0) why = why_unmeasured(c);
    if (!why && s->cache && s->workload) {
        struct dse_arithmetic arithmetic;
        const struct dse_cache_steps steps = inexact_steps_of(c, s, &arithmetic);
        why = dse_cache_why_null(&steps, name);
    }
    return why ? why : "its formula gives no number at this point";
}

const char *point_why_null(const struct toml_model *m, const void *params, const char *metric)
{
    const struct groups s = groups_of(&m->groups, params);
    const char *why = NULL;
    struct point_context *c = take(m, params);
    params = choose(c, params);
    if (stands_by_equations(m)) answer(c, QUESTION_STAND, params);
    run_estimate(c, params);
    for (int i = 0; i < m->n_own && !why; i++) {
        const struct equation *e = &m->equations[m->own[i].equation];
        if (strcmp(e->name, metric) == 0 && !isfinite(number_of(c, m->own[i].equation, 0))) why = why_own(c, &s, i);
    }
    if (why || !has_bill(m)) {
        put_back(c);
        return why;
    }
    double totals[TOTALS];
    totals_of(c, totals);
    const struct dse_bill bill = point_bill(m, &s, totals);
    put_back(c);
    return dse_bill_why_null(&bill, metric);
}
