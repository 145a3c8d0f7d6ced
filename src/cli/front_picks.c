#include "cli/front_picks.h"

#include "analysis/front_pick.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The points of all fronts, front after front. */
struct points {
    double *values;
    size_t *group;
    struct front_row *rows;
    size_t n, groups;
    char *last; /* what the last front is of */
};

static char *select_points(int64_t run, const struct name_list *models, const struct goal *g)
{
    struct text sql;
    text_init(&sql);
    for (size_t m = 0; m < models->n; m++) {
        text_addf(&sql, "%sSELECT %zu AS m, point", m ? " UNION ALL " : "", m);
        for (size_t i = 0; i < g->n; i++) text_addf(&sql, ", \"%s\" AS o%zu", g->columns[i], i);
        for (size_t i = 0; i < g->n_per; i++) text_addf(&sql, ", \"%s\" AS p%zu", g->per[i], i);
        text_addf(&sql, " FROM \"%s_front\" WHERE run = %lld", models->s[m], (long long)run);
    }
    text_add(&sql, " ORDER BY");
    for (size_t i = 0; i < g->n_per; i++) text_addf(&sql, " p%zu,", i);
    for (size_t i = 0; i < g->n; i++) text_addf(&sql, " o%zu,", i);
    text_add(&sql, " m, point");
    return text_detach(&sql);
}

/* Which front is the row of? They come one after the other. */
static size_t group_of(struct points *p, const struct query *q, const struct goal *g)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < g->n_per; i++) {
        const char *s = query_text(q, (int)(2 + g->n + i));
        text_addf(&t, "%s\x1f", s ? s : "");
    }
    if (p->groups == 0 || strcmp(p->last, t.s) != 0) {
        p->groups++;
        free(p->last);
        p->last = xstrdup(t.s);
    }
    text_release(&t);
    return p->groups - 1;
}

static bool read_points(struct reader *r, const char *sql, const struct goal *g, struct points *ret, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int status = q ? 1 : -1;
    for (size_t capacity = 0; status > 0 && (status = query_step(q, diags)) > 0; ret->n++) {
        if (ret->n == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            ret->values = xrealloc(ret->values, capacity * g->n, sizeof *ret->values);
            ret->group = xrealloc(ret->group, capacity, sizeof *ret->group);
            ret->rows = xrealloc(ret->rows, capacity, sizeof *ret->rows);
        }
        for (size_t i = 0; i < g->n; i++) ret->values[ret->n * g->n + i] = query_f64(q, (int)(2 + i));
        ret->group[ret->n] = group_of(ret, q, g);
        ret->rows[ret->n] = (struct front_row){.model = (size_t)query_i64(q, 0), .point = query_i64(q, 1)};
    }
    query_free(q);
    return status == 0;
}

static char *shows_text(const struct picked *p, const struct goal *g)
{
    struct text t;
    text_init(&t);
    if (p->knee) text_add(&t, "knee");
    for (size_t j = 0; j < g->n; j++)
        if (p->extremes >> j & 1) text_addf(&t, "%s%s %s", t.n ? ", " : "", g->maximise[j] ? "most" : "least", g->columns[j]);
    return text_detach(&t);
}

bool front_picks_read(struct reader *r, int64_t run, const struct name_list *models, const struct goal *g, size_t room,
                      struct front_picks *ret, struct diags *diags)
{
    struct points p = {0};
    char *sql = select_points(run, models, g);
    bool ok = read_points(r, sql, g, &p, diags);
    struct picked *picked = xcalloc(room + 1, sizeof *picked);
    *ret = (struct front_picks){.points = p.n, .fronts = p.groups, .rows = xcalloc(room + 1, sizeof *ret->rows)};
    if (ok && p.rows) ret->n = front_pick(p.values, p.group, p.n, p.groups, g->n, g->maximise, room, picked);
    for (size_t i = 0; p.rows && i < ret->n; i++) {
        ret->rows[i] = p.rows[picked[i].point];
        ret->rows[i].shows = shows_text(&picked[i], g);
    }
    free(picked);
    free(sql);
    free(p.values);
    free(p.group);
    free(p.rows);
    free(p.last);
    return ok;
}

void front_picks_release(struct front_picks *p)
{
    for (size_t i = 0; i < p->n; i++) free(p->rows[i].shows);
    free(p->rows);
    *p = (struct front_picks){0};
}
