/* Machines at equal quality: what each gives best among its designs that are within a budget of the run, for the same question (the
 * LLM, the context, what the sweep's `per` names), and who beats whom by how much. */
#include "report/report_equal.h"

#include "base/xalloc.h"
#include "report/report_terms.h"
#include "model/registry.h"
#include "store/over_budget.h"

#include <dse/model.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The levels of a comparison: 0 is exact, then come the run's budgets, the tightest first. A design counts at the first that it is
 * within, and at all later ones. Two more are behind them that no comparison uses: of all designs whose loss is known, and of all.
 */
struct levels {
    struct budget budget; /* the run's; the default of one that has none */
    size_t known, any, n;
};
enum { LEADING = 4 };
/* What is known of a loss rests on, of designs that are within a budget. */
enum { ON_EXTENDED = 1, ON_OTHER_LLM = 2, ON_ROUNDED = 4 };

static struct levels levels_of(const struct report_run *r)
{
    struct levels l = {.budget = r->goal.budget};
    if (l.budget.n == 0) budget_set_default(&l.budget);
    l.known = l.budget.n + 1;
    l.any = l.budget.n + 2;
    l.n = l.budget.n + 3;
    return l;
}

/* The budget of a level above 0. */
static size_t budget_of(const struct levels *l, size_t level)
{
    return l->budget.n - level;
}

/* ---- the query ----------------------------------------------------------------------------------------------------------- */

/* The shared parameters that make rows different questions. */
static bool is_question(const struct report_run *r, const char *name)
{
    static const char *const always[] = {"llm", "phase", "context", "prompt", "generate", "requests"};
    for (size_t i = 0; i < r->goal.n_per; i++)
        if (strcmp(r->goal.per[i], name) == 0) return true;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(always[i], name) == 0) return true;
    return false;
}

/* Is it a technique of the model other than the one that is compared? Techniques are compared with the others held equal. */
static bool is_other_technique(const char *model, const char *by, const char *name)
{
    const struct model *m = by && strcmp(by, name) != 0 ? registry_find(model) : NULL;
    for (const struct dse_technique *t = m ? m->desc->techniques : NULL; t && t->param; t++)
        if (strcmp(t->param, name) == 0) return true;
    return false;
}

static void add_question(const struct report_run *r, const struct report_contest *c, size_t m, struct text *sql)
{
    size_t n = 0;
    if (c->by) {
        sql_add_string(sql, r->models.s[m]);
        n++;
    }
    for (size_t i = 0; i < r->shared.n; i++) {
        if (!is_question(r, r->shared.s[i]) || (c->by && strcmp(c->by, r->shared.s[i]) == 0)) continue;
        text_add(sql, n++ ? " || ', ' || coalesce(" : "coalesce(");
        sql_add_name(sql, r->shared.s[i]);
        text_add(sql, ", '')");
    }
    for (size_t i = 0; i < r->axes.n; i++) {
        if (!is_other_technique(r->models.s[m], c->by, r->axes.s[i]) || !name_list_have(&r->columns_of[m], r->axes.s[i])) continue;
        text_add(sql, " || ', ' || coalesce(");
        sql_add_name(sql, r->axes.s[i]);
        text_add(sql, ", '')");
    }
    if (n == 0) text_add(sql, "''");
}

/* What the row loses in a metric that is limited: of one that is exact, or exact but for formats, nothing. */
static void add_loss(const struct name_list *columns, enum budget_metric m, struct text *sql)
{
    const char *metric = name_list_have(columns, budget_metrics[m]) ? budget_metrics[m] : "NULL";
    if (name_list_have(columns, "quality")) {
        char *exact = exact_loss_sql("quality", m);
        text_addf(sql, "coalesce(%s, %s)", metric, exact);
        free(exact);
    } else {
        text_add(sql, metric);
    }
}

/* " AND <the loss is within that budget>" for every metric that it limits. */
static void add_within(const struct levels *l, const struct name_list *columns, size_t budget, struct text *sql)
{
    char limit[TEXT_NUMBER_MAX];
    text_add(sql, "1");
    for (int m = 0; m < BUDGET_METRICS; m++) {
        if (!budget_limits(&l->budget, (enum budget_metric)m)) continue;
        text_add(sql, " AND ");
        add_loss(columns, (enum budget_metric)m, sql);
        const double v = l->budget.limit[m][budget];
        text_addf(sql, " %s %s", budget_is_least((enum budget_metric)m) ? ">=" : "<=", isinf(v) ? "9e999" : text_number(limit, v));
    }
}

