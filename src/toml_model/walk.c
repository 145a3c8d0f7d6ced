/* The equations of a model, walked as they stand in the file: of one point, and of a box. Nothing is shared with the graph but what
 * an operation and a primitive are, so that a fault of the graph is found: `dse check-front` evaluates rows and boxes by it.
 *
 * Numbers are ranges. Those of one point are single numbers, which range_apply keeps to the bit. Where it is asked how they move
 * over a box, they say that, too. */
#include "toml_model/moves.h"

#include "base/xalloc.h"
#include "graph/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct graph_range range;

/* Equations under other values of parameters (at()), walked once each: the first of the list is the model as it is. */
struct other {
    int input;
    range value;
};
struct under {
    struct other *others; /* by input */
    int n;
    range *known; /* by equation, and by 1 + element; 0: of none */
    bool *is_known;
};

struct walk {
    const struct toml_model *m;
    struct groups_box groups;
    struct dse_workload step; /* of a generation's point */
    void *own;                /* parameters of a point for which the model chose a number; or NULL */
    bool is_box;
    unsigned same;                    /* groups that are the same at both ends */
    const struct dse_oplist *lo, *hi; /* operators at both ends; NULL: the model reads none */
    const struct input_moves *moves;  /* NULL: nobody asks how ranges move */
    struct under *list;
    int n, at; /* at: the one at hand */
};

/* What a name is in a formula: an argument, the number of a range, a row of a table. */
struct word {
    const char *name;
    const struct table *table; /* or NULL */
    int row;
    range value;
    const struct word *above;
};

/* Where in a formula the walk is. */
struct place {
    const struct formula *f;
    const char *variable; /* of the loop over operators; NULL: none */
    enum domain domain;
    int element;
    const struct word *words;
    bool in_function; /* whose names mean other fields in other loops */
};

static range walk_node(struct walk *w, const struct place *at, int node);

/* ---- what names mean: found once, when the model is loaded ------------------------------------------------------------------ */

/* A meaning is a kind and a place in a list. */
enum { MEANING = 1 << 20 };
enum meaning {
    MEANS_NOTHING,
    MEANS_INPUT,
    MEANS_EQUATION,
    MEANS_ANSWER,
    MEANS_FUNCTION,
    MEANS_LOOP,
    MEANS_BUILT_IN,
    MEANS_AT,
    MEANS_SOLVE,
    MEANS_COLUMN
};

enum loop { SUM, MOST, LEAST, ARGMOST, ARGLEAST, LARGEST };
static const struct {
    const char *name;
    enum loop is;
} loops[] = {{"sum", SUM}, {"most", MOST}, {"least", LEAST}, {"argmax", ARGMOST}, {"argmin", ARGLEAST}, {"largest", LARGEST}};
static const struct {
    const char *name;
    enum graph_op op;
} built_in[] = {{"min", GRAPH_MIN},     {"max", GRAPH_MAX},     {"abs", GRAPH_ABS},   {"sqrt", GRAPH_SQRT},
                {"ceil", GRAPH_CEIL},   {"floor", GRAPH_FLOOR}, {"exp", GRAPH_EXP},   {"round", GRAPH_ROUND},
                {"known", GRAPH_KNOWN}, {"ln", GRAPH_LN},       {"log2", GRAPH_LOG2}, {"log10", GRAPH_LOG10},
                {"expm1", GRAPH_EXPM1}, {"log1p", GRAPH_LOG1P}};

static int meaning(enum meaning kind, int i)
{
    return (int)kind * MEANING + i;
}

static int answer_of(const char *name)
{
    for (int i = 0; answers[i].name; i++)
        if (strcmp(answers[i].name, name) == 0) return i;
    return -1;
}

static int meaning_of_call(const struct toml_model *m, const char *name)
{
    int column;
    if (table_of_column(m, name, &column)) return meaning(MEANS_COLUMN, column);
    if (strcmp(name, "at") == 0) return meaning(MEANS_AT, 0);
    if (strcmp(name, "solve") == 0) return meaning(MEANS_SOLVE, 0);
    for (int i = 0; i < m->n_functions; i++)
        if (strcmp(m->functions[i].name, name) == 0) return meaning(MEANS_FUNCTION, i);
    for (int i = 0; i < (int)(sizeof loops / sizeof *loops); i++)
        if (strcmp(loops[i].name, name) == 0) return meaning(MEANS_LOOP, i);
    for (int i = 0; i < (int)(sizeof built_in / sizeof *built_in); i++)
        if (strcmp(built_in[i].name, name) == 0) return meaning(MEANS_BUILT_IN, i);
    return meaning(MEANS_ANSWER, answer_of(name));
}

