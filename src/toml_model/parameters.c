/* [model], [parameters], the groups of parameters that models share, and defaults. */
#include "toml_model/internal.h"

#include "base/file.h"
#include "base/hint.h"
#include "base/xalloc.h"
#include "config/catalog.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *string_of(const struct toml_doc *doc, const struct toml_node *table, const char *key, struct diags *diags)
{
    const struct toml_node *n = toml_expect(doc, table, key, TOML_STRING, diags);
    return n ? n->string : NULL;
}

bool check_name(const struct toml_doc *doc, const struct toml_node *key, struct diags *diags)
{
    const char *s = key->key;
    bool ok = islower((unsigned char)*s) || *s == '_';
    for (; ok && *s; s++) ok = islower((unsigned char)*s) || isdigit((unsigned char)*s) || *s == '_';
    if (ok && strlen(key->key) > NAME_LENGTH_MAX)
        return diags_input(diags, toml_key_loc(doc, key), doc->text, NULL, "the name has %zu characters; at most %d",
                           strlen(key->key), NAME_LENGTH_MAX);
    return ok ||
           diags_input(diags, toml_key_loc(doc, key), doc->text, "small letters, digits and _", "\"%s\" is no name", key->key);
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------ */

static void add_row(struct toml_model *m, struct dse_param row)
{
    m->params = xrealloc(m->params, m->n_params + 2, sizeof *m->params);
    m->params[m->n_params++] = row;
    m->params[m->n_params] = (struct dse_param){.type = DSE_TYPE_END};
}

static size_t take_room(struct toml_model *m, size_t size)
{
    const size_t at = m->desc.params_size, align = sizeof(double);
    m->desc.params_size += (size + align - 1) / align * align;
    return at;
}

/* The memory as a stream alone: its rate and room, without the timing of its rows. */
static bool add_stream(struct toml_model *m, const struct toml_node *name, struct diags *diags)
{
    if (m->groups.has[GROUP_MEMORY])
        return diags_input(diags, toml_loc(m->doc, name), m->doc->text, NULL, "memory and stream are one group: name one of them");
    m->groups.has[GROUP_MEMORY] = true;
    m->groups.offset[GROUP_MEMORY] = take_room(m, group_rows[GROUP_MEMORY].size);
    add_row(m, (struct dse_param){.type = DSE_TYPE_EMBED,
                                  .name = group_rows[GROUP_MEMORY].name,
                                  .offset = m->groups.offset[GROUP_MEMORY],
                                  .embed = dse_dram_stream_params});
    return true;
}

static bool add_group(struct toml_model *m, const struct toml_node *name, struct diags *diags)
{
    const char *names[GROUPS];
    if (name->type == TOML_STRING && strcmp(name->string, "stream") == 0) return add_stream(m, name, diags);
    for (int g = 0; g < GROUPS; g++) {
        names[g] = group_rows[g].name;
        if (name->type != TOML_STRING || strcmp(name->string, names[g]) != 0) continue;
        if (m->groups.has[g]) return diags_input(diags, toml_loc(m->doc, name), m->doc->text, NULL, "%s is named twice", names[g]);
        m->groups.has[g] = true;
        m->groups.offset[g] = take_room(m, group_rows[g].size);
        add_row(m, (struct dse_param){.type = DSE_TYPE_EMBED,
                                      .name = names[g],
                                      .offset = m->groups.offset[g],
                                      .embed = group_rows[g].params,
                                      .refuse = group_rows[g].refuse});
        return true;
    }
    if (name->type != TOML_STRING)
        return diags_input(diags, toml_loc(m->doc, name), m->doc->text, NULL, "the name of a group is a string");
    return diags_unknown(diags, toml_loc(m->doc, name), m->doc->text, name->string, names, GROUPS,
                         "workload, request, memory, stream, cache, economics, links, locality, events, sampling",
                         "there is no group of parameters \"%s\"", name->string);
}

static bool add_can(struct toml_model *m, const struct toml_node *name, struct diags *diags)
{
    static const char *const names[] = {"layers", "parallel", "speculate", "mix", "activations", "scales", "formats"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (name->type != TOML_STRING || strcmp(name->string, names[i]) != 0) continue;
        m->can |= 1U << i;
        return true;
    }
    return diags_unknown(diags, toml_loc(m->doc, name), m->doc->text, name->type == TOML_STRING ? name->string : "", names,
                         sizeof names / sizeof *names, NULL,
                         "what a model can is one of layers, parallel, speculate, mix, activations, scales, formats");
}

/* Without it nothing depends on what it alone reads, which `dse test-model` proves. */
static bool add_technique(struct toml_model *m, const struct toml_node *name, struct diags *diags)
{
    static const char *const names[] = {"eviction", "decoding"};
    const char *given = name->type == TOML_STRING ? name->string : "";
    const bool eviction = strcmp(given, names[0]) == 0 && m->groups.has[GROUP_CACHE],
               decoding = strcmp(given, names[1]) == 0 && m->groups.has[GROUP_LOCALITY];
    m->off_by_eviction = m->off_by_eviction || eviction;
    m->off_by_decoding = m->off_by_decoding || decoding;
    return eviction || decoding ||
           diags_unknown(diags, toml_loc(m->doc, name), m->doc->text, given, names, 2,
                         "a model with the group cache may name \"eviction\", one with the group locality \"decoding\"",
                         "there is no such technique");
}

static bool read_list(struct toml_model *m, const struct toml_node *table, const char *key,
                      bool (*each)(struct toml_model *m, const struct toml_node *n, struct diags *diags), struct diags *diags)
{
    const struct toml_node *list = toml_expect(m->doc, table, key, TOML_ARRAY, diags);
    bool ok = list || !toml_get(table, key);
    for (size_t i = 0; list && i < list->n; i++) ok = each(m, &list->children[i], diags) && ok;
    return ok;
}

/* operators = "row": those of one row, whatever the step is. */
static bool read_operators(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    static const char *const names[] = {"row", "step"};
    const char *given = string_of(m->doc, t, "operators", diags);
    if (!given) return !toml_get(t, "operators");
    m->of_rows = strcmp(given, names[0]) == 0;
    return m->of_rows || strcmp(given, names[1]) == 0 ||
           diags_unknown(diags, toml_loc(m->doc, toml_get(t, "operators")), m->doc->text, given, names, 2, NULL,
                         "operators is \"row\" or \"step\"");
}

static int constant_of(const char *sold, const char *what)
{
    char *name = xasprintf("%s_%s", sold, what);
    int i = 0;
    while (i < DSE_CONSTANT_COUNT && strcmp(dse_constant_rows[i].name, name) != 0) i++;
    free(name);
    return i;
}

/* sold_as = "apple": there is no such chip without its computer. */
static bool read_sold(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    const char *sold = string_of(m->doc, t, "sold_as", diags);
    m->sold_usd = m->sold_mm2 = -1;
    if (!sold) return !toml_get(t, "sold_as");
    m->sold_usd = constant_of(sold, "computer_usd");
    m->sold_mm2 = constant_of(sold, "die_mm2");
    const bool known = m->sold_usd < DSE_CONSTANT_COUNT && m->sold_mm2 < DSE_CONSTANT_COUNT;
    return (known && m->groups.has[GROUP_ECONOMICS] && m->groups.has[GROUP_MEMORY]) ||
           diags_input(diags, toml_loc(m->doc, toml_get(t, "sold_as")), m->doc->text,
                       "\"apple\", with the groups economics and memory or stream in uses",
                       known ? "a computer is priced with groups that the model does not use"
                             : "the books of costs have no computer of that name");
}

static bool read_model(struct toml_model *m, struct diags *diags)
{
    static const char *const keys[] = {
        "name",      "title",  "cite", "version", "uses", "can", "techniques", "closed_form_only", "event_level_only",
        "operators", "sold_as"};
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "model", TOML_TABLE, diags);
    const struct srcloc top = {.file = m->doc->file, .line = 1, .column = 1};
    if (!t)
        return toml_get(&m->doc->root, "model")
                   ? false
                   : diags_input(diags, top, m->doc->text, "[model] with name, title and cite", "the file has no [model]");
    bool ok = toml_check_keys(m->doc, t, keys, sizeof keys / sizeof *keys, diags);
    const struct toml_node *version = toml_expect(m->doc, t, "version", TOML_INTEGER, diags), *name = toml_get(t, "name");
    m->desc.name = string_of(m->doc, t, "name", diags);
    m->desc.title = string_of(m->doc, t, "title", diags);
    m->desc.cite = string_of(m->doc, t, "cite", diags);
    m->desc.version = version && version->integer > 0 && version->integer < 1000000 ? (int)version->integer : 1;
    ok = read_list(m, t, "uses", add_group, diags) && ok;
    ok = read_list(m, t, "can", add_can, diags) && ok;
    ok = read_list(m, t, "techniques", add_technique, diags) && ok;
    ok = read_operators(m, t, diags) && ok;
    ok = read_sold(m, t, diags) && ok;
    if (!m->desc.name || !m->desc.title || !m->desc.cite)
        return diags_input(diags, toml_loc(m->doc, t), m->doc->text, "name = \"mine\", title = \"...\", cite = \"...\"",
                           "a model needs name, title and cite");
    const struct toml_node as_key = {.key = name->string, .key_line = name->line, .key_column = name->column};
    return check_name(m->doc, &as_key, diags) && ok;
}

