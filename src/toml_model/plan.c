/* The graph of a model for the operators of a step, and the programs that answer what is asked of it. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- signatures -------------------------------------------------------------------------------------------------------------- */

/* What formulas may ask of an operator that is no number of the step: its name, which is a string constant, its role, which goes
 * with the name, and its traits. */
static uint64_t key_of_op(const struct dse_op *op)
{
    const uint64_t what = (uint64_t)op->kind | (uint64_t)op->in_attention << 4 | (uint64_t)op->is_draft << 5 |
                          (uint64_t)op->follows_norm << 6 | (uint64_t)op->has_gate << 7 | (uint64_t)op->writes_cache << 8 |
                          (uint64_t)op->is_per_head << 9 | ((uint64_t)op->exchange.kind & 7) << 10 | (uint64_t)op->is_first << 13 |
                          (uint64_t)op->is_last << 14;
    return (uint64_t)(uintptr_t)op->name ^ what << 48;
}

static uint64_t key_of_attention(const struct dse_attention *a)
{
    return (uint64_t)a->mixer << 8 | (uint64_t)a->is_draft | (uint64_t)a->is_index << 1 | (uint64_t)a->is_made << 2 |
           (uint64_t)a->values_in_keys << 3;
}

void signature_of(const struct dse_oplist *list, struct signature *ret)
{
    ret->n = 0;
    if (!list) return;
    ret->key[ret->n++] = (uint64_t)list->n;
    for (int i = 0; i < list->n; i++) ret->key[ret->n++] = key_of_op(&list->op[i]);
    for (int i = 0; i < list->n_attentions; i++) ret->key[ret->n++] = key_of_attention(&list->attention[i]);
}

/* ---- the structure that a graph is unrolled for ------------------------------------------------------------------------------ */

struct making {
    const struct toml_model *m;
    const struct dse_oplist *list;
    const void *chosen; /* parameters whose choices are known; or NULL */
    int *elements[DOMAINS], n_in[DOMAINS];
};

int elements_of(const struct dse_oplist *list)
{
    return list ? list->n + list->n_attentions : 0;
}

bool element_in(enum domain d, const struct dse_oplist *list, int element)
{
    if (d == DOMAIN_ATTENTION) return element >= list->n;
    return element < list->n && (d == DOMAIN_OPERATORS || (int)list->op[element].kind == (int)d);
}
_Static_assert((int)DOMAIN_LINEAR == (int)DSE_OP_LINEAR && (int)DOMAIN_COLLECTIVE == (int)DSE_OP_COLLECTIVE,
               "kinds of operators are domains");

static void find_elements(struct making *k)
{
    const int n = elements_of(k->list);
    for (int d = 0; d < DOMAINS; d++) {
        k->elements[d] = xcalloc((size_t)n + 1, sizeof *k->elements[d]);
        for (int e = 0; e < n; e++)
            if (element_in((enum domain)d, k->list, e)) k->elements[d][k->n_in[d]++] = e;
    }
}

static bool is_of_element(void *object, int what)
{
    const struct making *k = object;
    return k->m->inputs[what].kind >= INPUT_ELEMENT;
}

bool element_known(const struct input *in, const struct dse_oplist *list, int element, double *ret)
{
    const bool group = element >= list->n;
    const struct dse_op *op = group ? NULL : &list->op[element];
    const struct dse_attention *a = group ? &list->attention[element - list->n] : NULL;
    const char *at = group ? (const char *)a : (const char *)op;
    const bool is_kind = !group && in->offset == offsetof(struct dse_op, exchange.kind);
    switch (in->kind) {
    case INPUT_NAMED: *ret = op && strcmp(op->name, in->text) == 0; return true;
    case INPUT_ROLE: *ret = op && strcmp(dse_op_role_names[op->role], in->text) == 0; return true;
    case INPUT_MIXER: *ret = a && strcmp(dse_mixer_names[a->mixer], in->text) == 0; return true;
    default:
        if (in->type != DSE_TYPE_ENUM) return false;
        *ret = is_kind ? (double)op->exchange.kind : *(const bool *)(at + in->offset);
        return true;
    }
}

