#include "attention/profile_surface.h"

#include "attention/profile_kinds.h"
#include "attention/profile_means.h"
#include "attention/surface.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "quality/quality.h"

#include <dse/eviction.h>
#include <stdlib.h>
#include <string.h>

/* The settings that other methods than policies depend on. */
static const struct {
    const char *method;
    enum surface_family family;
    unsigned settings;
} others[] = {
    {"lad", SURFACE_LAD, 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT | 1u << DSE_SET_COLLINEAR | 1u << DSE_SET_SCORES},
    {"fixed-point", SURFACE_FIXED, 1u << DSE_SET_FRACTION_BITS | 1u << DSE_SET_EXP_BITS | 1u << DSE_SET_ROUNDING},
    {"partial-softmax", SURFACE_PARTIAL, 1u << DSE_SET_PHI | 1u << DSE_SET_LOW | 1u << DSE_SET_HIGH},
};
enum { OTHERS = sizeof others / sizeof *others, POLICY_STEPS = 0 };

struct methods {
    struct surface_method *list;
    size_t n;
};

/* Steps of a policy: the second half of each context, unless they are given or a prompt comes before them. */
static size_t policy_steps(const struct invocation *in, const struct profile_options *o, double prompt_share)
{
    return option_has(in, "steps") || prompt_share > 0 ? (size_t)o->steps : POLICY_STEPS;
}

/* Is the method there at these settings already? Several --vary may ask for the same. */
static bool has(const struct methods *m, const char *method, const char *settings)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].method, method) == 0 && strcmp(m->list[i].settings, settings) == 0) return true;
    return false;
}

static struct surface_method *add(struct methods *m, enum surface_family family, const char *method, const char *settings)
{
    m->list = xrealloc(m->list, m->n + 1, sizeof *m->list);
    m->list[m->n] = (struct surface_method){.family = family, .method = method, .settings = xstrdup(settings)};
    return &m->list[m->n++];
}

static void add_policy(struct methods *m, const struct invocation *in, const struct profile_options *o,
                       const struct profile_settings *s, const struct eviction_policy *p, bool base, const char *settings)
{
    const bool lacks = eviction_policy_lacks(p, &s->eviction, false) != NULL; /* what it lacks without a prompt */
    const double prompt_share = lacks ? 1 : s->prompt_share;
    char *text = lacks
                     ? xasprintf("%s%sprompt_share=1 boundary=bulk", settings, *settings ? " " : "")
                     : xasprintf("%s%s", settings, s->prompt_share > 0 && strstr(settings, "prompt_share") ? " boundary=bulk" : "");
    struct surface_method *to = has(m, p->traits->name, text) ? NULL : add(m, SURFACE_EVICTION, p->traits->name, text);
    free(text);
    if (!to) return;
    to->base = base;
    to->policy = (struct retention_policy){s->eviction, prompt_share};
    to->policy.options.policy = p;
    to->policy.options.shared = !p->traits->per_head;
    to->steps = policy_steps(in, o, prompt_share);
}

static void add_other(struct methods *m, const struct profile_options *o, const struct profile_settings *s, size_t i, bool base,
                      const char *settings)
{
    if (has(m, others[i].method, settings)) return;
    struct surface_method *to = add(m, others[i].family, others[i].method, settings);
    to->base = base;
    to->steps = (size_t)o->steps;
    to->lad = locality_defaults;
    to->lad.collinear = s->collinear;
    to->lad.recent = (size_t)s->recent;
    to->lad.exact_scores = s->scores != 0;
    to->lad.intervals = (size_t)s->intervals;
    dse_pieces_edges(to->lad.edges, to->lad.intervals);
    to->fixed = (struct single_pass){.q_frac_bits = (int)s->fraction_bits,
                                     .lut_bits = (int)s->exp_bits,
                                     .truncate = s->products == DSE_TRUNCATE,
                                     .cut_shift = s->rounding == DSE_TRUNCATE};
    to->partial = (struct softmax_partial){{s->phi, s->low, s->high}, (size_t)s->part, s->held};
}

