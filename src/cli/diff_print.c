#include "cli/diff_print.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_table_names[] = {"columns", "front", "why", "rows", NULL};

/* "+3.2 %"; "from 0", of which nothing is a share. buf holds TEXT_NUMBER_MAX bytes and a few. */
enum { PERCENT_MAX = TEXT_NUMBER_MAX + 8 };
static const char *percent(char buf[PERCENT_MAX], double change)
{
    char number[TEXT_NUMBER_MAX];
    if (isinf(change))
        snprintf(buf, PERCENT_MAX, "%s", change > 0 ? "from 0" : "below 0");
    else
        snprintf(buf, PERCENT_MAX, "%s%s %%", change > 0 ? "+" : "", text_short_number(number, 100 * change));
    return buf;
}

static double mean_change(const struct diff_column *c)
{
    const uint64_t numbers = c->changed - c->appeared;
    return numbers ? c->sum / (double)numbers : (double)NAN;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

static bool design_cell(struct output *o, const struct diff *d, int side, const struct diff_model *m, uint64_t point,
                        struct diags *diags)
{
    char *design = diff_design(d, side, m, point, diags);
    output_text(o, design);
    free(design);
    return design != NULL;
}

/* A value as it is stored, or for people in four digits. */
static void value_cell(struct output *o, const char *s, bool people)
{
    char buf[TEXT_NUMBER_MAX];
    double v;
    output_text(o, people && s && text_parse_f64(s, &v) ? text_short_number(buf, v) : s);
}

static bool columns_table(const struct diff *d, const struct diff_model *m, struct output *o, bool people, struct diags *diags)
{
    char buf[PERCENT_MAX];
    bool ok = true;
    for (size_t i = 0; ok && i < m->n_columns; i++) {
        const struct diff_column *c = &m->columns[i];
        if (!c->changed) continue;
        const double largest = c->changed > c->appeared ? c->largest : (double)NAN;
        if (!people) output_text(o, m->name);
        output_text(o, c->name);
        if (!people) output_text(o, c->unit);
        output_i64(o, (int64_t)c->changed);
        if (people) {
            output_text(o, isnan(largest) ? NULL : percent(buf, largest));
            output_text(o, isnan(largest) ? NULL : percent(buf, mean_change(c)));
        } else {
            output_i64(o, (int64_t)c->appeared);
            output_f64(o, largest);
            output_f64(o, mean_change(c));
        }
        value_cell(o, c->from, people);
        value_cell(o, c->to, people);
        ok = design_cell(o, d, 0, m, c->point[0], diags);
    }
    return ok;
}

static bool front_table(const struct diff *d, const struct diff_model *m, struct output *o, bool people, size_t limit,
                        struct diags *diags)
{
    bool ok = true;
    for (int side = 0; side < 2; side++) {
        const uint64_t *list = side ? m->gained : m->lost;
        const size_t n = side ? m->n_gained : m->n_lost;
        for (size_t i = 0; ok && i < n && (!limit || i < limit); i++) {
            if (!people) output_text(o, m->name);
            output_text(o, side ? "gained" : "lost");
            output_i64(o, (int64_t)list[i]);
            ok = design_cell(o, d, side, m, list[i], diags);
        }
    }
    return ok;
}

static int by_effect(const void *a, const void *b)
{
    const double x = fabs(((const double *)a)[1]), y = fabs(((const double *)b)[1]);
    return x > y ? -1 : x < y;
}

/* "tokens_per_s +3.2 %, energy_mj -1 %": what a cause moves most. The caller frees it. */
static char *most_moved(const struct diff_model *m, const struct diff_cause *c)
{
    enum { SHOWN = 3 };
    char buf[PERCENT_MAX];
    double(*list)[2] = xcalloc(m->n_metrics, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < m->n_metrics; i++)
        if (c->moved[i]) list[n][0] = (double)i, list[n++][1] = c->largest[i];
    qsort(list, n, sizeof *list, by_effect);
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        text_addf(&t, "%s%s %s", i ? ", " : "", m->metrics[(size_t)list[i][0]], percent(buf, list[i][1]));
    if (n > SHOWN) text_addf(&t, " and %zu more", n - SHOWN);
    free(list);
    return text_detach(&t);
}

static void why_people(const struct diff_model *m, struct output *o)
{
    for (size_t i = 0; i < m->n_causes; i++) {
        const struct diff_cause *c = &m->causes[i];
        char *moves = most_moved(m, c);
        output_text(o, diff_kind_names[c->kind]);
        output_text(o, c->what);
        output_i64(o, (int64_t)c->rows);
        output_text(o, *moves ? moves : "nothing");
        free(moves);
    }
}

static void why_rows(const struct diff_model *m, struct output *o)
{
    for (size_t i = 0; i < m->n_causes; i++) {
        const struct diff_cause *c = &m->causes[i];
        for (size_t k = 0; k < m->n_metrics; k++) {
            if (!c->moved[k]) continue;
            output_text(o, m->name);
            output_text(o, diff_kind_names[c->kind]);
            output_text(o, c->what);
            output_text(o, m->metrics[k]);
            output_i64(o, (int64_t)c->moved[k]);
            output_i64(o, (int64_t)m->evaluated);
            output_f64(o, c->largest[k]);
        }
    }
}

static bool rows_table(const struct diff *d, const struct diff_model *m, struct output *o, size_t limit, struct diags *diags)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < m->changed && (!limit || i < limit); i++) {
        output_text(o, m->name);
        output_i64(o, (int64_t)m->changes[2 * i]);
        output_i64(o, (int64_t)m->changes[2 * i + 1]);
        ok = design_cell(o, d, 0, m, m->changes[2 * i], diags);
    }
    return ok;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__}), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