/* ---- who reads what ---------------------------------------------------------------------------------------------------------- */

enum { FIDELITIES = 2 };
static const struct {
    const char *key, *level; /* of [model] and of a parameter */
    enum field_reader reader;
} readers[FIDELITIES] = {{"closed_form_only", "closed form", READ_BY_CLOSED_FORM},
                         {"event_level_only", "events", READ_BY_EVENT_LEVEL}};

static void add_only(struct toml_model *m, int reader, const char *name)
{
    size_t n = 0;
    while (m->only[reader] && m->only[reader][n]) n++;
    m->only[reader] = xrealloc(m->only[reader], n + 2, sizeof *m->only[reader]);
    m->only[reader][n] = name;
    m->only[reader][n + 1] = NULL;
}

/* level = "events" */
static bool read_level(struct toml_model *m, const struct toml_node *p, struct diags *diags)
{
    const char *level = string_of(m->doc, p, "level", diags), *levels[FIDELITIES];
    if (!level) return !toml_get(p, "level");
    for (int i = 0; i < FIDELITIES; i++) {
        levels[i] = readers[i].level;
        if (strcmp(level, levels[i]) != 0) continue;
        add_only(m, i, p->key);
        return true;
    }
    return diags_unknown(diags, toml_loc(m->doc, toml_get(p, "level")), m->doc->text, level, levels, FIDELITIES,
                         "a parameter that both read has no level", "%s: level is \"events\" or \"closed form\"", p->key);
}

