/* Catalog entries that come from CSV files: technologies, SRAM macros, attention profiles, lists of requests. */
#include "config/catalog_internal.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "config/csv_table.h"
#include "config/request_log.h"
#include "hw/sram.h"
#include "quality/profile.h"
#include "quality/recording.h"
#include "quality/retention.h"
#include "workload/expert_loads.h"
#include "workload/requests.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- technologies -------------------------------------------------------------------------------------------------------- */

static const char *const technology_columns[] = {"name",      "method", "node_nm", "vdd_v", "area",
                                                 "sram_area", "energy", "delay",   "power", "source"};
enum { TECHNOLOGY_COLUMNS = sizeof technology_columns / sizeof *technology_columns };

/* What a node has: beyond these it is no transistor, and models would come to no numbers. */
static const struct csv_range technology_ranges[] = {{0.1, 1e5},  {0.01, 100}, {1e-9, 1e9}, {1e-9, 1e9},
                                                     {1e-9, 1e9}, {1e-9, 1e9}, {1e-9, 1e9}};

static bool read_technology(struct catalog *c, const struct csv_table *t, size_t row, struct diags *diags)
{
    char **cells = t->rows[row].cells;
    struct dse_technology *e = xcalloc(1, sizeof *e);
    double *const numbers[] = {&e->node_nm, &e->vdd_v, &e->area, &e->sram_area, &e->energy, &e->delay, &e->power};
    bool ok = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ok = csv_table_quantity(t, row, 2 + i, i > 0, technology_ranges[i], numbers[i], diags) && ok;
    if (catalog_find(c, DSE_KIND_TECHNOLOGY, cells[0]))
        ok = diags_input(diags, csv_table_loc(t, row), t->text, NULL, "technology \"%s\" stands here twice", cells[0]);
    e->entry = (struct dse_entry){catalog_intern(c, cells[0]), catalog_intern(c, cells[9])};
    e->method = catalog_intern(c, cells[1]);
    catalog_add(c, DSE_KIND_TECHNOLOGY, &e->entry);
    return ok;
}

/* Link the nodes of each method into a ring: the next one behind this with the same method, or the first. */
static void link_siblings(const struct catalog *c)
{
    const struct entry_list *list = &c->lists[DSE_KIND_TECHNOLOGY];
    for (size_t i = 0; i < list->n; i++) {
        struct dse_technology *t = (struct dse_technology *)list->entries[i];
        for (size_t k = 1; k <= list->n && !t->sibling; k++) {
            const struct dse_technology *other = (const struct dse_technology *)list->entries[(i + k) % list->n];
            if (other->method == t->method) t->sibling = other;
        }
    }
}

static bool load_technologies(struct catalog *c, const char *data_dir, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/technology.csv", data_dir);
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, technology_columns, TECHNOLOGY_COLUMNS, diags);
    const bool many = !csv_table_check_rows(&t, CATALOG_ENTRIES_MAX, diags);
    ok = ok && !many;
    for (size_t i = 0; i < t.n_rows && !many; i++) ok = read_technology(c, &t, i, diags) && ok;
    link_siblings(c);
    csv_table_release(&t);
    free(path);
    return ok;
}

/* ---- SRAM ---------------------------------------------------------------------------------------------------------------- */

static const char *const sram_columns[] = {"name",     "node_nm",    "capacity_mib", "word_bits", "area_mm2", "read_pj",
                                           "write_pj", "leakage_mw", "dynamic_mw",   "access_ns", "source"};
enum { SRAM_COLUMNS = sizeof sram_columns / sizeof *sram_columns };

static bool finish_sram(const struct csv_table *t, size_t row, struct dse_sram_table *table, struct diags *diags)
{
    char *why = NULL;
    if (!table || sram_table_finish(table, &why)) return true;
    diags_input(diags, csv_table_loc(t, row), t->text, NULL, "%s: %s", t->rows[row].cells[0], why);
    free(why);
    return false;
}

