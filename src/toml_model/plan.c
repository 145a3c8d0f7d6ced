/* In which order what is computed: straight code, then a loop over operators, then what its sums are needed for, and so on. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static void push(int **list, int *n, int what)
{
    for (int i = 0; i < *n; i++)
        if ((*list)[i] == what) return;
    *list = xrealloc(*list, (size_t)*n + 1, sizeof **list);
    (*list)[(*n)++] = what;
}

/* Mark an equation and all that it needs. */
static void mark(const struct toml_model *m, int i, bool *wanted)
{
    if (wanted[i]) return;
    wanted[i] = true;
    const struct equation *e = &m->equations[i];
    for (int k = 0; k < e->n_needs; k++)
        if (e->needs[k] >= 0) mark(m, e->needs[k], wanted);
}

/* The equations in the order in which they can be computed. The caller frees it. */
static int *ordered(const struct toml_model *m)
{
    int *ret = xcalloc((size_t)m->n_equations + 1, sizeof *ret);
    for (int i = 0; i < m->n_equations; i++)
        if (m->equations[i].state == EQUATION_DONE) ret[m->equations[i].order] = i;
    return ret;
}

static bool is_element(const struct input *in)
{
    return in->kind == INPUT_ELEMENT || in->kind == INPUT_NAMED;
}

static void add_code(struct text *t, const struct equation *e)
{
    text_addf(t, "%s%s", t->n ? "," : "", e->code);
}

enum { CODE_MAX = 100000 };

static struct stage *new_stage(struct plan *p, enum domain domain)
{
    p->stages = xrealloc(p->stages, (size_t)p->n_stages + 1, sizeof *p->stages);
    p->stages[p->n_stages] = (struct stage){.domain = domain};
    return &p->stages[p->n_stages++];
}

static void finish(struct stage *s, struct text *code)
{
    s->code = code->n ? text_detach(code) : NULL;
    if (!s->code) text_release(code);
}

static void add_straight(struct toml_model *m, struct plan *p, int phase, const bool *wanted, const int *order)
{
    struct text code;
    text_init(&code);
    for (int i = 0; i < m->n_ordered; i++) {
        const struct equation *e = &m->equations[order[i]];
        if (!wanted[order[i]] || e->kind != EQUATION_SCALAR || e->phase != phase) continue;
        if (code.n && code.n + strlen(e->code) > CODE_MAX) {
            finish(new_stage(p, DOMAIN_NONE), &code);
            text_init(&code);
        }
        add_code(&code, e);
    }
    if (code.n)
        finish(new_stage(p, DOMAIN_NONE), &code);
    else
        text_release(&code);
}

/* Code and inputs of the elements that are marked. */
static void fill_loop(struct toml_model *m, struct stage *s, const bool *wanted, const int *order)
{
    struct text code;
    text_init(&code);
    for (int i = 0; i < m->n_ordered; i++) {
        const struct equation *e = &m->equations[order[i]];
        if (!wanted[order[i]] || e->kind != EQUATION_ELEMENT || e->domain != s->domain) continue;
        add_code(&code, e);
        for (int k = 0; k < e->n_needs; k++)
            if (e->needs[k] < 0 && is_element(&m->inputs[-1 - e->needs[k]])) push(&s->inputs, &s->n_inputs, -1 - e->needs[k]);
    }
    finish(s, &code);
}

static void add_loop(struct toml_model *m, struct plan *p, int phase, enum domain domain, const bool *wanted, const int *order)
{
    struct stage *s = NULL;
    bool *inner = xcalloc((size_t)m->n_equations, sizeof *inner);
    for (int i = 0; i < m->n_ordered; i++) {
        const struct equation *e = &m->equations[order[i]];
        if (!wanted[order[i]] || e->kind <= EQUATION_ELEMENT || e->phase != phase || e->domain != domain) continue;
        if (!s) s = new_stage(p, domain);
        push(&s->sums, &s->n_sums, order[i]);
        mark(m, e->operand, inner);
    }
    if (s) fill_loop(m, s, inner, order);
    p->expands = p->expands || s;
    free(inner);
}