/* A shared parameter that one fidelity alone reads. */
static bool add_shared_only(struct toml_model *m, int reader, const struct toml_node *name, struct diags *diags)
{
    const char *s = name->type == TOML_STRING ? name->string : "";
    size_t n;
    if (toml_get(toml_get(&m->doc->root, "parameters"), s))
        return diags_input(diags, toml_loc(m->doc, name), m->doc->text, "level = \"events\", or \"closed form\", in its row",
                           "%s is a parameter of the file, whose row says who reads it", s);
    const struct field *f = schema_find(&m->schema, s);
    if (f && f->reader == READ_BY_BOTH) {
        add_only(m, reader, f->name);
        schema_read_by(&m->schema, (const char *const[]){f->name, NULL}, readers[reader].reader);
        return true;
    }
    if (f) return diags_input(diags, toml_loc(m->doc, name), m->doc->text, NULL, "%s: who reads it is said already", s);
    const char **names = known_names(m, DOMAIN_NONE, &n);
    diags_unknown(diags, toml_loc(m->doc, name), m->doc->text, s, names, n, NULL, "no shared parameter is called \"%s\"", s);
    free(names);
    return false;
}

/* Behind this the schema knows who reads what. */
static bool read_readers(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *model = toml_get(&m->doc->root, "model");
    bool ok = true;
    for (int i = 0; i < FIDELITIES; i++) {
        const struct toml_node *list = toml_expect(m->doc, model, readers[i].key, TOML_ARRAY, diags);
        ok = (list || !toml_get(model, readers[i].key)) && ok;
        schema_read_by(&m->schema, m->only[i], readers[i].reader);
        for (size_t k = 0; list && k < list->n; k++) ok = add_shared_only(m, i, &list->children[k], diags) && ok;
    }
    m->desc.closed_form_only = m->only[0];
    m->desc.event_level_only = m->only[1];
    return ok;
}

/* ---- parameters -------------------------------------------------------------------------------------------------------------- */

static bool wrong(const struct toml_model *m, const struct toml_node *at, const char *hint, struct diags *diags, const char *what,
                  const char *name)
{
    return diags_input(diags, at->key ? toml_key_loc(m->doc, at) : toml_loc(m->doc, at), m->doc->text, hint, "%s: %s", name, what);
}

