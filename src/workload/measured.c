#include "workload/measured.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "workload/eviction_traits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_BITS = 16 };

const char *const dse_boundary_names[] = {[DSE_TOKEN] = "token", [DSE_BULK] = "bulk", NULL};
static const char *const scores_names[] = {"centers", "exact", NULL};
const char *const dse_rounding_names[] = {[DSE_ROUND] = "round", [DSE_TRUNCATE] = "truncate", NULL};
const char *const dse_kv_scales_names[] = {
    [DSE_SCALES_TOKEN] = "token", [DSE_SCALES_CHANNEL] = "channel", [DSE_SCALES_KIVI] = "kivi", NULL};

static const struct {
    const char *name;
    double otherwise;           /* when the head does not say */
    const char *const *choices; /* NULL: a number */
} settings[DSE_SETTINGS] = {
    [DSE_SET_KV_BITS] = {"kv_bits", 16, NULL},
    [DSE_SET_INTERVALS] = {"intervals", 5, NULL},
    [DSE_SET_RECENT] = {"recent", 16, NULL},
    [DSE_SET_SCORES] = {"scores", 0, scores_names},
    [DSE_SET_BOUNDARY] = {"boundary", DSE_TOKEN, dse_boundary_names},
    [DSE_SET_PROMPT_SHARE] = {"prompt_share", 0, NULL},
    [DSE_SET_THRESHOLD_A] = {"threshold_a", 1, NULL},
    [DSE_SET_THRESHOLD_B] = {"threshold_b", 0.2, NULL},
    [DSE_SET_RESERVED_LENGTH] = {"reserved_length", 32, NULL},
    [DSE_SET_COLLINEAR] = {"collinear", 0.98, NULL},
    [DSE_SET_RECENT_SHARE] = {"recent_share", 0.5, NULL},
    [DSE_SET_SINKS] = {"sinks", 4, NULL},
    [DSE_SET_OBSERVED] = {"observed", 32, NULL},
    [DSE_SET_POOL] = {"pool", 7, NULL},
    [DSE_SET_PAGE] = {"page", 16, NULL},
    [DSE_SET_BETA] = {"beta", 20, NULL},
    [DSE_SET_PHI] = {"phi", 0, NULL},
    [DSE_SET_LOW] = {"low", -16.8, NULL},
    [DSE_SET_HIGH] = {"high", 6.5, NULL},
    [DSE_SET_EXP_BITS] = {"exp_bits", 5, NULL},
    [DSE_SET_FRACTION_BITS] = {"fraction_bits", 17, NULL},
    [DSE_SET_ROUNDING] = {"rounding", DSE_ROUND, dse_rounding_names},
    [DSE_SET_SCALES] = {"scales", DSE_SCALES_TOKEN, dse_kv_scales_names},
    [DSE_SET_GROUP] = {"group", 64, NULL},
    [DSE_SET_RESIDUAL] = {"residual", 0, NULL},
    [DSE_SET_POOLING] = {"pooling", EVICTION_POOL_MAX, eviction_pooling_names},
    [DSE_SET_LAYER] = {"layer", -1, NULL},
};

/* Those before it stood in every text that hashes are made of before there were others. */
enum { SETTINGS_ALWAYS_TOLD = DSE_SET_COLLINEAR };

/* What a head says besides: of how was measured, but no model sets it. */
static const char *const others[] = {"llm",  "data", "kind",     "steps",  "ends",    "edges", "weights",
                                     "part", "held", "products", "layers", "decides", "seed"};
enum { OTHERS = sizeof others / sizeof *others, NAMES_MAX = DSE_SETTINGS + OTHERS };

struct dse_measured {
    char *llm;       /* "": the head names none */
    double from, to; /* data; 0 and infinity: all of it */
    double value[DSE_SETTINGS];
    char *unlike[DSE_SETTINGS], *beyond;
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* Everything that a head may say; ret holds NAMES_MAX. What is compared comes first. */
static size_t known_names(const char **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < DSE_SETTINGS; i++) ret[n++] = settings[i].name;
    for (size_t i = 0; i < OTHERS; i++) ret[n++] = others[i];
    return n;
}

