/* The sections of a model that hold formulas. */
#include "toml_model/internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The formula that stands at `node`: a string, or a number. formula_release takes what was made in both cases. */
static bool formula_at(const struct toml_doc *doc, const struct toml_node *node, struct formula *ret, struct diags *diags)
{
    struct formula_source source = {.text = "", .loc = toml_loc(doc, node), .file_text = doc->text};
    *ret = (struct formula){0};
    if (node->type == TOML_INTEGER || node->type == TOML_FLOAT) {
        const double number = node->type == TOML_INTEGER ? (double)node->integer : node->number;
        if (isnan(number)) return diags_input(diags, source.loc, doc->text, "null is no number", "nan is no formula");
        formula_of_number(ret, &source, number);
        return true;
    }
    if (node->type != TOML_STRING)
        return diags_input(diags, source.loc, doc->text,
                           "for example: \"max(cycles / clock_ghz, op.weight_bytes / bandwidth_gbs)\"",
                           "a formula is a string or a number, not %s", toml_type_name(node->type));
    source.text = node->string;
    source.loc = toml_string_loc(doc, node);
    return formula_parse(ret, &source, diags);
}

/* An equation of the formula at `node`. -1 with an error added. */
static int read_equation(struct toml_model *m, struct equation e, const struct toml_node *node, struct diags *diags)
{
    const bool parsed =
        m->n_equations < MODEL_FORMULAS_MAX
            ? formula_at(e.file, node, &e.formula, diags)
            : diags_input(diags, toml_loc(e.file, node), NULL, NULL, "there are more formulas; at most %d", MODEL_FORMULAS_MAX);
    if (!parsed) {
        formula_release(&e.formula);
        free(e.name);
        return -1;
    }
    return add_equation(m, e);
}

static bool twice(const struct toml_doc *doc, const struct toml_node *key, struct diags *diags)
{
    return diags_input(diags, toml_key_loc(doc, key), doc->text, "give it another name",
                       "there is a parameter, an equation or a metric %s already", key->key);
}

static bool is_taken(const struct toml_model *m, const char *name, enum domain domain)
{
    return find_equation(m, name, domain) >= 0 ||
           (domain == DOMAIN_NONE && (schema_find(&m->schema, name) || strcmp(name, "inf") == 0 || strcmp(name, "null") == 0));
}

/* NAME = "formula", or { is = "formula", doc = ... }. `keys`: what may stand in the table. */
static int named(struct toml_model *m, const struct toml_node *key, struct equation e, const char *const *keys, size_t n_keys,
                 struct diags *diags)
{
    const struct toml_doc *doc = e.file;
    if (!check_name(doc, key, diags)) return -1;
    if (is_taken(m, key->key, e.domain)) {
        twice(doc, key, diags);
        return -1;
    }
    const struct toml_node *formula = key, *source = NULL;
    if (key->type == TOML_TABLE) {
        formula = toml_get(key, "is");
        source = toml_get(key, "source");
        if (!toml_check_keys(doc, key, keys, n_keys, diags)) return -1;
        e.doc = string_of(doc, key, "doc", diags);
        if (!formula)
            diags_input(diags, toml_key_loc(doc, key), doc->text, "{ is = \"a + b\", doc = \"...\" }", "%s has no formula",
                        key->key);
        if (!formula) return -1;
    }
    e.name = xstrdup(key->key);
    e.source = source && source->type == TOML_STRING ? source->string : "";
    e.is_public = true;
    e.loc = toml_key_loc(doc, key);
    e.has_measure = measure_of_name(key->key, &e.measure, &e.unit);
    return read_equation(m, e, formula, diags);
}

/* ---- sections ---------------------------------------------------------------------------------------------------------------- */

