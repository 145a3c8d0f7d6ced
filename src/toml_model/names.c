/* What a name in a formula means: parameters, fields of catalog entries, shared quantities, fields of operators, equations. */
#include "toml_model/internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const domain_names[DOMAINS + 1] = {"linear",     "scores",    "values",    "elementwise", "recurrence",
                                               "collective", "operators", "attention", NULL};

enum domain domain_find(const char *name)
{
    for (int d = 0; d < DOMAINS; d++)
        if (strcmp(domain_names[d], name) == 0) return (enum domain)d;
    return DOMAIN_NONE;
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------ */

enum group group_of_param(const struct toml_model *m, size_t offset)
{
    int g = 0;
    while (g < GROUPS && !(m->groups.has[g] && offset - m->groups.offset[g] < group_rows[g].size)) g++;
    return (enum group)g;
}

bool group_is_resolved(enum group g)
{
    return g == GROUP_MEMORY || g == GROUP_ECONOMICS;
}

/* ---- operators -------------------------------------------------------------------------------------------------------------- */

/* A field of an operator as formulas see it. */
struct element_field {
    const char *name, *unit;
    enum { FIELD_I64, FIELD_F64, FIELD_BOOL, FIELD_CHOICE } type;
    size_t offset;
};

#define OP(f, unit, type) \
    { \
#f, unit, type, offsetof(struct dse_op, f) \
    }
#define CHOICE(f, unit, type) \
    { \
#f, unit, type, offsetof(struct dse_op, choice.f) \
    }
#define EXCHANGE(f, unit, type) \
    { \
        "exchange_" #f, unit, type, offsetof(struct dse_op, exchange.f) \
    }
static const struct element_field op_fields[] = {
    OP(repeat, "1", FIELD_I64),
    OP(copies, "1", FIELD_F64),
    OP(m, "1", FIELD_I64),
    OP(k, "1", FIELD_I64),
    OP(n, "1", FIELD_I64),
    OP(rows, "1", FIELD_F64),
    OP(cached_columns, "1", FIELD_I64),
    OP(element_bytes, "B", FIELD_F64),
    OP(weight_bits, "1", FIELD_F64),
    OP(activation_bits, "1", FIELD_F64),
    OP(weight_bytes, "B", FIELD_F64),
    OP(held_bytes, "B", FIELD_F64),
    OP(kv_read_bytes, "B", FIELD_F64),
    OP(kv_write_bytes, "B", FIELD_F64),
    OP(ops, "1", FIELD_F64),
    OP(in_attention, "1", FIELD_BOOL),
    OP(is_draft, "1", FIELD_BOOL),
    OP(follows_norm, "1", FIELD_BOOL),
    OP(has_gate, "1", FIELD_BOOL),
    OP(writes_cache, "1", FIELD_BOOL),
    OP(is_per_head, "1", FIELD_BOOL),
    OP(is_first, "1", FIELD_BOOL),
    OP(is_last, "1", FIELD_BOOL),
    CHOICE(routed, "1", FIELD_I64),
    CHOICE(chosen, "1", FIELD_I64),
    EXCHANGE(kind, "1", FIELD_CHOICE),
    EXCHANGE(devices, "1", FIELD_F64),
    EXCHANGE(stride, "1", FIELD_F64),
    EXCHANGE(bytes, "B", FIELD_F64),
    EXCHANGE(imbalance, "1", FIELD_F64),
    {NULL, NULL, FIELD_F64, 0},
};
#undef OP
#undef CHOICE
#undef EXCHANGE
#define GROUP(f, unit, type) \
    { \
#f, unit, type, offsetof(struct dse_attention, f) \
    }
static const struct element_field attention_fields[] = {
    GROUP(layers, "1", FIELD_I64),
    GROUP(heads, "1", FIELD_I64),
    GROUP(kv_heads, "1", FIELD_I64),
    GROUP(key_dim, "1", FIELD_I64),
    GROUP(value_dim, "1", FIELD_I64),
    GROUP(sequences, "1", FIELD_I64),
    GROUP(queries, "1", FIELD_I64),
    GROUP(positions, "1", FIELD_I64),
    GROUP(context, "1", FIELD_I64),
    GROUP(kept, "1", FIELD_I64),
    GROUP(reach, "1", FIELD_I64),
    GROUP(pairs, "1", FIELD_F64),
    GROUP(key_bytes, "B", FIELD_F64),
    GROUP(value_bytes, "B", FIELD_F64),
    GROUP(cached_bytes, "B", FIELD_F64),
    GROUP(cached_elements, "1", FIELD_F64),
    GROUP(values_in_keys, "1", FIELD_BOOL),
    GROUP(is_draft, "1", FIELD_BOOL),
    GROUP(is_index, "1", FIELD_BOOL),
    GROUP(is_made, "1", FIELD_BOOL),
    {NULL, NULL, FIELD_F64, 0},
};
#undef GROUP

static const struct element_field *fields_of(enum domain d)
{
    return d == DOMAIN_ATTENTION ? attention_fields : op_fields;
}

/* ---- equations, inputs ------------------------------------------------------------------------------------------------------ */

int add_equation(struct toml_model *m, struct equation e)
{
    m->equations = xrealloc(m->equations, (size_t)m->n_equations + 1, sizeof *m->equations);
    m->equations[m->n_equations] = e;
    return m->n_equations++;
}

int find_equation(const struct toml_model *m, const char *name, enum domain domain)
{
    for (int i = 0; i < m->n_equations; i++) {
        const struct equation *e = &m->equations[i];
        if (e->is_public && e->domain == domain && text_equal(e->name, name)) return i;
    }
    return -1;
}

static int add_input(struct toml_model *m, struct input in)
{
    m->inputs = xrealloc(m->inputs, (size_t)m->n_inputs + 1, sizeof *m->inputs);
    m->inputs[m->n_inputs] = in;
    return m->n_inputs++;
}

static int known_input(const struct toml_model *m, enum input_kind kind, enum domain domain, const char *name)
{
    for (int i = 0; i < m->n_inputs; i++) {
        const struct input *in = &m->inputs[i];
        if (in->kind == kind && in->domain == domain && text_equal(in->name, name)) return i;
    }
    return -1;
}

static struct measure measure_of(const char *unit)
{
    struct measure ret;
    return *unit && measure_parse(unit, strlen(unit), &ret) ? ret : (struct measure){.scale = 1};
}

static int param_input(struct toml_model *m, const struct field *f)
{
    const int known = known_input(m, INPUT_FIELD, DOMAIN_NONE, f->name);
    if (known >= 0) return known;
    return add_input(m, (struct input){.kind = INPUT_FIELD,
                                       .name = xstrdup(f->name),
                                       .measure = measure_of(f->unit),
                                       .type = f->type,
                                       .offset = f->offset,
                                       .ref = f->offset,
                                       .domain = DOMAIN_NONE});
}

int auto_input(struct toml_model *m, const struct auto_number *a)
{
    const char *name = m->equations[a->equation].name; /* which no formula can use */
    const int known = known_input(m, INPUT_AUTO, DOMAIN_NONE, name);
    if (known >= 0) return known;
    return add_input(m, (struct input){.kind = INPUT_AUTO,
                                       .name = xstrdup(name),
                                       .measure = {.scale = 1},
                                       .type = DSE_TYPE_F64,
                                       .offset = a->offset,
                                       .ref = a->offset,
                                       .domain = DOMAIN_NONE});
}

/* The tables of catalog entries that formulas may look into. */
static const struct dse_param *entry_fields(enum dse_kind kind)
{
    switch (kind) {
    case DSE_KIND_LLM: return dse_llm_fields;
    case DSE_KIND_MEMORY: return dse_memory_fields;
    case DSE_KIND_GPU: return dse_gpu_fields;
    case DSE_KIND_FPGA: return dse_fpga_fields;
    case DSE_KIND_ENGINE: return dse_engine_fields;
    case DSE_KIND_INTERCONNECT: return dse_interconnect_fields;
    default: return NULL;
    }
}

/* "llm.hidden": the field of the entry that the parameter names, in *ret, which the caller releases. NULL: there is none. */
static const struct field *entry_field(const struct toml_model *m, const char *name, struct schema *ret,
                                       const struct field **ret_parameter)
{
    const char *dot = strchr(name, '.');
    if (!dot) return NULL;
    char *param = xstrndup(name, (size_t)(dot - name));
    *ret_parameter = schema_find(&m->schema, param);
    const struct dse_param *table =
        *ret_parameter && (*ret_parameter)->type == DSE_TYPE_REF ? entry_fields((*ret_parameter)->kind) : NULL;
    free(param);
    if (!table) return NULL;
    schema_init_params(ret, table);
    const struct field *f = schema_find(ret, dot + 1);
    if (!f) schema_release(ret);
    return f;
}

/* A number, or a choice that is compared. */
static int entry_input(struct toml_model *m, const char *name, bool of_choice)
{
    const int known = known_input(m, INPUT_ENTRY, DOMAIN_NONE, name);
    if (known >= 0) return known;
    struct schema entry;
    const struct field *ref, *f = entry_field(m, name, &entry, &ref);
    if (!f) return -1;
    const int ret = field_is_number(f) || (of_choice && f->type == DSE_TYPE_ENUM)
                        ? add_input(m, (struct input){.kind = INPUT_ENTRY,
                                                      .name = xstrdup(name),
                                                      .measure = measure_of(f->unit),
                                                      .type = f->type,
                                                      .offset = f->offset,
                                                      .ref = ref->offset,
                                                      .domain = DOMAIN_NONE})
                        : -1;
    schema_release(&entry);
    return ret;
}

const char *const *entry_choices(const struct toml_model *m, const char *name)
{
    struct schema entry;
    const struct field *ref, *f = entry_field(m, name, &entry, &ref);
    const char *const *ret = f && f->type == DSE_TYPE_ENUM ? f->choices : NULL;
    if (f) schema_release(&entry);
    return ret;
}

int entry_choice_of(const struct toml_model *m, const char *name)
{
    return known_input(m, INPUT_ENTRY, DOMAIN_NONE, name);
}

int entry_choice_input(struct toml_model *m, const char *name)
{
    return entry_input(m, name, true);
}

/* Traits of the policy of eviction. */
static const struct {
    const char *name;
    size_t offset;
} policy_traits[] = {
    {"cache.keeps_all", offsetof(struct dse_eviction, keeps_all)},   {"cache.counts", offsetof(struct dse_eviction, counts)},
    {"cache.drained", offsetof(struct dse_eviction, drained)},       {"cache.per_head", offsetof(struct dse_eviction, per_head)},
    {"cache.selects", offsetof(struct dse_eviction, selects)},       {"cache.scattered", offsetof(struct dse_eviction, scattered)},
    {"cache.reads_part", offsetof(struct dse_eviction, reads_part)},
};
enum { POLICY_TRAITS = sizeof policy_traits / sizeof *policy_traits };

static int policy_input(struct toml_model *m, const char *name)
{
    const int known = known_input(m, INPUT_POLICY, DOMAIN_NONE, name);
    for (int i = 0; i < POLICY_TRAITS && m->groups.has[GROUP_CACHE] && known < 0; i++)
        if (strcmp(policy_traits[i].name, name) == 0)
            return add_input(m, (struct input){.kind = INPUT_POLICY,
                                               .name = xstrdup(name),
                                               .measure = {.scale = 1},
                                               .type = DSE_TYPE_ENUM,
                                               .offset = policy_traits[i].offset,
                                               .ref = m->groups.offset[GROUP_CACHE] + offsetof(struct dse_cache, eviction),
                                               .domain = DOMAIN_NONE});
    return known;
}

int entry_name_input(struct toml_model *m, const struct field *f, const char *text)
{
    char *name = xasprintf("%s == '%s'", f->name, text);
    const int known = known_input(m, INPUT_ENTRY_NAMED, DOMAIN_NONE, name);
    if (known < 0)
        return add_input(m, (struct input){.kind = INPUT_ENTRY_NAMED,
                                           .name = name,
                                           .measure = {.scale = 1},
                                           .type = DSE_TYPE_F64,
                                           .ref = f->offset,
                                           .domain = DOMAIN_NONE,
                                           .text = xstrdup(text)});
    free(name);
    return known;
}

int find_input(struct toml_model *m, const char *name)
{
    const struct field *f = schema_find(&m->schema, name);
    if (f && f->type != DSE_TYPE_REF) return param_input(m, f);
    const int policy = policy_input(m, name);
    return policy >= 0 ? policy : entry_input(m, name, false);
}

int element_input(struct toml_model *m, enum domain domain, const char *field)
{
    if (domain != DOMAIN_ATTENTION) domain = DOMAIN_OPERATORS;
    const int known = known_input(m, INPUT_ELEMENT, domain, field);
    for (const struct element_field *f = fields_of(domain); known < 0 && f->name; f++) {
        if (strcmp(f->name, field) != 0) continue;
        static const enum dse_type types[] = {DSE_TYPE_I64, DSE_TYPE_F64, DSE_TYPE_ENUM, DSE_TYPE_ENUM};
        const enum dse_type type = types[f->type];
        return add_input(m, (struct input){.kind = INPUT_ELEMENT,
                                           .name = xstrdup(field),
                                           .measure = measure_of(f->unit),
                                           .type = type,
                                           .offset = f->offset,
                                           .domain = domain});
    }
    return known;
}

int named_input(struct toml_model *m, enum input_kind kind, enum domain domain, const char *text)
{
    if (domain != DOMAIN_ATTENTION) domain = DOMAIN_OPERATORS;
    const int known = known_input(m, kind, domain, text);
    if (known >= 0) return known;
    return add_input(
        m, (struct input){.kind = kind, .name = xstrdup(text), .measure = {.scale = 1}, .domain = domain, .text = xstrdup(text)});
}

int number_input(struct toml_model *m, const struct formula *f, const struct formula_node *n, const char *in)
{
    const struct srcloc loc = formula_loc(f, n);
    for (int i = 0; i < m->n_constants; i++) {
        const struct constant *k = &m->constants[i];
        if (k->text == f->source.text && k->at == n->at && k->loc.line == loc.line && k->loc.column == loc.column) return k->input;
    }
    m->constants = xrealloc(m->constants, (size_t)m->n_constants + 1, sizeof *m->constants);
    struct constant *k = &m->constants[m->n_constants++];
    *k = (struct constant){
        .text = f->source.text, .at = n->at, .loc = loc, .name = xstrdup(in), .alone = f->nodes[f->root].kind == FORMULA_NUMBER};
    k->input = add_input(m, (struct input){.kind = INPUT_NUMBER, .name = xstrdup(""), .domain = DOMAIN_NONE, .number = n->number});
    return k->input;
}

int given_input(struct toml_model *m, const struct equation *e, size_t offset)
{
    const bool element = e->kind == EQUATION_ELEMENT;
    return add_input(m, (struct input){.kind = element ? INPUT_GIVEN_ELEMENT : INPUT_GIVEN,
                                       .name = xstrdup(e->name),
                                       .measure = e->measure,
                                       .type = DSE_TYPE_F64,
                                       .offset = offset,
                                       .domain = e->domain});
}

/* ---- for the nearest name --------------------------------------------------------------------------------------------------- */

const char **known_names(const struct toml_model *m, enum domain domain, size_t *ret_n)
{
    size_t n = 0;
    const char **names = xcalloc(m->schema.n + (size_t)m->n_equations + 256, sizeof *names);
    for (size_t i = 0; domain == DOMAIN_NONE && i < m->schema.n; i++) names[n++] = m->schema.fields[i].name;
    for (int i = 0; i < m->n_equations; i++)
        if (m->equations[i].is_public && m->equations[i].domain == domain) names[n++] = m->equations[i].name;
    for (const struct answer *a = answers; domain == DOMAIN_NONE && a->name; a++)
        if (strchr(a->name, '.') && groups_has(&m->groups, primitives[a->primitive].groups)) names[n++] = a->name;
    for (int i = 0; i < POLICY_TRAITS && domain == DOMAIN_NONE && m->groups.has[GROUP_CACHE]; i++)
        names[n++] = policy_traits[i].name;
    for (const struct element_field *f = fields_of(domain); domain != DOMAIN_NONE && f->name; f++) names[n++] = f->name;
    *ret_n = n;
    return names;
}
