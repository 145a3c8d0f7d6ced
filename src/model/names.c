#include "model/names.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "model/ratios.h"
#include "model/registry.h"
#include "model/served.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what is taken ---------------------------------------------------------------------------------------------------------- */

static const char results[] = "every database of results has a table of that name",
                  computed[] = "`dse query` has a table of that name", sqlite[] = "it is a name of SQLite",
                  word[] = "it is a word of SQL";

static const struct taken_table {
    const char *name, *by;
} taken_tables[] = {
    {"run", results},
    {"front", results},
    {"block", results},
    {"column_info", results},
    {"seal", results},
    {"digest", results},
    {"comparison", results},
    {"comparison_front", results},
    {"certificate", results},
    {"certificate_space", results},
    {"certificate_place", results},
    {"certificate_box", results},
    {"budget_front", results},
    {"evaluated", results},
    {"streamed", results},
    {"streamed_block", results},
    {"streamed_part", results},
    {"pareto", computed},
    {"claim", computed},
    {"metric", computed},
    {"breakdown", computed},
    {"timeline", computed},
    {"resource", computed},
    {"note", computed},
    {"equation", computed},
    {"dram_efficiency", computed},
    {"profile", computed},
    {"retention", computed},
    {"exp_error", computed},
    {"interval_map", computed},
    {"score_stats", computed},
    {"score_share", computed},
    {"measured", computed},
    {"measured_regimes", computed},
    {"task_quality", computed},
    {"json_each", sqlite},
    {"json_tree", sqlite},
    {"jsonb_each", sqlite},
    {"jsonb_tree", sqlite},
    {"dbstat", sqlite},
    {"bytecode", sqlite},
    {"tables_used", sqlite},
    {"fts3tokenize", sqlite},
    {NULL, NULL},
};

/* What such names begin with. */
static const struct taken_table taken_beginnings[] = {
    {"sqlite_", sqlite}, {"pragma_", sqlite}, {"dse_rows_", results}, {NULL, NULL}};

/* What a model MODEL makes besides: MODEL_all, ... */
static const char *const endings[] = {"_all", "_fixed", "_front", "_refined", "_model", NULL};

/* The words that SQLite takes for no name, unless they stand in quotes. */
static const char *const words[] = {
    "add",     "all",     "alter",      "and",    "as",      "autoincrement", "between", "case",       "check",
    "collate", "commit",  "constraint", "create", "default", "deferrable",    "delete",  "distinct",   "drop",
    "else",    "escape",  "except",     "exists", "foreign", "from",          "group",   "having",     "in",
    "index",   "insert",  "intersect",  "into",   "is",      "isnull",        "join",    "limit",      "not",
    "nothing", "notnull", "null",       "on",     "or",      "order",         "primary", "references", "returning",
    "select",  "set",     "table",      "then",   "to",      "transaction",   "union",   "unique",     "update",
    "using",   "values",  "when",       "where",  NULL};

enum { PARAMETER = 1 << NAME_OF_PARAMETER, METRIC = 1 << NAME_OF_METRIC, DERIVED = 1 << NAME_OF_DERIVED };
enum { OF_MODEL = PARAMETER | METRIC, ANY = OF_MODEL | DERIVED };

static const char every[] = "every table of results has a column of that name",
                  over_all[] = "the views over all models have a column of that name",
                  asked[] = "the tables of `dse query` have a column of that name", row[] = "it is SQLite's name of a row";

static const struct {
    const char *name;
    unsigned uses;
    const char *by;
} taken_columns[] = {
    {"id", ANY, every},           {"run", ANY, every},
    {"point", ANY, every},        {"status", ANY, every},
    {"reason", ANY, every},       {"fidelity", ANY, every},
    {"first_id", ANY, every},     {"points", PARAMETER, every},
    {"quality", ANY, every},      {"beyond", ANY, every},
    {"known_tokens", ANY, every}, {"requests", ANY, over_all},
    {"model", ANY, over_all},     {"max_points", OF_MODEL, asked},
    {"rowid", ANY, row},          {"oid", ANY, row},
    {"_rowid_", ANY, row},        {NULL, 0, NULL},
};

static const char *find_table(const struct taken_table *list, const char *name, bool beginning)
{
    for (; list->name; list++)
        if (beginning ? strncasecmp(name, list->name, strlen(list->name)) == 0 : strcasecmp(name, list->name) == 0) return list->by;
    return NULL;
}

const char *name_of_table(const char *name)
{
    for (const char *const *w = words; *w; w++)
        if (strcasecmp(*w, name) == 0) return word;
    const char *by = find_table(taken_tables, name, false);
    return by ? by : find_table(taken_beginnings, name, true);
}

const char *name_of_column(const char *name, enum name_use use)
{
    for (size_t i = 0; taken_columns[i].name; i++)
        if (taken_columns[i].uses & 1U << use && strcasecmp(taken_columns[i].name, name) == 0) return taken_columns[i].by;
    if (use == NAME_OF_DERIVED) return NULL; /* a sweep knows what it adds */
    return metrics_have(ratio_metrics, name) || metrics_have(served_metrics, name) ? "sweeps add a metric of that name" : NULL;
}

/* ---- the names of a model --------------------------------------------------------------------------------------------------- */