/* Of a node, and of a macro: capacity, word, area, energies, powers, time. */
static const struct csv_range node_range = {0.1, 1e5};
static const struct csv_range macro_ranges[] = {{1e-9, 1e9}, {1, 1e9},  {0, 1e9},  {0, 1e12},
                                                {0, 1e12},   {0, 1e12}, {0, 1e12}, {0, 1e12}};

static bool read_macro(const struct csv_table *t, size_t row, struct dse_sram_table *table, struct diags *diags)
{
    double capacity, word;
    struct dse_sram m = {0};
    double *const numbers[] = {&capacity, &word, &m.area_mm2, &m.read_pj, &m.write_pj, &m.leakage_mw, &m.dynamic_mw, &m.access_ns};
    bool ok = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ok = csv_table_quantity(t, row, 2 + i, i > 0, macro_ranges[i], numbers[i], diags) && ok;
    if (ok) sram_table_add(table, capacity, word, &m);
    return ok;
}

/* Tables of macros, one after the other; with `only`, the one of that name alone. */
static bool make_srams(struct catalog *c, const struct csv_table *t, const char *only, struct diags *diags)
{
    struct dse_sram_table *table = NULL;
    bool ok = csv_table_check_rows(t, CATALOG_ROWS_MAX, diags);
    if (!ok) return false;
    for (size_t i = 0; i < t->n_rows; i++) {
        char **cells = t->rows[i].cells;
        if (only && strcmp(cells[0], only) != 0)
            return diags_input(diags, csv_table_loc(t, i), t->text, NULL, "a row of \"%s\" in the file of \"%s\"", cells[0], only);
        if (i == 0 || strcmp(cells[0], t->rows[i - 1].cells[0]) != 0) {
            double node_nm = 0;
            if (i) ok = finish_sram(t, i - 1, ok ? table : NULL, diags) && ok;
            if (catalog_find(c, DSE_KIND_SRAM, cells[0]) && !c->replaces)
                ok = diags_input(diags, csv_table_loc(t, i), t->text, NULL, "the rows of table \"%s\" do not stand together",
                                 cells[0]);
            if (!catalog_has_room(c, DSE_KIND_SRAM, csv_table_loc(t, i), t->text, diags)) return false;
            ok = csv_table_quantity(t, i, 1, false, node_range, &node_nm, diags) && ok;
            table = sram_table_new(cells[0], cells[10], node_nm);
            catalog_add(c, DSE_KIND_SRAM, (struct dse_entry *)table);
        }
        ok = read_macro(t, i, table, diags) && ok;
    }
    if (t->n_rows) ok = finish_sram(t, t->n_rows - 1, ok ? table : NULL, diags) && ok;
    return ok;
}

static bool load_srams(struct catalog *c, const char *data_dir, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/sram.csv", data_dir);
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    const bool ok = csv_table_read(&t, path, sram_columns, SRAM_COLUMNS, diags) && make_srams(c, &t, NULL, diags);
    csv_table_release(&t);
    free(path);
    return ok;
}

