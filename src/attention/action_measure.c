/* dse trace measure: the quality of heads that fitted kinds make. */
#include "attention/action.h"
#include "attention/eviction_policies.h"
#include "attention/head_mixture.h"
#include "attention/kinds_file.h"
#include "attention/made_surface.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/csv_table.h"
#include "workload/measured.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ------------------------------------------------------------------------------------------------------------- */

/* Quality of made heads, at the methods, settings and ratios of a quality file: what `dse trace extend` takes slopes from. */

struct like {
    struct csv_table table;
    size_t method, ratio, settings; /* columns */
    struct dse_measured *head;
    int64_t layers; /* of the model, where the head says */
    struct surface_method *list;
    size_t n;
    double *ratios;
    size_t n_ratios;
};

/* ---- methods of the file -------------------------------------------------------------------------------------------------- */

static bool find_column(const struct csv_table *t, const char *name, size_t *ret, struct diags *diags)
{
    for (*ret = 0; *ret < t->n_columns; ++*ret)
        if (strcmp(t->columns[*ret], name) == 0) return true;
    return diags_input(diags, csv_table_header_loc(t), t->text, NULL, "no column %s: this is no quality file", name);
}

static void set_policy(struct surface_method *m, const struct eviction_policy *p, const double v[DSE_SETTINGS], int64_t layers)
{
    struct eviction_options *o = &m->policy.options;
    *o = eviction_defaults;
    m->family = SURFACE_EVICTION;
    m->policy.prompt_share = v[DSE_SET_PROMPT_SHARE];
    o->policy = p;
    o->shared = !p->traits->per_head;
    o->threshold_a = v[DSE_SET_THRESHOLD_A];
    o->threshold_b = v[DSE_SET_THRESHOLD_B];
    o->reserved_length = (int64_t)v[DSE_SET_RESERVED_LENGTH];
    o->recent_share = v[DSE_SET_RECENT_SHARE];
    o->sinks = (int64_t)v[DSE_SET_SINKS];
    o->observed = (int64_t)v[DSE_SET_OBSERVED];
    o->pool = (int64_t)v[DSE_SET_POOL];
    o->pooling = (int32_t)v[DSE_SET_POOLING];
    o->beta = v[DSE_SET_BETA];
    o->page = (int64_t)v[DSE_SET_PAGE];
    o->layers = layers;
}

static void set_lad(struct surface_method *m, const double v[DSE_SETTINGS])
{
    m->family = SURFACE_LAD;
    m->lad = locality_defaults;
    m->lad.collinear = v[DSE_SET_COLLINEAR];
    m->lad.recent = (size_t)v[DSE_SET_RECENT];
    m->lad.exact_scores = v[DSE_SET_SCORES] != 0;
    m->lad.intervals = (size_t)v[DSE_SET_INTERVALS];
    dse_pieces_edges(m->lad.edges, m->lad.intervals);
}

static void set_fixed(struct surface_method *m, const double v[DSE_SETTINGS])
{
    m->family = SURFACE_FIXED;
    m->fixed = single_pass_defaults;
    m->fixed.q_frac_bits = (int)v[DSE_SET_FRACTION_BITS];
    m->fixed.lut_bits = (int)v[DSE_SET_EXP_BITS];
    m->fixed.cut_shift = v[DSE_SET_ROUNDING] == DSE_TRUNCATE;
}

static void set_partial(struct surface_method *m, const double v[DSE_SETTINGS])
{
    enum { PART = 256 };
    m->family = SURFACE_PARTIAL;
    m->partial = (struct softmax_partial){{v[DSE_SET_PHI], v[DSE_SET_LOW], v[DSE_SET_HIGH]}, .part = PART, .held = SOFTMAX_FP32};
}

static void set_format(struct surface_method *m, const double v[DSE_SETTINGS])
{
    m->family = SURFACE_FORMAT;
    m->format = (struct kv_format){.kv_bits = (int64_t)v[DSE_SET_KV_BITS],
                                   .scales = (int32_t)v[DSE_SET_SCALES],
                                   .group = (int64_t)v[DSE_SET_GROUP],
                                   .residual = (int64_t)v[DSE_SET_RESIDUAL]};
}

