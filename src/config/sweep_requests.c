/* [requests] of a sweep file: the mix of requests that every row is the mean over. */
#include "config/bind_internal.h"
#include "config/sweep_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_DEFAULT = 64 };

static const char shares_hint[] = "mix = \"chat\", or shares: mix = { chat = 0.7, summarization = 0.3 }";

/* ---- mix ----------------------------------------------------------------------------------------------------------------- */

struct part {
    const struct dse_requests *entry;
    double share;
};

struct parts {
    struct part *list;
    size_t n;
};

/* The entry of that name; NULL with an error at loc. */
static const struct dse_requests *find_entry(struct reading *r, const char *name, struct srcloc loc)
{
    const struct dse_entry *entry = catalog_find(r->catalog, DSE_KIND_REQUESTS, name), *other;
    if (entry) return (const struct dse_requests *)entry;
    const char **names = NULL;
    size_t n = 0;
    for (; (other = catalog_at(r->catalog, DSE_KIND_REQUESTS, n)) != NULL; n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = other->name;
    }
    diags_unknown(r->diags, loc, r->doc->text, name, names, n, "`dse list requests` shows all; your own go into [catalog.requests]",
                  "there is no request mix \"%s\"", name);
    free(names);
    return NULL;
}

static bool add_part(struct reading *r, struct parts *parts, const char *name, double share, struct srcloc loc)
{
    const struct dse_requests *entry = find_entry(r, name, loc);
    if (!entry) return false;
    parts->list = xrealloc(parts->list, parts->n + 1, sizeof *parts->list);
    parts->list[parts->n++] = (struct part){entry, share};
    return true;
}

static bool read_share(struct reading *r, struct parts *parts, const struct toml_node *node)
{
    enum { LARGEST = 1000000000 };
    double share = node->type == TOML_INTEGER ? (double)node->integer : node->type == TOML_FLOAT ? node->number : (double)NAN;
    bool ok = share > 0 && share <= LARGEST;
    if (!ok && (node->type == TOML_INTEGER || node->type == TOML_FLOAT))
        diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, "shares are of all requests, and are divided by their sum",
                    "requests: the share of %s must be above 0, and at most %d", node->key, LARGEST);
    else if (!ok)
        diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, shares_hint,
                    "requests: the share of %s must be a number, not %s", node->key, toml_type_name(node->type));
    return add_part(r, parts, node->key, share, toml_key_loc(r->doc, node)) && ok;
}

static int by_name(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return strcmp(x->entry->entry.name, y->entry->entry.name);
}

/* The parts of the mix, by name: reordering a file changes nothing. */
static bool read_mix(struct reading *r, const struct toml_node *node, struct parts *ret)
{
    bool ok = true;
    if (node->type == TOML_STRING) return add_part(r, ret, node->string, 1, toml_loc(r->doc, node));
    if (node->type != TOML_TABLE)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text,
                           node->type == TOML_ARRAY
                               ? "a sweep has one mix, which may have shares: mix = { chat = 0.7, summarization = 0.3 }"
                               : shares_hint,
                           "requests: mix is a name or a table of shares, not %s", toml_type_name(node->type));
    for (size_t i = 0; i < node->n; i++) ok = read_share(r, ret, &node->children[i]) && ok;
    if (node->n == 0) ok = diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, shares_hint, "requests: the mix is empty");
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_name);
    return ok;
}

static bool read_points(struct reading *r, const struct toml_node *table, size_t *ret)
{
    const struct toml_node *node = toml_expect(r->doc, table, "points", TOML_INTEGER, r->diags);
    *ret = POINTS_DEFAULT;
    if (!node) return toml_get(table, "points") == NULL;
    if (node->integer < 1 || node->integer > REQUEST_POINTS_MAX)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text,
                           "the number of requests that stand for each mix (default: 64)", "requests: points is 1 to %d, not %lld",
                           (int)REQUEST_POINTS_MAX, (long long)node->integer);
    *ret = (size_t)node->integer;
    return true;
}