static bool add_sram(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, sram_columns, SRAM_COLUMNS, diags);
    if (ok && t.n_rows == 0) ok = diags_input(diags, csv_table_header_loc(&t), t.text, NULL, "there is no macro of \"%s\"", name);
    ok = ok && make_srams(c, &t, name, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- requests ------------------------------------------------------------------------------------------------------------ */

static bool blame_request(const struct request_log *log, const char *name, struct row_fault *fault, struct diags *diags)
{
    const bool of_generate = fault->column && strcmp(fault->column, "generate") == 0;
    diags_input(diags, request_log_place(log, fault->row, of_generate), log->table.text, NULL, "%s %s: %s",
                kind_singular(DSE_KIND_REQUESTS), name, fault->why);
    free(fault->why);
    return false;
}

static bool add_requests(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct request_log log;
    c->reading = catalog_intern(c, path);
    bool ok = request_log_read(&log, path, diags);
    if (ok) {
        struct row_fault fault = {0};
        const char *source = log.table.source ? log.table.source : "";
        struct dse_requests *requests =
            requests_new(catalog_intern(c, name), catalog_intern(c, source), log.prompt, log.generate, log.n, &fault);
        if (requests)
            catalog_add(c, DSE_KIND_REQUESTS, &requests->entry);
        else
            ok = blame_request(&log, name, &fault, diags);
    }
    request_log_release(&log);
    return ok;
}

/* ---- entries of a file of numbers ---------------------------------------------------------------------------------------- */

struct dse_measured *catalog_read_measured(const struct csv_table *t, struct diags *diags)
{
    char *why = NULL;
    struct dse_measured *m = measured_new(t->settings, &why);
    if (!m) diags_input(diags, t->settings_loc, NULL, NULL, "settings of the measurement: %s", why);
    free(why);
    return m;
}

bool catalog_blame(const struct csv_table *t, enum dse_kind kind, const char *name, struct row_fault *fault, struct diags *diags)
{
    struct srcloc loc = csv_table_header_loc(t);
    size_t column = 0;
    while (fault->column && column < t->n_columns && strcmp(t->columns[column], fault->column) != 0) column++;
    if (fault->row < t->n_rows) loc = csv_table_cell_loc(t, fault->row, column < t->n_columns ? column : 0);
    diags_input(diags, loc, t->text, NULL, "%s %s: %s", kind_singular(kind), name, fault->why);
    free(fault->why);
    return false;
}

/* A kind of entry with a CSV file of its own. Most are made of rows of numbers: a row becomes an element of an array. */
struct csv_kind {
    csv_adder_fn *add; /* what reads the file of another form; NULL: the rest says how */
    const char *const *columns;
    size_t n_columns, required;                                    /* the header may end behind the required ones; 0: all are */
    bool (*check)(const struct csv_table *t, struct diags *diags); /* of the header, or NULL */
    size_t most;                                                   /* rows; 0: any number */
    size_t size;                                                   /* of an element */
    const size_t *places; /* by column, where its number stands in an element, or one of those below */
    /* The entry of t->n_rows elements; it owns `m` then. NULL with a fault. */
    struct dse_entry *(*make)(const char *name, const struct csv_table *t, const void *rows, struct dse_measured *m,
                              struct row_fault *ret_fault);
};
#define SPREAD (SIZE_MAX)   /* over heads, for readers of the file: at least 0 */
#define TEXT (SIZE_MAX - 1) /* a word, which an element begins with */
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Five statistics; then what LAD's decoding loses, if it was measured; the spread over heads, for readers of the file; what else
 * was found of the scores. A file may end behind each of these groups. */
static const char *const profile_columns[] = {"context",        "centers",         "large",          "active",         "updates",
                                              "hit_ratio",      "attention_error", "false_negative", "centers_sd",     "large_sd",
                                              "active_sd",      "updates_sd",      "hit_ratio_sd",   "false_positive", "top1",
                                              "top1_plus_top2", "softmax_mse",     "lines_mse"};
enum { PROFILE_REQUIRED = 6, PROFILE_ERRORS = 8, PROFILE_SPREADS = 13, PROFILE_COLUMNS = COUNT(profile_columns) };
struct profile_row {
    double context;
    struct dse_locality at;
    struct dse_locality_error errors;
    struct profile_scores scores;
};
#define AT(member) offsetof(struct profile_row, member)
static const size_t profile_places[] = {AT(context),
                                        AT(at.centers),
                                        AT(at.large),
                                        AT(at.active),
                                        AT(at.updates),
                                        AT(at.hit_ratio),
                                        AT(errors.attention_error),
                                        AT(errors.false_negative),
                                        SPREAD,
                                        SPREAD,
                                        SPREAD,
                                        SPREAD,
                                        SPREAD,
                                        AT(scores.false_positive),
                                        AT(scores.top1),
                                        AT(scores.top1_plus_top2),
                                        AT(scores.softmax_mse),
                                        AT(scores.lines_mse)};
#undef AT

static bool check_profile(const struct csv_table *t, struct diags *diags)
{
    if (t->n_columns == PROFILE_REQUIRED + 1)
        return diags_input(diags, csv_table_header_loc(t), t->text, NULL, "has attention_error without false_negative");
    if (t->n_columns <= PROFILE_SPREADS || t->n_columns == PROFILE_COLUMNS) return true;
    return diags_input(diags, csv_table_header_loc(t), t->text, "false_positive to lines_mse, all of them or none",
                       "ends behind %s", profile_columns[t->n_columns - 1]);
}

static struct dse_entry *make_profile(const char *name, const struct csv_table *t, const void *rows, struct dse_measured *m,
                                      struct row_fault *ret_fault)
{
    const struct profile_row *r = rows;
    double *contexts = xcalloc(t->n_rows, sizeof *contexts);
    struct dse_locality *points = xcalloc(t->n_rows, sizeof *points);
    struct dse_locality_error *errors = xcalloc(t->n_rows, sizeof *errors);
    struct profile_scores *scores = xcalloc(t->n_rows, sizeof *scores);
    for (size_t i = 0; i < t->n_rows; i++) {
        contexts[i] = r[i].context;
        points[i] = r[i].at;
        errors[i] = r[i].errors;
        scores[i] = r[i].scores;
    }
    struct dse_profile *p = profile_new(name, t->source, contexts, points, t->n_rows, ret_fault);
    if (p && ((t->n_columns >= PROFILE_ERRORS && !profile_add_errors(p, errors, ret_fault)) ||
              (t->n_columns == PROFILE_COLUMNS && !profile_add_scores(p, scores, ret_fault)))) {
        profile_free(p);
        p = NULL;
    }
    if (p) profile_set_measured(p, m);
    free(scores);
    free(errors);
    free(points);
    free(contexts);
    return (struct dse_entry *)p;
}

/* What is made of the rows as they are. */
#define MAKE(what) \
    static struct dse_entry *make_##what(const char *name, const struct csv_table *t, const void *rows, struct dse_measured *m, \
                                         struct row_fault *ret_fault) \
    { \
        struct dse_##what *made = what##_new(name, t->source, rows, t->n_rows, ret_fault); \
        if (made) what##_set_measured(made, m); \
        return (struct dse_entry *)made; \
    }