/* The level at which the row begins to count. */
static void add_level(const struct levels *l, const struct name_list *columns, struct text *sql)
{
    text_add(sql, "CASE WHEN ");
    if (name_list_have(columns, "quality"))
        text_add(sql, "quality " IS_EXACT_SQL);
    else
        add_within(l, columns, 0, sql), text_add(sql, " AND "), add_loss(columns, l->budget.named, sql),
            text_addf(sql, " = %d", budget_is_least(l->budget.named));
    text_add(sql, " THEN 0");
    for (size_t level = 1; level < l->known; level++) {
        text_add(sql, " WHEN ");
        add_within(l, columns, budget_of(l, level), sql);
        text_addf(sql, " THEN %zu", level);
    }
    text_add(sql, " WHEN ");
    add_loss(columns, l->budget.named, sql);
    text_addf(sql, " IS NOT NULL THEN %zu ELSE %zu END", l->known, l->any);
}

/* An error of another LLM may be extended, too: `beyond` says so. */
static void add_rests_on(const struct name_list *columns, struct text *sql)
{
    if (!name_list_have(columns, "quality")) {
        text_add(sql, "0");
        return;
    }
    text_addf(sql, "CASE quality WHEN 'extended' THEN %d WHEN 'rounded' THEN %d WHEN 'other-llm' THEN %d", ON_EXTENDED, ON_ROUNDED,
              ON_OTHER_LLM);
    if (name_list_have(columns, "beyond"))
        text_addf(sql, " | (coalesce(beyond LIKE '%%quality is extended%%', 0) * %d)", ON_EXTENDED);
    text_add(sql, " ELSE 0 END");
}

static void add_designs(const struct report_run *r, const struct levels *l, const struct report_contest *c, size_t m,
                        struct text *sql)
{
    const struct name_list *columns = &r->columns_of[m];
    text_add(sql, "SELECT ");
    if (c->by)
        sql_add_name(sql, c->by);
    else
        sql_add_string(sql, r->models.s[m]);
    text_add(sql, " AS contender, ");
    add_question(r, c, m, sql);
    text_add(sql, " AS question, ");
    add_level(l, columns, sql);
    text_add(sql, " AS \"limit\", ");
    add_rests_on(columns, sql);
    text_add(sql, " AS rests_on");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_add(sql, name_list_have(columns, r->goal.columns[i]) ? ", " : ", NULL AS ");
        sql_add_name(sql, r->goal.columns[i]);
    }
    text_add(sql, " FROM ");
    sql_add_name(sql, r->models.s[m]);
    text_addf(sql, " WHERE run = %lld AND status = 'ok'", (long long)r->id);
}

/* The best of each contender, question and level: contender, question, level, what they rest on, objectives. */
static char *contest_sql(const struct report_run *r, const struct levels *l, const struct report_contest *c)
{
    struct text sql;
    bool first = true;
    text_init(&sql);
    text_add(&sql, "WITH designs AS (");
    for (size_t m = 0; m < r->models.n; m++) {
        if (c->by && !name_list_have(&r->columns_of[m], c->by)) continue;
        text_add(&sql, first ? "" : " UNION ALL ");
        first = false;
        add_designs(r, l, c, m, &sql);
    }
    text_add(&sql, ") SELECT contender, question, \"limit\", rests_on");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_addf(&sql, ", %s(", r->goal.maximise[i] ? "max" : "min");
        sql_add_name(&sql, r->goal.columns[i]);
        text_add(&sql, ")");
    }
    text_add(&sql, ", count(*) FROM designs GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4");
    return text_detach(&sql);
}

/* ---- what it gives ------------------------------------------------------------------------------------------------------- */

struct best {
    double value; /* NaN: none */
    unsigned rests_on;
    bool designs; /* there are some, though none has a value of the objective */
};

