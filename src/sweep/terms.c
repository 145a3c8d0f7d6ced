/* In which terms the models of a sweep differ, where nobody asked for it (sweep/compared.h, config/equal_terms.h). */
#include "sweep/compared.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/equal_terms.h"
#include "space/idle.h"

#include <dse/costs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one model has of a term: a parameter, an entry, or what it has by nature. */
struct held {
    size_t m;
    enum equal_hold hold;
    const struct field *f; /* the parameter, or the one that names the entry; NULL: neither */
    char *text;            /* "22nm", "0.93" */
    char *says;            /* what an entry says of it; NULL: nothing */
    double number;         /* of the term; NaN: it is none, or several */
    bool given, equal;     /* the sweep gives it, or what sets it; it was put on it by [equal] */
    bool moves;            /* with the value of another model, metrics would be others */
};

struct terms {
    const struct sweep_file *sweep;
    struct space *const *spaces;
    const struct equal_term *term;
    struct held *list;
    size_t n;
};

static void terms_release(struct terms *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->list[i].text);
        free(t->list[i].says);
    }
    free(t->list);
}

static struct held *add_held(struct terms *t, size_t m, enum equal_hold hold, const struct field *f)
{
    t->list = xrealloc(t->list, t->n + 1, sizeof *t->list);
    t->list[t->n] = (struct held){.m = m, .hold = hold, .f = f, .number = (double)NAN};
    return &t->list[t->n++];
}

/* ---- what each model has ------------------------------------------------------------------------------------------------- */

/* Does the sweep give the parameter, or an entry that sets it? */
static bool is_asked_for(const struct binding *b, const struct field *f)
{
    const struct schema *params = &b->model->params;
    bool given = binding_gives(b, f);
    for (size_t i = 0; i < params->n && !given; i++) {
        const struct field *entry = &params->fields[i];
        if (entry->type != DSE_TYPE_REF || entry->alone || !binding_gives(b, entry)) continue;
        const struct field *from = schema_find(catalog_fields(b->catalog, entry->kind), f->name);
        given = from && from->type == f->type && !from->optional;
    }
    return given;
}

static void add_param(struct terms *t, size_t m, enum equal_hold hold, const struct field *f)
{
    const struct binding *b = t->sweep->bindings[m];
    const size_t index = schema_index(&b->model->params, f);
    if (space_varies(t->spaces[m], index)) return;
    char buf[TEXT_NUMBER_MAX], says[EQUAL_TEXT_MAX];
    const struct value v = field_get(f, space_fixed(t->spaces[m]));
    struct held *h = add_held(t, m, hold, f);
    h->text = xstrdup(value_text(f, v, buf));
    const char *of_entry = f->type == DSE_TYPE_REF && t->term->entry_field ? equal_entry_text(t->term, b, f, v.ref, says) : NULL;
    h->says = of_entry ? xstrdup(of_entry) : NULL;
    h->number = field_is_number(f)                           ? field_number(f, space_fixed(t->spaces[m]))
                : f->type == DSE_TYPE_REF && t->term->number ? t->term->number(b->catalog, v.ref->name)
                                                             : (double)NAN;
    h->given = is_asked_for(b, f);
    h->equal = b->given[index].is_equal;
}

/* What the entries say that the parameter names: "4nm and 7nm". */
static void add_entry(struct terms *t, size_t m, const struct field *names)
{
    const struct binding *b = t->sweep->bindings[m];
    const struct field *field = schema_find(catalog_fields(b->catalog, names->kind), t->term->entry_field);
    struct text all;
    text_init(&all);
    double number = (double)NAN;
    size_t n = 1, different = 0;
    bool unknown = false; /* of some entry */
    for (size_t i = 0; i < n; i++) {
        char buf[EQUAL_TEXT_MAX];
        const struct dse_entry *entry = equal_entry_at(b, names, i, &n);
        const char *text = equal_entry_text(t->term, b, names, entry, buf);
        if (!text || strstr(all.s, text)) {
            unknown = unknown || !text;
            continue;
        }
        text_addf(&all, "%s%s", different++ ? " and " : "", text);
        number = different > 1                  ? (double)NAN
                 : field->type == DSE_TYPE_ENUM ? field_get(field, entry).choice
                                                : field_number(field, entry);
    }
    if (different) {
        struct held *h = add_held(t, m, EQUAL_BY_ENTRY, names);
        h->says = xstrdup(all.s);
        h->text = xasprintf("%s%s", all.s, unknown ? " and unknown" : "");
        h->number = unknown ? (double)NAN : number;
        h->given = binding_gives(b, names);
    }
    text_release(&all);
}