/* trying = "query_rows", step, shares, least: the equation of the best point; or trying, first, most: of the first one. */
static bool read_trying(struct toml_model *m, const struct toml_node *key, int equation, struct diags *diags)
{
    static const char *const best[] = {"step", "shares", "least"}, *const first[] = {"first", "most"};
    const struct toml_doc *doc = m->equations[equation].file;
    const char *name = string_of(doc, key, "trying", diags);
    const struct field *f = name ? schema_find(&m->schema, name) : NULL;
    const bool of_first = toml_get(key, "first") != NULL;
    const char *const *keys = of_first ? first : best;
    int of[sizeof best / sizeof *best] = {-1, -1, -1};
    if (!f || !field_is_number(f) || group_of_param(m, f->offset) != GROUPS)
        return diags_input(diags, toml_loc(doc, toml_get(key, "trying")), doc->text, NULL,
                           "%s: other values are tried of a number among the model's own parameters", key->key);
    for (size_t i = 0; i < (of_first ? sizeof first / sizeof *first : sizeof best / sizeof *best); i++) {
        const struct toml_node *n = toml_get(key, keys[i]);
        if (!n)
            return diags_input(diags, toml_key_loc(doc, key), doc->text, "trying, least, step, shares",
                               "%s: what is tried has no %s", key->key, keys[i]);
        struct equation e = {.file = doc,
                             .name = xasprintf("%s of %s", keys[i], key->key),
                             .domain = DOMAIN_NONE,
                             .loc = toml_key_loc(doc, n),
                             .has_measure = n != toml_get(key, "least"),
                             .measure = {.scale = 1}};
        of[i] = read_equation(m, e, n, diags);
        if (of[i] < 0) return false;
    }
    struct trying *t = xcalloc(1, sizeof *t);
    *t = of_first ? (struct trying){f, -1, -1, -1, of[0], of[1]} : (struct trying){f, of[0], of[1], of[2], -1, -1};
    m->equations[equation].trying = t;
    return true;
}

static bool read_equations(struct toml_model *m, const struct toml_doc *doc, struct diags *diags)
{
    static const char *const keys[] = {"is", "doc", "source", "trying", "step", "shares", "least", "first", "most"};
    const struct toml_node *t = toml_expect(doc, &doc->root, "equations", TOML_TABLE, diags);
    bool ok = t || !toml_get(&doc->root, "equations");
    for (size_t i = 0; t && i < t->n; i++) {
        const struct toml_node *key = &t->children[i];
        const int e = named(m, key, (struct equation){.file = doc, .domain = DOMAIN_NONE}, keys, sizeof keys / sizeof *keys, diags);
        ok = e >= 0 && (!toml_get(key, "trying") || read_trying(m, key, e, diags)) && ok;
    }
    return ok;
}

static bool read_loop(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    static const char *const keys[] = {"is", "doc", "source"};
    const enum domain d = domain_find(t->key);
    if (d == DOMAIN_NONE)
        return diags_unknown(diags, toml_key_loc(m->doc, t), m->doc->text, t->key, domain_names, DOMAINS, NULL,
                             "there is nothing called \"%s\" to loop over", t->key);
    if (t->type != TOML_TABLE) return diags_input(diags, toml_loc(m->doc, t), m->doc->text, NULL, "for.%s is not a table", t->key);
    if (!m->groups.has[GROUP_WORKLOAD])
        return diags_input(diags, toml_key_loc(m->doc, t), m->doc->text, "uses = [\"workload\"]",
                           "a model without the group \"workload\" has no operators");
    bool ok = true;
    const struct equation e = {
        .file = m->doc, .kind = EQUATION_ELEMENT, .domain = d, .variable = d == DOMAIN_ATTENTION ? "group" : "op"};
    for (size_t i = 0; i < t->n; i++) {
        const struct toml_node *key = &t->children[i];
        const bool field = strcmp(key->key, "name") == 0 || strcmp(key->key, "role") == 0 || element_input(m, d, key->key) >= 0;
        ok = (field ? twice(m->doc, key, diags) : named(m, key, e, keys, 3, diags) >= 0) && ok;
    }
    return ok;
}

static bool read_loops(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "for", TOML_TABLE, diags);
    bool ok = t || !toml_get(&m->doc->root, "for");
    for (size_t i = 0; t && i < t->n; i++) ok = read_loop(m, &t->children[i], diags) && ok;
    return ok;
}