static char *unknown_name(const char *name)
{
    const char *names[NAMES_MAX];
    const char *near = text_nearest(name, names, known_names(names));
    return near ? xasprintf("there is no setting \"%s\"; did you mean %s?", name, near)
                : xasprintf("there is no setting \"%s\"", name);
}

/* A value as the row of the table says; why not, or NULL. */
static char *read_value(size_t i, const char *text, double *ret)
{
    const char *const *choices = settings[i].choices;
    for (size_t k = 0; choices && choices[k]; k++) {
        if (strcmp(choices[k], text) != 0) continue;
        *ret = (double)k;
        return NULL;
    }
    if (choices) {
        char *all = text_join(choices, " or "), *why = xasprintf("%s: there is no \"%s\"; %s", settings[i].name, text, all);
        free(all);
        return why;
    }
    if (text_parse_f64(text, ret) && isfinite(*ret)) return NULL;
    return xasprintf("%s: \"%s\" is not a finite number", settings[i].name, text);
}

char *measured_read_row(const char *text, double value[DSE_SETTINGS])
{
    bool said[DSE_SETTINGS] = {false};
    char *copy = xstrdup(text), *rest, *why = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word && !why; word = strtok_r(NULL, " \t", &rest)) {
        size_t i = 0, n = strcspn(word, "=");
        while (i < DSE_SETTINGS && (strlen(settings[i].name) != n || strncmp(settings[i].name, word, n) != 0)) i++;
        if (!word[n])
            why = xasprintf("\"%s\" is not NAME=VALUE", word);
        else if (i == DSE_SETTINGS)
            why = xasprintf("\"%.*s\" is no setting of a row", (int)n, word);
        else
            why = said[i] ? xasprintf("%s stands there twice", settings[i].name) : read_value(i, word + n + 1, &value[i]);
        if (i < DSE_SETTINGS) said[i] = true;
    }
    free(copy);
    return why;
}

/* Read the range of a value: "512..4096". */
static char *read_data(struct dse_measured *m, const char *text)
{
    const char *dots = strstr(text, "..");
    char *from = xstrndup(text, dots ? (size_t)(dots - text) : strlen(text));
    bool ok = dots && text_parse_f64(from, &m->from) && text_parse_f64(dots + 2, &m->to) && m->from > 0 && m->from <= m->to &&
              isfinite(m->to);
    free(from);
    return ok ? NULL : xasprintf("data: \"%s\" is not a range of contexts as 512..4096 is", text);
}

const char *dse_setting_name(enum dse_setting s)
{
    return settings[s].name;
}

double measured_otherwise(enum dse_setting s)
{
    return settings[s].otherwise;
}

double measured_value(const struct dse_measured *m, enum dse_setting s)
{
    return m->value[s];
}

/* Read one NAME=VALUE. Returns why it is none, or NULL. */
static char *read_setting(struct dse_measured *m, const char *word, bool *said)
{
    size_t n = strcspn(word, "=");
    if (!word[n] || n == 0) return xasprintf("\"%s\" is not NAME=VALUE", word);
    char *name = xstrndup(word, n), *why = NULL;
    const char *value = word + n + 1;
    const char *names[NAMES_MAX];
    size_t i = 0, n_names = known_names(names);
    while (i < n_names && strcmp(names[i], name) != 0) i++;
    if (i < DSE_SETTINGS) {
        why = said[i] ? xasprintf("%s stands there twice", name) : read_value(i, value, &m->value[i]);
        said[i] = true;
    } else if (i == n_names) {
        why = unknown_name(name);
    } else if (strcmp(name, "llm") == 0) {
        free(m->llm);
        m->llm = xstrdup(value);
    } else if (strcmp(name, "data") == 0) {
        why = read_data(m, value);
    }
    free(name);
    return why;
}