/* Every method that depends on all of the settings (bits of enum dse_setting) that differ from those of `o`; none: every method. */
static void add_methods(struct methods *m, const struct invocation *in, const struct profile_options *o,
                        const struct profile_settings *s, unsigned varied, const char *text)
{
    for (size_t i = 0; i < o->n_policies; i++) {
        const struct eviction_policy *p = o->policies[i];
        unsigned depends = p->traits->settings;
        if (depends >> DSE_SET_BOUNDARY & 1) depends |= 1u << DSE_SET_PROMPT_SHARE;
        if (eviction_policy_lacks(p, &s->eviction, true)) continue;
        const bool prompt_alone = eviction_policy_lacks(p, &s->eviction, false) != NULL;
        if (prompt_alone && (varied >> DSE_SET_PROMPT_SHARE & 1)) continue;
        if ((depends & varied) == varied) add_policy(m, in, o, s, p, !varied, text);
    }
    for (size_t i = 0; i < OTHERS; i++)
        if ((others[i].settings & varied) == varied) add_other(m, o, s, i, !varied, text);
}

/* What --vary NAME=LIST says, the last of them; else what is usual. */
static const char *varied_values(const struct invocation *in, const char *name, const char *usual)
{
    const char *list = usual;
    for (size_t i = 0; i < in->n_options; i++) {
        const char *text = in->options[i].argument;
        const size_t n = strlen(name);
        if (strcmp(in->options[i].row->name, "vary") == 0 && strncmp(text, name, n) == 0 && text[n] == '=') list = text + n + 1;
    }
    return list;
}

/* Formats of keys and values: every combination of --vary kv_bits, scales and group, or of what is usual. */
static bool add_formats(struct methods *m, const struct invocation *in, const struct profile_options *o)
{
    static const char *const names[] = {"kv_bits", "scales", "group"}, *const usual[] = {"2,4,8", "token,kivi", "32"};
    enum { LISTS = 3 };
    struct schema schema;
    const char *list[LISTS], *at[LISTS];
    bool ok = true;
    schema_init_params(&schema, kv_format_params);
    for (size_t i = 0; i < LISTS; i++) at[i] = list[i] = varied_values(in, names[i], usual[i]);
    for (size_t i = 0; i < LISTS && ok;) {
        struct kv_format f = kv_format_defaults;
        struct text t;
        text_init(&t);
        for (i = 0; i < LISTS && ok; i++) {
            char *word = xasprintf("%s=%.*s", names[i], (int)strcspn(at[i], ","), at[i]);
            ok = profile_read_into(&schema, &f, in, word);
            text_addf(&t, "%s%s", i ? " " : "", word);
            free(word);
        }
        if (f.scales == DSE_SCALES_TOKEN) f.residual = 0;
        text_addf(&t, " residual=%lld", (long long)f.residual);
        if (ok) {
            struct surface_method *to = add(m, SURFACE_FORMAT, "kv-format", t.s);
            to->format = f;
            to->steps = (size_t)o->steps;
        }
        text_release(&t);
        for (i = 0; i < LISTS; i++) { /* the next combination */
            const char *next = strchr(at[i], ',');
            at[i] = next ? next + 1 : list[i];
            if (next) break;
        }
    }
    schema_release(&schema);
    return ok;
}

/* Policies that machines have, at the settings of the head, of caches in each of --kv-bits: groups of 32 with scales by token; and
 * as KIVI's where no position leaves by itself. */
static bool add_rounded(struct methods *m, const struct invocation *in)
{
    enum { GROUP = 32 };
    const char *list = option_get(in, "kv-bits");
    const size_t n = m->n;
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int64_t bits;
        char *word = xstrndup(p, strcspn(p, ","));
        const bool ok = text_parse_i64(word, &bits) && bits >= 1 && bits <= 8;
        if (!ok) usage_error(in, "--kv-bits: \"%s\" is not a number of bits from 1 to 8", word);
        free(word);
        if (!ok) return false;
        for (size_t i = 0; i < 2 * n; i++) {
            const struct surface_method from = m->list[i / 2];
            const struct kv_format f = {.kv_bits = bits,
                                        .scales = i % 2 ? DSE_SCALES_KIVI : DSE_SCALES_TOKEN,
                                        .group = GROUP,
                                        .residual = i % 2 ? kv_format_defaults.residual : 0};
            const bool plain = !*from.settings || strcmp(from.settings, "prompt_share=1 boundary=bulk") == 0;
            const struct eviction_policy *policy = from.policy.options.policy;
            if (from.family != SURFACE_EVICTION || !eviction_rows[policy - eviction_policies].machine || !plain) continue;
            const struct dse_eviction *traits = policy->traits;
            if (i % 2 && !traits->selects && !traits->reads_part) continue;
            char *text = xasprintf("%s%skv_bits=%lld scales=%s group=%d residual=%lld", from.settings, *from.settings ? " " : "",
                                   (long long)bits, dse_kv_scales_names[f.scales], GROUP, (long long)f.residual);
            struct surface_method *to = add(m, SURFACE_EVICTION, from.method, text);
            free(text);
            to->policy = from.policy;
            to->policy.options.format = f;
            to->steps = from.steps;
        }
    }
    return true;
}