/* "ceil_to(x, multiple)" = "ceil(x / multiple) * multiple" */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The name and the arguments of a function, from its key. */
static bool read_head(struct function *f, const char *s)
{
    for (;;) {
        s += strspn(s, " ");
        size_t n = 0;
        while (is_word(s[n])) n++;
        if (!n || isdigit((unsigned char)*s) || f->n_arguments == FORMULA_ARGUMENTS_MAX) return false;
        if (!f->name)
            f->name = xstrndup(s, n);
        else
            f->arguments[f->n_arguments++] = xstrndup(s, n);
        s += n;
        s += strspn(s, " ");
        const char end = *s++;
        if (end == ')') return f->n_arguments && !*s;
        if (end != (f->n_arguments == 0 ? '(' : ',')) return false;
    }
}

static bool has_function(const struct toml_model *m, const char *name)
{
    for (int i = 0; i < m->n_functions; i++)
        if (m->functions[i].name && strcmp(m->functions[i].name, name) == 0) return true;
    return false;
}

static bool read_function(struct toml_model *m, const struct toml_doc *doc, const struct toml_node *key, struct diags *diags)
{
    static const char hint[] = "\"twice(x)\" = \"2 * x\"";
    const struct srcloc loc = toml_key_loc(doc, key);
    struct function f = {.arguments = xcalloc(FORMULA_ARGUMENTS_MAX, sizeof *f.arguments)};
    bool ok = read_head(&f, key->key);
    if (!ok)
        diags_input(diags, loc, doc->text, hint, "a function is written with its arguments");
    else if (has_function(m, f.name))
        ok = diags_input(diags, loc, doc->text, "give it another name", "there is a function %s() already", f.name);
    ok = ok && formula_at(doc, key, &f.formula, diags);
    m->functions = xrealloc(m->functions, (size_t)m->n_functions + 1, sizeof *m->functions);
    m->functions[m->n_functions++] = f;
    return ok;
}

static bool read_functions(struct toml_model *m, const struct toml_doc *doc, struct diags *diags)
{
    const struct toml_node *t = toml_expect(doc, &doc->root, "functions", TOML_TABLE, diags);
    bool ok = t || !toml_get(&doc->root, "functions");
    if (t && !check_room(doc, t, m->n_functions, diags)) return false;
    for (size_t i = 0; t && i < t->n; i++) ok = read_function(m, doc, &t->children[i], diags) && ok;
    return ok;
}

/* ---- conditions -------------------------------------------------------------------------------------------------------------- */

/* A side of a comparison, to say what is missing. */
static int side(struct toml_model *m, int of, int node)
{
    struct equation e = {
        .name = xstrdup("a side of a comparison"), .domain = DOMAIN_NONE, .formula = m->equations[of].formula, .borrows = true};
    e.formula.root = node;
    e.loc = m->equations[of].loc;
    return add_equation(m, e);
}

static bool read_condition(struct toml_model *m, const struct toml_node *key, struct conditions *ret, struct diags *diags)
{
    const struct equation e = {.file = m->doc,
                               .name = xasprintf("the condition of \"%s\"", key->key),
                               .domain = DOMAIN_NONE,
                               .loc = toml_key_loc(m->doc, key),
                               .has_measure = true,
                               .measure = {.scale = 1}};
    const int i = read_equation(m, e, key, diags);
    if (i < 0) return false;
    struct condition c = {.reason = key->key, .equation = i, .needed = -1, .there = -1};
    const struct formula_node *n = &m->equations[i].formula.nodes[m->equations[i].formula.root];
    if (n->kind == FORMULA_BINARY && n->op >= OP_LT && n->op <= OP_GE) {
        const bool less = n->op == OP_LT || n->op == OP_LE;
        const int left = n->args[0], right = n->args[1];
        c.needed = side(m, i, less ? left : right);
        c.there = side(m, i, less ? right : left);
    }
    ret->list = xrealloc(ret->list, (size_t)ret->n + 1, sizeof *ret->list);
    ret->list[ret->n++] = c;
    return true;
}

static bool read_conditions(struct toml_model *m, const char *section, struct conditions *ret, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, section, TOML_TABLE, diags);
    bool ok = t || !toml_get(&m->doc->root, section);
    for (size_t i = 0; t && i < t->n; i++) ok = read_condition(m, &t->children[i], ret, diags) && ok;
    return ok;
}

