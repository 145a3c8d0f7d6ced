#include "attention/profile_kinds.h"

#include "attention/surface.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT_FIRST = 64, STEPS = 32, PART = 256, ENDS_MAX = 64 };

static bool takes_option(const struct profile_kind *k, const char *option)
{
    for (const char *const *name = k->options; name && *name; name++)
        if (strcmp(*name, option) == 0) return true;
    return false;
}

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

/* Numbers between commas, growing, from `min` to `max`. Without the option: false and no error. */
static bool read_numbers(const struct invocation *in, const char *option, bool whole, double min, double max, double **ret,
                         size_t *ret_n)
{
    const char *s = option_get(in, option);
    for (const char *p = s; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char *word = xstrndup(p, strcspn(p, ","));
        double v;
        bool ok = text_parse_f64(word, &v) && v >= min && v <= max && (!whole || v == floor(v));
        char low[TEXT_NUMBER_MAX], high[TEXT_NUMBER_MAX];
        if (!ok)
            usage_error(in, "--%s: \"%s\" is not a%s number from %s to %s", option, word, whole ? " whole" : "",
                        text_number(low, min), text_number(high, max));
        else if (*ret_n && v <= (*ret)[*ret_n - 1])
            ok = usage_error(in, "--%s: %s is not above the number before it; the list must grow", option, word) == 0;
        free(word);
        if (!ok) return false;
        *ret = xrealloc(*ret, *ret_n + 1, sizeof **ret);
        (*ret)[(*ret_n)++] = v;
    }
    return s != NULL;
}

static void add_context(struct profile_options *o, size_t context)
{
    o->contexts = xrealloc(o->contexts, o->n_contexts + 1, sizeof *o->contexts);
    o->contexts[o->n_contexts++] = context;
}

static void read_contexts(struct profile_options *o, const struct invocation *in, size_t positions)
{
    double *numbers = NULL;
    size_t n = 0;
    if (read_numbers(in, "contexts", true, 2, 1 << 24, &numbers, &n))
        for (size_t i = 0; i < n; i++) add_context(o, (size_t)numbers[i]);
    else
        for (size_t c = CONTEXT_FIRST; surface_end(c, o->ends - 1, o->ends) <= positions; c *= 2) add_context(o, c);
    free(numbers);
}

static void read_ratios(struct profile_options *o, const struct invocation *in)
{
    static const double usual[] = {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8};
    if (read_numbers(in, "ratios", false, 1e-6, 0.999999, &o->ratios, &o->n_ratios) || o->n_ratios) return;
    o->n_ratios = sizeof usual / sizeof *usual;
    o->ratios = xcalloc(o->n_ratios, sizeof *o->ratios);
    memcpy(o->ratios, usual, sizeof usual);
}

static bool add_policy(struct profile_options *o, const struct invocation *in, const char *word)
{
    const char *const *names = eviction_policy_names();
    const struct eviction_policy *policy = eviction_policy_find(word);
    for (size_t i = 0; i < o->n_policies; i++)
        if (o->policies[i] == policy) return usage_error(in, "--policies: \"%s\" stands in the list twice", word) == 0;
    if (policy) {
        o->policies = xrealloc(o->policies, o->n_policies + 1, sizeof *o->policies);
        o->policies[o->n_policies++] = policy;
        return true;
    }
    size_t n = 0;
    while (names[n]) n++;
    char *joined = text_join(names, ", "), *all = xasprintf(": %s", joined);
    usage_unknown(in, "--policies: there is no", word, names, n, all);
    free(all);
    free(joined);
    return false;
}

/* Read --edges, which replaces the setting `intervals`. */
static void read_edges(struct profile_options *o, const struct invocation *in, bool intervals_given)
{
    enum { LOWEST = -1000 };
    if (!option_has(in, "edges") || !takes_option(o->kind, "edges")) return;
    if (intervals_given) {
        usage_error(in, "--edges sets the number of intervals; leave out -s intervals");
    } else if (read_numbers(in, "edges", false, LOWEST, -1e-6, &o->edges, &o->n_edges)) {
        if (o->n_edges + 1 < INTERVALS_MIN || o->n_edges + 1 > LOCALITY_INTERVALS_MAX)
            usage_error(in, "--edges: with %zu below 0 there are %zu intervals; %d to %d are possible", o->n_edges, o->n_edges + 1,
                        (int)INTERVALS_MIN, (int)LOCALITY_INTERVALS_MAX);
        o->settings.intervals = (int64_t)o->n_edges + 1;
    }
}