/* A choice of the point, or what the signature says of an element. */
static bool is_known(void *object, int what, int element, double *ret)
{
    const struct making *k = object;
    const struct input *in = &k->m->inputs[what];
    if (in->kind >= INPUT_ELEMENT) return element_known(in, k->list, element, ret);
    if (in->type != DSE_TYPE_ENUM || in->kind == INPUT_ENTRY || !k->chosen) return false;
    *ret = point_input(k->m, &(struct plan_input){0, what, -1}, k->chosen, NULL);
    return true;
}

/* ---- roots ------------------------------------------------------------------------------------------------------------------- */

struct asked {
    int *list, n; /* equations */
};

static void ask(struct asked *a, int equation)
{
    if (equation < 0) return;
    a->list = xrealloc(a->list, (size_t)a->n + 1, sizeof *a->list);
    a->list[a->n++] = equation;
}

static void ask_shown(const struct toml_model *m, int equation, struct asked *ret)
{
    const struct trying *t = m->equations[equation].trying;
    ask(ret, equation);
    if (t) ask(ret, t->step), ask(ret, t->shares), ask(ret, t->least), ask(ret, t->first), ask(ret, t->most);
}

static void ask_for(const struct toml_model *m, enum question q, struct asked *ret)
{
    const bool totals = q == QUESTION_ESTIMATE || q == QUESTION_BREAKDOWN;
    for (int i = 0; i < m->check.n; i++) {
        if (q == QUESTION_CHECK) ask(ret, m->check.list[i].equation);
        if (q == QUESTION_SHORTAGE) ask(ret, m->check.list[i].needed), ask(ret, m->check.list[i].there);
    }
    for (int i = 0; i < TOTALS && totals; i++) ask(ret, m->totals[i]);
    for (int i = 0; i < m->n_own && q == QUESTION_ESTIMATE; i++) ask(ret, m->own[i].equation);
    for (int i = 0; i < m->n_shown && q == QUESTION_EQUATE; i++) ask_shown(m, m->shown[i].equation, ret);
    for (int i = 0; i < m->n_parts && q == QUESTION_BREAKDOWN; i++) {
        for (int k = 0; k < PART_NUMBERS && m->parts[i].domain == DOMAIN_NONE; k++) ask(ret, m->parts[i].equations[k]);
        for (int k = 0; k < m->parts[i].n_limits; k++) ask(ret, m->parts[i].limits[k].equation);
    }
    for (int i = 0; i < m->n_causes && q == QUESTION_BREAKDOWN; i++) ask(ret, m->causes[i].equation);
    for (int i = 0; i < m->beyond.n && q == QUESTION_STAND; i++) ask(ret, m->beyond.list[i].equation);
    for (int i = 0; i < INEXACT_NUMBERS && q == QUESTION_STAND; i++) ask(ret, m->inexact[i]);
    for (int i = 0; i < m->unmeasured.n && q == QUESTION_STAND; i++) ask(ret, m->unmeasured.list[i].equation);
    for (int i = 0; i < CHOSEN_NUMBERS && q == QUESTION_CHOOSE && m->chosen.by; i++) ask(ret, m->chosen.equations[i]);
}

static size_t place_of_part(const struct toml_model *m, int elements, int i, int element, int k)
{
    size_t loops = 0;
    for (int p = 0; p < i; p++) loops += m->parts[p].domain != DOMAIN_NONE;
    return (loops * (size_t)elements + (size_t)element) * PART_NUMBERS + (size_t)k;
}

int plan_part(const struct toml_model *m, const struct plan *p, int i, int element, int k)
{
    const int elements = p->parts[0];
    return p->parts[1 + place_of_part(m, elements, i, element, k)];
}

/* Roots of a graph, and their nodes. */
struct roots {
    struct root *list;
    size_t n;
};

/* Room for so many roots that are none. */
static struct root *add_roots(struct roots *r, size_t n)
{
    r->list = xrealloc(r->list, r->n + n + 1, sizeof *r->list);
    struct root *first = r->list + r->n;
    for (size_t i = 0; i < n; i++) first[i] = (struct root){-1, -1};
    r->n += n;
    return first;
}

/* Parts that are loops, in the order of place_of_part. */
static void add_parts(const struct toml_model *m, const struct making *k, struct roots *r)
{
    const int elements = elements_of(k->list);
    struct root *ret = add_roots(r, place_of_part(m, elements, m->n_parts, 0, 0));
    for (int i = 0; i < m->n_parts; i++) {
        const struct part_row *part = &m->parts[i];
        for (int e = 0; e < elements && part->domain != DOMAIN_NONE; e++)
            for (int number = 0; number < PART_NUMBERS; number++) {
                const bool is_there = part->equations[number] >= 0 && element_in(part->domain, k->list, e);
                if (is_there)
                    ret[place_of_part(m, elements, i, e, number)] = (struct root){m->equations[part->equations[number]].node, e};
            }
    }
}