static double number_of(const struct toml_node *n)
{
    return n->type == TOML_INTEGER ? (double)n->integer : n->type == TOML_FLOAT ? n->number : (double)NAN;
}

static bool add_choice(struct toml_model *m, const struct toml_node *p, const struct toml_node *list, struct dse_param *row,
                       struct diags *diags)
{
    char **choices = xcalloc(list->n + 1, sizeof *choices);
    m->choices = xrealloc(m->choices, m->n_choices + 1, sizeof *m->choices);
    m->choices[m->n_choices++] = choices;
    if (list->type != TOML_ARRAY || list->n == 0)
        return wrong(m, list, "choices = [\"a\", \"b\"]", diags, "choices is a list of names", p->key);
    for (size_t i = 0; i < list->n; i++) {
        if (list->children[i].type != TOML_STRING) return wrong(m, &list->children[i], NULL, diags, "a choice is a string", p->key);
        choices[i] = list->children[i].string;
    }
    row->type = DSE_TYPE_ENUM;
    row->choices = (const char *const *)choices;
    row->offset = take_room(m, sizeof(int32_t));
    const struct toml_node *d = toml_get(p, "default");
    if (!d) return true; /* an entry has it */
    for (size_t i = 0; d->type == TOML_STRING && i < list->n; i++)
        if (strcmp(d->string, choices[i]) == 0) return true;
    return wrong(m, d, "one of its choices", diags, "the default is none of the choices", p->key);
}

/* Does another parameter take its default from the entry of this one? */
static bool sets_others(const struct toml_model *m, const char *name)
{
    const struct toml_node *all = toml_get(&m->doc->root, "parameters");
    bool ret = false;
    for (size_t i = 0; i < all->n; i++) {
        const struct toml_node *from = toml_get(&all->children[i], "from");
        ret = ret || (from && from->type == TOML_STRING && strcmp(from->string, name) == 0);
    }
    return ret;
}

/* The type of the field of this name that entries of the catalog of that parameter have; DSE_TYPE_END: none. *ret_choices: of a
 * choice. */
static enum dse_type type_in_entry(const struct toml_model *m, const char *parameter, const char *name,
                                   const char *const **ret_choices)
{
    const struct toml_node *of = toml_get(toml_get(&m->doc->root, "parameters"), parameter),
                           *catalog = of ? toml_get(of, "catalog") : NULL;
    const struct dse_param *fields = NULL;
    enum dse_type ret = DSE_TYPE_END;
    for (int k = 0; k < DSE_KIND_COUNT && catalog && catalog->type == TOML_STRING; k++)
        if (strcmp(catalog->string, kind_plural((enum dse_kind)k)) == 0) fields = catalog_kind_fields((enum dse_kind)k);
    if (!fields) return ret;
    struct schema entry;
    schema_init_params(&entry, fields);
    const struct field *f = schema_find(&entry, name);
    if (f && (field_is_number(f) || f->type == DSE_TYPE_ENUM)) ret = f->type;
    if (f && f->type == DSE_TYPE_ENUM) *ret_choices = f->choices;
    schema_release(&entry);
    return ret;
}

/* Are these the choices that an entry has, in their order? */
static bool same_choices(const struct toml_node *list, const char *const *choices)
{
    size_t n = 0;
    if (!list || list->type != TOML_ARRAY) return false;
    for (; n < list->n && choices[n]; n++)
        if (list->children[n].type != TOML_STRING || strcmp(list->children[n].string, choices[n]) != 0) return false;
    return n == list->n && !choices[n];
}

/* from = "npu": the default is what the entry of that parameter has of this name. */
static bool check_from(const struct toml_model *m, const struct toml_node *p, struct diags *diags)
{
    const struct toml_node *from = toml_get(p, "from"), *list = toml_get(p, "choices");
    const char *const *choices = NULL;
    if (!from) return true;
    const enum dse_type type = from->type == TOML_STRING ? type_in_entry(m, from->string, p->key, &choices) : DSE_TYPE_END;
    const bool ok = type != DSE_TYPE_END && !toml_get(p, "catalog") && (choices ? same_choices(list, choices) : !list);
    return ok || wrong(m, from, "a number or its choices, and a parameter with `catalog`", diags,
                       "its default is in no entry of that parameter", p->key);
}