/* The best of every contender (the list), question, level and objective. */
struct contest_table {
    const struct report_run *run;
    struct levels levels;
    const struct report_terms *terms; /* of models; NULL: contenders are of one machine */
    struct name_list contenders, questions;
    struct best *best; /* [contender][question][level][objective] */
    uint64_t unknown;  /* designs that take no part */
};

static size_t find_or_add(struct name_list *l, const char *s)
{
    for (size_t i = l->n; i-- > 0;)
        if (strcmp(l->s[i], s) == 0) return i;
    name_list_add(l, s);
    return l->n - 1;
}

static struct best *best_of(const struct contest_table *t, size_t contender, size_t question, size_t level)
{
    return &t->best[((contender * t->questions.n + question) * t->levels.n + level) * t->run->goal.n];
}

struct contest_row {
    size_t contender, question, level;
    unsigned rests_on;
    double values[SWEEP_OBJECTIVES_MAX];
};

static void take(const struct goal *goal, struct best *to, const double *values, unsigned rests_on)
{
    for (size_t i = 0; i < goal->n; i++) {
        to[i].designs = true;
        if (isfinite(values[i]) && (isnan(to[i].value) || (goal->maximise[i] ? values[i] > to[i].value : values[i] < to[i].value)))
            to[i] = (struct best){values[i], rests_on, true};
    }
}

static void fill(struct contest_table *t, const struct contest_row *rows, size_t n)
{
    size_t cells = t->contenders.n * t->questions.n * t->levels.n * t->run->goal.n;
    t->best = xcalloc(cells ? cells : 1, sizeof *t->best);
    for (size_t i = 0; i < cells; i++) t->best[i].value = (double)NAN;
    for (size_t i = 0; i < n; i++)
        for (size_t level = rows[i].level; level < t->levels.n; level++)
            take(&t->run->goal, best_of(t, rows[i].contender, rows[i].question, level), rows[i].values, rows[i].rests_on);
}

static bool read_table(struct contest_table *t, const char *sql, struct diags *diags)
{
    const struct goal *goal = &t->run->goal;
    struct query *q = query_new(t->run->reader, sql, (struct srcloc){0}, diags);
    struct contest_row *rows = NULL;
    size_t n = 0;
    int more = -1;
    while (q && (more = query_step(q, diags)) > 0) {
        const char *contender = query_text(q, 0), *question = query_text(q, 1);
        if (!contender) continue;
        rows = xrealloc(rows, n + 1, sizeof *rows);
        struct contest_row *row = &rows[n++];
        row->contender = find_or_add(&t->contenders, contender);
        row->question = find_or_add(&t->questions, question ? question : "");
        row->level = (size_t)query_i64(q, 2);
        if (row->level >= t->levels.known) t->unknown += (uint64_t)query_i64(q, LEADING + (int)goal->n);
        row->rests_on = (unsigned)query_i64(q, 3);
        for (size_t i = 0; i < goal->n; i++) row->values[i] = query_f64(q, LEADING + (int)i);
    }
    query_free(q);
    if (more == 0) fill(t, rows, n);
    free(rows);
    return more == 0;
}

static void release_table(struct contest_table *t)
{
    name_list_release(&t->contenders);
    name_list_release(&t->questions);
    free(t->best);
}

/* ---- pairs --------------------------------------------------------------------------------------------------------------- */

/* How a fares against b in an objective at one limit, over the questions that both have designs for. */
struct outcome {
    size_t n;            /* questions */
    double mean, lo, hi; /* of a's advantage: geometric mean, least, most */
    unsigned rests_on;   /* of any best design */
};

static struct outcome outcome_at(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t limit)
{
    struct outcome ret = {.lo = INFINITY, .hi = 0};
    double sum = 0;
    for (size_t k = 0; k < t->questions.n; k++) {
        const struct best *x = &best_of(t, a, k, limit)[objective], *y = &best_of(t, b, k, limit)[objective];
        if (!(x->value > 0 && y->value > 0)) continue; /* NaN too */
        double ratio = t->run->goal.maximise[objective] ? x->value / y->value : y->value / x->value;
        sum += log(ratio);
        ret.n++;
        ret.lo = fmin(ret.lo, ratio);
        ret.hi = fmax(ret.hi, ratio);
        ret.rests_on |= x->rests_on | y->rests_on;
    }
    ret.mean = ret.n ? exp(sum / (double)ret.n) : (double)NAN;
    return ret;
}