/* The method of a row. False: dse cannot carry it out. */
static bool set_method(struct surface_method *m, const char *name, const double v[DSE_SETTINGS], int64_t layers)
{
    static const struct {
        const char *name;
        void (*set)(struct surface_method *m, const double v[DSE_SETTINGS]);
    } others[] = {{"lad", set_lad}, {"fixed-point", set_fixed}, {"partial-softmax", set_partial}, {"kv-format", set_format}};
    const struct eviction_policy *p = eviction_policy_find(name);
    if (p) {
        set_policy(m, p, v, layers);
        return !eviction_policy_lacks(p, &m->policy.options, m->policy.prompt_share > 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].name, name) != 0) continue;
        others[i].set(m, v);
        return true;
    }
    return false;
}

/* Do the row's settings differ from the head's in more than how the prompt ends? */
static bool varies(const struct like *l, const double v[DSE_SETTINGS])
{
    for (int i = 0; i < DSE_SETTINGS; i++)
        if (i != DSE_SET_PROMPT_SHARE && i != DSE_SET_BOUNDARY && v[i] != measured_value(l->head, (enum dse_setting)i)) return true;
    return false;
}

static bool add_method(struct like *l, const struct csv_row *row, struct diags *diags)
{
    char **cells = row->cells;
    double v[DSE_SETTINGS];
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->list[i].method, cells[l->method]) == 0 && strcmp(l->list[i].settings, cells[l->settings]) == 0) return true;
    for (int i = 0; i < DSE_SETTINGS; i++) v[i] = measured_value(l->head, (enum dse_setting)i);
    char *why = measured_read_row(cells[l->settings], v);
    if (why) {
        diags_input(diags, csv_table_cell_loc(&l->table, (size_t)(row - l->table.rows), l->settings), l->table.text, NULL, "%s",
                    why);
        free(why);
        return false;
    }
    struct surface_method m = {.method = cells[l->method], .settings = cells[l->settings]};
    if (v[DSE_SET_LAYER] >= 0 || !set_method(&m, cells[l->method], v, l->layers)) return true;
    if (m.family != SURFACE_FORMAT && v[DSE_SET_KV_BITS] < measured_otherwise(DSE_SET_KV_BITS)) return true;
    if (!made_surface_sampled(&m) && varies(l, v)) return true;
    l->list = xrealloc(l->list, l->n + 1, sizeof *l->list);
    l->list[l->n++] = m;
    return true;
}

static bool add_ratio(struct like *l, size_t row, struct diags *diags)
{
    double ratio;
    if (!csv_table_number(&l->table, row, l->ratio, true, &ratio, diags)) return false;
    if (isnan(ratio) || ratio >= 1) return true;
    if (ratio <= 0)
        return diags_input(diags, csv_table_cell_loc(&l->table, row, l->ratio), l->table.text, NULL, "ratio: not above 0");
    for (size_t i = 0; i < l->n_ratios; i++)
        if (l->ratios[i] == ratio) return true;
    l->ratios = xrealloc(l->ratios, l->n_ratios + 1, sizeof *l->ratios);
    l->ratios[l->n_ratios++] = ratio;
    return true;
}

static bool like_read(struct like *l, const char *path, struct diags *diags)
{
    char *why = NULL;
    if (!csv_table_read_any(&l->table, path, diags) || !csv_table_check_names(&l->table, diags)) return false;
    if (!find_column(&l->table, "method", &l->method, diags) || !find_column(&l->table, "ratio", &l->ratio, diags) ||
        !find_column(&l->table, "settings", &l->settings, diags))
        return false;
    l->head = measured_new(l->table.settings, &why);
    if (!l->head) {
        diags_input(diags, l->table.settings_loc, l->table.text, NULL, "%s", why);
        free(why);
        return false;
    }
    const char *layers = l->table.settings ? strstr(l->table.settings, " layers=") : NULL;
    if (layers) l->layers = strtol(layers + strlen(" layers="), NULL, 10);
    bool ok = true;
    for (size_t i = 0; i < l->table.n_rows && ok; i++) ok = add_method(l, &l->table.rows[i], diags) && add_ratio(l, i, diags);
    if (l->n_ratios) gsl_sort(l->ratios, 1, l->n_ratios);
    if (ok && l->n == 0)
        ok = diags_input(diags, csv_table_header_loc(&l->table), l->table.text, NULL,
                         "no row is of a method that dse can carry out");
    return ok;
}

