#include "claims/measured.h"

#include "claims/attention.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------------------------------------- */

static bool read_contexts(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    const struct toml_node *list = toml_expect(s->doc, a->table, "contexts", TOML_ARRAY, diags);
    if (!list) return !toml_get(a->table, "contexts");
    a->contexts = xcalloc(list->n + 1, sizeof *a->contexts);
    a->n_cases = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct toml_node *node = &list->children[i];
        if (node->type != TOML_INTEGER || node->integer < 1 || node->integer > CLAIMS_CONTEXT_MAX)
            return claims_error(s, toml_loc(s->doc, node), NULL, diags, "contexts: a whole number from 1 to %d is needed",
                                CLAIMS_CONTEXT_MAX);
        if (i && (size_t)node->integer <= a->contexts[i - 1])
            return claims_error(s, toml_loc(s->doc, node), NULL, diags, "contexts: %lld does not grow", (long long)node->integer);
        a->contexts[a->n_cases++] = (size_t)node->integer;
    }
    if (a->n_cases == 0) return claims_error(s, toml_loc(s->doc, list), NULL, diags, "contexts: an empty list");
    return true;
}

static struct attention *find_attention(const struct claim_set *s, const struct toml_node *node, struct diags *diags)
{
    if (node->type != TOML_STRING) {
        claims_error(s, toml_loc(s->doc, node), "the name of an [attention.NAME]", diags, "on: a name is needed, not %s",
                     toml_type_name(node->type));
        return NULL;
    }
    struct attention *a = claims_attention(s, node->string);
    if (a) return a;
    claims_unknown_key(s, node, toml_get(&s->doc->root, "attention"), "write [attention.NAME]", diags, "there is no attention");
    return NULL;
}

static bool read_on(const struct claim_set *s, struct measured *m, struct diags *diags)
{
    const struct toml_node *list = toml_expect(s->doc, m->answer.table, "on", TOML_ARRAY, diags);
    if (!list) return !toml_get(m->answer.table, "on");
    if (list->n == 0) return claims_error(s, toml_loc(s->doc, list), NULL, diags, "on: an empty list");
    m->on = xcalloc(list->n, sizeof(struct attention *));
    m->fitted = xcalloc(list->n, sizeof *m->fitted);
    for (size_t i = 0; i < list->n; i++) {
        struct attention *a = find_attention(s, &list->children[i], diags);
        for (size_t k = 0; k < m->n_on && a; k++)
            if (m->on[k] == a)
                return claims_error(s, toml_loc(s->doc, &list->children[i]), NULL, diags, "%s stands in the list already",
                                    a->public.name);
        if (!a) return false;
        m->on[m->n_on++] = a;
    }
    return true;
}

/* fitted = { synthetic = "why" }: of heads that stand in `on`. */
static bool read_fitted(const struct claim_set *s, struct measured *m, struct diags *diags)
{
    const struct toml_node *table = toml_expect(s->doc, m->answer.table, "fitted", TOML_TABLE, diags);
    if (!table) return !toml_get(m->answer.table, "fitted");
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        size_t k = 0;
        while (k < m->n_on && strcmp(m->on[k]->public.name, node->key) != 0) k++;
        if (k == m->n_on)
            ok = claims_error(s, toml_key_loc(s->doc, node), "one of the names of `on`", diags, "it is not measured on \"%s\"",
                              node->key);
        else if (node->type != TOML_STRING || !*node->string)
            ok = claims_error(s, toml_loc(s->doc, node), "in words", diags, "fitted: say what was fitted to the claim");
        else
            m->fitted[k] = node->string;
    }
    return ok;
}

static bool read_note(const struct claim_set *s, struct measured *m, struct diags *diags)
{
    m->note = "";
    return claims_read_string(s, m->answer.table, "note", &m->note, diags);
}

/* Every statistic of the value at all contexts, of some heads; false with the first error. */
static bool want_of(const struct claim_set *s, struct attention *on, const struct answer *a, struct diags *diags)
{
    const struct toml_node *contexts = toml_get(a->table, "contexts");
    for (size_t c = 0; c < a->n_cases; c++)
        for (size_t i = 0; i < a->n_names; i++) {
            if (statistic_run(a->names[i]->statistic) == RUN_NOTHING) continue;
            const struct toml_node *at = &contexts->children[c];
            if (!attention_want(s, on, a->names[i]->statistic, a->contexts[c], toml_loc(s->doc, a->value), toml_loc(s->doc, at),
                                diags))
                return false;
        }
    return true;
}

/* Ask all heads for every statistic that the value uses. */
static bool want_all(const struct claim_set *s, struct measured *m, struct diags *diags)
{
    const struct answer *a = &m->answer;
    bool heads = false, ok = true;
    for (size_t i = 0; i < a->n_names; i++) heads |= statistic_run(a->names[i]->statistic) != RUN_NOTHING;
    struct srcloc loc = toml_key_loc(s->doc, a->table);
    if (heads && (!m->n_on || !a->contexts))
        return claims_error(s, loc, m->n_on ? "contexts = [1024]" : "on = [\"NAME\"] of [attention.NAME]", diags, "measured %s",
                            m->n_on ? "at no context" : "on nothing");
    if (!heads && (m->n_on || a->contexts))
        return claims_error(s, loc, "leave out `on` and `contexts`", diags, "this value takes no heads");
    for (size_t k = 0; k < m->n_on; k++)
        if (m->on[k]->good) ok = want_of(s, m->on[k], a, diags) && ok;
    return ok;
}

