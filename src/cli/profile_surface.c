#include "cli/profile_surface.h"

#include "base/xalloc.h"
#include "cli/profile_kinds.h"
#include "workload/quality.h"
#include "workload/surface.h"

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

static struct surface_method *add(struct methods *m, enum surface_family family, const char *method, const char *settings)
{
    m->list = xrealloc(m->list, m->n + 1, sizeof *m->list);
    m->list[m->n] = (struct surface_method){.family = family, .method = method, .settings = xstrdup(settings)};
    return &m->list[m->n++];
}

static void add_policy(struct methods *m, const struct invocation *in, const struct profile_options *o,
                       const struct profile_settings *s, const struct eviction_policy *p, const char *settings)
{
    const bool lacks = eviction_policy_lacks(p, &s->eviction, false) != NULL; /* what it lacks without a prompt */
    const double prompt_share = lacks ? 1 : s->prompt_share;
    char *text = lacks
                     ? xasprintf("%s%sprompt_share=1 boundary=bulk", settings, *settings ? " " : "")
                     : xasprintf("%s%s", settings, s->prompt_share > 0 && strstr(settings, "prompt_share") ? " boundary=bulk" : "");
    struct surface_method *to = add(m, SURFACE_EVICTION, p->traits.name, text);
    free(text);
    to->policy = (struct retention_policy){s->eviction, prompt_share};
    to->policy.options.policy = p;
    to->policy.options.shared = !p->traits.per_head;
    to->steps = policy_steps(in, o, prompt_share);
}