/* The mix as a text: "chat", or "chat 0.7, summarization 0.3". */
static char *mix_text(const struct parts *parts)
{
    double sum = 0;
    for (size_t i = 0; i < parts->n; i++) sum += parts->list[i].share;
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < parts->n; i++) {
        char buf[TEXT_NUMBER_MAX];
        text_addf(&t, "%s%s", i ? ", " : "", parts->list[i].entry->entry.name);
        if (parts->n > 1) text_addf(&t, " %s", text_short_number(buf, parts->list[i].share / sum));
    }
    return text_detach(&t);
}

/* The same with the shares as they were given, as sweep_requests_set_text takes it. */
static char *mix_option(const struct parts *parts, size_t points)
{
    struct text t;
    char buf[TEXT_NUMBER_MAX];
    text_init(&t);
    if (parts->n == 1 && points == POINTS_DEFAULT && bind_is_bare_word(parts->list[0].entry->entry.name)) {
        text_add(&t, parts->list[0].entry->entry.name);
        return text_detach(&t);
    }
    text_add(&t, "mix = {");
    for (size_t i = 0; i < parts->n; i++) {
        text_add(&t, i ? ", " : " ");
        text_add_json(&t, parts->list[i].entry->entry.name); /* a quoted key; entries' names have no control characters */
        text_addf(&t, " = %s", text_number(buf, parts->list[i].share));
    }
    text_addf(&t, " }, points = %zu", points);
    return text_detach(&t);
}

static void make_mix(struct sweep_file *s, const struct parts *parts, size_t points)
{
    const struct dse_requests **entries = xcalloc(parts->n, sizeof(struct dse_requests *));
    double *shares = xcalloc(parts->n, sizeof *shares);
    for (size_t i = 0; i < parts->n; i++) {
        entries[i] = parts->list[i].entry;
        shares[i] = parts->list[i].share;
    }
    request_mix_init(&s->requests, entries, shares, parts->n, points);
    s->requests_text = mix_text(parts);
    s->requests_option = mix_option(parts, points);
    free(entries);
    free(shares);
}

/* ---- what the models make of it ------------------------------------------------------------------------------------------ */

static bool same_place(struct srcloc a, struct srcloc b)
{
    return a.line == b.line && a.column == b.column;
}

/* Was the value at that place given to a model before m, too? */
static bool said_before(const struct reading *r, size_t m, struct srcloc loc)
{
    for (size_t k = 0; k < m; k++) {
        const struct binding *b = r->out->bindings[k];
        for (size_t i = 0; i < b->model->params.n; i++)
            if (b->given[i].is_given && same_place(b->given[i].loc, loc)) return true;
    }
    return false;
}

/* What the mix sets must not be given. `whose` stands before its name. */
static bool refuse_given(struct reading *r, const struct binding *b, size_t m, const char *whose)
{
    bool ok = true;
    for (size_t i = 0; i < b->model->params.n; i++) {
        const char *name = b->model->params.fields[i].name;
        if (!b->given[i].is_given || !request_mix_sets(name) || said_before(r, m, b->given[i].loc)) continue;
        ok = diags_input(r->diags, b->given[i].loc, r->doc->text, "leave it out, or leave out [requests]",
                         "%s%s: [requests] gives each request its own", whose, name);
    }
    return ok;
}

/* The largest value that the mix gives a parameter. */
static int64_t largest(const struct request_mix *mix, const char *param)
{
    int64_t most = 0;
    for (size_t i = 0; i < mix->n; i++) {
        const struct mixed_request *q = &mix->requests[i];
        int64_t v = request_context(q); /* the context of a prefill is the prompt, which is less */
        if (strcmp(param, "prompt") == 0) v = q->prompt;
        if (strcmp(param, "generate") == 0) v = q->generate;
        if (v > most) most = v;
    }
    return most;
}