/* Of a name that is neither an argument nor of a loop's element. */
static int meaning_of_name(const struct toml_model *m, const char *name)
{
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].kind < INPUT_ELEMENT && strcmp(m->inputs[i].name, name) == 0) return meaning(MEANS_INPUT, i);
    const int e = find_equation(m, name, DOMAIN_NONE), a = answer_of(name);
    return e >= 0 ? meaning(MEANS_EQUATION, e) : a >= 0 ? meaning(MEANS_ANSWER, a) : 0;
}

/* Of a field of an element. */
static int meaning_of_field(const struct toml_model *m, enum domain domain, const char *field)
{
    const int e = find_equation(m, field, domain);
    const enum domain d = domain == DOMAIN_ATTENTION ? DOMAIN_ATTENTION : DOMAIN_OPERATORS;
    if (e >= 0) return meaning(MEANS_EQUATION, e);
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].kind == INPUT_ELEMENT && m->inputs[i].domain == d && strcmp(m->inputs[i].name, field) == 0)
            return meaning(MEANS_INPUT, i);
    return 0;
}

/* What stands behind the variable of a loop; NULL: another name. */
static const char *field_of(const char *variable, const char *name)
{
    const size_t n = variable ? strlen(variable) : 0;
    return n && strncmp(name, variable, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

static void resolve(const struct toml_model *m, struct formula *f, int node, const char *variable, enum domain domain)
{
    struct formula_node *n = &f->nodes[node];
    if (n->kind == FORMULA_LOOP && n->domain && domain_find(n->domain) != DOMAIN_NONE) {
        resolve(m, f, n->args[0], n->name, domain_find(n->domain));
        return;
    }
    const char *field = n->kind == FORMULA_NAME ? field_of(variable, n->name) : NULL;
    if (n->kind == FORMULA_NAME) n->meaning = field ? meaning_of_field(m, domain, field) : meaning_of_name(m, n->name);
    if (n->kind == FORMULA_CALL) n->meaning = meaning_of_call(m, n->name);
    for (int k = 0; k < n->n_args; k++) resolve(m, f, n->args[k], variable, domain);
}

void walk_prepare(struct toml_model *m)
{
    for (int i = 0; i < m->n_equations; i++) {
        struct equation *e = &m->equations[i];
        if (!e->borrows) resolve(m, &e->formula, e->formula.root, e->variable, e->domain);
    }
    for (int i = 0; i < m->n_functions; i++) resolve(m, &m->functions[i].formula, m->functions[i].formula.root, NULL, DOMAIN_NONE);
}

/* ---- names ------------------------------------------------------------------------------------------------------------------ */

static range between(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? range_nothing : range_unknown;
    if (x == y) return range_of(x);
    return (range){fmin(x, y), fmax(x, y), false, false};
}

static range number_of(const struct walk *w, const struct input *in, int element)
{
    const struct plan_input i = {0, (int)(in - w->m->inputs), element};
    const struct under *u = &w->list[w->at];
    for (int k = 0; k < u->n; k++)
        if (u->others[k].input == i.what) return u->others[k].value;
    if (!w->is_box) return range_of(point_input(w->m, &i, w->groups.lo.params, w->lo));
    range ret = between(box_end(w->m, &i, w->groups.lo.params, w->lo, false), box_end(w->m, &i, w->groups.hi.params, w->hi, true));
    if (w->moves && !range_is_exact(ret)) ret.moves = w->moves->inputs[i.what];
    return ret;
}

/* Each equation is walked once, one of a loop once for each element. */
static range equation(struct walk *w, int i, const struct place *at)
{
    const struct equation *e = &w->m->equations[i];
    const int element = e->kind == EQUATION_ELEMENT && at ? at->element : -1;
    const size_t known = (size_t)i * (size_t)(1 + elements_of(w->lo)) + (size_t)(1 + element);
    if (w->list[w->at].is_known[known]) return w->list[w->at].known[known];
    const struct place inside = {.f = &e->formula, .variable = e->variable, .domain = e->domain, .element = element};
    const range r = walk_node(w, &inside, e->formula.root);
    w->list[w->at].known[known] = r;
    w->list[w->at].is_known[known] = true;
    return r;
}

/* The field of an element, or an equation of its loop. */
static range element(struct walk *w, const struct place *at, int of)
{
    if (of / MEANING == MEANS_EQUATION) return equation(w, of % MEANING, at);
    if (of / MEANING != MEANS_INPUT) return range_unknown;
    const struct input *in = &w->m->inputs[of % MEANING];
    double known;
    return element_known(in, w->lo, at->element, &known) ? range_of(known) : number_of(w, in, at->element);
}

/* How answer `which` of a primitive moves, which is r. */
static struct graph_moves moves_of_call(const struct walk *w, const struct primitive *p, int which, const range *args,
                                        const range *r)
{
    struct graph_moves of_args[PRIMITIVE_ARGUMENTS_MAX];
    uint32_t of_groups = 0;
    if (!w->moves || range_is_exact(*r)) return moves_any(0);
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) of_args[i] = args[i].moves;
    for (int g = 0; g < GROUPS; g++)
        if (p->groups >> g & 1) of_groups |= w->moves->groups[g];
    const struct graph_moves ret = primitive_moves(p, which, of_args, of_groups);
    return r->none ? moves_any(moves_all(ret)) : ret;
}

static range call(struct walk *w, const struct answer *a, const range *args)
{
    const struct primitive *p = &primitives[a->primitive];
    range ret[PRIMITIVE_RESULTS_MAX];
    bool single = (p->groups & ~w->same) == 0;
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) single = single && range_is_exact(args[i]);
    if (single)
        primitive_at(p, &w->groups.lo, args, ret);
    else
        p->bound(&w->groups, args, ret);
    ret[a->which].moves = moves_of_call(w, p, a->which, args, &ret[a->which]);
    return ret[a->which];
}