/* ---- the step, metrics, parts ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *key, *unit;
} totals[TOTALS] = {
    [TOTAL_TIME] = {"time", "s"},
    [TOTAL_ATTENTION] = {"attention", "s"},
    [TOTAL_TOKENS] = {"tokens", "1"},
    [TOTAL_ENERGY] = {"energy", "J"},
    [TOTAL_BYTES] = {"dram_bytes", "B"},
    [TOTAL_OPS] = {"ops", "1"},
    [TOTAL_PEAK_OPS] = {"peak_ops", "1/s"},
    [TOTAL_PEAK_BYTES] = {"peak_bytes", "B/s"},
    [TOTAL_AREA] = {"area", "m2"},
    [TOTAL_COMPUTE] = {"compute", "s"},
    [TOTAL_DRAM] = {"dram", "s"},
    [TOTAL_LATENCY] = {"latency", "s"},
    [TOTAL_CHIPS] = {"chips", "1"},
    [TOTAL_DIE] = {"die", "m2"},
    [TOTAL_NODE] = {"node", "m"},
    [TOTAL_PEAK_W] = {"peak_power", "W"},
    [TOTAL_IDLE_W] = {"idle_power", "W"},
    [TOTAL_TOKEN_TIME] = {"token_time", "s"},
    [TOTAL_TOKEN_ENERGY] = {"token_energy", "J"},
};

int equation_of_auto(struct toml_model *m, const struct toml_node *formula, const struct field *f, struct diags *diags)
{
    struct equation e = {.file = m->doc,
                         .name = xasprintf("%s at \"auto\"", f->name),
                         .domain = DOMAIN_NONE,
                         .loc = toml_key_loc(m->doc, formula),
                         .has_measure = true,
                         .measure = {.scale = 1}};
    if (*f->unit) measure_of_name(f->name, &e.measure, &e.unit);
    return read_equation(m, e, formula, diags);
}

static int with_unit(struct toml_model *m, const struct toml_node *key, const char *what, const char *unit, enum domain domain,
                     struct diags *diags)
{
    struct equation e = {.file = m->doc,
                         .kind = domain == DOMAIN_NONE ? EQUATION_SCALAR : EQUATION_ELEMENT,
                         .name = xasprintf("%s of %s", key->key, what),
                         .domain = domain,
                         .variable = domain == DOMAIN_NONE        ? NULL
                                     : domain == DOMAIN_ATTENTION ? "group"
                                                                  : "op",
                         .loc = toml_key_loc(m->doc, key),
                         .has_measure = true,
                         .unit = unit};
    measure_parse(unit, strlen(unit), &e.measure);
    return read_equation(m, e, key, diags);
}

int formula_in_unit(struct toml_model *m, const struct toml_node *key, const char *unit, struct diags *diags)
{
    return with_unit(m, key, "[chosen]", unit, DOMAIN_NONE, diags);
}

int formula_without_unit(struct toml_model *m, const struct toml_node *key, struct diags *diags)
{
    const struct equation e = {
        .file = m->doc, .name = xasprintf("%s of [chosen]", key->key), .domain = DOMAIN_NONE, .loc = toml_key_loc(m->doc, key)};
    return read_equation(m, e, key, diags);
}

/* board = "fpga": what is bought is the board that this parameter names. */
static bool read_board(struct toml_model *m, const struct toml_node *step, struct diags *diags)
{
    const struct toml_node *n = toml_get(step, "board");
    if (!n) return true;
    m->board = n->type == TOML_STRING ? schema_find(&m->schema, n->string) : NULL;
    const bool is_board =
        m->board && m->board->type == DSE_TYPE_REF && (m->board->kind == DSE_KIND_FPGA || m->board->kind == DSE_KIND_GPU);
    if (!is_board || !m->groups.has[GROUP_ECONOMICS])
        return diags_input(diags, toml_loc(m->doc, n), m->doc->text, "board = \"fpga\", and uses = [..., \"economics\"]",
                           "a board is a parameter with catalog = \"fpgas\" or \"gpus\", of a model with the group economics");
    return !toml_get(step, "die") ||
           diags_input(diags, toml_loc(m->doc, n), m->doc->text, NULL, "what is paid for is a die or a board, not both");
}