static void add_model(struct terms *t, size_t m)
{
    const struct binding *b = t->sweep->bindings[m];
    const struct schema *params = &b->model->params;
    const struct field *f;
    char buf[TEXT_NUMBER_MAX];
    struct held *h;
    switch (equal_hold_of(t->term, b, &f)) {
    case EQUAL_BY_PARAMS:
        for (const char *const *p = t->term->params; *p; p++)
            if ((f = schema_find(params, *p))) add_param(t, m, EQUAL_BY_PARAMS, f);
        break;
    case EQUAL_ELSEWHERE: add_param(t, m, EQUAL_ELSEWHERE, f); break;
    case EQUAL_BY_ENTRY: add_entry(t, m, f); break;
    case EQUAL_BY_NATURE:
        h = add_held(t, m, EQUAL_BY_NATURE, NULL);
        h->text = xstrdup(text_number(buf, t->term->without));
        h->number = t->term->without;
        h->given = true; /* there is nothing to give */
        break;
    default: break;
    }
}

/* ---- do they differ? ----------------------------------------------------------------------------------------------------- */

static bool is_same(const struct held *a, const struct held *b)
{
    if (a->hold == EQUAL_ELSEWHERE || b->hold == EQUAL_ELSEWHERE) return a->hold == b->hold && strcmp(a->text, b->text) == 0;
    if (a->hold == EQUAL_BY_PARAMS && b->hold == EQUAL_BY_PARAMS) return strcmp(a->text, b->text) == 0;
    if (a->says && b->says) return strcmp(a->says, b->says) == 0;
    return a->number == b->number;
}

/* Would a's parameter with b's value leave all metrics of a as they are? */
static bool is_idle(const struct terms *t, const struct held *a, const struct held *b)
{
    if (a->hold == EQUAL_BY_ENTRY || !a->f) return true;
    struct value v;
    if (a->f->type == DSE_TYPE_REF) {
        if (!b->f || b->f->type != DSE_TYPE_REF || b->f->kind != a->f->kind) return false;
        v = field_get(b->f, space_fixed(t->spaces[b->m]));
    } else if (!field_is_number(a->f) || isnan(b->number)) {
        return false;
    } else {
        v = a->f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)b->number} : (struct value){.f64 = b->number};
    }
    return space_value_idle(t->spaces[a->m], a->f, v) == IDLE_YES;
}

/* Find what differs between models and would move a metric, and forget those of several parameters of a model that would not: a
 * share that another fidelity, phase or kernel reads. Was it asked for? False, too, where nothing differs. */
static bool is_told(struct terms *t)
{
    bool some_default = false, some_equal = false, differs = false;
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->n; k++) {
            struct held *a = &t->list[i];
            const struct held *b = &t->list[k];
            if (a->m != b->m && !is_same(a, b) && !is_idle(t, a, b)) a->moves = differs = true;
        }
    for (size_t i = 0; i < t->n; i++) {
        some_default = some_default || !t->list[i].given;
        some_equal = some_equal || t->list[i].equal;
    }
    return differs && (some_default || some_equal);
}

/* Is it one of several parameters of its model, of which another one moves a metric and this does not? */
static bool is_beside(const struct terms *t, const struct held *h)
{
    bool other_moves = false;
    for (size_t i = 0; i < t->n; i++) other_moves = other_moves || (t->list[i].m == h->m && t->list[i].moves);
    return other_moves && !h->moves;
}

/* ---- the sentence -------------------------------------------------------------------------------------------------------- */

static const char *model_name(const struct terms *t, const struct held *h)
{
    return t->sweep->bindings[h->m]->model->desc->name;
}