/* ---- settings that vary -------------------------------------------------------------------------------------------------- */

static int setting_of(const char *name, size_t n)
{
    int i = 0;
    while (i < DSE_SETTINGS &&
           (strlen(dse_setting_name((enum dse_setting)i)) != n || strncmp(dse_setting_name((enum dse_setting)i), name, n) != 0))
        i++;
    return i;
}

static bool are_same(const struct profile_options *o, const struct profile_settings *a, const struct profile_settings *b)
{
    bool same = true;
    for (size_t i = 0; i < o->schema.n; i++) {
        const struct field *f = &o->schema.fields[i];
        char x[TEXT_NUMBER_MAX], y[TEXT_NUMBER_MAX];
        same &= strcmp(value_text(f, field_get(f, a), x), value_text(f, field_get(f, b), y)) == 0;
    }
    return same;
}

/* A setting of a --vary, and where it is among its values: 0 is the one that -s or the default says. */
struct factor {
    const char *text;
    size_t n, at, values; /* n: bytes of the name */
    enum dse_setting setting;
};
enum { FACTORS_MAX = 3 };

static bool read_factor(const struct invocation *in, const char *text, size_t whole, struct factor *ret)
{
    const size_t n = strcspn(text, "=*");
    char *word = xstrndup(text, whole);
    const int setting = setting_of(text, n);
    bool ok = false;
    *ret = (struct factor){.text = text, .n = n, .values = 1, .setting = (enum dse_setting)setting};
    for (size_t i = n; i < whole; i++) ret->values += text[i] == ',';
    if (text[n] != '=') {
        usage_error(in, "--vary: \"%s\" is not NAME=VALUE,VALUE,...", word);
    } else if (setting == DSE_SETTINGS) {
        const char *names[DSE_SETTINGS];
        for (int i = 0; i < DSE_SETTINGS; i++) names[i] = dse_setting_name((enum dse_setting)i);
        word[n] = '\0';
        usage_unknown(in, "--vary: quality does not depend on", word, names, DSE_SETTINGS, "");
    } else {
        ok = true;
    }
    free(word);
    return ok;
}

static bool is_of_formats(enum dse_setting s)
{
    return s == DSE_SET_KV_BITS || s == DSE_SET_SCALES || s == DSE_SET_GROUP;
}

/* A --vary: settings between *, or one. The number of them; 0 with an error. */
static size_t read_factors(const struct invocation *in, const char *text, struct factor *ret)
{
    size_t n = 0;
    for (const char *p = text; p; p = strchr(p, '*') ? strchr(p, '*') + 1 : NULL) {
        if (n == FACTORS_MAX) return usage_error(in, "--vary: at most %d settings vary together", (int)FACTORS_MAX) == 0;
        if (!read_factor(in, p, strcspn(p, "*"), &ret[n])) return 0;
        for (size_t i = 0; i < n; i++)
            if (ret[i].setting == ret[n].setting)
                return usage_error(in, "--vary: %.*s varies twice", (int)ret[n].n, ret[n].text) == 0;
        n++;
    }
    for (size_t i = 0; i < n && n > 1; i++)
        if (is_of_formats(ret[i].setting))
            return usage_error(in, "--vary: every combination of kv_bits, scales and group is measured anyway; leave out the *") ==
                   0;
    return n;
}

