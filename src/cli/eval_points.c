/* Nothing here knows the models but through include/dse/dse.h: dse is a user of its library, but for catalogs of databases. */
#include "cli/eval_points.h"

#include "base/xalloc.h"
#include "cli/points_file.h"
#include "library/library.h"
#include "store/run_catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points evaluated at once: their columns stay small, however many points there are. */
enum { BATCH = 4096 };

struct run {
    const struct invocation *in;
    const char *model;
    const char *fidelity;
    struct dse_problems *problems;
    struct dse *dse;
    struct dse_points *points;
    struct points_file file;
    struct dse_output *outputs;
    bool *whole;     /* of the outputs: whole numbers */
    size_t *told_by; /* of the outputs: the column of the file that has it, or SIZE_MAX */
    size_t n_outputs;
};

/* What the library has to say becomes what the command says. */
static bool say(const struct run *r)
{
    const struct dse_problem *p;
    for (size_t i = 0; (p = dse_problems_at(r->problems, i)) != NULL; i++) {
        const struct srcloc loc = {p->file, p->line, p->column};
        if (p->severity == DSE_ERROR)
            diags_input(r->in->diags, loc, NULL, p->hint, "%s", p->message);
        else
            diags_warn(r->in->diags, loc, NULL, "%s", p->message);
    }
    dse_problems_clear(r->problems);
    return r->in->diags->errors == 0;
}

/* ---- what is given ----------------------------------------------------------------------------------------------------------- */

static void set_all(const struct run *r)
{
    size_t n;
    const char **assignments = option_all(r->in, "set", &n);
    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(assignments[i], '=');
        char *name = xstrndup(assignments[i], strcspn(assignments[i], "="));
        if (equals)
            dse_points_set(r->points, name, equals + 1, r->problems);
        else
            usage_error(r->in, "--set: \"%s\" is not NAME=VALUE", name);
        free(name);
    }
    free(assignments);
}

static bool open_points(struct run *r)
{
    size_t n;
    const char **files = option_all(r->in, "catalog", &n);
    r->dse = dse_open(NULL, r->problems);
    for (size_t i = 0; r->dse && i < n; i++) catalog_add_any(r->dse->catalog, files[i], &r->problems->diags);
    free(files);
    if (r->dse) r->points = dse_points_new(r->dse, r->model, r->problems);
    if (r->points) set_all(r);
    if (r->points) dse_points_set_fidelity(r->points, r->fidelity, r->problems);
    return say(r);
}

/* ---- what is printed --------------------------------------------------------------------------------------------------------- */

static void add_output(struct run *r, const char *name, const struct dse_column *c)
{
    const bool number = c && c->type != DSE_TEXT;
    const size_t n = ++r->n_outputs;
    r->outputs = xrealloc(r->outputs, n, sizeof *r->outputs);
    r->whole = xrealloc(r->whole, n, sizeof *r->whole);
    r->told_by = xrealloc(r->told_by, n, sizeof *r->told_by);
    r->outputs[n - 1] = (struct dse_output){.name = name,
                                            .numbers = number ? xcalloc(BATCH, sizeof(double)) : NULL,
                                            .texts = number ? NULL : xcalloc(BATCH, sizeof(char *))};
    r->whole[n - 1] = c && c->type == DSE_INTEGER;
    r->told_by[n - 1] = SIZE_MAX;
    for (size_t i = 0; i < r->file.n_columns; i++)
        if (c == r->file.columns[i].parameter) r->told_by[n - 1] = r->file.columns[i].at;
}

/* The columns of a row of `dse eval`. */
static void make_outputs(struct run *r)
{
    static const char *const before[] = {"status", "reason"}, *const behind[] = {"fidelity", "quality", "beyond", "why_unknown",
                                                                                 "why_null"};
    const struct dse_column *c;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) add_output(r, before[i], NULL);
    for (int role = DSE_PARAMETER; role <= DSE_METRIC; role++)
        for (size_t i = 0; (c = dse_column_at(r->dse, r->model, (enum dse_role)role, i)) != NULL; i++) add_output(r, c->name, c);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) add_output(r, behind[i], NULL);
}