static void add_other(struct methods *m, const struct profile_options *o, const struct profile_settings *s, size_t i,
                      const char *settings)
{
    struct surface_method *to = add(m, others[i].family, others[i].method, settings);
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

/* Every method that depends on one of the settings (bits of enum dse_setting), at these settings. */
static void add_methods(struct methods *m, const struct invocation *in, const struct profile_options *o,
                        const struct profile_settings *s, unsigned varied, const char *text)
{
    for (size_t i = 0; i < o->n_policies; i++) {
        const struct eviction_policy *p = o->policies[i];
        unsigned depends = p->traits.settings;
        if (depends >> DSE_SET_BOUNDARY & 1) depends |= 1u << DSE_SET_PROMPT_SHARE;
        if (eviction_policy_lacks(p, &s->eviction, true)) continue;
        const bool prompt_alone = eviction_policy_lacks(p, &s->eviction, false) != NULL;
        if (prompt_alone && (varied >> DSE_SET_PROMPT_SHARE & 1)) continue;
        if (depends & varied) add_policy(m, in, o, s, p, text);
    }
    for (size_t i = 0; i < OTHERS; i++)
        if (others[i].settings & varied) add_other(m, o, s, i, text);
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
    for (size_t i = 0; i < LISTS; i++) {
        at[i] = list[i] = usual[i];
        for (size_t k = 0; k < in->n_options; k++) {
            const char *text = in->options[k].argument;
            const size_t n = strlen(names[i]);
            if (strcmp(in->options[k].row->name, "vary") == 0 && strncmp(text, names[i], n) == 0 && text[n] == '=')
                at[i] = list[i] = text + n + 1;
        }
    }
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

/* One --vary: NAME=VALUE,VALUE,... The value that the base has is there already. */
static bool vary(struct methods *m, const struct invocation *in, const struct profile_options *o, const char *text)
{
    const size_t n = strcspn(text, "=");
    const int setting = setting_of(text, n);
    if (!text[n]) return usage_error(in, "--vary: \"%s\" is not NAME=VALUE,VALUE,...", text) == 0;
    if (setting == DSE_SETTINGS) {
        const char *names[DSE_SETTINGS];
        for (int i = 0; i < DSE_SETTINGS; i++) names[i] = dse_setting_name((enum dse_setting)i);
        char *name = xstrndup(text, n);
        usage_unknown(in, "--vary: quality does not depend on", name, names, DSE_SETTINGS, "");
        free(name);
        return false;
    }
    bool ok = true;
    if (setting == DSE_SET_KV_BITS || setting == DSE_SET_SCALES || setting == DSE_SET_GROUP) return true; /* add_formats */
    for (const char *p = text + n + 1; p && ok; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        struct profile_settings s = o->settings;
        char *word = xasprintf("%.*s=%.*s", (int)n, text, (int)strcspn(p, ","), p);
        ok = profile_read_setting(o, &s, in, word);
        if (ok && !are_same(o, &s, &o->settings)) add_methods(m, in, o, &s, 1u << setting, word);
        free(word);
    }
    return ok;
}

static int compare_methods(const void *a, const void *b)
{
    const struct surface_method *x = a, *y = b;
    return strcmp(x->method, y->method);
}

static bool make_methods(struct methods *m, const struct invocation *in, const struct profile_options *o)
{
    add_methods(m, in, o, &o->settings, ~(1u << DSE_SET_PROMPT_SHARE), "");
    bool ok = add_formats(m, in, o);
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "vary") == 0) ok = vary(m, in, o, in->options[i].argument) && ok;
    if (m->n) qsort(m->list, m->n, sizeof *m->list, compare_methods); /* each method's rows together, whichever varied */
    return ok;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static double as_written(double v)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%.6g", v);
    return strtod(buf, NULL);
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

static void add_row(struct text *t, const struct surface_row *r, size_t heads)
{
    text_addf(t, "%s,%zu,%.6g,%s,%s", r->method->method, r->context, r->ratio, r->method->settings,
              dse_quality_metric_names[r->metric]);
    for (size_t i = 0; i < DSE_QUALITY_STATS; i++) text_addf(t, ",%.*g", i == 0 ? 6 : 4, r->stat[i]);
    text_addf(t, ",%zu,measured\n", heads);
}

/* The rows as an entry, which chooses the rules. NULL with an error. */
static struct dse_quality *entry_of(const struct invocation *in, const struct profile_options *o, const struct surface_row *rows,
                                    size_t n)
{
    struct quality_point *points = xcalloc(n + 1, sizeof *points);
    char *asked = profile_options_text(o), *why = NULL;
    struct dse_measured *head = measured_new(asked, &why);
    for (size_t i = 0; i < n && head; i++) {
        struct quality_point *p = &points[i];
        *p = (struct quality_point){
            rows[i].method->method, (double)rows[i].context, rows[i].ratio, {0}, rows[i].metric, {0}, false, 0};
        for (int k = 0; k < DSE_SETTINGS; k++) p->setting[k] = measured_value(head, (enum dse_setting)k);
        free(measured_read_row(rows[i].method->settings, p->setting));
        p->stat[DSE_Q_MEAN] = as_written(rows[i].stat[DSE_Q_MEAN]);
    }
    struct row_fault fault = {0};
    struct dse_quality *q = NULL;
    if (head) q = quality_new(&(struct quality_from){"quality", "", "", head, points, n, NULL, 0, false}, &fault);
    if (why || fault.why) usage_error(in, "this would be no surface: %s", why ? why : fault.why);
    free(fault.why);
    free(why);
    free(asked);
    free(points);
    return q;
}

bool profile_surface(const struct invocation *in, const struct profile_options *o, const struct measure_plan *plan,
                     const double *weights, const char *head, struct text *ret)
{
    struct methods m = {0};
    struct surface_row *rows = NULL;
    size_t n = 0;
    bool ok = make_methods(&m, in, o) && measure_surface(plan, weights, m.list, m.n, o->ratios, o->n_ratios, &rows, &n, in->diags);
    struct dse_quality *q = ok ? entry_of(in, o, rows, n) : NULL;
    if (q) {
        add_comments(ret, head);
        add_rules(ret, q);
        text_add(ret, "method,context,ratio,settings,metric,mean,se,sd,p10,p50,p90,heads,kind\n");
        for (size_t i = 0; i < n; i++) add_row(ret, &rows[i], measure_heads(plan));
    }
    ok = q != NULL;
    quality_free(q);
    for (size_t i = 0; i < m.n; i++) free(m.list[i].settings);
    free(m.list);
    free(rows);
    return ok;
}
