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

bool catalog_add_sram(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, sram_columns, SRAM_COLUMNS, diags);
    if (ok && t.n_rows == 0) ok = diags_input(diags, csv_table_header_loc(&t), t.text, NULL, "there is no macro of \"%s\"", name);
    ok = ok && make_srams(c, &t, name, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- profiles ------------------------------------------------------------------------------------------------------------ */

/* Five statistics; then what LAD's decoding loses, if it was measured; the spread over heads, for readers of the file; what else
 * was found of the scores. A file may end behind each of these groups. */
static const char *const profile_columns[] = {"context",        "centers",         "large",          "active",         "updates",
                                              "hit_ratio",      "attention_error", "false_negative", "centers_sd",     "large_sd",
                                              "active_sd",      "updates_sd",      "hit_ratio_sd",   "false_positive", "top1",
                                              "top1_plus_top2", "softmax_mse",     "lines_mse"};
enum {
    PROFILE_REQUIRED = 6,
    PROFILE_ERRORS = 8,
    PROFILE_SPREADS = 13,
    PROFILE_COLUMNS = sizeof profile_columns / sizeof *profile_columns
};

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

/* Cells that hold a spread over heads, from `first` to before `end`, every `each`-th. */
static bool check_spreads(const struct csv_table *t, size_t first, size_t end, size_t each, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t k = first; k < t->n_columns && k < end; k += each) {
            double v;
            if (!csv_table_number(t, i, k, false, &v, diags))
                ok = false;
            else if (v < 0)
                ok = diags_input(diags, csv_table_cell_loc(t, i, k), t->text, NULL, "%s: %g is below 0", t->columns[k], v);
        }
    return ok;
}

static bool add_errors(struct dse_profile *profile, const struct csv_table *t, struct row_fault *ret_fault, struct diags *diags)
{
    if (t->n_columns < PROFILE_ERRORS) return true;
    struct dse_locality_error *errors = xcalloc(t->n_rows, sizeof *errors);
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        ok = csv_table_number(t, i, PROFILE_REQUIRED, false, &errors[i].attention_error, diags) && ok;
        ok = csv_table_number(t, i, PROFILE_REQUIRED + 1, false, &errors[i].false_negative, diags) && ok;
    }
    ok = ok && profile_add_errors(profile, errors, ret_fault);
    free(errors);
    return ok;
}

static bool add_scores(struct dse_profile *profile, const struct csv_table *t, struct row_fault *ret_fault, struct diags *diags)
{
    if (t->n_columns < PROFILE_COLUMNS) return true;
    struct profile_scores *scores = xcalloc(t->n_rows, sizeof *scores);
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct profile_scores *s = &scores[i];
        double *const numbers[] = {&s->false_positive, &s->top1, &s->top1_plus_top2, &s->softmax_mse, &s->lines_mse};
        for (size_t k = PROFILE_SPREADS; k < PROFILE_COLUMNS; k++)
            ok = csv_table_number(t, i, k, false, numbers[k - PROFILE_SPREADS], diags) && ok;
    }
    ok = ok && profile_add_scores(profile, scores, ret_fault);
    free(scores);
    return ok;
}

static bool make_profile(struct catalog *c, const char *name, const struct csv_table *t, struct diags *diags)
{
    double *contexts = xcalloc(t->n_rows, sizeof *contexts);
    struct dse_locality *points = xcalloc(t->n_rows, sizeof *points);
    bool ok = csv_table_check_rows(t, CATALOG_POINTS_MAX, diags);
    for (size_t i = 0; i < t->n_rows; i++) {
        struct dse_locality *p = &points[i];
        double *const numbers[] = {&contexts[i], &p->centers, &p->large, &p->active, &p->updates, &p->hit_ratio};
        for (size_t k = 0; k < PROFILE_REQUIRED; k++) ok = csv_table_number(t, i, k, false, numbers[k], diags) && ok;
    }
    struct row_fault fault = {0};
    struct dse_measured *measured = catalog_read_measured(t, diags);
    ok = measured && ok;
    struct dse_profile *profile = ok ? profile_new(name, t->source, contexts, points, t->n_rows, &fault) : NULL;
    if (profile)
        profile_set_measured(profile, measured);
    else
        measured_free(measured);
    if (profile && add_errors(profile, t, &fault, diags) && check_spreads(t, PROFILE_ERRORS, PROFILE_SPREADS, 1, diags) &&
        add_scores(profile, t, &fault, diags)) {
        catalog_add(c, DSE_KIND_PROFILE, (struct dse_entry *)profile);
        profile = NULL;
    } else {
        ok = false;
    }
    if (fault.why) catalog_blame(t, DSE_KIND_PROFILE, name, &fault, diags);
    profile_free(profile);
    free(contexts);
    free(points);
    return ok;
}