static bool read_step(struct toml_model *m, struct diags *diags)
{
    const char *keys[TOTALS + 1] = {[TOTALS] = "board"};
    for (int i = 0; i < TOTALS; i++) keys[i] = totals[i].key, m->totals[i] = -1;
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "step", TOML_TABLE, diags);
    const struct srcloc top = {.file = m->doc->file, .line = 1, .column = 1};
    if (!t)
        return toml_get(&m->doc->root, "step") ? false
                                               : diags_input(diags, top, m->doc->text, "[step]\ntime = \"...\"",
                                                             "the file has no [step], which says how long a step takes");
    bool ok = toml_check_keys(m->doc, t, keys, TOTALS + 1, diags) && read_board(m, t, diags);
    for (int i = 0; i < TOTALS; i++) {
        const struct toml_node *n = toml_get(t, totals[i].key);
        if (!n) continue;
        m->totals[i] = with_unit(m, n, "[step]", totals[i].unit, DOMAIN_NONE, diags);
        ok = m->totals[i] >= 0 && ok;
    }
    if (!toml_get(t, "time"))
        ok = diags_input(diags, toml_loc(m->doc, t), m->doc->text, "time = \"...\", in seconds", "[step] has no time");
    if (!toml_get(t, "tokens") && !m->groups.has[GROUP_WORKLOAD])
        ok = diags_input(diags, toml_loc(m->doc, t), m->doc->text, "tokens = \"...\", or uses = [\"workload\"]",
                         "[step] does not say how many tokens it yields");
    const bool bill = toml_get(t, "die") != NULL;
    if (m->sold_usd >= 0 && (bill || !toml_get(t, "node")))
        ok = diags_input(diags, toml_loc(m->doc, t), m->doc->text, "node = \"5 [nm]\", and no die",
                         "a chip that is sold in a computer has a node, and the die that the book of costs says");
    if (bill && !(m->groups.has[GROUP_ECONOMICS] && m->groups.has[GROUP_MEMORY] && toml_get(t, "node")))
        ok = diags_input(diags, toml_loc(m->doc, toml_get(t, "die")), m->doc->text,
                         "uses = [..., \"memory\", \"economics\"] and node",
                         "a die is priced with the groups memory and economics, and its node");
    return ok;
}

/* What a mean over requests is taken by: mean = "time"; where it is not said, by the unit. */
static bool read_mean(const struct toml_model *m, const struct toml_node *key, const char *unit, enum dse_mean *ret,
                      struct diags *diags)
{
    const char *names[DSE_MEAN_COUNT], *given = string_of(m->doc, key, "mean", diags);
    const struct dse_unit *u = unit_find(NULL, unit);
    *ret = DSE_MEAN_BY_UNIT;
    if (!given && u && u->mean != DSE_MEAN_BY_UNIT) return true;
    size_t n = 0;
    for (int i = DSE_MEAN_BY_UNIT + 1; i < DSE_MEAN_COUNT; i++) {
        names[n++] = mean_name((enum dse_mean)i);
        if (given && strcmp(given, names[n - 1]) == 0) *ret = (enum dse_mean)i;
    }
    if (*ret != DSE_MEAN_BY_UNIT) return true;
    if (!given)
        return diags_input(diags, toml_key_loc(m->doc, key), m->doc->text,
                           "mean = \"time\" or \"steps\", \"tokens\", \"attention\", \"energy\", \"requests\", \"the largest\"",
                           "%s: a metric in this unit says what its mean over requests is taken over", key->key);
    return diags_unknown(diags, toml_loc(m->doc, toml_get(key, "mean")), m->doc->text, given, names, n, NULL,
                         "%s: a mean is not taken over that", key->key);
}