bool diff_print_table(const struct diff *d, enum diff_table table, enum output_format format, size_t limit, struct diags *diags)
{
    struct output *o;
    if (table == DIFF_TABLE_COLUMNS)
        o = output_new(stdout, format,
                       NAMES("model", "column", "unit", "rows", "appeared", "largest", "mean", "from", "to", "design"));
    else if (table == DIFF_TABLE_FRONT)
        o = output_new(stdout, format, NAMES("model", "change", "point", "design"));
    else if (table == DIFF_TABLE_WHY)
        o = output_new(stdout, format, NAMES("model", "cause", "what", "column", "rows", "of", "largest"));
    else
        o = output_new(stdout, format, NAMES("model", "point_a", "point_b", "design"));
    bool ok = true;
    for (size_t i = 0; ok && i < d->n_models; i++) {
        const struct diff_model *m = &d->models[i];
        if (table == DIFF_TABLE_COLUMNS) ok = columns_table(d, m, o, false, diags);
        if (table == DIFF_TABLE_FRONT) ok = front_table(d, m, o, false, limit, diags);
        if (table == DIFF_TABLE_WHY) why_rows(m, o);
        if (table == DIFF_TABLE_ROWS) ok = rows_table(d, m, o, limit, diags);
    }
    return output_end(o) && ok;
}

/* ---- for people ------------------------------------------------------------------------------------------------------------ */

static void say_side(const char *name, const struct diff_side *s)
{
    terminal_say(stdout, "%s  %s, run %lld: %s, dse %s (%s), %s%s%s", name, s->path, (long long)s->run, s->sweep, s->version,
                 s->commit, s->started, s->shard ? ", shard " : "", s->shard ? s->shard : "");
}

static void say_names(const char *what, char *const *names, size_t n)
{
    if (!n) return;
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%s", i ? ", " : "", names[i]);
    terminal_say(stdout, "%s: %s", what, t.s);
    text_release(&t);
}

/* What differs between the runs and stands still in both. */
static void say_inputs(const struct diff_model *m)
{
    enum { SHOWN = 8 };
    if (!m->n_inputs) return;
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < m->n_inputs && i < SHOWN; i++)
        text_addf(&t, "%s%s %s -> %s", i ? ", " : "", m->inputs[i].name, m->inputs[i].from, m->inputs[i].to);
    if (m->n_inputs > SHOWN) text_addf(&t, " and %zu more", m->n_inputs - SHOWN);
    terminal_say(stdout, "fixed parameters that differ: %s%s", t.s, m->changed ? "" : "; no row changes because of them");
    text_release(&t);
}

static void say_rows(const struct diff_model *m)
{
    char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], matched[TEXT_NUMBER_MAX], changed[TEXT_NUMBER_MAX];
    struct text keys;
    text_init(&keys);
    for (size_t i = 0; i < m->n_keys; i++) text_addf(&keys, "%s%s", i ? ", " : "", m->keys[i]);
    putchar('\n');
    terminal_say(stdout, "%s: %s rows in A, %s in B; %s matched%s%s, of which %s changed", m->name, text_count(a, m->rows[0]),
                 text_count(b, m->rows[1]), text_count(matched, m->matched), m->n_keys ? " by " : "", keys.s,
                 text_count(changed, m->changed));
    text_release(&keys);
    say_inputs(m);
    say_names("columns that only A has", m->missing[0], m->n_missing[0]);
    say_names("columns that only B has", m->missing[1], m->n_missing[1]);
}

static bool print_front(const struct diff *d, const struct diff_model *m, size_t limit, struct diags *diags)
{
    if (!m->front[0] && !m->front[1]) return true;
    putchar('\n');
    terminal_say(stdout, "%s: %" PRIu64 " designs on the front of A, %" PRIu64 " on that of B: %zu lost, %zu gained", m->name,
                 m->front[0], m->front[1], m->n_lost, m->n_gained);
    if (!m->n_lost && !m->n_gained) return true;
    struct output *o = output_new(stdout, OUTPUT_TABLE, NAMES("change", "point", "design"));
    const bool ok = front_table(d, m, o, true, limit, diags);
    return output_end(o) && ok;
}