/* The methods at one combination of the factors. */
static bool add_combination(struct methods *m, const struct invocation *in, const struct profile_options *o, const struct factor *f,
                            size_t n)
{
    struct profile_settings s = o->settings;
    struct text words;
    unsigned varied = 0;
    bool ok = true;
    text_init(&words);
    for (size_t i = 0; i < n && ok; i++) {
        if (f[i].at == 0) continue;
        const struct profile_settings before = s;
        const char *value = f[i].text + f[i].n + 1;
        for (size_t k = 1; k < f[i].at; k++) value = strchr(value, ',') + 1;
        char *word = xasprintf("%.*s=%.*s", (int)f[i].n, f[i].text, (int)strcspn(value, ",*"), value);
        ok = profile_read_setting(o, &s, in, word);
        if (ok && !are_same(o, &s, &before)) { /* the value that is set is there already */
            text_addf(&words, "%s%s", words.n ? " " : "", word);
            varied |= 1u << f[i].setting;
        }
        free(word);
    }
    if (ok && varied) add_methods(m, in, o, &s, varied, words.s);
    text_release(&words);
    return ok;
}

/* One --vary: NAME=VALUE,VALUE,..., or several with * between them: every combination, with the values that are set among them. */
static bool vary(struct methods *m, const struct invocation *in, const struct profile_options *o, const char *text)
{
    struct factor f[FACTORS_MAX];
    const size_t n = read_factors(in, text, f);
    if (n == 0) return false;
    if (is_of_formats(f[0].setting)) return true; /* add_formats */
    for (size_t i = 0; i < n;) {
        if (!add_combination(m, in, o, f, n)) return false;
        for (i = 0; i < n && ++f[i].at > f[i].values; i++) f[i].at = 0;
    }
    return true;
}

static int compare_methods(const void *a, const void *b)
{
    const struct surface_method *x = a, *y = b;
    return strcmp(x->method, y->method);
}

static bool make_methods(struct methods *m, const struct invocation *in, const struct profile_options *o)
{
    add_methods(m, in, o, &o->settings, 0, "");
    bool ok = add_formats(m, in, o);
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "vary") == 0) ok = vary(m, in, o, in->options[i].argument) && ok;
    ok = add_rounded(m, in) && ok;
    if (m->n) qsort(m->list, m->n, sizeof *m->list, compare_methods); /* each method's rows together, whichever varied */
    return ok;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static double as_written(double v)
{
    return text_round_digits(v, 6);
}