/* The words that the number of a metric is the place of. */
static bool read_metric_choices(struct toml_model *m, const struct toml_node *key, struct own_metric *own, struct diags *diags)
{
    const struct toml_node *list = toml_expect(m->doc, key, "choices", TOML_ARRAY, diags);
    if (!list) return !toml_get(key, "choices");
    char **choices = xcalloc(list->n + 1, sizeof *choices);
    m->choices = xrealloc(m->choices, m->n_choices + 1, sizeof *m->choices);
    m->choices[m->n_choices++] = choices;
    for (size_t i = 0; i < list->n; i++) {
        if (list->children[i].type != TOML_STRING)
            return diags_input(diags, toml_loc(m->doc, &list->children[i]), m->doc->text, NULL, "a choice is a string");
        choices[i] = list->children[i].string;
    }
    own->choices = (const char *const *)choices;
    return true;
}

static bool read_metric(struct toml_model *m, const struct toml_node *key, struct diags *diags)
{
    static const char *const keys[] = {"is", "doc", "source", "better", "mean", "null", "choices"};
    for (const struct dse_metric *c = dse_common_metrics; c->type != DSE_TYPE_END; c++)
        if (strcmp(c->name, key->key) == 0)
            return diags_input(diags, toml_key_loc(m->doc, key), m->doc->text, "[step] says what it follows from",
                               "%s is a metric that every model has", key->key);
    const char *doc = key->type == TOML_TABLE ? string_of(m->doc, key, "doc", diags) : NULL,
               *better = key->type == TOML_TABLE ? string_of(m->doc, key, "better", diags) : NULL;
    if (!doc || !*doc)
        return diags_input(diags, toml_key_loc(m->doc, key), m->doc->text, "{ is = \"...\", better = \"less\", doc = \"...\" }",
                           "%s: a metric says what it is (doc)", key->key);
    if (better && strcmp(better, "less") != 0 && strcmp(better, "more") != 0)
        return diags_input(diags, toml_loc(m->doc, toml_get(key, "better")), m->doc->text, "leave it out where neither is better",
                           "%s: better is \"less\" or \"more\"", key->key);
    const int i = named(m, key, (struct equation){.file = m->doc, .domain = DOMAIN_NONE}, keys, 7, diags);
    enum dse_mean mean;
    if (i < 0 || !read_mean(m, key, m->equations[i].unit ? m->equations[i].unit : "", &mean, diags)) return false;
    if (m->equations[i].unit && !unit_find(NULL, m->equations[i].unit))
        return diags_input(diags, toml_key_loc(m->doc, key), m->doc->text, "_us, _ms, _mib, _gib, _mj, _w, _mm2, _gbs, _gops, ...",
                           "%s: a metric is in a unit that designers speak", key->key);
    m->own = xrealloc(m->own, (size_t)m->n_own + 1, sizeof *m->own);
    m->own[m->n_own] = (struct own_metric){.equation = i, .mean = mean, .why_null = string_of(m->doc, key, "null", diags)};
    return read_metric_choices(m, key, &m->own[m->n_own++], diags);
}

static bool read_metrics(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "metrics", TOML_TABLE, diags);
    bool ok = t || !toml_get(&m->doc->root, "metrics");
    for (size_t i = 0; t && i < t->n; i++) ok = read_metric(m, &t->children[i], diags) && ok;
    return ok;
}

/* NAME = "formula", each in the unit; at most `most`. */
static bool read_named(struct toml_model *m, const struct toml_node *t, const char *what, const char *unit, int most,
                       struct part_limit *ret, int *ret_n, struct diags *diags)
{
    bool ok = true;
    if (t && t->n > (size_t)most)
        return diags_input(diags, toml_key_loc(m->doc, t), m->doc->text, NULL, "%s has %zu entries; at most %d", t->key, t->n,
                           most);
    for (size_t i = 0; t && i < t->n; i++) {
        const int e = with_unit(m, &t->children[i], what, unit, DOMAIN_NONE, diags);
        ok = ok && e >= 0;
        if (e >= 0) ret[(*ret_n)++] = (struct part_limit){t->children[i].key, e};
    }
    return ok;
}