static bool print_why(const struct diff_model *m)
{
    char evaluated[TEXT_NUMBER_MAX], changed[TEXT_NUMBER_MAX], refused[TEXT_NUMBER_MAX];
    if (!m->evaluated && !m->refused) return true;
    putchar('\n');
    terminal_say(stdout, "%s: causes of the changes, from %s of %s changed rows that were evaluated again", m->name,
                 text_count(evaluated, m->evaluated), text_count(changed, m->changed));
    if (m->refused) terminal_say(stdout, "%s rows were not evaluated again: %s", text_count(refused, m->refused), m->why_refused);
    if (!m->n_causes) return true;
    struct output *o = output_new(stdout, OUTPUT_TABLE, NAMES("cause", "what", "rows", "moves at most"));
    why_people(m, o);
    return output_end(o);
}

bool diff_print(const struct diff *d, size_t limit, struct diags *diags)
{
    say_side("A", &d->side[0]);
    say_side("B", &d->side[1]);
    say_names("models that only A has", d->only[0], d->n_only[0]);
    say_names("models that only B has", d->only[1], d->n_only[1]);
    bool ok = true;
    for (size_t i = 0; ok && i < d->n_models; i++) {
        const struct diff_model *m = &d->models[i];
        say_rows(m);
        if (m->changed) {
            struct output *o = output_new(stdout, OUTPUT_TABLE,
                                          NAMES("column", "rows", "largest change", "mean", "A", "B", "design of the largest"));
            ok = columns_table(d, m, o, true, diags);
            ok = output_end(o) && ok;
        }
        ok = ok && print_front(d, m, limit, diags) && print_why(m);
    }
    if (d->n_notes) putchar('\n');
    for (size_t i = 0; i < d->n_notes; i++) terminal_say(stdout, "note: %s", d->notes[i]);
    return ok;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------ */

static void json_text(const char *key, const char *s, const char *after)
{
    struct text t;
    text_init(&t);
    text_add_json(&t, key);
    text_add(&t, ": ");
    if (s)
        text_add_json(&t, s);
    else
        text_add(&t, "null");
    printf("%s%s", t.s, after);
    text_release(&t);
}

static void json_list(const char *key, char *const *list, size_t n, const char *after)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, i ? ", " : "");
        text_add_json(&t, list[i]);
    }
    printf("\"%s\": [%s]%s", key, t.s, after);
    text_release(&t);
}

static void json_inputs(const struct diff_model *m)
{
    printf("\"inputs\": [");
    for (size_t i = 0; i < m->n_inputs; i++) {
        printf("%s{", i ? ", " : "");
        json_text("name", m->inputs[i].name, ", ");
        json_text("a", m->inputs[i].from, ", ");
        json_text("b", m->inputs[i].to, "}");
    }
    printf("], ");
}

static bool json_table(const struct diff *one, const char *key, enum diff_table table, size_t limit, struct diags *diags)
{
    printf(",\n\"%s\": ", key);
    return diff_print_table(one, table, OUTPUT_JSON, limit, diags);
}

bool diff_print_json(const struct diff *d, size_t limit, struct diags *diags)
{
    printf("{\"differ\": %s,\n", diff_is_any(d) ? "true" : "false");
    for (int s = 0; s < 2; s++) {
        const struct diff_side *x = &d->side[s];
        printf("\"%s\": {", s ? "b" : "a");
        json_text("database", x->path, ", ");
        printf("\"run\": %lld, ", (long long)x->run);
        json_text("sweep", x->sweep, ", ");
        json_text("version", x->version, ", ");
        json_text("commit", x->commit, ", ");
        json_text("started", x->started, ", ");
        json_list("only_models", d->only[s], d->n_only[s], "},\n");
    }
    printf("\"models\": [");
    for (size_t i = 0; i < d->n_models; i++) {
        const struct diff_model *m = &d->models[i];
        printf("%s\n {", i ? "," : "");
        json_text("model", m->name, ", ");
        printf("\"rows_a\": %" PRIu64 ", \"rows_b\": %" PRIu64 ", \"matched\": %" PRIu64 ", \"changed\": %" PRIu64 ", ", m->rows[0],
               m->rows[1], m->matched, m->changed);
        printf("\"front_a\": %" PRIu64 ", \"front_b\": %" PRIu64 ", \"lost\": %zu, \"gained\": %zu, ", m->front[0], m->front[1],
               m->n_lost, m->n_gained);
        printf("\"evaluated\": %" PRIu64 ", \"not_evaluated\": %" PRIu64 ", ", m->evaluated, m->refused);
        json_text("why_not_evaluated", m->why_refused, ", ");
        json_list("matched_by", m->keys, m->n_keys, ", ");
        json_inputs(m);
        json_list("only_columns_a", m->missing[0], m->n_missing[0], ", ");
        json_list("only_columns_b", m->missing[1], m->n_missing[1], "}");
    }
    printf("\n]");
    const bool ok = json_table(d, "columns", DIFF_TABLE_COLUMNS, limit, diags) &&
                    json_table(d, "front", DIFF_TABLE_FRONT, limit, diags) && json_table(d, "why", DIFF_TABLE_WHY, limit, diags);
    putchar(',');
    json_list("notes", d->notes, d->n_notes, "}\n");
    return ok;
}