static char *contexts_text(const struct answer *a)
{
    static const char *const means[] = {[MEAN_NONE] = "",
                                        [MEAN_GEOMETRIC] = "geometric mean of ",
                                        [MEAN_ARITHMETIC] = "mean of ",
                                        [MEAN_MIN] = "min of ",
                                        [MEAN_MAX] = "max of "};
    struct text t;
    text_init(&t);
    for (uint64_t i = 0; a->contexts && i < a->n_cases; i++)
        text_addf(&t, "%s%zu", i ? ", " : a->n_cases > 1 ? means[a->mean] : "", a->contexts[i]);
    return text_detach(&t);
}

static bool compile(struct claim_set *s, struct measured *m, const char *unit, struct diags *diags)
{
    struct answer *a = &m->answer;
    a->expr = claims_compile(s, a, NULL, diags);
    if (!a->expr) return false;
    m->at = contexts_text(a);
    bool ok = claims_check_unit(s, a, unit, diags);
    if (a->n_cases > 1 && a->mean == MEAN_NONE)
        ok = claims_error(s, toml_key_loc(s->doc, a->table), "mean = \"geometric\", \"arithmetic\", \"min\" or \"max\"", diags,
                          "%llu contexts and no mean", (unsigned long long)a->n_cases);
    return want_all(s, m, diags) && ok;
}

bool claims_read_measured(struct claim_set *s, const struct claim *c, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"value", "unit", "on", "contexts", "mean", "fitted", "note"};
    s->measured = xrealloc(s->measured, s->n_measured + 1, sizeof *s->measured);
    struct measured *m = &s->measured[s->n_measured++];
    *m = (struct measured){.answer = {.claim = c, .table = table, .measured = true, .n_cases = 1}};
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "[claims.\"ID\".measured] value = \"top1\"", diags,
                            "measured is not a table");
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    ok = claims_read_mean(s, &m->answer, diags) && ok;
    ok = read_contexts(s, &m->answer, diags) && ok;
    ok = read_on(s, m, diags) && ok;
    ok = read_fitted(s, m, diags) && ok;
    ok = read_note(s, m, diags) && ok;
    m->answer.value = toml_expect(s->doc, table, "value", TOML_STRING, diags);
    if (m->answer.value) return ok && compile(s, m, c->unit, diags);
    if (toml_get(table, "value")) return false;
    return claims_error(s, toml_key_loc(s->doc, table), "value = \"100 * top1\"", diags, "measured: there is no value");
}

void claims_free_measured(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_measured; i++) {
        struct measured *m = &s->measured[i];
        answer_release(&m->answer);
        free(m->on);
        free(m->at);
        free(m->fitted);
    }
    free(s->measured);
    free(s->measures);
}

bool claims_is_measured(const struct claim_set *s, const struct claim *c)
{
    for (size_t i = 0; i < s->n_measured; i++)
        if (s->measured[i].answer.claim == c) return true;
    return false;
}

/* ---- measuring --------------------------------------------------------------------------------------------------------------- */

bool claims_to_measure(const struct claim_set *s)
{
    return s->n_measured > 0;
}

/* Did a run fail that the value needs? If so, the error has been added. */
static bool has_failed(const struct answer *a)
{
    bool failed = false;
    for (size_t i = 0; i < a->n_names && a->on; i++) {
        enum run_kind kind = statistic_run(a->names[i]->statistic);
        failed |= kind != RUN_NOTHING && !a->on->runs[kind].values;
    }
    return failed;
}

/* A number on the k-th of its heads, or on none; false with an error. */
static bool add_measure(struct claim_set *s, struct measured *m, size_t k, struct diags *diags)
{
    struct answer *a = &m->answer;
    a->on = m->n_on ? m->on[k] : NULL;
    if (has_failed(a)) return false;
    double v = answer_value(s, a);
    if (isnan(v))
        return claims_error(s, toml_loc(s->doc, a->value), NULL, diags, "%s%s%s: %s", a->claim->id, a->on ? " on " : "",
                            a->on ? a->on->public.name : "", a->reason ? a->reason : "has no value");
    const char *fitted = m->n_on && m->fitted[k] ? m->fitted[k] : "";
    s->measures = xrealloc(s->measures, s->n_measures + 1, sizeof *s->measures);
    s->measures[s->n_measures++] = (struct claim_measure){.claim = (size_t)(a->claim - s->claims),
                                                          .on = a->on ? &a->on->public : NULL,
                                                          .at = m->at,
                                                          .value = v,
                                                          .error_percent = claim_error_percent(a->claim, v),
                                                          .verdict = *fitted ? CLAIM_FITTED : claim_compare(a->claim, v),
                                                          .fitted = fitted,
                                                          .note = m->note};
    return true;
}

bool claims_measure(struct claim_set *s, void (*progress)(void *user, double share), void *user, struct diags *diags)
{
    struct measure_progress told = {.tell = progress, .user = user};
    for (size_t i = 0; i < s->n_attention; i++) told.all += attention_work(s->attention[i]);
    bool ok = true;
    for (size_t i = 0; i < s->n_attention; i++) ok = attention_run(s->attention[i], &told, diags) && ok;
    s->n_measures = 0;
    for (size_t c = 0; c < s->n_claims; c++)
        for (size_t i = 0; i < s->n_measured; i++) {
            struct measured *m = &s->measured[i];
            if (m->answer.claim != &s->claims[c]) continue;
            for (size_t k = 0; k < (m->n_on ? m->n_on : 1); k++) ok = add_measure(s, m, k, diags) && ok;
        }
    return ok;
}

const struct claim_measure *claims_measures(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_measures;
    return s->measures;
}