static range cell_of(const struct table *t, int row, const char *column)
{
    return range_of(t->cells[row * t->n_columns + find_column(t, column)]);
}

/* Of a number that may be "auto" the field; in a box what its formula gives besides. */
static range parameter(struct walk *w, const struct input *in)
{
    const range field = number_of(w, in, -1);
    const struct auto_number *a = w->is_box && in->kind == INPUT_FIELD ? find_auto(w->m, in->name) : NULL;
    for (int i = 0; a && i < w->m->n_inputs; i++) {
        const struct input *is_field = &w->m->inputs[i];
        if (is_field->kind != INPUT_AUTO || is_field->offset != a->offset) continue;
        return range_moved(GRAPH_CHOOSE, number_of(w, is_field, -1), field, equation(w, a->equation, NULL));
    }
    return field;
}

static range quantity(struct walk *w, const struct answer *a)
{
    range args[PRIMITIVE_ARGUMENTS_MAX] = {{0}};
    struct answer of = *a;
    if (!a->inexact || w->m->inexact[0] < 0) return call(w, a, args);
    for (int i = 0; i < INEXACT_NUMBERS; i++) args[i] = equation(w, w->m->inexact[i], NULL);
    if (w->m->inexact_method == INEXACT_SOFTMAX) args[0] = range_moved(GRAPH_MUL, args[0], range_of(INEXACT_METHODS), range_of(0));
    of.primitive = a->inexact;
    return call(w, &of, args);
}

static range walk_name(struct walk *w, const struct place *at, const struct formula_node *node)
{
    const char *name = node->name;
    for (const struct word *k = at->words; k; k = k->above) {
        if (strcmp(k->name, name) == 0) return k->value;
        if (k->table && field_of(k->name, name)) return cell_of(k->table, k->row, field_of(k->name, name));
    }
    const char *field = field_of(at->variable, name);
    if (field) return element(w, at, at->in_function ? meaning_of_field(w->m, at->domain, field) : node->meaning);
    const int i = node->meaning % MEANING;
    switch ((enum meaning)(node->meaning / MEANING)) {
    case MEANS_INPUT: return parameter(w, &w->m->inputs[i]);
    case MEANS_EQUATION: return equation(w, i, NULL);
    case MEANS_ANSWER: return quantity(w, &answers[i]);
    default: return strcmp(name, "inf") == 0 ? range_of((double)INFINITY) : range_of((double)NAN);
    }
}

/* ---- operators -------------------------------------------------------------------------------------------------------------- */