static const char *objective_label(const struct report_run *r, size_t objective)
{
    const struct report_column *c = report_column(r, r->goal.columns[objective]);
    return c ? c->label : r->goal.columns[objective];
}

static void add_limit(const struct levels *l, size_t level, struct text *t)
{
    static const char *const names[BUDGET_METRICS] = {"an attention error", "a task loss", "a retained mass"};
    char buf[TEXT_NUMBER_MAX];
    if (level == 0)
        text_add(t, "With exact attention");
    else
        text_addf(t, "At %s of at %s %s", names[l->budget.named], budget_is_least(l->budget.named) ? "least" : "most",
                  budget_name(&l->budget, budget_of(l, level), buf));
    for (int m = 0; m < BUDGET_METRICS && level; m++)
        if (m != (int)l->budget.named && budget_limits(&l->budget, (enum budget_metric)m))
            text_addf(t, " and %s of at %s %s", names[m], budget_is_least((enum budget_metric)m) ? "least" : "most",
                      text_number(buf, l->budget.limit[m][0]));
}

/* Is there a question that both have designs for at a level? */
static bool meet(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t level)
{
    for (size_t k = 0; k < t->questions.n; k++)
        if (best_of(t, a, k, level)[objective].designs && best_of(t, b, k, level)[objective].designs) return true;
    return false;
}

/* Why two cannot be compared: the first of what a comparison needs that they lack. */
static void add_obstacle(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t level, struct text *ret)
{
    char buf[TEXT_NUMBER_MAX];
    const struct budget *budget = &t->levels.budget;
    const char *limit = budget_name(budget, budget_of(&t->levels, level), buf),
               *at = budget_is_least(budget->named) ? "least" : "most";
    if (!meet(t, a, b, objective, t->levels.any))
        text_add(ret, "no scenario has feasible designs of both.");
    else if (!meet(t, a, b, objective, t->levels.known))
        text_addf(ret, "no scenario has designs of both whose %s is known.", budget_metrics[budget->named]);
    else if (!meet(t, a, b, objective, level))
        text_addf(ret, "no scenario has designs of both whose %s is at %s %s.", budget_metrics[budget->named], at, limit);
    else
        text_addf(ret, "no scenario has a value above 0 for designs of both whose %s is at %s %s.", budget_metrics[budget->named],
                  at, limit);
}

/* Are the best designs of both at a level exact ones, for every question that both have designs for? */
static bool decide_exactly(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t level)
{
    for (size_t k = 0; k < t->questions.n; k++) {
        const struct best *x = &best_of(t, a, k, level)[objective], *y = &best_of(t, b, k, level)[objective];
        if (!(x->value > 0 && y->value > 0)) continue; /* NaN too */
        if (best_of(t, a, k, 0)[objective].value != x->value || best_of(t, b, k, 0)[objective].value != y->value) return false;
    }
    return true;
}

static void add_basis(const struct outcome *o, struct text *s)
{
    static const struct {
        unsigned bit;
        const char *what;
    } bases[] = {{ON_EXTENDED, "errors extended beyond what was measured"},
                 {ON_OTHER_LLM, "errors measured on another LLM"},
                 {ON_ROUNDED, "formats of fewer bits counted as exact"}};
    unsigned left = o->rests_on;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (!(left & bases[i].bit)) continue;
        const bool first = left == o->rests_on;
        left &= ~bases[i].bit;
        text_addf(s, "%s%s", first ? " This rests on " : left ? ", " : " and ", bases[i].what);
    }
    if (o->rests_on) text_add(s, ".");
}

/* "At an attention error of at most 0.1, veda beats swiftkv by 2.31x in Tokens per second (1.2x to 4.0x over 12 scenarios). This
 * rests on errors measured on another LLM. They differ in process node (28nm, 16nm)." */
