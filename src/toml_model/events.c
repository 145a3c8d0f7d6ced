/* [events]: which numbers of the equations an event level in C reads, and in place of which it gives its own. Each section becomes
 * a variant: the same equations compiled once more, where those that it gives are inputs. */
#include "toml_model/internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(const struct toml_model *m, const struct toml_node *at, const char *hint, struct diags *diags, char *message)
{
    diags_input(diags, at->key ? toml_key_loc(m->doc, at) : toml_loc(m->doc, at), m->doc->text, hint, "%s", message);
    free(message);
    return false;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------- */

/* What stands behind "op." or "group."; NULL: it is no number of elements. */
static const char *field_of(const char *name, bool *ret_attention)
{
    *ret_attention = strncmp(name, "group.", 6) == 0;
    return *ret_attention ? name + 6 : strncmp(name, "op.", 3) == 0 ? name + 3 : NULL;
}

static bool is_field(enum domain d, bool attention)
{
    return (d == DOMAIN_ATTENTION) == attention;
}

static bool unknown(const struct toml_model *m, const struct toml_node *n, struct diags *diags)
{
    bool attention;
    size_t k = 0;
    const char *field = field_of(n->string, &attention), **names = xcalloc((size_t)m->n_equations + m->schema.n + 1, sizeof *names);
    for (int i = 0; i < m->n_written; i++) {
        const struct equation *e = &m->equations[i];
        const bool fits = field ? e->kind == EQUATION_ELEMENT && is_field(e->domain, attention) : e->domain == DOMAIN_NONE;
        if (e->is_public && fits) names[k++] = e->name;
    }
    for (size_t i = 0; !field && i < m->schema.n; i++) names[k++] = m->schema.fields[i].name;
    if (field)
        diags_unknown(diags, toml_loc(m->doc, n), m->doc->text, field, names, k,
                      "what the operators themselves say stands in struct dse_oplist", "no loop over %s has an equation \"%s\"",
                      attention ? "attention" : "operators", field);
    else
        diags_unknown(diags, toml_loc(m->doc, n), m->doc->text, n->string, names, k,
                      "give it a name among the equations; numbers of a loop are \"op.NAME\" or \"group.NAME\"",
                      "there is no parameter, equation or metric \"%s\"", n->string);
    free(names);
    return false;
}

/* An element has one equation of the name, whatever loops it is in. */
static bool find_fields(const struct toml_model *m, struct event_number *ret, const char *field, bool attention,
                        struct diags *diags)
{
    ret->of_elements = true;
    for (int d = 0; d < DOMAINS; d++) {
        const int e = is_field((enum domain)d, attention) ? find_equation(m, field, (enum domain)d) : -1;
        if (e < 0) continue;
        if (d == DOMAIN_OPERATORS && ret->n > 0)
            return wrong(m, ret->node, "give one of them another name", diags,
                         xasprintf("%s is an equation of [for.operators] and of [for.%s], which has the same operators", ret->name,
                                   domain_names[m->equations[ret->equations[0]].domain]));
        ret->equations[ret->n++] = e;
    }
    return ret->n > 0 || unknown(m, ret->node, diags);
}

static bool find_scalar(const struct toml_model *m, struct event_number *ret, bool gives, struct diags *diags)
{
    const struct field *f = schema_find(&m->schema, ret->name);
    const int e = find_equation(m, ret->name, DOMAIN_NONE);
    if (e >= 0) ret->equations[ret->n++] = e;
    if (e >= 0) return true;
    if (!f) return unknown(m, ret->node, diags);
    if (gives)
        return wrong(m, ret->node, "an equation that is the parameter, and what is computed with it in its place", diags,
                     xasprintf("%s is a parameter: numbers are given in place of equations", ret->name));
    if (!field_is_number(f) && !(f->type == DSE_TYPE_ENUM && f->reader == READ_BY_EVENT_LEVEL))
        return wrong(m, ret->node, "an equation that compares it is 1 or 0: serial = \"softmax == 'element-serial'\"", diags,
                     xasprintf("%s is a choice, or names an entry: it is no number", ret->name));
    ret->parameter = f;
    return true;
}

static bool find_number(const struct toml_model *m, const struct toml_node *n, bool gives, struct event_number *ret,
                        struct diags *diags)
{
    bool attention;
    if (n->type != TOML_STRING) return wrong(m, n, NULL, diags, xasprintf("the name of a number is a string"));
    const char *field = field_of(n->string, &attention);
    *ret = (struct event_number){.name = n->string, .node = n};
    return field ? find_fields(m, ret, field, attention, diags) : find_scalar(m, ret, gives, diags);
}

/* Where the struct in C has it. */
static size_t offset_of(const struct dse_closed_number *rows, const char *name)
{
    for (; rows && rows->name; rows++)
        if (strcmp(rows->name, name) == 0) return rows->offset;
    return 0;
}

static bool read_numbers(const struct toml_model *m, const struct toml_node *table, const char *key,
                         const struct dse_closed_number *rows, struct event_number **ret, int *ret_n, struct diags *diags)
{
    const bool gives = strcmp(key, "gives") == 0;
    const struct toml_node *list = toml_expect(m->doc, table, key, TOML_ARRAY, diags);
    bool ok = list || !toml_get(table, key);
    *ret = xcalloc(list ? list->n + 1 : 1, sizeof **ret);
    for (size_t i = 0; list && i < list->n; i++) {
        struct event_number *to = &(*ret)[*ret_n];
        const bool found = find_number(m, &list->children[i], gives, to, diags);
        ok = found && ok;
        for (int k = 0; found && k < *ret_n; k++)
            if (strcmp((*ret)[k].name, to->name) == 0)
                ok = wrong(m, &list->children[i], NULL, diags, xasprintf("%s is named twice", to->name));
        to->offset = found ? offset_of(rows, to->name) : 0;
        *ret_n += found;
    }
    return ok;
}

/* ---- variants ---------------------------------------------------------------------------------------------------------------- */

static struct toml_model *variant_new(const struct toml_model *m, const char *name)
{
    enum { POOL = 64 };
    struct toml_model *v = xcalloc(1, sizeof *v);
    *v = *m;
    v->of = m;
    v->variant = name;
    v->variants = NULL;
    v->n_variants = 0;
    v->equations = xcalloc((size_t)m->n_written + 1, sizeof *v->equations);
    memcpy(v->equations, m->equations, (size_t)m->n_written * sizeof *v->equations);
    v->n_equations = m->n_written;
    v->inputs = NULL;
    v->n_inputs = v->terms = 0;
    v->varying = (struct reach){0};
    v->check = v->beyond = v->unmeasured = (struct conditions){0}; /* nobody asks it */
    v->n_shown = 0;
    v->expands = m->groups.has[GROUP_WORKLOAD];
    graph_init(&v->graph);
    v->plans = plans_new();
    v->pool = xcalloc(POOL, sizeof *v->pool);
    for (int i = 0; m->built_in && m->built_in->variants[i]; i++)
        if (strcmp(m->built_in->variants[i]->name, name) == 0) v->table = m->built_in->variants[i];
    return v;
}

static void variant_free(struct toml_model *v)
{
    point_pool_release(v);
    plans_free(v->plans);
    graph_release(&v->graph);
    for (int i = v->n_written; i < v->n_equations; i++) free(v->equations[i].name);
    free(v->equations);
    for (int i = 0; i < v->n_inputs; i++) {
        free(v->inputs[i].name);
        free(v->inputs[i].text);
    }
    free(v->inputs);
    free(v->varying.is);
    free(v->gives);
    free(v->reads);
    free(v);
}

void free_variants(struct toml_model *m)
{
    for (int i = 0; i < m->n_variants; i++) variant_free(m->variants[i]);
    free(m->variants);
}

/* ---- what is given must be needed ------------------------------------------------------------------------------------------- */

static void need(const struct toml_model *v, int equation, bool *needed)
{
    if (equation >= 0) needed[v->equations[equation].node] = true;
}

static void need_report(const struct toml_model *v, bool *needed)
{
    for (int i = 0; i < TOTALS; i++) need(v, v->totals[i], needed);
    for (int i = 0; i < v->n_own; i++) need(v, v->own[i].equation, needed);
    for (int i = 0; i < v->n_causes; i++) need(v, v->causes[i].equation, needed);
    for (int i = 0; i < v->n_parts; i++) {
        for (int k = 0; k < PART_NUMBERS; k++) need(v, v->parts[i].equations[k], needed);
        for (int k = 0; k < v->parts[i].n_limits; k++) need(v, v->parts[i].limits[k].equation, needed);
    }
}

/* What answers the variant's questions: what it reads, or else metrics and breakdown. The caller frees it. */
static bool *find_needed(const struct toml_model *v)
{
    bool *ret = xcalloc((size_t)v->graph.n + 1, sizeof *ret);
    for (int i = 0; i < v->n_reads; i++)
        for (int k = 0; k < v->reads[i].n; k++) need(v, v->reads[i].equations[k], ret);
    if (v->n_reads == 0) need_report(v, ret);
    for (int i = v->graph.n - 1; i >= 0; i--)
        for (int k = 0; ret[i] && k < v->graph.nodes[i].n_args; k++) ret[v->graph.nodes[i].args[k]] = true;
    return ret;
}

static bool check_needed(const struct toml_model *v, struct diags *diags)
{
    bool ok = true, *needed = find_needed(v);
    for (int i = 0; i < v->n_gives; i++) {
        const struct event_number *g = &v->gives[i];
        bool some = false;
        for (int k = 0; k < g->n; k++) some = some || needed[v->equations[g->equations[k]].node];
        if (some) continue;
        ok = wrong(v, g->node, "leave it out", diags,
                   v->n_reads ? xasprintf("nothing that [events.%s] reads needs %s", v->variant, g->name)
                              : xasprintf("no total of [step], no metric and no part needs %s", g->name));
    }
    free(needed);
    return ok;
}

/* ---- sections ---------------------------------------------------------------------------------------------------------------- */

/* Those that are given are inputs, and need no formula. */
static bool compile_variant(struct toml_model *v, struct diags *diags)
{
    for (int i = 0; i < v->n_gives; i++)
        for (int k = 0; k < v->gives[i].n; k++) {
            struct equation *e = &v->equations[v->gives[i].equations[k]];
            e->node = graph_input(&v->graph, given_input(v, e, v->gives[i].offset), -1);
            e->is_given = true;
        }
    return compile_written(v, diags) && check_needed(v, diags);
}

static bool read_variant(struct toml_model *m, const struct toml_node *t, const char *name, struct diags *diags)
{
    struct toml_model *v = variant_new(m, name);
    m->variants = xrealloc(m->variants, (size_t)m->n_variants + 1, sizeof *m->variants);
    m->variants[m->n_variants++] = v;
    bool ok = read_numbers(m, t, "gives", v->table ? v->table->gives : NULL, &v->gives, &v->n_gives, diags);
    ok = read_numbers(m, t, "reads", v->table ? v->table->reads : NULL, &v->reads, &v->n_reads, diags) && ok;
    if (ok && v->n_gives + v->n_reads == 0)
        return wrong(m, t, "reads = [...]", diags, xasprintf("[events.%s] neither reads a number nor gives one", name));
    v->is_ready = ok && !m->built_in;
    return ok && (m->built_in || compile_variant(v, diags));
}

/* Variants of models of the tree are compiled when they are asked for: most commands ask for none. */
void variant_ready(struct toml_model *v)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct diags diags;
    if (atomic_load(&v->is_ready)) return;
    pthread_mutex_lock(&lock);
    diags_init(&diags);
    if (!v->is_ready && !compile_variant(v, &diags)) built_in_end(v->built_in, &diags);
    diags_release(&diags);
    atomic_store(&v->is_ready, true);
    pthread_mutex_unlock(&lock);
}

static bool read_section(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    static const char *const keys[] = {"gives", "reads"};
    if (t->type != TOML_TABLE)
        return wrong(m, t, "reads = [...], or [events.NAME]", diags, xasprintf("[events] has no key %s", t->key));
    if (strcmp(t->key, "events") == 0)
        return wrong(m, t, "give it another name", diags, xasprintf("what [events] itself reads is called events"));
    return check_name(m->doc, t, diags) && toml_check_keys(m->doc, t, keys, 2, diags) && read_variant(m, t, t->key, diags);
}

bool read_events(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "events", TOML_TABLE, diags);
    bool ok = t || !toml_get(&m->doc->root, "events");
    if (t && toml_get(t, "reads")) ok = read_variant(m, t, "events", diags);
    for (size_t i = 0; t && i < t->n; i++)
        if (strcmp(t->children[i].key, "reads") != 0) ok = read_section(m, &t->children[i], diags) && ok;
    return ok;
}