/* What a part waits for besides: of the whole step alone. */
static bool read_limits(struct toml_model *m, const struct toml_node *t, struct part_row *p, struct diags *diags)
{
    const struct toml_node *given = toml_get(t, "limits"), *limits = toml_expect(m->doc, t, "limits", TOML_TABLE, diags);
    if (given && p->domain != DOMAIN_NONE)
        return diags_input(diags, toml_key_loc(m->doc, given), m->doc->text, NULL, "a part of each operator has no limits");
    if (given && !limits) return false;
    return read_named(m, limits, "the limits of a part", "s", PART_LIMITS_MAX, p->limits, &p->n_limits, diags);
}

/* [causes]: the energy of the step by what it is for. */
static bool read_causes(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "causes", TOML_TABLE, diags);
    if (!t) return !toml_get(&m->doc->root, "causes");
    return read_named(m, t, "[causes]", "J", DSE_CAUSES_MAX, m->causes, &m->n_causes, diags);
}

/* [arithmetic]: the numbers that attention is computed in, by the method of a quality file and its settings there. */
static bool read_arithmetic(struct toml_model *m, struct diags *diags)
{
    static const char *const methods[INEXACT_METHODS] = {"fixed-point", "partial-softmax"},
                             *const settings[INEXACT_METHODS][INEXACT_NUMBERS] = {{"when", "exp_bits", "fraction_bits", "rounding"},
                                                                                  {"when", "unified_max", "low", "high"}};
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "arithmetic", TOML_TABLE, diags);
    for (int i = 0; i < INEXACT_NUMBERS; i++) m->inexact[i] = -1;
    if (!t) return !toml_get(&m->doc->root, "arithmetic");
    const char *method = string_of(m->doc, t, "method", diags), *keys[INEXACT_NUMBERS + 1] = {[INEXACT_NUMBERS] = "method"};
    m->inexact_method = method && strcmp(method, methods[INEXACT_SOFTMAX]) == 0 ? INEXACT_SOFTMAX : INEXACT_FIXED;
    for (int i = 0; i < INEXACT_NUMBERS; i++) keys[i] = settings[m->inexact_method][i];
    if (!toml_check_keys(m->doc, t, keys, INEXACT_NUMBERS + 1, diags)) return false;
    bool ok =
        method && strcmp(method, methods[m->inexact_method]) == 0 && m->groups.has[GROUP_CACHE] && m->groups.has[GROUP_WORKLOAD];
    for (int i = 0; i < INEXACT_NUMBERS; i++) {
        const struct toml_node *n = toml_get(t, keys[i]);
        if (n) m->inexact[i] = with_unit(m, n, "[arithmetic]", "1", DOMAIN_NONE, diags);
        if (n && m->inexact[i] < 0) return false;
        ok = ok && n;
    }
    return ok || diags_input(diags, toml_key_loc(m->doc, t), m->doc->text,
                             "method = \"fixed-point\", when, exp_bits, fraction_bits and rounding",
                             "[arithmetic] has a method with its settings, of a model with the groups workload and cache");
}

static bool read_part(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    static const char *const keys[] = {"time", "bytes", "ops", "energy", "compute", "dram",
                                       "when", "name",  "for", "depth",  "limits"},
                             *const units[] = {"s", "B", "1", "J", "s", "s", "1"};
    if (t->type != TOML_TABLE)
        return diags_input(diags, toml_loc(m->doc, t), m->doc->text, "[[parts]]", "parts is a list of tables");
    bool ok = toml_check_keys(m->doc, t, keys, sizeof keys / sizeof *keys, diags);
    const char *loop = string_of(m->doc, t, "for", diags), *name = string_of(m->doc, t, "name", diags);
    struct part_row p = {.domain = loop ? domain_find(loop) : DOMAIN_NONE};
    if (loop && (p.domain == DOMAIN_NONE || !m->groups.has[GROUP_WORKLOAD]))
        return diags_unknown(diags, toml_loc(m->doc, toml_get(t, "for")), m->doc->text, loop, domain_names, DOMAINS,
                             "a loop needs uses = [\"workload\"]", "there is nothing called \"%s\" to loop over", loop);
    if (!name && (!loop || p.domain == DOMAIN_ATTENTION))
        return diags_input(diags, toml_loc(m->doc, t), m->doc->text, "name = \"...\", or for = \"linear\": those of the operators",
                           "a part has a name");
    const struct toml_node *depth = toml_expect(m->doc, t, "depth", TOML_INTEGER, diags);
    p.depth = depth && depth->integer > 0 && depth->integer < 4 ? (int)depth->integer : 0;
    p.name = name ? xstrdup(name) : NULL;
    for (int i = 0; i < PART_NUMBERS; i++) {
        const struct toml_node *n = toml_get(t, keys[i]);
        p.equations[i] = n ? with_unit(m, n, "a part", units[i], p.domain, diags) : -1;
        ok = ok && (!n || p.equations[i] >= 0);
    }
    ok = read_limits(m, t, &p, diags) && ok;
    m->parts = xrealloc(m->parts, (size_t)m->n_parts + 1, sizeof *m->parts);
    m->parts[m->n_parts++] = p;
    return ok;
}