static char *sentence(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t level)
{
    struct outcome o = outcome_at(t, a, b, objective, level);
    const char *x = t->contenders.s[a], *y = t->contenders.s[b], *label = objective_label(t->run, objective);
    struct text s;
    text_init(&s);
    if (o.n == 0) {
        text_addf(&s, "%s and %s cannot be compared in %s: ", x, y, label);
        add_obstacle(t, a, b, objective, level, &s);
        return text_detach(&s);
    }
    if (o.mean < 1) {
        const char *winner = y;
        y = x;
        x = winner;
        o = (struct outcome){.n = o.n, .mean = 1 / o.mean, .lo = 1 / o.hi, .hi = 1 / o.lo, .rests_on = o.rests_on};
    }
    add_limit(&t->levels, level, &s);
    if (o.mean < 1.005) /* a question may be won, and another lost */
        text_addf(&s, ", %s and %s are equal%s in %s", x, y, o.hi < 1.005 && o.lo > 1 / 1.005 ? "" : " on the mean", label);
    else
        text_addf(&s, ", %s beats %s by %.3gx in %s", x, y, o.mean, label);
    if (o.n > 1) text_addf(&s, " (%.3gx to %.3gx over %zu scenarios)", o.lo, o.hi, o.n);
    text_add(&s, ".");
    add_basis(&o, &s);
    if (t->terms) report_terms_add(t->terms, x, y, &s);
    return text_detach(&s);
}

/* ---- what the page gets -------------------------------------------------------------------------------------------------- */

/* Sentences for the terminal, which gets the few that decide. */
struct said {
    struct said_one {
        char *s;
        size_t rank, order; /* the lower the earlier */
    } * list;
    size_t n;
};
enum { SAID_MAX = 5 };

static void add_sentence(char *s, size_t rank, struct text *json, struct said *said)
{
    if (json->s[json->n - 1] != '[') text_add(json, ",");
    json_text(json, s);
    said->list = xrealloc(said->list, said->n + 1, sizeof *said->list);
    said->list[said->n] = (struct said_one){s, rank, said->n};
    said->n++;
}

static int by_rank(const void *a, const void *b)
{
    const struct said_one *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->order > y->order) - (x->order < y->order);
}

/* Say the first, and how many there are besides. */
static void tell(struct said *said, struct text *ret)
{
    if (said->n) qsort(said->list, said->n, sizeof *said->list, by_rank);
    for (size_t i = 0; i < said->n && i < SAID_MAX; i++) text_addf(ret, "%s\n", said->list[i].s);
    if (said->n > SAID_MAX)
        text_addf(ret, "%zu more comparison%s on the page.\n", said->n - SAID_MAX, said->n == SAID_MAX + 1 ? " is" : "s are");
    for (size_t i = 0; i < said->n; i++) free(said->list[i].s);
    free(said->list);
}

/* How many others a contender does not lose to, on the mean. */
static size_t count_wins(const struct contest_table *t, size_t contender, size_t objective, size_t level)
{
    size_t n = 0;
    for (size_t other = 0; other < t->contenders.n; other++)
        n += other != contender && outcome_at(t, contender, other, objective, level).mean >= 1; /* NaN is none */
    return n;
}

/* The level that is told first: of the default budget where the run has it, and else of its widest. */
static size_t told_level(const struct levels *l)
{
    struct budget usual = {0};
    budget_set_default(&usual);
    for (size_t level = 1; level < l->known && usual.named == l->budget.named; level++)
        if (l->budget.limit[l->budget.named][budget_of(l, level)] == usual.limit[usual.named][0]) return level;
    return l->known - 1;
}

/* Where two stand in an objective, at the level that is told first: the best contender against its closest rival comes first, then
 * against the others, then those that the best takes no part in. */
static size_t rank_of(const struct contest_table *t, size_t a, size_t b, size_t objective)
{
    const size_t level = told_level(&t->levels), n = t->contenders.n;
    size_t best = 0, closer = 0;
    for (size_t i = 1; i < n; i++)
        if (count_wins(t, i, objective, level) > count_wins(t, best, objective, level)) best = i;
    if (a != best && b != best) return n;
    const size_t rival = a == best ? b : a;
    for (size_t i = 0; i < n; i++)
        closer += i != best && outcome_at(t, best, i, objective, level).mean < outcome_at(t, best, rival, objective, level).mean;
    return closer;
}