/* Steps of a prompt lose nothing: none of them is measured. */
static void check_prompt(const struct profile_options *o, const struct invocation *in)
{
    for (size_t i = 0; i < o->n_contexts; i++) {
        size_t context = o->contexts[i], steps = o->steps ? (size_t)o->steps : (context + 1) / 2;
        size_t prompt = (size_t)(o->settings.prompt_share * (double)context);
        if (steps > context || prompt + steps <= context || o->settings.prompt_share == 1) continue;
        usage_error(
            in,
            "prompt_share: %zu of %zu positions are the prompt, but the last %zu steps are measured; make it smaller, or --steps",
            prompt, context, steps);
        return;
    }
}

static void read_policies(struct profile_options *o, const struct invocation *in)
{
    const char *s = option_get(in, "policies");
    bool ok = true;
    for (const char *p = s; p && ok; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char *word = xstrndup(p, strcspn(p, ","));
        ok = add_policy(o, in, word);
        free(word);
    }
    bool prompt = o->settings.prompt_share > 0 || o->kind->is_surface; /* which gives a prompt to those that need one */
    for (size_t i = 0; i < o->n_policies; i++) {
        const char *lacks = eviction_policy_lacks(o->policies[i], &o->settings.eviction, prompt);
        if (lacks) usage_error(in, "--policies: %s: %s", o->policies[i]->traits->name, lacks);
    }
    for (const struct eviction_policy *p = eviction_policies; p->traits && !s; p++)
        if (!eviction_policy_lacks(p, &o->settings.eviction, prompt)) add_policy(o, in, p->traits->name);
}

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

static bool set(const struct field *f, void *object, const struct invocation *in, const char *text)
{
    struct value v = {0};
    bool ok = false;
    if (f->type == DSE_TYPE_F64) {
        ok = text_parse_f64(text, &v.f64) && v.f64 >= f->min && v.f64 <= f->max;
    } else if (f->type == DSE_TYPE_I64) {
        ok = text_parse_i64(text, &v.i64) && (double)v.i64 >= f->min && (double)v.i64 <= f->max;
    } else {
        while (f->choices[v.choice] && strcmp(f->choices[v.choice], text) != 0) v.choice++;
        ok = f->choices[v.choice] != NULL;
    }
    if (ok) {
        field_set(f, object, v);
        return true;
    }
    char *allowed = field_allowed(f);
    usage_error(in, "%s: \"%s\" is not allowed (%s)", f->name, text, allowed);
    free(allowed);
    return false;
}

/* Read one NAME=VALUE, a setting of `what`. */
static bool read_setting(const struct schema *schema, void *object, const struct invocation *in, const char *setting,
                         const char *what)
{
    size_t n = strcspn(setting, "=");
    char *name = xstrndup(setting, n);
    const struct field *f = schema_find(schema, name);
    bool ok = setting[n] == '=' && f && set(f, object, in, setting + n + 1);
    if (setting[n] != '=') {
        usage_error(in, "\"%s\" is not NAME=VALUE", setting);
    } else if (!f) {
        struct text all;
        text_init(&all);
        for (size_t i = 0; i < schema->n; i++) text_addf(&all, "%s%s", i ? ", " : "", schema->fields[i].name);
        usage_error(in, "%s has no setting \"%s\": %s", what, name, all.s);
        text_release(&all);
    }
    free(name);
    return ok;
}

bool profile_read_setting(const struct profile_options *o, struct profile_settings *s, const struct invocation *in,
                          const char *setting)
{
    return profile_read_into(&o->schema, s, in, setting);
}

bool profile_read_into(const struct schema *schema, void *object, const struct invocation *in, const char *setting)
{
    return read_setting(schema, object, in, setting, "--vary");
}

static bool read_kind(struct profile_options *o, const struct invocation *in)
{
    const char *kind = option_get(in, "kind");
    o->kind = kind ? profile_kind_find(kind) : NULL;
    for (const struct profile_kind *k = profile_kinds; k->name && !kind && option_has(in, "kept"); k++)
        if (k->of_sets) o->kind = k;
    if (o->kind) return true;
    char *all = text_join(profile_kind_names(), ", ");
    if (kind)
        usage_error(in, "--kind: there is no \"%s\": %s", kind, all);
    else
        usage_error(in, "--kind is needed: %s", all);
    free(all);
    return false;
}

/* Refuse options that only other kinds have. */
static void check_options(const struct profile_options *o, const struct invocation *in)
{
    for (const struct option_row *row = in->command->options; row->name; row++) {
        struct text of;
        text_init(&of);
        for (const struct profile_kind *k = profile_kinds; k->name; k++)
            if (takes_option(k, row->name)) text_addf(&of, "%s%s", of.n ? " and " : "", k->name);
        if (of.n && option_has(in, row->name) && !takes_option(o->kind, row->name))
            usage_error(in, "--%s is only for --kind %s", row->name, of.s);
        text_release(&of);
    }
}