static void like_release(struct like *l)
{
    free(l->list);
    free(l->ratios);
    if (l->head) measured_free(l->head);
    csv_table_release(&l->table);
}

/* ---- the file -------------------------------------------------------------------------------------------------------------- */

static bool write_rows(const struct like *l, const struct head_mixture *m, const struct surface_row *rows, size_t n, const char *to,
                       struct diags *diags)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "# source: heads made by generators that were fitted to %s\n", m->source);
    if (l->table.settings) text_addf(&t, "# settings:%s\n", l->table.settings);
    text_add(&t, "method,context,ratio,settings,metric,mean,se,sd,p10,p50,p90,heads,kind\n");
    for (size_t i = 0; i < n; i++) {
        const struct surface_row *r = &rows[i];
        text_addf(&t, "%s,%zu,%.6g,%s,%s", r->method->method, r->context, r->ratio, r->method->settings,
                  dse_quality_metric_names[r->metric]);
        for (int k = 0; k < DSE_QUALITY_STATS; k++) text_addf(&t, ",%.*g", k == DSE_Q_MEAN ? 6 : 4, r->stat[k]);
        text_addf(&t, ",%zu,extended\n", m->n);
    }
    const bool ok = file_write(to, t.s, t.n, diags);
    text_release(&t);
    return ok;
}

/* Measure the heads of a mixture (attention/made_surface.h) by every method of the quality file `like`, at its ratios, and write a
 * quality file `to`. Methods that follow every step are measured at contexts up to `followed`, and at the file's own settings
 * alone, with prompts or without; rows of single layers and methods of other programs are left out. False with errors. */
static bool made_write_file(const char *like, const struct head_mixture *m, const size_t *contexts, size_t n_contexts,
                            size_t followed, const char *to, struct diags *diags)
{
    struct like l = {0};
    struct surface_row *rows = NULL;
    size_t n = 0;
    bool ok = like_read(&l, like, diags);
    if (ok) {
        const struct made_plan plan = {m, contexts, n_contexts, followed, l.ratios, l.n_ratios};
        ok = made_surface(&plan, l.list, l.n, &rows, &n, diags) && write_rows(&l, m, rows, n, to, diags);
    }
    free(rows);
    like_release(&l);
    return ok;
}

/* ---- the action ----------------------------------------------------------------------------------------------------------- */

enum { FOLLOWED = 4096, POSITIONS_MAX = 262144 };

bool trace_read_contexts(const struct invocation *in, const char *otherwise, int64_t most, size_t *ret, size_t *ret_n)
{
    const char *s = option_get(in, "contexts");
    if (!s) s = otherwise;
    *ret_n = 0;
    for (const char *p = s; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int64_t v = 0;
        char *word = xstrndup(p, strcspn(p, ","));
        bool ok = *ret_n < TRACE_CONTEXTS_MAX && text_parse_i64(word, &v) && v >= 1 && v <= most &&
                  (*ret_n == 0 || (size_t)v > ret[*ret_n - 1]);
        free(word);
        if (!ok) {
            usage_error(in, "--contexts: \"%s\" is not a growing list of at most %d whole numbers up to %lld", s,
                        TRACE_CONTEXTS_MAX, (long long)most);
            return false;
        }
        ret[(*ret_n)++] = (size_t)v;
    }
    return true;
}

int trace_measure_run(const struct invocation *in)
{
    size_t contexts[TRACE_CONTEXTS_MAX], n;
    const char *like = option_get(in, "like"), *to = option_get(in, "output");
    if (!like) return usage_error(in, "--like is missing: the quality file whose methods are measured");
    if (!to) return usage_error(in, "--output is missing; trace measure needs it");
    if (!trace_read_contexts(in, "512,1024,2048,4096,16384,131072", POSITIONS_MAX, contexts, &n)) return 2;
    const int64_t followed = option_integer(in, "followed", 0, POSITIONS_MAX, FOLLOWED);
    struct head_mixture m = {0};
    if (in->diags->errors == 0 && kinds_read_file(in->operands[1], &m, in->diags))
        made_write_file(like, &m, contexts, n, (size_t)followed, to, in->diags);
    head_mixture_release(&m);
    return 0;
}