/* What there is to say of two contenders in an objective: at each budget, and of what exact designs decide, once. */
static void add_sentences(const struct contest_table *t, size_t a, size_t b, size_t objective, size_t contest, struct text *json,
                          struct said *said)
{
    enum { OF_A_CONTEST = 1000000, BESIDE = 1000, NOTHING = 100000 }; /* ranks apart */
    const size_t first = contest * OF_A_CONTEST + rank_of(t, a, b, objective), told = told_level(&t->levels);
    bool said_exact = false;
    for (size_t level = t->levels.known - 1; level > 0; level--) {
        const struct outcome o = outcome_at(t, a, b, objective, level);
        const bool is_exact = o.n > 0 && decide_exactly(t, a, b, objective, level);
        const size_t rank = first + (is_exact || level == told ? 0 : BESIDE) + (o.n == 0 ? NOTHING : 0);
        if (!is_exact || !said_exact) add_sentence(sentence(t, a, b, objective, is_exact ? 0 : level), rank, json, said);
        said_exact |= is_exact;
        if (o.n == 0) return; /* nor at tighter ones */
    }
}

/* "[0.03, 0.1]": what the levels above 0 allow. */
static void add_limits(const struct levels *l, struct text *json)
{
    text_add(json, "[");
    for (size_t level = 1; level < l->known; level++) {
        if (level > 1) text_add(json, ",");
        json_number(json, l->budget.limit[l->budget.named][budget_of(l, level)]);
    }
    text_add(json, "]");
}

static void add_contest(const struct report_contest *c, size_t contest, const char *sql, const struct contest_table *t,
                        struct text *json, struct said *said)
{
    text_add(json, json->s[json->n - 1] == '[' ? "{" : ",{");
    json_key(json, "of"), json_text(json, c->by ? c->by : "model");
    json_key(json, "sql"), json_text(json, sql);
    json_key(json, "limits"), add_limits(&t->levels, json);
    json_key(json, "unknown"), text_addf(json, "%llu", (unsigned long long)t->unknown);
    json_key(json, "sentences"), text_add(json, "[");
    for (size_t a = 0; a < t->contenders.n; a++)
        for (size_t b = a + 1; b < t->contenders.n; b++)
            for (size_t i = 0; i < t->run->goal.n; i++)
                if (strcmp(t->run->goal.columns[i], budget_metrics[t->levels.budget.named]) != 0) /* it is what is equal */
                    add_sentences(t, a, b, i, contest, json, said);
    text_add(json, "]}");
}

/* Add the contests between the values of a parameter that turns a technique of a model on: of the same machine. */
static size_t add_techniques(const struct report_run *r, const char *model, struct report_contest *ret, size_t n)
{
    const struct model *m = registry_find(model);
    for (const struct dse_technique *t = m ? m->desc->techniques : NULL; t && t->param; t++) {
        bool before = !name_list_have(&r->axes, t->param) || n == REPORT_CONTESTS_MAX;
        for (size_t i = 0; i < n && !before; i++) before = ret[i].by && strcmp(ret[i].by, t->param) == 0;
        if (!before) ret[n++] = (struct report_contest){t->param};
    }
    return n;
}

/* Contests there can be: between models, and between the techniques on one machine. */
static size_t find_contests(const struct report_run *r, struct report_contest ret[REPORT_CONTESTS_MAX])
{
    size_t n = 0;
    if (r->models.n > 1) ret[n++] = (struct report_contest){NULL};
    for (size_t m = 0; m < r->models.n; m++) n = add_techniques(r, r->models.s[m], ret, n);
    return n;
}

bool report_equal_json(const struct report_run *r, struct text *json, struct text *said, struct diags *diags)
{
    struct report_contest contests[REPORT_CONTESTS_MAX];
    size_t n = find_contests(r, contests);
    struct report_terms *terms = report_terms_new(r, diags);
    struct said sentences = {0};
    bool ok = terms != NULL;
    text_add(json, "[");
    for (size_t i = 0; ok && i < n; i++) {
        struct contest_table t = {.run = r, .levels = levels_of(r), .terms = contests[i].by ? NULL : terms};
        char *sql = contest_sql(r, &t.levels, &contests[i]);
        ok = read_table(&t, sql, diags);
        if (ok && t.contenders.n > 1) add_contest(&contests[i], i, sql, &t, json, &sentences);
        release_table(&t);
        free(sql);
    }
    text_add(json, "]");
    report_terms_free(terms);
    tell(&sentences, said);
    return ok;
}