/* How often slots are read: by stages of the plans, by parts, as one of the roots. The caller frees it. */
static int *count_uses(const struct toml_model *m, const struct plan *p, const int *roots, int n, const struct plan *behind)
{
    int *uses = xcalloc((size_t)m->n_slots + 1, sizeof *uses);
    for (int i = 0; p && i < p->n_stages; i++) count_slots(p->stages[i].code, uses);
    for (int i = 0; behind && i < behind->n_stages; i++) count_slots(behind->stages[i].code, uses);
    for (int i = 0; p && i < m->n_parts; i++) count_slots(m->parts[i].stage.code, uses);
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) uses[m->equations[roots[i]].slot]++;
    return uses;
}

/* `uses`: of n slots. What is read outside of the stage is kept, and what it sums. */
static void simplify_stage(struct toml_model *m, struct stage *s, const int *uses, int n, bool is_own)
{
    if (!s->code) return;
    bool *keep = xcalloc((size_t)m->n_slots + 1, sizeof *keep);
    int *own = xcalloc((size_t)m->n_slots + 1, sizeof *own);
    if (is_own) count_slots(s->code, own);
    for (int i = 0; i < n; i++) keep[i] = uses[i] > own[i];
    for (int i = 0; i < s->n_sums; i++) keep[m->equations[m->equations[s->sums[i]].operand].slot] = true;
    char *code = simplify(m, s->code, keep);
    free(s->code);
    s->code = code;
    free(own);
    free(keep);
}

void plan_simplify(struct toml_model *m, struct plan *p, const int *roots, int n, const struct plan *behind)
{
    const int n_slots = m->n_slots; /* those that are made meanwhile are of one stage alone */
    int *uses = count_uses(m, p, roots, n, behind);
    for (int i = 0; i < p->n_stages; i++) simplify_stage(m, &p->stages[i], uses, n_slots, true);
    free(uses);
}

void plan_make(struct toml_model *m, const int *roots, int n, const struct plan *before, struct plan *ret)
{
    bool *wanted = xcalloc((size_t)m->n_equations + 1, sizeof *wanted);
    int *order = ordered(m), phases = 0;
    *ret = (struct plan){.made = wanted};
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) mark(m, roots[i], wanted);
    for (int i = 0; i < m->n_equations; i++) {
        const struct equation *e = &m->equations[i];
        if (before && before->made[i] && e->kind != EQUATION_ELEMENT) wanted[i] = false;
        if (!wanted[i]) continue;
        if (e->phase > phases) phases = e->phase;
        for (int k = 0; k < e->n_needs; k++)
            if (e->needs[k] < 0 && !is_element(&m->inputs[-1 - e->needs[k]])) push(&ret->inputs, &ret->n_inputs, -1 - e->needs[k]);
    }
    for (int phase = 0; phase <= phases; phase++) {
        if (phase % 2 == 0) add_straight(m, ret, phase, wanted, order);
        for (int d = 0; phase % 2 && d < DOMAINS; d++) add_loop(m, ret, phase, (enum domain)d, wanted, order);
    }
    free(order);
}

void stage_make(struct toml_model *m, enum domain domain, const int *roots, int n, struct stage *ret)
{
    bool *wanted = xcalloc((size_t)m->n_equations + 1, sizeof *wanted);
    int *order = ordered(m);
    *ret = (struct stage){.domain = domain};
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) mark(m, roots[i], wanted);
    fill_loop(m, ret, wanted, order);
    int *uses = count_uses(m, NULL, roots, n, NULL);
    simplify_stage(m, ret, uses, m->n_slots, false);
    free(uses);
    free(order);
    free(wanted);
}

void stage_release(struct stage *s)
{
    free(s->code);
    free(s->machine.list);
    free(s->inputs);
    free(s->sums);
}

void plan_release(struct plan *p)
{
    for (int i = 0; i < p->n_stages; i++) stage_release(&p->stages[i]);
    free(p->stages);
    free(p->inputs);
    free(p->made);
}