static void put_cell(const struct run *r, struct output *o, size_t i, size_t k, bool invalid, const char *const *given)
{
    const struct dse_output *out = &r->outputs[i];
    if (invalid && r->told_by[i] != SIZE_MAX)
        output_text(o, given[r->told_by[i]]);
    else if (out->texts)
        output_text(o, out->texts[k]);
    else if (r->whole[i] && !isnan(out->numbers[k]))
        output_i64(o, (int64_t)out->numbers[k]);
    else
        output_f64(o, out->numbers[k]);
}

static struct output *begin_rows(const struct run *r, enum output_format format)
{
    const char **names = xcalloc(r->n_outputs + 1, sizeof *names);
    for (size_t i = 0; i < r->n_outputs; i++) names[i] = r->outputs[i].name;
    struct output *o = output_new(stdout, format, names, r->n_outputs);
    free(names);
    return o;
}

static void put_row(const struct run *r, struct output *o, size_t row, size_t k)
{
    const bool invalid = strcmp(r->outputs[0].texts[k], "invalid") == 0;
    for (size_t i = 0; i < r->n_outputs; i++) {
        put_cell(r, o, i, k, invalid, (const char *const *)r->file.table.rows[r->file.rows[row]].cells);
    }
}

/* Do two points say something of the same parameters? */
static bool same_inputs(const struct run *r, size_t a, size_t b)
{
    for (size_t i = 0; i < r->file.n_columns; i++)
        if (r->file.columns[i].is_empty[a] != r->file.columns[i].is_empty[b]) return false;
    return true;
}

/* The parameters that point `first` says something of. Returns how many. */
static size_t make_inputs(const struct run *r, size_t first, struct dse_input *ret)
{
    size_t made = 0;
    for (size_t i = 0; i < r->file.n_columns; i++) {
        const struct points_column *c = &r->file.columns[i];
        if (c->is_empty[first]) continue;
        ret[made++] = (struct dse_input){.name = c->parameter->name,
                                         .numbers = c->numbers ? c->numbers + first : NULL,
                                         .texts = c->texts ? c->texts + first : NULL};
    }
    return made;
}

/* Evaluate the points from `first` on that say something of the same parameters, at most *ret_n; *ret_n becomes how many. */
static bool evaluate(const struct run *r, size_t first, size_t *ret_n)
{
    struct dse_input *inputs = xcalloc(r->file.n_columns, sizeof *inputs);
    const size_t n_inputs = make_inputs(r, first, inputs), most = *ret_n;
    for (*ret_n = most > 0; *ret_n < most && same_inputs(r, first, first + *ret_n); ++*ret_n) {
    }
    const bool ok = dse_points_evaluate(r->points, *ret_n, inputs, n_inputs, r->outputs, r->n_outputs, r->problems);
    free(inputs);
    return ok;
}

static int print(struct run *r, enum output_format format)
{
    struct output *o = NULL;
    make_outputs(r);
    bool ok = true;
    for (size_t first = 0, n; ok && (first < r->file.n_rows || !o); first += n) {
        n = r->file.n_rows - first < BATCH ? r->file.n_rows - first : BATCH;
        ok = evaluate(r, first, &n);
        if (ok && !o) o = begin_rows(r, format);
        for (size_t k = 0; ok && k < n; k++) put_row(r, o, first + k, k);
    }
    if (o) output_end(o);
    say(r);
    return ok ? 0 : 2;
}

/* ---- the whole --------------------------------------------------------------------------------------------------------------- */

static void release(struct run *r)
{
    for (size_t i = 0; i < r->n_outputs; i++) {
        free(r->outputs[i].numbers);
        free(r->outputs[i].texts);
    }
    free(r->outputs);
    free(r->whole);
    free(r->told_by);
    points_file_release(&r->file);
    dse_points_free(r->points);
    dse_close(r->dse);
    dse_problems_free(r->problems);
}

int eval_points(const struct invocation *in, enum output_format format)
{
    const char *fidelity = option_get(in, "fidelity");
    struct run r = {.in = in, .model = in->operands[0], .fidelity = fidelity ? fidelity : "closed-form"};
    r.problems = dse_problems_new();
    int status = 2;
    if (open_points(&r) && points_file_read(&r.file, option_get(in, "points"), r.dse, r.model, in->diags)) {
        pager_start();
        status = print(&r, format == OUTPUT_TABLE ? OUTPUT_CSV : format);
    }
    release(&r);
    return status;
}