bool catalog_add_profile(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read_some(&t, path, profile_columns, PROFILE_REQUIRED, PROFILE_COLUMNS, diags);
    if (ok && t.n_columns == PROFILE_REQUIRED + 1)
        ok = diags_input(diags, csv_table_header_loc(&t), t.text, NULL, "has attention_error without false_negative");
    if (ok && t.n_columns > PROFILE_SPREADS && t.n_columns < PROFILE_COLUMNS)
        ok = diags_input(diags, csv_table_header_loc(&t), t.text, "false_positive to lines_mse, all of them or none",
                         "ends behind %s", profile_columns[t.n_columns - 1]);
    ok = ok && make_profile(c, name, &t, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- retentions ---------------------------------------------------------------------------------------------------------- */

static const char *const retention_columns[] = {
    "policy", "context", "ratio", "retained_mass", "retained_mass_sd", "attention_error", "attention_error_sd"};
enum { RETENTION_COLUMNS = sizeof retention_columns / sizeof *retention_columns, MASS = 3, MASS_SD = 4, ERROR = 5 };

static bool make_retention(struct catalog *c, const char *name, const struct csv_table *t, struct diags *diags)
{
    struct retention_point *points = xcalloc(t->n_rows, sizeof *points);
    bool ok = csv_table_check_rows(t, CATALOG_POINTS_MAX, diags) && check_spreads(t, MASS_SD, RETENTION_COLUMNS, 2, diags);
    for (size_t i = 0; i < t->n_rows; i++) {
        struct retention_point *p = &points[i];
        p->policy = t->rows[i].cells[0];
        ok = csv_table_number(t, i, 1, false, &p->context, diags) && ok;
        ok = csv_table_number(t, i, 2, false, &p->ratio, diags) && ok;
        ok = csv_table_number(t, i, MASS, false, &p->at.mass, diags) && ok;
        ok = csv_table_number(t, i, ERROR, false, &p->at.error, diags) && ok;
    }
    struct row_fault fault = {0};
    struct dse_measured *measured = catalog_read_measured(t, diags);
    ok = measured && ok;
    struct dse_retention *retention = ok ? retention_new(name, t->source, points, t->n_rows, &fault) : NULL;
    if (retention)
        retention_set_measured(retention, measured);
    else
        measured_free(measured);
    if (retention)
        catalog_add(c, DSE_KIND_RETENTION, (struct dse_entry *)retention);
    else if (ok)
        ok = catalog_blame(t, DSE_KIND_RETENTION, name, &fault, diags);
    free(points);
    return ok;
}

bool catalog_add_retention(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, retention_columns, RETENTION_COLUMNS, diags) && make_retention(c, name, &t, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- recordings ---------------------------------------------------------------------------------------------------------- */

static const char *const recording_columns[] = {"context", "head", "step", "centers", "large", "active", "updates", "hits"};
enum { RECORDING_COLUMNS = sizeof recording_columns / sizeof *recording_columns };

static bool make_recording(struct catalog *c, const char *name, const struct csv_table *t, struct diags *diags)
{
    struct recording_row *rows = xcalloc(t->n_rows + 1, sizeof *rows);
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct recording_row *r = &rows[i];
        struct dse_recorded *at = &r->at;
        double *const numbers[] = {&r->context, &r->head, &r->step, &at->centers, &at->large, &at->active, &at->updates, &at->hits};
        for (size_t k = 0; k < RECORDING_COLUMNS; k++) ok = csv_table_number(t, i, k, false, numbers[k], diags) && ok;
    }
    struct row_fault fault = {0};
    struct dse_measured *measured = catalog_read_measured(t, diags);
    ok = measured && ok;
    struct dse_recording *recording = ok ? recording_new(name, t->source, rows, t->n_rows, &fault) : NULL;
    if (recording)
        recording_set_measured(recording, measured);
    else
        measured_free(measured);
    if (recording)
        catalog_add(c, DSE_KIND_RECORDING, (struct dse_entry *)recording);
    else if (ok)
        ok = catalog_blame(t, DSE_KIND_RECORDING, name, &fault, diags);
    free(rows);
    return ok;
}

bool catalog_add_recording(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, recording_columns, RECORDING_COLUMNS, diags) && make_recording(c, name, &t, diags);
    csv_table_release(&t);
    return ok;
}

/* ---- loads of experts ---------------------------------------------------------------------------------------------------- */

static const char *const expert_loads_columns[] = {"layer", "expert", "load"};

static bool make_expert_loads(struct catalog *c, const char *name, const struct csv_table *t, struct diags *diags)
{
    struct expert_loads_row *rows = xcalloc(t->n_rows + 1, sizeof *rows);
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        double *const numbers[] = {&rows[i].layer, &rows[i].expert, &rows[i].load};
        for (size_t k = 0; k < 3; k++) ok = csv_table_number(t, i, k, false, numbers[k], diags) && ok;
    }
    struct row_fault fault = {0};
    struct dse_measured *measured = catalog_read_measured(t, diags);
    ok = measured && ok;
    struct dse_expert_loads *loads = ok ? expert_loads_new(name, t->source, rows, t->n_rows, &fault) : NULL;
    if (loads)
        expert_loads_set_measured(loads, measured);
    else
        measured_free(measured);
    if (loads)
        catalog_add(c, DSE_KIND_EXPERT_LOADS, (struct dse_entry *)loads);
    else if (ok)
        ok = catalog_blame(t, DSE_KIND_EXPERT_LOADS, name, &fault, diags);
    free(rows);
    return ok;
}