static bool add_reference(struct toml_model *m, const struct toml_node *p, const struct toml_node *catalog, struct dse_param *row,
                          struct diags *diags)
{
    const char *names[DSE_KIND_COUNT];
    const struct toml_node *sets = toml_expect(m->doc, p, "sets", TOML_BOOLEAN, diags);
    if (!sets && toml_get(p, "sets")) return false;
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        names[k] = kind_plural((enum dse_kind)k);
        if (catalog->type != TOML_STRING || strcmp(catalog->string, names[k]) != 0) continue;
        row->type = DSE_TYPE_REF;
        row->kind = (enum dse_kind)k;
        row->flags = (sets && sets->boolean) || sets_others(m, p->key) ? 0 : DSE_PARAM_ALONE;
        row->offset = take_room(m, sizeof(void *));
        return true;
    }
    return diags_unknown(diags, toml_loc(m->doc, catalog), m->doc->text, catalog->type == TOML_STRING ? catalog->string : "", names,
                         DSE_KIND_COUNT, "`dse list` names the catalogs", "%s: there is no catalog of that name", p->key);
}

static bool is_auto(const struct toml_node *d)
{
    return d && d->type == TOML_STRING && strcmp(d->string, "auto") == 0;
}

/* A number, whole where it is written so and has no unit. */
static bool add_number(struct toml_model *m, const struct toml_node *p, struct dse_param *row, struct diags *diags)
{
    static const char hint[] = "range = [LEAST, MOST] with numbers that hold the default";
    const struct toml_node *range = toml_get(p, "range"), *d = toml_get(p, "default"),
                           *whole = toml_expect(m->doc, p, "whole", TOML_BOOLEAN, diags);
    if (!range || range->type != TOML_ARRAY || range->n != 2)
        return wrong(m, range ? range : p, hint, diags, "a number needs a range", p->key);
    const struct toml_node *least = &range->children[0], *most = &range->children[1];
    const bool elsewhere = !d || is_auto(d);
    const double from = number_of(least), to = number_of(most), value = elsewhere ? from : number_of(d);
    if (!isfinite(from) || !isfinite(to) || from > to)
        return wrong(m, range, hint, diags, "the range is empty, or no range of numbers", p->key);
    if (d && !(value >= from && value <= to)) return wrong(m, d, hint, diags, "the default is outside of the range", p->key);
    struct measure measure;
    const char *unit;
    const struct toml_node *entry = toml_get(p, "from");
    const char *const *none;
    const bool of_entry = !d && entry && type_in_entry(m, entry->string, p->key, &none) == DSE_TYPE_I64;
    const bool has_unit = measure_of_name(p->key, &measure, &unit), integers = least->type == TOML_INTEGER &&
                                                                               most->type == TOML_INTEGER &&
                                                                               (elsewhere ? of_entry : d->type == TOML_INTEGER);
    const bool is_whole = of_entry || (whole ? whole->boolean : integers && !has_unit);
    if (is_whole && !integers)
        return wrong(m, range, "default and range without a decimal point", diags, "a whole number has a whole default and range",
                     p->key);
    *row = (struct dse_param){.type = is_whole ? DSE_TYPE_I64 : DSE_TYPE_F64,
                              .name = row->name,
                              .doc = row->doc,
                              .source = row->source,
                              .unit = has_unit ? unit : "",
                              .min = from,
                              .max = to,
                              .offset = take_room(m, sizeof(double)),
                              .flags = is_auto(d) ? DSE_PARAM_AUTO : 0};
    const struct toml_node *given = toml_get(p, "unit");
    if (given && (given->type != TOML_STRING || strcmp(given->string, row->unit) != 0))
        return wrong(m, given, "a name ends in its unit: clock_ghz, buffer_kib, latency_us", diags,
                     "the unit is not that of the name", p->key);
    if (has_unit && !unit_find(NULL, unit))
        return wrong(m, p, "_ghz, _gbs, _kib, _mib, _us, _ns, _bytes, _mm2, _w, _mj, _pj, ...", diags,
                     "a parameter is in a unit that designers speak", p->key);
    return true;
}

static bool check_auto(const struct toml_model *m, const struct toml_node *p, struct diags *diags)
{
    const struct toml_node *d = toml_get(p, "default");
    return is_auto(d) == (toml_get(p, "auto") != NULL) || toml_get(p, "choices") ||
           wrong(m, d ? d : p, "default = \"auto\", auto = \"formula\"", diags,
                 "\"auto\" is a default that the formula of `auto` stands for", p->key);
}