static void add_comments(struct text *t, const char *lines)
{
    for (const char *s = lines; *s;) {
        size_t n = strcspn(s, "\n");
        text_addf(t, "# %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

static void add_rules(struct text *t, const struct dse_quality *q)
{
    const struct dse_quality_surface *s;
    for (size_t i = 0; (s = dse_quality_surface_at(q, i)) != NULL; i++)
        for (int m = 0; m < DSE_QUALITY_METRICS; m++) {
            const struct dse_quality_rule *r = dse_surface_rule(s, (enum dse_quality_metric)m);
            if (!r) continue;
            char *rule = quality_rule_text(r);
            text_addf(t, "# rule: %s %s %s\n", dse_surface_method(s), dse_quality_metric_names[m], rule);
            free(rule);
        }
}

static void add_row(struct text *t, const struct surface_row *r, const char *settings)
{
    text_addf(t, "%s,%zu,%.6g,%s,%s", r->method->method, r->context, r->ratio, settings, dse_quality_metric_names[r->metric]);
    for (size_t i = 0; i < DSE_QUALITY_STATS; i++) text_addf(t, ",%.*g", i == 0 ? 6 : 4, r->stat[i]);
    text_addf(t, ",%zu,measured\n", r->heads);
}

/* "intervals=16 layer=3"; the caller frees it. */
static char *settings_of(const struct surface_row *r)
{
    const char *settings = r->method->settings;
    return r->layer < 0 ? xstrdup(settings) : xasprintf("%s%slayer=%d", settings, *settings ? " " : "", (int)r->layer);
}

/* The rows as an entry, which chooses the rules. NULL with an error. */
static struct dse_quality *entry_of(const struct invocation *in, const struct profile_options *o, const struct surface_result *r)
{
    struct quality_point *points = xcalloc(r->n + 1, sizeof *points);
    char *asked = profile_options_text(o), *why = NULL;
    struct dse_measured *head = measured_new(asked, &why);
    for (size_t i = 0; i < r->n && head; i++) {
        const struct surface_row *row = &r->rows[i];
        struct quality_point *p = &points[i];
        *p = (struct quality_point){row->method->method, (double)row->context, row->ratio, {0}, row->metric, {0}, false, 0};
        for (int k = 0; k < DSE_SETTINGS; k++) p->setting[k] = measured_value(head, (enum dse_setting)k);
        char *settings = settings_of(row);
        free(measured_read_row(settings, p->setting));
        free(settings);
        p->stat[DSE_Q_MEAN] = as_written(row->stat[DSE_Q_MEAN]);
    }
    struct row_fault fault = {0};
    struct dse_quality *q = NULL;
    if (head) q = quality_new(&(struct quality_from){"quality", "", "", head, points, r->n, NULL, 0, false}, &fault);
    if (why || fault.why) usage_error(in, "this would be no surface: %s", why ? why : fault.why);
    free(fault.why);
    free(why);
    free(asked);
    free(points);
    return q;
}

/* How much each layer counts, and how well what is known of all heads is met. */
static void add_weights(struct text *t, const struct surface_plan *p, const struct surface_result *r)
{
    const size_t heads = measure_heads(p->plan);
    const struct surface_match *m = &r->match;
    text_add(t, "# Layers count");
    for (size_t h = 0, first = 1; h < heads; h++) {
        double sum = 0;
        bool seen = p->heads[h].layer < 0;
        for (size_t i = 0; i < heads; i++) {
            if (p->heads[i].layer != p->heads[h].layer) continue;
            seen |= i < h;
            sum += r->weights[i];
        }
        if (seen) continue;
        text_addf(t, "%s %d: %.4g", first ? "" : ",", (int)p->heads[h].layer, sum);
        first = 0;
    }
    text_add(t, ".\n");
    if (p->n_known)
        text_addf(
            t,
            "# Heads are weighed to meet %zu means over all heads within some %g %%: off by %.3g %% (at most %.3g %%), before by "
            "%.3g %% (%.3g %%); they weigh as %.3g heads, before as %.3g.\n",
            m->known, 100 * SURFACE_TOLERANCE, 100 * m->mean_after, 100 * m->worst_after, 100 * m->mean_before,
            100 * m->worst_before, m->heads_after, m->heads_before);
}

static void add_file(struct text *t, const struct surface_plan *p, const struct surface_result *r, const struct dse_quality *q,
                     const char *head)
{
    add_comments(t, head);
    if (p->heads[0].layer >= 0) add_weights(t, p, r);
    add_rules(t, q);
    text_add(t, "method,context,ratio,settings,metric,mean,se,sd,p10,p50,p90,heads,kind\n");
    for (size_t i = 0; i < r->n; i++) {
        char *settings = settings_of(&r->rows[i]);
        add_row(t, &r->rows[i], settings);
        free(settings);
    }
}

bool profile_surface(const struct invocation *in, const struct profile_options *o, struct surface_plan *p, const char *head,
                     struct text *ret)
{
    struct methods m = {0};
    struct surface_result r = {0};
    struct profile_means means = {0};
    const char *known = option_get(in, "means");
    bool ok = make_methods(&m, in, o);
    if (known) ok = profile_means_read(&means, known, in->diags) && ok;
    p->methods = m.list;
    p->n_methods = m.n;
    p->ratios = o->ratios;
    p->n_ratios = o->n_ratios;
    p->known = means.known;
    p->n_known = means.n;
    p->ends = o->ends;
    p->by_layer = option_has(in, "by-layer");
    ok = ok && measure_surface(p, &r, in->diags);
    struct dse_quality *q = ok ? entry_of(in, o, &r) : NULL;
    if (q) add_file(ret, p, &r, q, head);
    ok = q != NULL;
    quality_free(q);
    surface_result_release(&r);
    if (known) profile_means_release(&means);
    for (size_t i = 0; i < m.n; i++) free(m.list[i].settings);
    free(m.list);
    return ok;
}