/* "lad is at 22nm, flashdecoding at 4nm and 7nm (its gpu)". */
static void add_values(struct text *s, const struct terms *t)
{
    size_t n = 0, last = SIZE_MAX;
    for (size_t i = 0; i < t->n; i++) {
        const struct held *h = &t->list[i];
        if (is_beside(t, h)) continue;
        const bool again = h->m == last;
        text_addf(s, "%s%s%s%s", n ? ", " : "", again ? "" : model_name(t, h), again ? "" : n ? " at " : " is at ", h->text);
        n++;
        last = h->m;
        if (h->hold == EQUAL_BY_ENTRY)
            text_addf(s, " (its %s)", h->f->name);
        else if (h->f && strcmp(h->f->name, t->term->name) != 0)
            text_addf(s, " (%s)", h->f->name);
    }
}

/* {"lad": "22nm", "flashdecoding": "4nm and 7nm"}. */
static void add_values_json(struct text *s, const struct terms *t)
{
    struct text of;
    text_init(&of);
    text_add(s, "{");
    for (size_t i = 0; i < t->n; i++) {
        const struct held *h = &t->list[i];
        if (!is_beside(t, h)) text_addf(&of, "%s%s", of.n ? " and " : "", h->text);
        if (i + 1 < t->n && t->list[i + 1].m == h->m) continue;
        if (of.n && s->s[s->n - 1] != '{') text_add(s, ", ");
        if (of.n) text_add_json(s, model_name(t, h)), text_add(s, ": "), text_add_json(s, of.s);
        text_release(&of);
        text_init(&of);
    }
    text_add(s, "}");
    text_release(&of);
}

/* The models that take the value of `fits`, or those that cannot, or that [equal] did not put on it, each once: "lad, veda"; how
 * many. */
static size_t add_models(struct text *s, const struct terms *t, bool take, const struct held *fits)
{
    size_t n = 0, last = SIZE_MAX;
    for (size_t i = 0; i < t->n; i++) {
        const struct held *h = &t->list[i];
        const bool takes = fits->equal ? is_same(h, fits) : h->hold == EQUAL_BY_PARAMS || is_same(h, fits);
        if (takes != take || h->m == last) continue;
        text_addf(s, "%s%s", n++ ? ", " : "", model_name(t, h));
        last = h->m;
    }
    return n;
}

/* Can all models whose parameter it is be built with the entry? */
static bool all_take(const struct terms *t, const struct dse_entry *entry)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].hold == EQUAL_BY_PARAMS && space_refuses(t->spaces[t->list[i].m], t->list[i].f, entry)) return false;
    return true;
}

/* The name of an entry that has the number, by which the parameter can be given it: "tsmc-5nm" of a chip of 5 nm. NULL: none. */
static const char *name_of(const struct terms *t, const struct held *param, double number)
{
    const struct catalog *c = t->sweep->bindings[param->m]->catalog;
    const struct dse_entry *entry;
    for (size_t i = 0; t->term->number && (entry = catalog_at(c, param->f->kind, i)); i++)
        if (t->term->number(c, entry->name) == number && all_take(t, entry)) return entry->name;
    return NULL;
}

/* What the models could be put on: what one has by nature, or by an entry, which nothing changes, if a parameter can be given that;
 * else the first of the parameters. NULL: no model has one. */
static bool holds_weights(const struct terms *t)
{
    return strcmp(t->term->name, "capacity_gib") == 0; /* the least of several may hold no model's weights */
}

static const struct held *value_for_all(const struct terms *t)
{
    const struct held *param = NULL, *entry = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].hold == EQUAL_BY_NATURE) return &t->list[i];
    for (size_t i = 0; i < t->n; i++) {
        const struct held *h = &t->list[i];
        if (h->hold == EQUAL_BY_PARAMS && (!param || (holds_weights(t) && h->number > param->number))) param = h;
        if (h->hold == EQUAL_BY_ENTRY && !entry) entry = h;
    }
    if (!param || !entry) return param;
    return !isnan(entry->number) && (param->f->type != DSE_TYPE_REF || name_of(t, param, entry->number)) ? entry : param;
}

/* The value as a sweep file has it: 64, "tsmc-5nm". */
static void add_value(struct text *s, const struct terms *t, const struct held *fits)
{
    char buf[TEXT_NUMBER_MAX];
    if (!isnan(fits->number) && !t->term->number) {
        text_add(s, text_number(buf, fits->number));
        return;
    }
    const struct held *param = fits;
    for (size_t i = 0; i < t->n && param->hold != EQUAL_BY_PARAMS; i++) param = &t->list[i];
    text_addf(s, "\"%s\"", fits->hold == EQUAL_BY_ENTRY ? name_of(t, param, fits->number) : fits->text);
}