MAKE(retention)
MAKE(recording)
MAKE(expert_loads)
#undef MAKE

static const char *const retention_columns[] = {
    "policy", "context", "ratio", "retained_mass", "retained_mass_sd", "attention_error", "attention_error_sd"};
#define AT(member) offsetof(struct retention_point, member)
static const size_t retention_places[] = {TEXT, AT(context), AT(ratio), AT(at.mass), SPREAD, AT(at.error), SPREAD};
#undef AT
_Static_assert(offsetof(struct retention_point, policy) == 0, "an element begins with its word");

static const char *const recording_columns[] = {"context", "head", "step", "centers", "large", "active", "updates", "hits"};
#define AT(member) offsetof(struct recording_row, member)
static const size_t recording_places[] = {AT(context),  AT(head),      AT(step),       AT(at.centers),
                                          AT(at.large), AT(at.active), AT(at.updates), AT(at.hits)};
#undef AT

static const char *const expert_loads_columns[] = {"layer", "expert", "load"};
#define AT(member) offsetof(struct expert_loads_row, member)
static const size_t expert_loads_places[] = {AT(layer), AT(expert), AT(load)};
#undef AT

#define ROWS(what, element) \
    .columns = what##_columns, .n_columns = COUNT(what##_columns), .places = what##_places, .size = sizeof(element), \
    .make = make_##what
static const struct csv_kind csv_kinds[DSE_KIND_COUNT] = {
    [DSE_KIND_PROFILE] = {ROWS(profile, struct profile_row), .required = PROFILE_REQUIRED, .check = check_profile,
                          .most = CATALOG_POINTS_MAX},
    [DSE_KIND_RETENTION] = {ROWS(retention, struct retention_point), .most = CATALOG_POINTS_MAX},
    [DSE_KIND_RECORDING] = {ROWS(recording, struct recording_row)},
    [DSE_KIND_EXPERT_LOADS] = {ROWS(expert_loads, struct expert_loads_row)},
    [DSE_KIND_REQUESTS] = {.add = add_requests},
    [DSE_KIND_QUALITY] = {.add = catalog_add_quality},
    [DSE_KIND_SRAM] = {.add = add_sram},
    [DSE_KIND_TASK] = {.add = catalog_add_task},
};
#undef ROWS