static bool add_parameter(struct toml_model *m, const struct toml_node *p, struct diags *diags)
{
    static const char *const keys[] = {"default", "range",     "choices", "catalog", "unit", "doc", "source",
                                       "whole",   "fitted_to", "level",   "sets",    "from", "auto"};
    if (p->type != TOML_TABLE)
        return wrong(m, p, "tiles = { default = 8, range = [1, 64], doc = \"...\" }", diags, "a parameter is a table", p->key);
    bool ok = check_name(m->doc, p, diags) && toml_check_keys(m->doc, p, keys, sizeof keys / sizeof *keys, diags);
    const char *doc = string_of(m->doc, p, "doc", diags), *source = string_of(m->doc, p, "source", diags);
    if (!doc || !*doc)
        return wrong(m, p, "doc = \"...\", one line without a full stop", diags, "a parameter says what it is (doc)", p->key);
    if (!toml_get(p, "default") && !toml_get(p, "from"))
        return wrong(m, p, "default = ...", diags, "a parameter has a default", p->key);
    if (!check_from(m, p, diags)) return false;
    struct dse_param row = {.name = p->key, .unit = "", .doc = doc, .source = source ? source : "ours"};
    const struct toml_node *choices = toml_get(p, "choices"), *catalog = toml_get(p, "catalog");
    ok = check_auto(m, p, diags) && ok;
    ok = (choices   ? add_choice(m, p, choices, &row, diags)
          : catalog ? add_reference(m, p, catalog, &row, diags)
                    : add_number(m, p, &row, diags)) &&
         ok;
    ok = read_level(m, p, diags) && ok;
    if (ok) add_row(m, row);
    return ok;
}

/* Names are unique over the groups, too. */
static bool check_unique(const struct toml_model *m, const struct toml_node *table, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        int found = 0;
        for (size_t k = 0; k < m->schema.n; k++) found += strcmp(m->schema.fields[k].name, table->children[i].key) == 0;
        if (found > 1)
            ok = wrong(m, &table->children[i], "give it another name, or leave the group out of uses", diags,
                       "a shared group has a parameter of this name", table->children[i].key);
    }
    return ok;
}

/* ---- defaults ---------------------------------------------------------------------------------------------------------------- */

static void add_value(struct text *t, const struct toml_node *v)
{
    char buf[TEXT_NUMBER_MAX];
    switch (v->type) {
    case TOML_STRING: text_add_json(t, v->string); break;
    case TOML_INTEGER: text_addf(t, "%lld", (long long)v->integer); break;
    case TOML_FLOAT:
        text_number(buf, v->number);
        text_addf(t, "%s%s", buf, strpbrk(buf, ".en") ? "" : ".0");
        break;
    default: text_add(t, v->type == TOML_BOOLEAN && v->boolean ? "true" : "false"); break;
    }
}

/* defaults.toml as the file would have it: every value in the line, and where there is room in the column, in which it stands
 * there, so that what is wrong with it is shown in its place. */
struct made {
    char **lines;
    size_t n;
    struct text behind;
};

static void place_value(struct made *d, const char *name, const struct toml_node *v)
{
    const size_t line = (size_t)v->line - 1;
    if (line >= d->n || d->lines[line]) {
        text_addf(&d->behind, "%s = ", name);
        add_value(&d->behind, v);
        text_add(&d->behind, "\n");
        return;
    }
    struct text t;
    text_init(&t);
    text_addf(&t, "%s =", name);
    do text_add(&t, " ");
    while (t.n + 1 < (size_t)v->column);
    add_value(&t, v);
    d->lines[line] = text_detach(&t);
}

static void add_fitted(struct made *d, struct text *fitted, const struct toml_node *p)
{
    const struct toml_node *to = toml_get(p, "fitted_to"), *v = toml_get(p, "default");
    if (!v) return; /* an entry has it */
    if (!to || to->type != TOML_STRING) {
        place_value(d, p->key, v);
        return;
    }
    text_addf(fitted, "[calibrated.%s]\nvalue = ", p->key);
    add_value(fitted, v);
    text_add(fitted, "\nfitted_to = ");
    text_add_json(fitted, to->string);
    text_add(fitted, "\n");
}