static bool check_ranges(struct reading *r, const struct model *m, const struct toml_node *mix)
{
    bool ok = true;
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (!request_mix_sets(f->name)) continue;
        int64_t most = largest(&r->out->requests, f->name);
        char value[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
        if ((double)most > f->max)
            ok = diags_input(r->diags, toml_loc(r->doc, mix), r->doc->text, NULL,
                             "requests: %s of a request is %s; in model %s it is at most %s", f->name,
                             text_count(value, (uint64_t)most), m->desc->name, text_count(limit, (uint64_t)f->max));
    }
    return ok;
}

static bool check_models(struct reading *r, const struct toml_node *mix)
{
    bool ok = true;
    for (size_t m = 0; m < r->out->n_models; m++) {
        ok = refuse_given(r, r->out->bindings[m], m, "") && ok;
        ok = check_ranges(r, r->out->bindings[m]->model, mix) && ok;
    }
    if (!r->out->baseline) return ok;
    ok = refuse_given(r, r->out->baseline, 0, "baseline: ") && ok;
    return check_ranges(r, r->out->baseline->model, mix) && ok;
}

/* ---- the section --------------------------------------------------------------------------------------------------------- */

bool sweep_read_requests(struct reading *r)
{
    static const char *const keys[] = {"mix", "points"};
    r->out->averages = toml_get(&r->doc->root, "requests") != NULL;
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "requests", TOML_TABLE, r->diags);
    if (!table) return !r->out->averages;
    bool ok = toml_check_keys(r->doc, table, keys, sizeof keys / sizeof *keys, r->diags);
    const struct toml_node *mix = toml_get(table, "mix");
    struct parts parts = {0};
    size_t points;
    if (!mix) ok = diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, shares_hint, "[requests] names no mix");
    ok = read_points(r, table, &points) && ok;
    ok = (!mix || read_mix(r, mix, &parts)) && ok;
    if (ok) make_mix(r->out, &parts, points);
    free(parts.list);
    return check_models(r, mix) && ok;
}

/* ---- from a command line ------------------------------------------------------------------------------------------------- */

/* Forget the lines and columns of a node that came from a command line, which has none. */
static void forget_places(struct toml_node *node)
{
    node->line = node->column = node->key_line = node->key_column = 0;
    for (size_t i = 0; (node->type == TOML_ARRAY || node->type == TOML_TABLE) && i < node->n; i++)
        forget_places(&node->children[i]);
}

bool sweep_requests_set_text(struct sweep_file *s, struct catalog *catalog, const char *text, struct diags *diags)
{
    static const char *const keys[] = {"requests"};
    char *toml = bind_is_bare_word(text) ? xasprintf("requests = { mix = \"%s\" }", text) : xasprintf("requests = { %s }", text);
    char *name = xasprintf("--requests %s", text);
    struct diags syntax;
    diags_init(&syntax);
    s->doc = toml_read_text(name, toml, strlen(toml), &syntax);
    bool ok = s->doc != NULL;
    if (ok) {
        forget_places(&s->doc->root);
        struct reading r = {.doc = s->doc, .out = s, .catalog = catalog, .diags = diags};
        ok = toml_check_keys(s->doc, &s->doc->root, keys, 1, diags) && sweep_read_requests(&r);
    } else {
        diags_input(diags, (struct srcloc){.file = name}, NULL, shares_hint, "this is no mix of requests");
    }
    diags_release(&syntax);
    free(name);
    free(toml);
    return ok;
}

char *sweep_requests_description(const struct sweep_file *s)
{
    const struct request_mix *mix = &s->requests;
    if (mix->n == 0) return NULL;
    struct request_point mean = request_mix_mean(mix);
    const struct mixed_request *longest = &mix->requests[0], *shortest = &mix->requests[mix->n > 1];
    return xasprintf("%s: %zu request%s a row, in the mean %.0f + %.0f tokens, the longest %lld + %lld, the shortest %lld + %lld",
                     s->requests_text, mix->n, mix->n > 1 ? "s" : "", mean.prompt, mean.generate, (long long)longest->prompt,
                     (long long)longest->generate, (long long)shortest->prompt, (long long)shortest->generate);
}