static bool read_cell(const struct csv_table *t, size_t row, size_t column, size_t place, char *element, struct diags *diags)
{
    double v;
    if (place == TEXT) {
        memcpy(element, &t->rows[row].cells[column], sizeof(char *));
        return true;
    }
    if (!csv_table_number(t, row, column, false, &v, diags)) return false;
    if (place != SPREAD) {
        memcpy(element + place, &v, sizeof v);
        return true;
    }
    return v >= 0 ||
           diags_input(diags, csv_table_cell_loc(t, row, column), t->text, NULL, "%s: %g is below 0", t->columns[column], v);
}

static bool make_entry(struct catalog *c, enum dse_kind kind, const char *name, const struct csv_table *t, struct diags *diags)
{
    const struct csv_kind *k = &csv_kinds[kind];
    char *rows = xcalloc(t->n_rows + 1, k->size);
    bool ok = !k->most || csv_table_check_rows(t, k->most, diags);
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t column = 0; column < t->n_columns; column++)
            ok = read_cell(t, i, column, k->places[column], rows + i * k->size, diags) && ok;
    struct row_fault fault = {0};
    struct dse_measured *measured = catalog_read_measured(t, diags);
    struct dse_entry *made = ok && measured ? k->make(name, t, rows, measured, &fault) : NULL;
    if (made)
        catalog_add(c, kind, made);
    else
        measured_free(measured);
    if (fault.why) catalog_blame(t, kind, name, &fault, diags);
    free(rows);
    return made != NULL;
}

bool catalog_has_csv(enum dse_kind kind)
{
    return csv_kinds[kind].add || csv_kinds[kind].make;
}

bool catalog_add_csv(struct catalog *c, enum dse_kind kind, const char *name, const char *path, struct diags *diags)
{
    const struct csv_kind *k = &csv_kinds[kind];
    struct csv_table t;
    if (k->add) return k->add(c, name, path, diags);
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read_some(&t, path, k->columns, k->required ? k->required : k->n_columns, k->n_columns, diags) &&
              (!k->check || k->check(&t, diags));
    ok = ok && make_entry(c, kind, name, &t, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- a folder of profiles ------------------------------------------------------------------------------------------------ */

static int is_csv(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".csv") == 0;
}

/* Each file of the kind's folder, named as the file; a folder that is not there has none. */
static bool load_folder(struct catalog *c, const char *data_dir, enum dse_kind kind, const char *name_of, struct diags *diags)
{
    char *folder = xasprintf("%s/catalog/%s", data_dir, name_of);
    struct dirent **files = NULL;
    int n = scandir(folder, &files, is_csv, alphasort);
    bool ok = n >= 0 || errno == ENOENT || diags_runtime(diags, folder, "cannot read the directory: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, files[i]->d_name);
        char *name = xstrndup(files[i]->d_name, strlen(files[i]->d_name) - 4);
        const bool is_later = kind == DSE_KIND_QUALITY; /* large, and seldom asked */
        ok = (is_later ? catalog_add_quality_later(c, name, path, diags) : catalog_add_csv(c, kind, name, path, diags)) && ok;
        free(name);
        free(path);
        free(files[i]);
    }
    free(files);
    free(folder);
    return ok;
}

bool catalog_load_csv(struct catalog *c, const char *data_dir, struct diags *diags)
{
    bool ok = load_technologies(c, data_dir, diags);
    ok = load_srams(c, data_dir, diags) && ok;
    ok = load_folder(c, data_dir, DSE_KIND_PROFILE, "profiles", diags) && ok;
    ok = load_folder(c, data_dir, DSE_KIND_RETENTION, "retentions", diags) && ok;
    ok = load_folder(c, data_dir, DSE_KIND_RECORDING, "recordings", diags) && ok;
    ok = load_folder(c, data_dir, DSE_KIND_EXPERT_LOADS, "expert_loads", diags) && ok;
    ok = catalog_load_tasks(c, data_dir, diags) && ok;
    return load_folder(c, data_dir, DSE_KIND_QUALITY, "quality", diags) && ok;
}