struct dse_measured *measured_new(const char *text, char **ret_why)
{
    struct dse_measured *m = xcalloc(1, sizeof *m);
    bool said[DSE_SETTINGS] = {false};
    m->llm = xstrdup("");
    m->to = (double)INFINITY;
    for (size_t i = 0; i < DSE_SETTINGS; i++) m->value[i] = settings[i].otherwise;
    char *copy = xstrdup(text ? text : ""), *rest, *why = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word && !why; word = strtok_r(NULL, " \t", &rest))
        why = read_setting(m, word, said);
    free(copy);
    if (!said[DSE_SET_BOUNDARY] && m->value[DSE_SET_PROMPT_SHARE] > 0) m->value[DSE_SET_BOUNDARY] = DSE_BULK;
    if (!why) return m;
    measured_free(m);
    *ret_why = why;
    return NULL;
}

struct dse_measured *measured_copy(const struct dse_measured *m)
{
    struct dse_measured *copy = xcalloc(1, sizeof *copy);
    *copy = (struct dse_measured){.llm = xstrdup(m->llm), .from = m->from, .to = m->to};
    memcpy(copy->value, m->value, sizeof copy->value);
    return copy;
}

static void drop_sentences(struct dse_measured *m)
{
    for (size_t i = 0; i < DSE_SETTINGS; i++) free(m->unlike[i]);
    free(m->beyond);
}

void measured_free(struct dse_measured *m)
{
    if (!m) return;
    drop_sentences(m);
    free(m->llm);
    free(m);
}

/* ---- sentences ----------------------------------------------------------------------------------------------------------- */

const char *measured_setting_text(enum dse_setting s, double value, char buf[TEXT_NUMBER_MAX])
{
    return settings[s].choices ? settings[s].choices[(size_t)value] : text_number(buf, value);
}

static const char *setting_text(const struct dse_measured *m, size_t i, char buf[TEXT_NUMBER_MAX])
{
    return measured_setting_text((enum dse_setting)i, m->value[i], buf);
}

void measured_name(struct dse_measured *m, const char *kind, const char *name)
{
    char buf[TEXT_NUMBER_MAX], to[TEXT_NUMBER_MAX];
    drop_sentences(m);
    for (size_t i = 0; i < DSE_SETTINGS; i++)
        m->unlike[i] = xasprintf("%s %s was measured only with %s = %s", kind, name, settings[i].name, setting_text(m, i, buf));
    m->beyond = xasprintf("%s %s has data for %s to %s positions", kind, name, text_number(buf, m->from), text_number(to, m->to));
}

char *measured_text(const struct dse_measured *m)
{
    struct text t;
    char buf[TEXT_NUMBER_MAX];
    text_init(&t);
    text_addf(&t, "llm=%s data=%s..", m->llm, text_number(buf, m->from));
    text_add(&t, text_number(buf, m->to));
    for (size_t i = 0; i < DSE_SETTINGS; i++)
        if (i < SETTINGS_ALWAYS_TOLD || m->value[i] != settings[i].otherwise)
            text_addf(&t, " %s=%s", settings[i].name, setting_text(m, i, buf));
    return text_detach(&t);
}

const char *measured_beyond(const struct dse_measured *m, double context)
{
    return context < m->from || context > m->to ? m->beyond : NULL;
}

const char *dse_measured_unlike(const struct dse_measured *m, enum dse_setting s, double value)
{
    double measured = m->value[s];
    if (s == DSE_SET_KV_BITS) { /* fp16 and more lose next to nothing */
        measured = fmin(measured, FULL_BITS);
        value = fmin(value, FULL_BITS);
    }
    return measured == value ? NULL : m->unlike[s];
}

bool dse_measured_on(const struct dse_measured *m, const struct dse_llm *llm)
{
    return llm->entry.name && strcmp(m->llm, llm->entry.name) == 0;
}