/* Of what neither [parameters] nor [defaults] says, data_dir/models/shared.toml does; a model of the tree has that with it. */
static bool add_shared(const struct toml_model *m, const struct toml_node *given, const struct toml_node *own, struct made *d,
                       struct diags *diags)
{
    char *path = xasprintf("%s/models/shared.toml", catalog_data_dir());
    struct toml_doc *shared =
        m->built_in ? toml_read_text(path, m->built_in->shared, strlen(m->built_in->shared), diags) : toml_read_file(path, diags);
    for (size_t i = 0; shared && i < shared->root.n; i++) {
        const struct toml_node *v = &shared->root.children[i];
        if (!schema_find(&m->schema, v->key) || (given && toml_get(given, v->key)) || (own && toml_get(own, v->key))) continue;
        text_addf(&d->behind, "%s = ", v->key);
        add_value(&d->behind, v);
        text_add(&d->behind, "\n");
    }
    const bool ok = shared != NULL;
    toml_free(shared);
    free(path);
    return ok;
}

static bool add_given(const struct toml_model *m, const struct toml_node *given, const struct toml_node *own, struct made *d,
                      struct text *fitted, struct diags *diags)
{
    static const char *const fitted_keys[] = {"default", "fitted_to"};
    bool ok = true;
    for (size_t i = 0; given && i < given->n; i++) {
        const struct toml_node *v = &given->children[i];
        size_t n;
        const char **names = known_names(m, DOMAIN_NONE, &n);
        if (own && toml_get(own, v->key))
            ok = wrong(m, v, NULL, diags, "its default stands among the parameters", v->key);
        else if (!schema_find(&m->schema, v->key))
            ok = diags_unknown(diags, toml_key_loc(m->doc, v), m->doc->text, v->key, names, n,
                               "[defaults] is of the parameters of the groups in uses", "no shared parameter is called \"%s\"",
                               v->key);
        else if (v->type == TOML_TABLE && toml_get(v, "default") && toml_get(v, "fitted_to"))
            ok = toml_check_keys(m->doc, v, fitted_keys, 2, diags) && ok, add_fitted(d, fitted, v);
        else if (v->type == TOML_ARRAY || v->type == TOML_TABLE)
            ok = wrong(m, v, "{ default = ..., fitted_to = \"...\" } of a calibrated constant", diags, "a default is one value",
                       v->key);
        else
            place_value(d, v->key, v);
        free(names);
    }
    return ok;
}

static bool make_defaults(struct toml_model *m, const struct toml_node *own, struct diags *diags)
{
    const struct toml_node *given = toml_expect(m->doc, &m->doc->root, "defaults", TOML_TABLE, diags);
    struct made d = {.n = 1};
    struct text all, fitted;
    text_init(&all);
    text_init(&fitted);
    text_init(&d.behind);
    for (const char *s = m->doc->text; *s; s++) d.n += *s == '\n';
    d.lines = xcalloc(d.n, sizeof *d.lines);
    bool ok = given || !toml_get(&m->doc->root, "defaults");
    for (size_t i = 0; own && i < own->n; i++) add_fitted(&d, &fitted, &own->children[i]);
    ok = add_given(m, given, own, &d, &fitted, diags) && add_shared(m, given, own, &d, diags) && ok;
    for (size_t i = 0; i < d.n; i++) {
        if (d.lines[i]) text_add(&all, d.lines[i]);
        text_add(&all, "\n");
        free(d.lines[i]);
    }
    text_addf(&all, "%s%s", d.behind.n ? d.behind.s : "", fitted.n ? fitted.s : "");
    free(d.lines);
    text_release(&d.behind);
    text_release(&fitted);
    m->defaults = text_detach(&all);
    return ok;
}

bool read_parameters(struct toml_model *m, struct diags *diags)
{
    if (!read_model(m, diags)) return false;
    const struct toml_node *own = toml_expect(m->doc, &m->doc->root, "parameters", TOML_TABLE, diags);
    bool ok = own || !toml_get(&m->doc->root, "parameters");
    for (size_t i = 0; own && i < own->n; i++) ok = add_parameter(m, &own->children[i], diags) && ok;
    if (m->n_params == 0) add_row(m, (struct dse_param){.type = DSE_TYPE_END});
    schema_init_params(&m->schema, m->params);
    ok = check_unique(m, own, diags) && ok;
    ok = ok && read_readers(m, diags);
    return ok && make_defaults(m, own, diags);
}