/* "phase == 'prefill'", "op.name == 'lm_head'", "op.role == 'output-head'" */
static range compare_text(struct walk *w, const struct place *at, const struct formula_node *name, const char *text, bool equal)
{
    const char *is = "", *field = field_of(at->variable, name->name);
    if (field) {
        const bool op = w->lo && at->element < w->lo->n, role = strcmp(field, "role") == 0;
        if (op) is = role ? dse_op_role_names[w->lo->op[at->element].role] : w->lo->op[at->element].name;
        if (!op && w->lo) is = dse_mixer_names[w->lo->attention[at->element - w->lo->n].mixer];
    } else if (entry_choices(w->m, name->name)) {
        is = entry_choices(w->m, name->name)[(int)number_of(w, &w->m->inputs[entry_choice_of(w->m, name->name)], -1).lo];
    } else {
        const struct field *f = schema_find(&w->m->schema, name->name);
        const struct value v = field_get(f, w->groups.lo.params);
        is = f->type == DSE_TYPE_REF ? v.ref->name : f->choices[v.choice];
    }
    return range_of((strcmp(is, text) == 0) == equal);
}

static range walk_binary(struct walk *w, const struct place *at, const struct formula_node *n)
{
    const struct formula_node *left = &at->f->nodes[n->args[0]], *right = &at->f->nodes[n->args[1]];
    if (right->kind == FORMULA_STRING) return compare_text(w, at, left, right->name, n->op == OP_EQ);
    if (left->kind == FORMULA_STRING) return compare_text(w, at, right, left->name, n->op == OP_EQ);
    const range a = walk_node(w, at, n->args[0]), b = walk_node(w, at, n->args[1]), none = range_of(0);
    bool turned;
    const enum graph_op op = graph_op_of(n->op, &turned);
    return range_moved(op, turned ? b : a, turned ? a : b, none);
}