/* Does the model take the value of `fits`? */
static bool model_takes(const struct terms *t, size_t m, const struct held *fits)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].m == m && (t->list[i].hold == EQUAL_BY_PARAMS || is_same(&t->list[i], fits))) return true;
    return false;
}

/* The line of [equal]: 'technology = "7nm"', or with the models that cannot take it, 'technology = { value = "7nm", except =
 * ["ane"] }'. */
static void add_setting(struct text *s, const struct terms *t, const struct held *fits)
{
    struct text others;
    text_init(&others);
    for (size_t m = 0; m < t->sweep->n_models; m++)
        if (!model_takes(t, m, fits))
            text_addf(&others, "%s\"%s\"", others.n ? ", " : "", t->sweep->bindings[m]->model->desc->name);
    text_addf(s, "%s = %s", t->term->name, others.n ? "{ value = " : "");
    add_value(s, t, fits);
    if (others.n) text_addf(s, ", except = [%s] }", others.s);
    text_release(&others);
}

/* One term in which models differ. */
struct difference {
    char *fact;            /* "process node: lad is at 28nm, flashdecoding at 7nm (its gpu)" */
    char *setting, *takes; /* the line of [equal], and the models that take it: "lad, flashdecoding"; NULL: none */
    char *values;          /* JSON */
    const struct equal_term *term;
};

static struct difference difference_of(const struct terms *t)
{
    struct text fact, setting, takers, values;
    text_init(&fact);
    text_init(&setting);
    text_init(&takers);
    text_init(&values);
    text_addf(&fact, "%s: ", t->term->what);
    add_values(&fact, t);
    add_values_json(&values, t);
    const struct held *equal = NULL;
    for (size_t i = 0; i < t->n && !equal; i++)
        if (t->list[i].equal) equal = &t->list[i];
    const struct held *fits = equal ? NULL : value_for_all(t);
    const size_t n_takers = fits ? add_models(&takers, t, true, fits) : 0;
    const bool some = n_takers > 1 && 2 * n_takers > t->sweep->n_models; /* what two of five take is no equal term */
    if (equal) {
        text_add(&fact, "; [equal] leaves out ");
        add_models(&fact, t, false, equal);
    } else if (some) {
        add_setting(&setting, t, fits);
    } else {
        text_add(&fact, "; no single value suits these models");
    }
    struct difference d = {.fact = text_detach(&fact), .values = text_detach(&values), .term = t->term};
    if (some) d.setting = text_detach(&setting), d.takes = text_detach(&takers);
    text_release(&setting);
    text_release(&takers);
    return d;
}

/* ---- the price of memory --------------------------------------------------------------------------------------------------- */

static bool asks_for_dollars(const struct sweep_file *s)
{
    return strstr(s->doc->text, "_usd") || strstr(s->doc->text, "usd_per_");
}

/* Dollars a GB of the model's memory, by its book, band and year; NaN: it has none of its own that is priced. */
static double price_of_memory(const struct terms *t, size_t m, const char **ret_kind)
{
    const struct schema *params = &t->sweep->bindings[m]->model->params;
    const struct field *f[4];
    static const char *const names[] = {"memory", "costs", "prices", "price_year"};
    struct value v[4];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        f[i] = schema_find(params, names[i]);
        if (!f[i] || space_varies(t->spaces[m], schema_index(params, f[i]))) return (double)NAN;
        v[i] = field_get(f[i], space_fixed(t->spaces[m]));
    }
    if (f[0]->kind != DSE_KIND_MEMORY || f[1]->kind != DSE_KIND_COSTS) return (double)NAN;
    const struct dse_memory *memory = (const struct dse_memory *)(const void *)v[0].ref;
    const struct dse_costs *book = (const struct dse_costs *)(const void *)v[1].ref;
    if (memory->make.kind == DSE_MEMORY_OTHER) return (double)NAN;
    *ret_kind = dse_memory_kind_names[memory->make.kind];
    return dse_constant(book, DSE_C_memory_usd_gb_hbm2 + memory->make.kind - 1, v[2].choice, v[3].i64);
}