static bool read_parts(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *list = toml_expect(m->doc, &m->doc->root, "parts", TOML_ARRAY, diags);
    bool ok = list || !toml_get(&m->doc->root, "parts");
    for (size_t i = 0; list && i < list->n; i++) ok = read_part(m, &list->children[i], diags) && ok;
    return ok;
}

bool read_formulas(struct toml_model *m, struct diags *diags)
{
    static const char *const sections[] = {
        "include",    "model",          "parameters", "defaults",   "tables",     "functions", "equations", "for",      "check",
        "beyond",     "step",           "metrics",    "parts",      "causes",     "trends",    "claims",    "machines", "cases",
        "accounting", "contradictions", "events",     "arithmetic", "unmeasured", "refuse",    "chosen"};
    bool ok = toml_check_keys(m->doc, &m->doc->root, sections, sizeof sections / sizeof *sections, diags);
    for (int i = 0; i <= m->includes.n; i++) {
        const struct toml_doc *doc = i < m->includes.n ? m->includes.docs[i] : m->doc;
        ok = read_tables(m, doc, diags) && ok;
        ok = read_functions(m, doc, diags) && ok;
        ok = read_equations(m, doc, diags) && ok;
    }
    ok = read_autos(m, diags) && ok;
    ok = read_loops(m, diags) && ok;
    ok = read_metrics(m, diags) && ok;
    ok = read_conditions(m, "refuse", &m->check, diags) && ok;
    m->n_refuse = m->check.n;
    ok = read_conditions(m, "check", &m->check, diags) && ok;
    ok = read_conditions(m, "beyond", &m->beyond, diags) && ok;
    ok = read_conditions(m, "unmeasured", &m->unmeasured, diags) && ok;
    ok = read_causes(m, diags) && ok;
    ok = read_arithmetic(m, diags) && ok;
    ok = read_step(m, diags) && ok;
    ok = read_chosen(m, diags) && ok;
    ok = read_trends(m, diags) && ok;
    ok = read_claims(m, diags) && ok;
    return read_parts(m, diags) && ok;
}

/* Terms that are made for each operator of a step. */
static bool check_loops(struct toml_model *m, struct diags *diags)
{
    int n = 0;
    for (int i = 0; i < m->graph.n; i++) {
        n += compile_varies(m, i);
        m->expands = m->expands || graph_is_loop(&m->graph.nodes[i]);
    }
    for (int i = 0; i < m->n_parts; i++) m->expands = m->expands || m->parts[i].domain != DOMAIN_NONE;
    char most[TEXT_NUMBER_MAX];
    return n <= MODEL_LOOP_TERMS_MAX || diags_input(diags, (struct srcloc){.file = m->doc->file, .line = 1, .column = 1}, NULL,
                                                    "compute outside of the loops what all operators share",
                                                    "the formulas of loops have more than %s terms that differ among operators",
                                                    text_count(most, MODEL_LOOP_TERMS_MAX));
}

bool compile_written(struct toml_model *m, struct diags *diags)
{
    bool ok = true;
    contexts_begin(m);
    for (int i = 0; i < m->n_written; i++) ok = compile_equation(m, i, diags) && ok;
    contexts_end(m);
    return ok;
}

bool compile_all(struct toml_model *m, struct diags *diags)
{
    m->n_written = m->n_equations;
    return compile_written(m, diags) && check_loops(m, diags) && prepare_autos(m, diags);
}