/* Of a choice that is known at all points the other side is not walked. */
static range walk_choose(struct walk *w, const struct place *at, const struct formula_node *n)
{
    const range condition = walk_node(w, at, n->args[0]);
    const bool never = range_is_exact(condition) && condition.lo == 0;
    if (never) return walk_node(w, at, n->args[2]);
    const range yes = walk_node(w, at, n->args[1]);
    if (range_is_exact(condition)) return yes;
    return range_moved(GRAPH_CHOOSE, condition, yes, walk_node(w, at, n->args[2]));
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------ */

static range over_operators(struct walk *w, const struct place *at, const struct formula_node *loop, enum graph_op op)
{
    struct place inside = *at;
    range ret = range_of(0);
    bool first = true;
    inside.variable = loop->name;
    inside.domain = domain_find(loop->domain);
    for (int e = 0; e < elements_of(w->lo); e++) {
        if (!element_in(inside.domain, w->lo, e)) continue;
        inside.element = e;
        const range x = walk_node(w, &inside, loop->args[0]);
        ret = first ? x : range_moved(op, ret, x, x);
        first = false;
    }
    return ret;
}

/* What a loop over a range or a table gives so far. */
struct so_far {
    range value, item;
};

static struct so_far of_nothing(enum loop is)
{
    const double least = (double)INFINITY;
    const double value = is == LEAST || is == ARGLEAST ? least : is == MOST || is == ARGMOST ? -least : 0;
    return (struct so_far){range_of(value), range_of((double)NAN)};
}

/* One number more: `x` where `counts`. */
static void go_on(struct so_far *s, enum loop is, range counts, range x, range item, bool first)
{
    const range other = of_nothing(is).value, v = range_moved(GRAPH_CHOOSE, counts, x, other);
    const bool least = is == LEAST || is == ARGLEAST;
    if (is == LARGEST) {
        s->item = range_moved(GRAPH_CHOOSE, v, item, s->item);
    } else if (is == SUM) {
        s->value = first ? v : range_moved(GRAPH_ADD, s->value, v, v);
    } else {
        const range better = least ? range_moved(GRAPH_LT, v, s->value, v) : range_moved(GRAPH_LT, s->value, v, v);
        s->item = range_moved(GRAPH_CHOOSE, better, item, s->item);
        s->value = range_moved(least ? GRAPH_MIN : GRAPH_MAX, s->value, v, v);
    }
}

static range over_items(struct walk *w, const struct place *at, const struct formula_node *loop, enum loop is)
{
    const struct table *t = loop->domain ? find_table(w->m, loop->domain) : NULL;
    const int condition = formula_condition(loop);
    const double first = t ? 1 : walk_node(w, at, loop->args[1]).lo;
    const int n = t ? t->n_rows : (int)(walk_node(w, at, loop->args[2]).lo - first) + 1;
    struct so_far s = of_nothing(is);
    for (int i = 0; i < n; i++) {
        const range item = range_of(first + i);
        const struct word word = {loop->name, t, i, item, at->words};
        struct place inside = *at;
        inside.words = &word;
        const range counts = condition < 0 ? range_of(1) : walk_node(w, &inside, condition);
        const bool never = range_is_exact(counts) && counts.lo == 0;
        const range x = never ? range_of(0) : walk_node(w, &inside, loop->args[0]);
        go_on(&s, is, counts, x, item, i == 0);
    }
    return is >= ARGMOST ? s.item : s.value;
}

static range walk_loop(struct walk *w, const struct place *at, const struct formula_node *n, enum loop is)
{
    static const enum graph_op ops[] = {[SUM] = GRAPH_ADD, [MOST] = GRAPH_MAX, [LEAST] = GRAPH_MIN};
    const struct formula_node *loop = &at->f->nodes[n->args[0]];
    const bool operators = loop->domain && domain_find(loop->domain) != DOMAIN_NONE;
    return operators ? over_operators(w, at, loop, ops[is]) : over_items(w, at, loop, is);
}

/* "tiles.rows(i)" */
static range walk_column(struct walk *w, const struct place *at, const struct formula_node *n)
{
    int column;
    const struct table *t = table_of_column(w->m, n->name, &column);
    const range row = walk_node(w, at, n->args[0]);
    range ret = range_of((double)NAN);
    for (int i = t->n_rows; i > 0; i--) {
        const range is = range_moved(GRAPH_EQ, row, range_of(i), row);
        ret = range_moved(GRAPH_CHOOSE, is, range_of(t->cells[(i - 1) * t->n_columns + column]), ret);
    }
    return ret;
}

static bool same_range(range a, range b)
{
    return a.lo == b.lo && a.hi == b.hi && a.none == b.none && a.minus_zero == b.minus_zero;
}

static void add_under(struct walk *w, struct other *others, int n)
{
    const size_t numbers = (size_t)w->m->n_equations * (size_t)(1 + elements_of(w->lo));
    w->list = xrealloc(w->list, (size_t)w->n + 1, sizeof *w->list);
    w->list[w->n++] = (struct under){others, n, xcalloc(numbers + 1, sizeof(range)), xcalloc(numbers + 1, sizeof(bool))};
}

/* The values at hand, with this one; its place in the list. */
static int under(struct walk *w, struct other one)
{
    const struct under *now = &w->list[w->at];
    struct other *others = xcalloc((size_t)now->n + 1, sizeof *others);
    int n = 0;
    for (int i = 0; i < now->n && now->others[i].input < one.input; i++) others[n++] = now->others[i];
    others[n++] = one;
    for (int i = 0; i < now->n; i++)
        if (now->others[i].input > one.input) others[n++] = now->others[i];
    for (int i = 0; i < w->n; i++) {
        bool same = w->list[i].n == n;
        for (int k = 0; k < n && same; k++)
            same = w->list[i].others[k].input == others[k].input && same_range(w->list[i].others[k].value, others[k].value);
        if (!same) continue;
        free(others);
        return i;
    }
    add_under(w, others, n);
    return w->n - 1;
}

static range walk_at(struct walk *w, const struct place *at, const struct formula_node *n)
{
    const struct formula_node *set = &at->f->nodes[n->args[0]];
    const int before = w->at, input = meaning_of_name(w->m, set->name) % MEANING;
    const struct other one = {input, walk_node(w, at, set->args[0])};
    w->at = under(w, one);
    const range ret = walk_node(w, at, n->args[1]);
    w->at = before;
    return ret;
}

static void forget(struct under *u)
{
    free(u->others);
    free(u->known);
    free(u->is_known);
}

/* A solve() that tries numbers. */
struct solving_walk {
    struct walk *w;
    const struct place *at;
    const struct formula_node *loop;
};

static range body_at(void *object, double x)
{
    const struct solving_walk *t = object;
    const int before = t->w->n;
    const struct word word = {t->loop->name, NULL, 0, range_of(x), t->at->words};
    struct place inside = *t->at;
    inside.words = &word;
    const range ret = walk_node(t->w, &inside, t->loop->args[0]);
    while (t->w->n > before) forget(&t->w->list[--t->w->n]); /* other values that depend on x */
    return ret;
}

static range walk_solve(struct walk *w, const struct place *at, const struct formula_node *n)
{
    const struct formula_node *loop = &at->f->nodes[n->args[0]];
    const range low = walk_node(w, at, loop->args[1]), high = walk_node(w, at, loop->args[2]);
    struct solving_walk t = {w, at, loop};
    range ret = solve_range(low, high, body_at, &t);
    ret.moves = moves_any(w->moves && !range_is_exact(ret) ? ~0u : 0); /* of it nothing is followed */
    return ret;
}

/* The place of a parameter that names an entry is a number of its own. */
static range reference(const struct walk *w, const struct place *at, int node)
{
    return range_of((double)schema_find(&w->m->schema, at->f->nodes[node].name)->offset);
}

static range walk_primitive(struct walk *w, const struct place *at, const struct formula_node *n, const struct answer *a)
{
    range args[PRIMITIVE_ARGUMENTS_MAX];
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX; i++) args[i] = range_of(0);
    for (int i = 0; i < n->n_args; i++)
        args[i] = *primitives[a->primitive].arguments[i] == '@' ? reference(w, at, n->args[i]) : walk_node(w, at, n->args[i]);
    return call(w, a, args);
}