bool profile_read_generator(struct generator *g, size_t *ret_heads, const struct invocation *in)
{
    enum { HEADS = 8, HEADS_MAX = 4096 };
    struct schema schema;
    schema_init_params(&schema, generator_params);
    *g = generator_defaults;
    bool ok = true;
    for (size_t i = 0; i < in->n_operands; i++) ok = read_setting(&schema, g, in, in->operands[i], "the generator") && ok;
    *ret_heads = (size_t)option_integer(in, "heads", 1, HEADS_MAX, HEADS);
    schema_release(&schema);
    return ok && in->diags->errors == 0;
}

char *profile_generator_text(const struct generator *g)
{
    struct schema schema;
    struct text t;
    char buf[TEXT_NUMBER_MAX];
    schema_init_params(&schema, generator_params);
    text_init(&t);
    for (size_t i = 0; i < schema.n; i++)
        text_addf(&t, "%s%s=%s", i ? " " : "", schema.fields[i].name,
                  value_text(&schema.fields[i], field_get(&schema.fields[i], g), buf));
    schema_release(&schema);
    return text_detach(&t);
}

/* --set, each over the settings before. True: intervals are among them. */
static bool read_settings(struct profile_options *o, const struct invocation *in)
{
    bool intervals = false;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) {
            intervals |= strncmp(in->options[i].argument, "intervals=", strlen("intervals=")) == 0;
            char *what = xasprintf("--kind %s", o->kind->name);
            read_setting(&o->schema, &o->settings, in, in->options[i].argument, what);
            free(what);
        }
    return intervals;
}

bool profile_options_read(struct profile_options *o, const struct invocation *in, size_t positions)
{
    *o = (struct profile_options){0};
    size_t before = in->diags->errors;
    if (!read_kind(o, in)) return false;
    schema_init_params(&o->schema, o->kind->params);
    o->settings = (struct profile_settings){.collinear = locality_defaults.collinear,
                                            .recent = (int64_t)locality_defaults.recent,
                                            .intervals = (int64_t)locality_defaults.intervals,
                                            .eviction = eviction_defaults,
                                            .phi = softmax_range_llama2_7b.phi,
                                            .low = softmax_range_llama2_7b.low,
                                            .high = softmax_range_llama2_7b.high,
                                            .format = kv_format_defaults,
                                            .part = PART,
                                            .fraction_bits = single_pass_defaults.q_frac_bits,
                                            .exp_bits = single_pass_defaults.lut_bits,
                                            .rounding = single_pass_defaults.cut_shift ? DSE_TRUNCATE : DSE_ROUND,
                                            .products = single_pass_defaults.truncate ? DSE_TRUNCATE : DSE_ROUND};
    o->settings.eviction.decides = EVICTION_BY_GROUP;
    const char *steps = option_get(in, "steps");
    o->steps_given = steps != NULL;
    o->steps = steps && strcmp(steps, "half") == 0 ? 0 : option_integer(in, "steps", 1, 1 << 24, STEPS);
    if (o->kind->every_step && o->steps == 0)
        usage_error(in, "--steps half: a recording has the same number of steps at every context; give this number");
    const bool intervals_given = read_settings(o, in);
    check_options(o, in);
    o->ends = (size_t)option_integer(in, "ends", 1, ENDS_MAX, 1);
    read_contexts(o, in, positions);
    if (takes_option(o->kind, "ratios")) read_ratios(o, in);
    if (takes_option(o->kind, "policies")) read_policies(o, in);
    read_edges(o, in, intervals_given);
    check_prompt(o, in);
    return in->diags->errors == before;
}

void profile_options_release(struct profile_options *o)
{
    schema_release(&o->schema);
    free(o->contexts);
    free(o->ratios);
    free(o->policies);
    free(o->edges);
}

char *profile_options_text(const struct profile_options *o)
{
    struct text t;
    text_init(&t);
    char buf[TEXT_NUMBER_MAX];
    text_addf(&t, "kind=%s steps=", o->kind->name);
    if (o->steps)
        text_addf(&t, "%lld", (long long)o->steps);
    else
        text_add(&t, "half");
    if (o->ends > 1) text_addf(&t, " ends=%zu", o->ends);
    for (size_t i = 0; i < o->schema.n; i++) {
        const struct field *f = &o->schema.fields[i];
        text_addf(&t, " %s=%s", f->name, value_text(f, field_get(f, &o->settings), buf));
    }
    for (size_t i = 0; i < o->n_edges; i++) text_addf(&t, "%s%s", i ? "," : " edges=", text_number(buf, o->edges[i]));
    return text_detach(&t);
}