static size_t place_of_read(int elements, int k, int element)
{
    return (size_t)k * (size_t)(1 + elements) + (size_t)(1 + element);
}

int plan_read(const struct plan *p, int k, int element)
{
    return p->reads[place_of_read(p->parts[0], k, element)];
}

/* What a variant reads, in the order of place_of_read. */
static void add_reads(const struct toml_model *m, const struct making *k, struct roots *r)
{
    const int elements = elements_of(k->list);
    struct root *ret = add_roots(r, place_of_read(elements, m->n_reads, -1));
    for (int i = 0; i < m->n_reads; i++)
        for (int q = 0; q < m->reads[i].n; q++) {
            const struct equation *e = &m->equations[m->reads[i].equations[q]];
            if (!m->reads[i].of_elements) ret[place_of_read(elements, i, -1)] = (struct root){e->node, -1};
            for (int at = 0; at < elements && m->reads[i].of_elements; at++)
                if (element_in(e->domain, k->list, at)) ret[place_of_read(elements, i, at)] = (struct root){e->node, at};
        }
}

/* ---- making ------------------------------------------------------------------------------------------------------------------ */

static void unroll(struct making *k, const struct root *roots, size_t n, struct plan *p, int *ret)
{
    const struct structure s = {.object = k,
                                .n_elements = elements_of(k->list),
                                .n_domains = DOMAINS,
                                .elements = (const int *const *)k->elements,
                                .n_in = k->n_in,
                                .is_of_element = is_of_element,
                                .known = is_known};
    graph_unroll(&k->m->graph, &s, roots, (int)n, &p->graph, ret);
}

static int *copy_nodes(const int *nodes, size_t n)
{
    int *ret = xcalloc(n + 1, sizeof *ret);
    if (n) memcpy(ret, nodes, n * sizeof *nodes);
    return ret;
}

/* Equations that are asked for; unless the plan is for boxes, parts that are loops, and what a variant reads. */
static void make_graph(struct making *k, struct plan *p)
{
    const struct toml_model *m = k->m;
    struct asked a = {0};
    struct roots r = {0};
    const int last = k->chosen ? QUESTION_ESTIMATE : QUESTIONS - 1;
    for (int q = 0; q <= last; q++) ask_for(m, (enum question)q, &a);
    struct root *asked = add_roots(&r, (size_t)a.n);
    for (int i = 0; i < a.n; i++) asked[i].node = m->equations[a.list[i]].node;
    if (!k->chosen) add_parts(m, k, &r);
    const size_t n_asked = (size_t)a.n, n_parts = r.n - n_asked;
    if (!k->chosen) add_reads(m, k, &r);
    int *nodes = xcalloc(r.n + 1, sizeof *nodes);
    graph_init(&p->graph);
    unroll(k, r.list, r.n, p, nodes);
    p->equations = xcalloc((size_t)m->n_equations + 1, sizeof *p->equations);
    for (int i = 0; i < m->n_equations; i++) p->equations[i] = -1;
    for (int i = 0; i < a.n; i++) p->equations[a.list[i]] = nodes[i];
    p->parts = xcalloc(n_parts + 1, sizeof *p->parts);
    p->parts[0] = elements_of(k->list);
    if (n_parts) memcpy(p->parts + 1, nodes + a.n, n_parts * sizeof *nodes);
    p->reads = copy_nodes(nodes + n_asked + n_parts, r.n - n_asked - n_parts);
    free(a.list);
    free(r.list);
    free(nodes);
}

static void make_programs(const struct toml_model *m, struct plan *p)
{
    bool *made = xcalloc((size_t)p->graph.n + 1, sizeof *made);
    for (int q = 0; q < QUESTIONS; q++) {
        struct asked a = {0};
        ask_for(m, (enum question)q, &a);
        for (int i = 0; i < a.n; i++) a.list[i] = p->equations[a.list[i]];
        for (size_t i = 0; q == QUESTION_BREAKDOWN && i < place_of_part(m, p->parts[0], m->n_parts, 0, 0); i++)
            ask(&a, p->parts[1 + i]);
        program_make(&p->graph, &p->slots, a.list, a.n, q <= QUESTION_ESTIMATE ? made : NULL, &p->programs[q]);
        free(a.list);
    }
    free(made);
}