static range walk_function(struct walk *w, const struct place *at, const struct formula_node *n, const struct function *f)
{
    struct word words[FORMULA_ARGUMENTS_MAX];
    struct place inside = *at;
    for (int i = 0; i < n->n_args; i++)
        words[i] = (struct word){f->arguments[i], NULL, 0, walk_node(w, at, n->args[i]), i ? &words[i - 1] : NULL};
    inside.f = &f->formula;
    inside.in_function = true;
    inside.words = &words[n->n_args - 1];
    return walk_node(w, &inside, f->formula.root);
}

static range walk_built_in(struct walk *w, const struct place *at, const struct formula_node *n, enum graph_op op)
{
    range ret = walk_node(w, at, n->args[n->n_args - 1]);
    if (n->n_args == 1) return range_moved(op, ret, ret, ret);
    for (int k = n->n_args - 2; k >= 0; k--) ret = range_moved(op, walk_node(w, at, n->args[k]), ret, ret);
    return ret;
}

static range walk_call(struct walk *w, const struct place *at, const struct formula_node *n)
{
    const int i = n->meaning % MEANING;
    switch ((enum meaning)(n->meaning / MEANING)) {
    case MEANS_FUNCTION: return walk_function(w, at, n, &w->m->functions[i]);
    case MEANS_LOOP: return walk_loop(w, at, n, loops[i].is);
    case MEANS_AT: return walk_at(w, at, n);
    case MEANS_SOLVE: return walk_solve(w, at, n);
    case MEANS_COLUMN: return walk_column(w, at, n);
    case MEANS_BUILT_IN: return walk_built_in(w, at, n, built_in[i].op);
    default: return walk_primitive(w, at, n, &answers[i]);
    }
}

static range walk_node(struct walk *w, const struct place *at, int node)
{
    const struct formula_node *n = &at->f->nodes[node];
    const range zero = range_of(0);
    switch (n->kind) {
    case FORMULA_NUMBER: return range_of(n->number);
    case FORMULA_NAME: return walk_name(w, at, n);
    case FORMULA_NEGATE: return range_moved(GRAPH_NEGATE, walk_node(w, at, n->args[0]), zero, zero);
    case FORMULA_NOT: return range_moved(GRAPH_EQ, walk_node(w, at, n->args[0]), zero, zero);
    case FORMULA_BINARY: return walk_binary(w, at, n);
    case FORMULA_CHOOSE: return walk_choose(w, at, n);
    case FORMULA_CALL: return walk_call(w, at, n);
    default: return range_unknown;
    }
}

/* ---- points ----------------------------------------------------------------------------------------------------------------- */

static void walk_init(struct walk *w, const struct toml_model *m, const void *lo, const void *hi)
{
    *w = (struct walk){.m = m, .groups = {groups_of(&m->groups, lo), groups_of(&m->groups, hi), NULL}};
    w->same = groups_same(&w->groups.lo, &w->groups.hi, ~0u);
}