struct checking {
    name_teller *tell;
    void *user;
    bool ok;
};

static const char *const kinds[NAME_USES] = {"a parameter", "a metric", "a column"};

/* Takes `why`. */
static void refuse(struct checking *c, const char *what, const char *name, char *why)
{
    char *message = xasprintf("%s cannot be called \"%s\": %s", what, name, why);
    c->tell(c->user, name, message);
    c->ok = false;
    free(message);
    free(why);
}

const char *name_ending(const char *name, const char *model)
{
    const size_t n = strlen(model);
    if (strncasecmp(name, model, n) != 0) return NULL;
    for (const char *const *e = endings; *e; e++)
        if (strcasecmp(name + n, *e) == 0) return *e;
    return NULL;
}

static void check_model_name(struct checking *c, const struct dse_model *m)
{
    const char *taken = name_of_table(m->name);
    if (taken) refuse(c, "a model", m->name, xstrdup(taken));
    if (strlen(m->name) > NAME_LENGTH_MAX)
        refuse(c, "a model", m->name, xasprintf("a name has at most %d characters", NAME_LENGTH_MAX));
    size_t n;
    const char *const *others = registry_names(&n);
    for (size_t i = 0; i < n; i++) {
        const char *other = others[i], *own = name_ending(m->name, other), *theirs = name_ending(other, m->name);
        if (strcmp(other, m->name) == 0 || (!own && !theirs)) continue;
        refuse(c, "a model", m->name,
               own ? xasprintf("model %s has a table of that name in SQL", other)
                   : xasprintf("it would have a table %s%s in SQL, and a model has that name", m->name, theirs));
    }
}

bool name_is_plain(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    while (isalnum((unsigned char)*s) || *s == '_') s++;
    return *s == '\0';
}

static void check_column(struct checking *c, const char *name, enum name_use use)
{
    const char *taken = name_of_column(name, use);
    if (taken) refuse(c, kinds[use], name, xstrdup(taken));
    if (!name_is_plain(name)) refuse(c, kinds[use], name, xstrdup("a name has letters, digits and _, and no digit first"));
    if (strlen(name) > NAME_LENGTH_MAX) refuse(c, kinds[use], name, xasprintf("a name has at most %d characters", NAME_LENGTH_MAX));
}

struct column_name {
    const char *name;
    enum name_use use;
    size_t at;
};

static int by_name(const void *a, const void *b)
{
    const struct column_name *x = a, *y = b;
    const int order = strcasecmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int like_name(const void *key, const void *name)
{
    return strcasecmp(((const struct column_name *)key)->name, ((const struct column_name *)name)->name);
}

/* Each name once, whatever its case. */
static void check_twice(struct checking *c, struct column_name *all, size_t n)
{
    if (n) qsort(all, n, sizeof *all, by_name);
    for (size_t i = 1; i < n; i++) {
        const struct column_name *before = &all[i - 1], *at = &all[i];
        if (strcasecmp(before->name, at->name) != 0) continue;
        if (at->use == NAME_OF_METRIC && before->use == NAME_OF_PARAMETER) before = at, at = &all[i - 1]; /* metrics are given */
        const bool same = strcmp(before->name, at->name) == 0;
        refuse(c, kinds[at->use], at->name,
               xasprintf("%s is called \"%s\"%s", kinds[before->use], before->name,
                         same ? " already" : ", and SQL does not tell upper from lower case"));
    }
}

/* What MODEL_refined makes of a metric, whose two rows it has side by side. */
static void check_refined(struct checking *c, const struct schema *metrics, const struct column_name *all, size_t n)
{
    static const char *const made[] = {"_closed", "_event", "_ratio"};
    for (size_t i = 0; i < metrics->n; i++) {
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
            char *name = xasprintf("%s%s", metrics->fields[i].name, made[k]);
            const struct column_name key = {.name = name}, *found = bsearch(&key, all, n, sizeof *all, like_name);
            if (found)
                refuse(c, kinds[found->use], found->name,
                       xasprintf("where both fidelities stand side by side, that is a column of %s", metrics->fields[i].name));
            free(name);
        }
    }
}

bool names_check(const struct dse_model *m, name_teller *tell, void *user)
{
    struct checking c = {.tell = tell, .user = user, .ok = true};
    struct schema params, metrics;
    schema_init_params(&params, m->params);
    schema_init_metrics(&metrics, m->metrics, NULL);
    struct column_name *all = xcalloc(params.n + metrics.n + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < params.n; i++, n++) all[n] = (struct column_name){params.fields[i].name, NAME_OF_PARAMETER, n};
    for (size_t i = 0; i < metrics.n; i++, n++) all[n] = (struct column_name){metrics.fields[i].name, NAME_OF_METRIC, n};
    check_model_name(&c, m);
    char count[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (n > MODEL_COLUMNS_MAX)
        refuse(
            &c, "a model", m->name,
            xasprintf("it has %s parameters and metrics; at most %s", text_count(count, n), text_count(limit, MODEL_COLUMNS_MAX)));
    for (size_t i = 0; i < n; i++) check_column(&c, all[i].name, all[i].use);
    check_twice(&c, all, n);
    if (m->simulate) check_refined(&c, &metrics, all, n);
    free(all);
    schema_release(&params);
    schema_release(&metrics);
    return c.ok;
}