/* What the reads of a variant need: apart what does not depend on given numbers, so that it is computed once. */
static void make_reads(const struct toml_model *m, struct plan *p)
{
    const struct graph *g = &p->graph;
    const int n_reads = (int)place_of_read(p->parts[0], m->n_reads, -1);
    bool *needed = xcalloc((size_t)g->n + 1, sizeof *needed), *depends = xcalloc((size_t)g->n + 1, sizeof *depends),
         *made = xcalloc((size_t)g->n + 1, sizeof *made);
    struct asked fixed = {0};
    for (int i = 0; i < n_reads; i++)
        if (p->reads[i] >= 0) needed[p->reads[i]] = true;
    for (int i = g->n - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->nodes[i].n_args; k++) needed[g->nodes[i].args[k]] = true;
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        depends[i] = n->op == GRAPH_INPUT && is_given(&m->inputs[n->what]);
        for (int k = 0; k < n->n_args; k++) depends[i] = depends[i] || depends[n->args[k]];
        for (int k = 0; needed[i] && depends[i] && k < n->n_args; k++)
            if (!depends[n->args[k]]) ask(&fixed, n->args[k]);
    }
    for (int i = 0; i < n_reads; i++)
        if (p->reads[i] >= 0 && !depends[p->reads[i]]) ask(&fixed, p->reads[i]);
    program_make(g, &p->slots, fixed.list, fixed.n, made, &p->fixed);
    program_make(g, &p->slots, p->reads, n_reads, made, &p->depends);
    free(fixed.list);
    free(needed);
    free(depends);
    free(made);
}

/* What CHECK and ESTIMATE need. The caller frees it. */
static bool *find_main(const struct toml_model *m, const struct plan *p)
{
    bool *ret = xcalloc((size_t)p->graph.n + 1, sizeof *ret);
    struct asked a = {0};
    ask_for(m, QUESTION_CHECK, &a);
    ask_for(m, QUESTION_ESTIMATE, &a);
    for (int i = 0; i < a.n; i++) ret[p->equations[a.list[i]]] = true;
    for (int i = p->graph.n - 1; i >= 0; i--)
        for (int k = 0; ret[i] && k < p->graph.nodes[i].n_args; k++) ret[p->graph.nodes[i].args[k]] = true;
    free(a.list);
    return ret;
}

static void find_inputs(const struct toml_model *m, struct plan *p)
{
    bool *main = find_main(m, p);
    p->inputs = xcalloc((size_t)p->graph.n + 1, sizeof *p->inputs);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->graph.n; i++) {
            const struct graph_node *n = &p->graph.nodes[i];
            if (n->op != GRAPH_INPUT || main[i] != (pass == 0)) continue;
            p->inputs[p->n_inputs++] = (struct plan_input){p->slots.of[i], n->what, n->element1 - 1};
        }
        if (pass == 0) p->n_main = p->n_inputs;
    }
    p->main = xcalloc((size_t)p->graph.n + 1, sizeof *p->main);
    int *inner = graph_inner(&p->graph);
    for (int i = 0; i < p->graph.n; i++) {
        const int op = p->graph.nodes[i].op;
        if (main[i] && inner[i] < 0 && op != GRAPH_INPUT && op != GRAPH_RESULT) p->main[p->n_nodes++] = i;
    }
    free(inner);
    free(main);
}

static struct plan *plan_make(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s,
                              const int32_t *choices, const void *chosen)
{
    struct plan *p = xcalloc(1, sizeof *p);
    struct making k = {.m = m, .list = list, .chosen = chosen};
    p->structure = xcalloc((size_t)s->n + 1, sizeof *p->structure);
    p->n_structure = s->n;
    memcpy(p->structure, s->key, (size_t)s->n * sizeof *s->key);
    if (chosen) {
        p->choices = xcalloc((size_t)m->n_inputs + 1, sizeof *p->choices);
        memcpy(p->choices, choices, (size_t)m->n_inputs * sizeof *choices);
    }
    find_elements(&k);
    make_graph(&k, p);
    slots_make(&p->graph, &p->slots);
    if (!chosen) make_programs(m, p);
    if (m->n_reads) make_reads(m, p);
    find_inputs(m, p);
    for (int d = 0; d < DOMAINS; d++) free(k.elements[d]);
    graph_trim(&p->graph);
    return p;
}