/* With the operators at both ends, or (NULL) none. */
static void walk_begin(struct walk *w, const struct dse_oplist *lo, const struct dse_oplist *hi)
{
    w->lo = lo;
    w->hi = hi;
    add_under(w, NULL, 0);
}

static void walk_release(struct walk *w)
{
    for (int i = 0; i < w->n; i++) forget(&w->list[i]);
    free(w->list);
    free(w->own);
}

/* A point, with the operators of its step. */
static void walk_point(struct walk *w, const struct toml_model *m, const void *params, struct dse_oplist *list)
{
    const bool chosen = chooses(m, params);
    void *own = chosen ? xmalloc(m->desc.params_size) : NULL;
    if (chosen) point_chosen(m, params, own);
    if (chosen) params = own;
    walk_init(w, m, params, params);
    w->own = own;
    w->groups.lo = w->groups.hi = groups_of_step(&m->groups, params, &w->step);
    if (m->expands) expand(m, w->groups.lo.workload, list);
    walk_begin(w, m->expands ? list : NULL, m->expands ? list : NULL);
}

const char *walk_check(const struct toml_model *m, const void *params)
{
    const struct groups g = groups_of(&m->groups, params);
    const char *why = NULL;
    struct dse_oplist *list = xcalloc(1, sizeof *list);
    struct walk w;
    walk_point(&w, m, params, list);
    if (m->n_refuse == 0) why = point_refusal(m, &g);
    for (int i = 0; i < m->check.n && !why; i++) {
        if (i > 0 && i == m->n_refuse) why = point_refusal(m, &g);
        if (why) break;
        const range holds = equation(&w, m->check.list[i].equation, NULL);
        if (holds.none || holds.lo == 0) why = m->check.list[i].reason;
    }
    walk_release(&w);
    free(list);
    return why;
}

void walk_estimate(const struct toml_model *m, const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct dse_oplist *list = xcalloc(1, sizeof *list);
    struct walk w;
    double totals[TOTALS] = {0};
    walk_point(&w, m, params, list);
    for (int i = 0; i < TOTALS; i++) {
        const range r = m->totals[i] < 0 ? range_of(0) : equation(&w, m->totals[i], NULL);
        totals[i] = r.none ? (double)NAN : r.lo;
    }
    point_common(m, &w.groups.lo, totals, true, metrics);
    for (int i = 0; i < m->n_own; i++) {
        const range r = equation(&w, m->own[i].equation, NULL);
        own_store(&m->own[i], r.none ? (double)NAN : r.lo, metrics);
    }
    walk_release(&w);
    free(list);
    if (breakdown) { /* parts are not a certificate's matter */
        void *again = xcalloc(1, m->desc.metrics_size);
        point_estimate(m, params, again, breakdown);
        free(again);
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------ */

static struct graph_range range_at(void *object, int i)
{
    return equation(object, i, NULL);
}

bool walk_part(const struct toml_model *m, const void *lo, const void *hi, const struct dse_workload_part *part, void *floor,
               void *ceiling)
{
    struct dse_oplist *lists = xcalloc(2, sizeof *lists);
    struct walk w;
    walk_init(&w, m, lo, hi);
    w.groups.part = part;
    w.is_box = true;
    if (m->expands) expand_part(m, part, &lists[0], &lists[1]);
    walk_begin(&w, m->expands ? &lists[0] : NULL, m->expands ? &lists[1] : NULL);
    const struct box_ranges r = {m, &w.groups, &w, range_at};
    const bool some = box_metrics(&r, floor, ceiling);
    walk_release(&w);
    free(lists);
    return some;
}

void walk_part_moves(const struct toml_model *m, const void *lo, const void *hi, const struct dse_workload_part *part,
                     const struct graph_moves *params, struct graph_moves *ret)
{
    struct dse_oplist *lists = xcalloc(2, sizeof *lists);
    struct input_moves moves;
    struct walk w;
    input_moves_make(m, params, &moves);
    walk_init(&w, m, lo, hi);
    w.groups.part = part;
    w.is_box = true;
    w.moves = &moves;
    if (m->expands) expand_part(m, part, &lists[0], &lists[1]);
    walk_begin(&w, m->expands ? &lists[0] : NULL, m->expands ? &lists[1] : NULL);
    moves_of_metrics(&(struct box_moves){m, &moves, part, &w, range_at}, NULL, ret);
    walk_release(&w);
    input_moves_release(&moves);
    free(lists);
}
