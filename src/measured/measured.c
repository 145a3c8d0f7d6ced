/* A set of measured machines: reading it, and asking the models. */
#include "measured/internal.h"

#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"
#include "space/point.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* entries.toml, where there is one. */
static bool read_entries(const struct measured_set *s, struct diags *diags)
{
    char *path = xasprintf("%s/entries.toml", s->dir);
    const bool ok = access(path, F_OK) != 0 || catalog_add_file(s->catalog, path, diags);
    free(path);
    return ok;
}

static bool read_binds(struct measured_set *s, struct diags *diags)
{
    static const char *const keys[] = {"maps", "bands", "fit", "bind"};
    const struct toml_node *root = &s->doc->root, *list = toml_expect(s->doc, root, "bind", TOML_ARRAY, diags);
    bool ok = toml_check_keys(s->doc, root, keys, sizeof keys / sizeof *keys, diags);
    if (!list) return ok && !toml_get(root, "bind");
    s->binds = xcalloc(list->n, sizeof *s->binds);
    s->files = xcalloc(list->n, sizeof *s->files); /* no more than bindings */
    for (size_t i = 0; i < list->n; i++) {
        if (list->children[i].type != TOML_TABLE)
            return diags_input(diags, toml_loc(s->doc, &list->children[i]), s->doc->text, NULL, "write [[bind]]");
        ok = measured_bind_read(&s->binds[s->n_binds++], s, &list->children[i], diags) && ok;
    }
    for (size_t i = 0; i < s->n_binds && ok; i++) ok = measured_ask(s, &s->binds[i], diags);
    for (size_t i = 0; i < s->n_files && ok; i++) ok = measured_file_check(&s->files[i], diags);
    return ok;
}

struct measured_set *measured_open(const char *dir, struct catalog *catalog, struct diags *diags)
{
    struct measured_set *s = xcalloc(1, sizeof *s);
    *s = (struct measured_set){.catalog = catalog, .dir = xstrdup(dir)};
    char *path = xasprintf("%s/bindings.toml", dir);
    s->doc = toml_read_file(path, diags);
    free(path);
    s->notes = measured_notes_open(dir, diags);
    if (s->doc && s->notes && read_entries(s, diags) && read_binds(s, diags)) return s;
    measured_close(s);
    return NULL;
}

void measured_close(struct measured_set *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_rows; i++) {
        question_release(&s->questions[i]);
        free(s->rows[i].reason);
        free(s->rows[i].settings);
    }
    for (size_t i = 0; i < s->n_binds; i++) measured_bind_release(&s->binds[i]);
    for (size_t i = 0; i < s->n_files; i++) measured_file_release(&s->files[i]);
    for (size_t i = 0; i < s->n_texts; i++) free(s->texts[i]);
    free(s->texts);
    free(s->questions);
    free(s->rows);
    free(s->binds);
    free(s->files);
    free(s->dir);
    measured_notes_free(s->notes);
    toml_free(s->doc);
    free(s);
}

const struct measured_notes *measured_notes(const struct measured_set *s)
{
    return s->notes;
}

const struct measured_row *measured_rows(const struct measured_set *s, size_t *ret_n)
{
    *ret_n = s->n_rows;
    return s->rows;
}

size_t measured_unbound(const struct measured_set *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_files; i++)
        for (size_t k = 0; k < s->files[i].table.n_rows; k++) n += !s->files[i].is_taken[k];
    return n;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

/* The numbers that the value wants of a design. */
static void take_numbers(struct question *q, size_t point, const struct design_point *p, const void *equations)
{
    const struct measured_bind *b = q->bind;
    const void *objects[] = {p->params, p->metrics, equations};
    for (size_t i = 0; i < b->n_wanted; i++)
        if (b->wanted[i].point == point) q->values[i] = field_number(b->wanted[i].field, objects[b->wanted[i].kind]);
}

static bool wants_metrics(const struct measured_bind *b, size_t point)
{
    for (size_t i = 0; i < b->n_wanted; i++)
        if (b->wanted[i].point == point && b->wanted[i].kind == 1) return true;
    return false;
}

/* Why the model has no answer, or NULL. The caller frees it. */
static char *ask_point(struct question *q, size_t point)
{
    const struct measured_bind *b = q->bind;
    const struct dse_model *m = b->model->desc;
    struct design_point p = {0};
    struct diags diags;
    diags_init(&diags);
    char *why = NULL;
    if (!design_point_init_like(&p, b->defaults, (const char *const *)q->assignments[point], b->points[point].n, &diags)) {
        why = xstrdup(diags.n ? diags.list[0].message : "its settings are refused");
    } else if (wants_metrics(b, point) && p.reason) {
        why = xstrdup(p.reason);
    } else {
        void *equations = m->equations_size ? xcalloc(1, m->equations_size) : NULL;
        if (m->equate) m->equate(p.params, equations);
        if (!p.reason) m->estimate(p.params, p.metrics, NULL);
        take_numbers(q, point, &p, equations);
        free(equations);
    }
    design_point_release(&p);
    diags_release(&diags);
    return why;
}

/* One thread at a time: a binding's expression keeps state. */
static void evaluate(struct measured_row *row, const struct question *q)
{
    struct measured_bind *b = &q->bind->set->binds[q->bind - q->bind->set->binds];
    for (size_t i = 0; i < b->n_wanted; i++) b->wanted[i].number = q->values[i];
    row->modelled = expr_number(b->value);
    if (isnan(row->modelled)) row->reason = xstrdup("the model has no such number there");
}

void measured_answer(struct measured_set *s, const struct model *model)
{
    const long n = (long)s->n_rows;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads_available(omp_get_max_threads()))
    for (long i = 0; i < n; i++) {
        struct measured_row *row = &s->rows[i];
        struct question *q = &s->questions[i];
        if (row->reason || (model && row->model != model)) continue;
        for (size_t k = 0; k < q->bind->n_points && !row->reason; k++) row->reason = ask_point(q, k);
    }
    for (long i = 0; i < n; i++)
        if (!s->rows[i].reason && (!model || s->rows[i].model == model)) evaluate(&s->rows[i], &s->questions[i]);
}