static void plan_free(struct plan *p)
{
    free(p->structure);
    free(p->choices);
    graph_release(&p->graph);
    slots_release(&p->slots);
    for (int q = 0; q < QUESTIONS; q++) program_release(&p->programs[q]);
    free(p->inputs);
    free(p->main);
    free(p->equations);
    free(p->parts);
    free(p->reads);
    program_release(&p->fixed);
    program_release(&p->depends);
    free(p);
}

/* ---- those that are made ----------------------------------------------------------------------------------------------------- */

/* A node takes about 200 bytes with its instructions. */
enum { PLAN_LISTS = 256, PLAN_NODES_MAX = 1 << 20, PLAN_NODES_CHOSEN_MAX = 1 << 21 };
struct plans {
    struct plan *_Atomic lists[PLAN_LISTS]; /* by hash; plans are added at the front and stay */
    pthread_mutex_t lock;                   /* of adding */
    long n_nodes, n_chosen;                 /* nodes of the plans that stay: of points, of what has choices */
};

struct plans *plans_new(void)
{
    struct plans *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void plans_free(struct plans *plans)
{
    if (!plans) return;
    for (int i = 0; i < PLAN_LISTS; i++)
        for (struct plan *p = atomic_load(&plans->lists[i]), *next; p; p = next) {
            next = p->next;
            plan_free(p);
        }
    pthread_mutex_destroy(&plans->lock);
    free(plans);
}

static bool is_same(const struct toml_model *m, const struct plan *p, const struct signature *s, const int32_t *choices)
{
    if (p->n_structure != s->n || !p->choices != !choices) return false;
    return memcmp(p->structure, s->key, (size_t)s->n * sizeof *s->key) == 0 &&
           (!choices || memcmp(p->choices, choices, (size_t)m->n_inputs * sizeof *choices) == 0);
}

static unsigned list_of(const struct toml_model *m, const struct signature *s, const int32_t *choices)
{
    uint64_t h = 0xcbf29ce484222325;
    for (int i = 0; i < s->n; i++) h = (h ^ s->key[i]) * 0x100000001b3;
    for (int i = 0; choices && i < m->n_inputs; i++) h = (h ^ (uint32_t)choices[i]) * 0x100000001b3;
    return (unsigned)(h ^ h >> 32) % PLAN_LISTS;
}

static const struct plan *find(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s,
                               const int32_t *choices, const void *chosen)
{
    struct plan *_Atomic *head = &m->plans->lists[list_of(m, s, choices)];
    for (struct plan *p = atomic_load(head); p; p = p->next)
        if (is_same(m, p, s, choices)) return p;
    pthread_mutex_lock(&m->plans->lock);
    long *nodes = chosen ? &m->plans->n_chosen : &m->plans->n_nodes;
    struct plan *found = atomic_load(head);
    while (found && !is_same(m, found, s, choices)) found = found->next;
    if (!found && *nodes < (chosen ? PLAN_NODES_CHOSEN_MAX : PLAN_NODES_MAX)) {
        found = plan_make(m, list, s, choices, chosen);
        found->next = atomic_load(head);
        atomic_store(head, found);
        *nodes += found->graph.n;
    }
    pthread_mutex_unlock(&m->plans->lock);
    return found;
}

const struct plan *plan_find(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s)
{
    const struct plan *found = find(m, list, s, NULL, NULL);
    if (found) return found;
    struct plan *own = plan_make(m, list, s, NULL, NULL);
    own->is_own = true;
    return own;
}

void plan_let_go(const struct plan *p)
{
    if (p && p->is_own) plan_free((struct plan *)(uintptr_t)p);
}

const struct plan *plan_find_chosen(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s,
                                    const void *params)
{
    int32_t *choices = xcalloc((size_t)m->n_inputs + 1, sizeof *choices);
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].kind < INPUT_ELEMENT && m->inputs[i].type == DSE_TYPE_ENUM)
            choices[i] = (int32_t)point_input(m, &(struct plan_input){0, i, -1}, params, NULL);
    const struct plan *p = find(m, list, s, choices, params);
    free(choices);
    return p;
}