/* "price of a GB of memory: lad $7.5 (hbm2), ane $10 (lpddr5); ...", where it differs and the sweep asks for dollars. */
static void add_memory_prices(struct text *s, const struct terms *t)
{
    struct text values;
    text_init(&values);
    double first = (double)NAN;
    bool differs = false;
    for (size_t m = 0; m < t->sweep->n_models; m++) {
        const char *kind = "";
        char buf[TEXT_NUMBER_MAX];
        const double usd = price_of_memory(t, m, &kind);
        if (isnan(usd)) continue;
        differs = differs || (!isnan(first) && usd != first);
        text_addf(&values, "%s%s $%s (%s)", values.n ? ", " : "", t->sweep->bindings[m]->model->desc->name,
                  text_short_number(buf, usd), kind);
        if (isnan(first)) first = usd;
    }
    if (differs)
        text_addf(s,
                  "price of a GB of memory: %s; this price follows from the kind of memory, and the price of a board or computer "
                  "includes its memory",
                  values.s);
    text_release(&values);
}

/* ---- all of them ----------------------------------------------------------------------------------------------------------- */

enum { TERMS_MAX = 16 };

static bool has_setting(const struct difference *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].setting && strcmp(list[i].term->name, name) == 0) return true;
    return false;
}

/* The name of a memory sets its capacity and bandwidth: those of another one beside it make no machine. */
static bool is_set_by_memory(const struct difference *d)
{
    return strcmp(d->term->name, "capacity_gib") == 0 || strcmp(d->term->name, "bandwidth_gbs") == 0;
}

/* Tell of each term: with its setting where one term has any. The settings of several are one text to copy, behind them. */
static void tell_differences(const struct sweep_file *s, const struct difference *list, size_t n,
                             void (*tell)(void *user, const struct unequal_term *term), void *user)
{
    struct text block;
    text_init(&block);
    size_t settings = 0;
    const bool there = toml_get(&s->doc->root, "equal"); /* perhaps empty */
    const bool by_memory = has_setting(list, n, "memory");
    for (size_t i = 0; i < n; i++) {
        if (!list[i].setting || (by_memory && is_set_by_memory(&list[i]))) continue;
        settings++;
        text_addf(&block, "\n%s", list[i].setting);
    }
    for (size_t i = 0; i < n; i++) {
        const bool alone = list[i].setting && settings == 1 && !(by_memory && is_set_by_memory(&list[i]));
        char *sentence =
            alone ? xasprintf("%s; [equal] %s gives %s the same value", list[i].fact, list[i].setting, list[i].takes) : NULL;
        tell(user, &(struct unequal_term){sentence ? sentence : list[i].fact, list[i].term->what, list[i].values});
        free(sentence);
    }
    if (settings > 1) {
        char *copy = xasprintf("to compare the models on equal terms, add these lines to %s:%s%s",
                               there ? "[equal] of the sweep file" : "the sweep file", there ? "" : "\n[equal]", block.s);
        tell(user, &(struct unequal_term){.sentence = copy, .what = "[equal]"});
        free(copy);
    }
    text_release(&block);
}

void sweep_unequal_terms(const struct sweep_file *s, struct space *const *spaces,
                         void (*tell)(void *user, const struct unequal_term *term), void *user)
{
    struct difference list[TERMS_MAX];
    size_t n = 0;
    for (const struct equal_term *term = equal_terms; term->name && n < TERMS_MAX; term++) {
        struct terms t = {.sweep = s, .spaces = spaces, .term = term};
        for (size_t m = 0; m < s->n_models; m++) add_model(&t, m);
        if (is_told(&t)) list[n++] = difference_of(&t);
        terms_release(&t);
    }
    tell_differences(s, list, n, tell, user);
    for (size_t i = 0; i < n; i++) {
        free(list[i].fact);
        free(list[i].setting);
        free(list[i].takes);
        free(list[i].values);
    }
    struct text sentence;
    text_init(&sentence);
    const struct terms t = {.sweep = s, .spaces = spaces};
    if (asks_for_dollars(s)) add_memory_prices(&sentence, &t);
    if (sentence.n) tell(user, &(struct unequal_term){.sentence = sentence.s, .what = "price of a GB of memory"});
    text_release(&sentence);
}