bool catalog_add_expert_loads(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, expert_loads_columns, 3, diags) && make_expert_loads(c, name, &t, diags);
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

bool catalog_add_requests(struct catalog *c, const char *name, const char *path, struct diags *diags)
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

/* ---- a folder of profiles ------------------------------------------------------------------------------------------------ */

static int is_csv(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".csv") == 0;
}

/* Each file of a folder, by `add`, named as the file; a folder that is not there has none. */
static bool load_folder(struct catalog *c, const char *data_dir, const char *name_of,
                        bool (*add)(struct catalog *c, const char *name, const char *path, struct diags *diags),
                        struct diags *diags)
{
    char *folder = xasprintf("%s/catalog/%s", data_dir, name_of);
    struct dirent **files = NULL;
    int n = scandir(folder, &files, is_csv, alphasort);
    bool ok = n >= 0 || errno == ENOENT || diags_runtime(diags, folder, "cannot read the directory: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, files[i]->d_name);
        char *name = xstrndup(files[i]->d_name, strlen(files[i]->d_name) - 4);
        ok = add(c, name, path, diags) && ok;
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
    ok = load_folder(c, data_dir, "profiles", catalog_add_profile, diags) && ok;
    ok = load_folder(c, data_dir, "retentions", catalog_add_retention, diags) && ok;
    ok = load_folder(c, data_dir, "recordings", catalog_add_recording, diags) && ok;
    ok = load_folder(c, data_dir, "expert_loads", catalog_add_expert_loads, diags) && ok;
    ok = catalog_load_tasks(c, data_dir, diags) && ok;
    return load_folder(c, data_dir, "quality", catalog_add_quality_later, diags) && ok;
}
