#include "desc/schema.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct field *append(struct schema *s)
{
    s->fields = xrealloc(s->fields, s->n + 1, sizeof *s->fields);
    return &s->fields[s->n++];
}

static const struct dse_unit *find_unit(const struct dse_unit *list, const char *unit)
{
    for (; list && list->unit; list++)
        if (strcmp(list->unit, unit) == 0) return list;
    return NULL;
}

const struct dse_unit *unit_find(const struct dse_unit *own, const char *unit)
{
    const struct dse_unit *u = find_unit(dse_units, unit);
    return u ? u : find_unit(own, unit);
}

/* What the doc of a parameter begins with that not both fidelities read. */
static const char *const reader_words[] = {
    [READ_BY_BOTH] = "", [READ_BY_CLOSED_FORM] = "closed form: ", [READ_BY_EVENT_LEVEL] = "event level: "};

static bool says_event_level(const char *doc)
{
    const char *word = reader_words[READ_BY_EVENT_LEVEL];
    return strncmp(doc, word, strlen(word)) == 0;
}

void schema_read_by(struct schema *s, const char *const *names, enum field_reader reader)
{
    for (; names && *names; names++) {
        struct field *f = &s->fields[schema_index(s, schema_find(s, *names))];
        s->docs = xrealloc(s->docs, s->n_docs + 1, sizeof *s->docs);
        s->docs[s->n_docs] = xasprintf("%s%s", reader_words[reader], f->doc);
        f->doc = s->docs[s->n_docs++];
        f->reader = reader;
    }
}

static void add_params(struct schema *s, const struct dse_param *table, size_t base, unsigned flags)
{
    for (const struct dse_param *p = table; p->type != DSE_TYPE_END; p++) {
        if (p->type == DSE_TYPE_EMBED) {
            if (p->refuse) {
                s->refusals = xrealloc(s->refusals, s->n_refusals + 1, sizeof *s->refusals);
                s->refusals[s->n_refusals++] = (struct refusal){.offset = base + p->offset, .refuse = p->refuse};
            }
            add_params(s, p->embed, base + p->offset, flags | p->flags);
            continue;
        }
        *append(s) = (struct field){.type = p->type,
                                    .reader = says_event_level(p->doc) ? READ_BY_EVENT_LEVEL : READ_BY_BOTH,
                                    .name = p->name,
                                    .unit = p->unit,
                                    .doc = p->doc,
                                    .source = p->source,
                                    .offset = base + p->offset,
                                    .min = p->min,
                                    .max = p->max,
                                    .choices = p->choices_of ? p->choices_of() : p->choices,
                                    .kind = p->kind,
                                    .excludes = p->excludes,
                                    .alone = (p->flags & DSE_PARAM_ALONE) != 0,
                                    .may_be_auto = (p->flags & DSE_PARAM_AUTO) != 0,
                                    .optional = ((flags | p->flags) & DSE_PARAM_OPTIONAL) != 0,
                                    .together = (flags & DSE_PARAM_TOGETHER) != 0};
    }
}

void schema_init_params(struct schema *s, const struct dse_param *table)
{
    *s = (struct schema){0};
    add_params(s, table, 0, 0);
}

static bool is_listed(const char *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

static void add_metrics(struct schema *s, const struct dse_metric *table, size_t base, const char *const *without)
{
    for (const struct dse_metric *m = table; m->type != DSE_TYPE_END; m++) {
        if (m->type == DSE_TYPE_EMBED) {
            add_metrics(s, m->embed, base + m->offset, without);
            continue;
        }
        *append(s) = (struct field){.type = m->type,
                                    .name = m->name,
                                    .unit = m->unit,
                                    .doc = m->doc,
                                    .source = m->source,
                                    .offset = base + m->offset,
                                    .min = -(double)INFINITY,
                                    .max = (double)INFINITY,
                                    .choices = m->choices,
                                    .without = is_listed(without, m->name),
                                    .may_be_null = (m->flags & DSE_METRIC_MAY_BE_NULL) != 0,
                                    .better = m->better,
                                    .mean = m->mean};
    }
}

bool metrics_have(const struct dse_metric *table, const char *name)
{
    bool found = false;
    for (; table->type != DSE_TYPE_END; table++) found = found || (table->name && strcasecmp(table->name, name) == 0);
    return found;
}

void schema_init_metrics(struct schema *s, const struct dse_metric *table, const char *const *without)
{
    *s = (struct schema){0};
    add_metrics(s, table, 0, without);
    schema_own_units(s, NULL);
}

void schema_own_units(struct schema *s, const struct dse_unit *own)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct dse_unit *u = unit_find(own, s->fields[i].unit);
        if (u && s->fields[i].mean == DSE_MEAN_BY_UNIT) s->fields[i].mean = u->mean;
    }
}

void schema_release(struct schema *s)
{
    for (size_t i = 0; i < s->n_docs; i++) free(s->docs[i]);
    free(s->docs);
    free(s->fields);
    free(s->refusals);
    *s = (struct schema){0};
}

const char **schema_names(const struct schema *s)
{
    const char **names = xcalloc(s->n, sizeof *names);
    for (size_t i = 0; i < s->n; i++) names[i] = s->fields[i].name;
    return names;
}

const struct field *schema_find(const struct schema *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (text_equal(s->fields[i].name, name)) return &s->fields[i];
    return NULL;
}

const char *schema_refuse(const struct schema *s, const void *params)
{
    const char *why = NULL;
    for (size_t i = 0; i < s->n_refusals && !why; i++) why = s->refusals[i].refuse((const char *)params + s->refusals[i].offset);
    return why;
}

bool field_excludes(const struct field *f, const char *name)
{
    for (const char *const *other = f->excludes; other && *other; other++)
        if (strcmp(*other, name) == 0) return true;
    return false;
}

bool field_is_number(const struct field *f)
{
    return f && (f->type == DSE_TYPE_F64 || f->type == DSE_TYPE_I64);
}

size_t schema_index(const struct schema *s, const struct field *f)
{
    return (size_t)(f - s->fields);
}

struct value field_get(const struct field *f, const void *object)
{
    const char *at = (const char *)object + f->offset;
    struct value v = {0};
    switch (f->type) {
    case DSE_TYPE_F64: memcpy(&v.f64, at, sizeof v.f64); break;
    case DSE_TYPE_I64: memcpy(&v.i64, at, sizeof v.i64); break;
    case DSE_TYPE_ENUM: memcpy(&v.choice, at, sizeof v.choice); break;
    case DSE_TYPE_REF: memcpy(&v.ref, at, sizeof v.ref); break;
    case DSE_TYPE_PATTERN: v.pattern = (const struct dse_pattern *)(const void *)at; break;
    case DSE_TYPE_END:
    case DSE_TYPE_EMBED: assert(f->type != DSE_TYPE_END && f->type != DSE_TYPE_EMBED); /* a field has a value */
    }
    return v;
}

void field_set(const struct field *f, void *object, struct value v)
{
    char *at = (char *)object + f->offset;
    switch (f->type) {
    case DSE_TYPE_F64: memcpy(at, &v.f64, sizeof v.f64); break;
    case DSE_TYPE_I64: memcpy(at, &v.i64, sizeof v.i64); break;
    case DSE_TYPE_ENUM: memcpy(at, &v.choice, sizeof v.choice); break;
    case DSE_TYPE_REF: memcpy(at, &v.ref, sizeof v.ref); break;
    case DSE_TYPE_PATTERN: memcpy(at, v.pattern, sizeof *v.pattern); break;
    case DSE_TYPE_END:
    case DSE_TYPE_EMBED: assert(f->type != DSE_TYPE_END && f->type != DSE_TYPE_EMBED); /* a field has a value */
    }
}

bool field_same(const struct field *f, const void *a, const void *b)
{
    struct value va = field_get(f, a), vb = field_get(f, b);
    switch (f->type) {
    case DSE_TYPE_F64: return va.f64 == vb.f64 || (isnan(va.f64) && isnan(vb.f64));
    case DSE_TYPE_I64: return va.i64 == vb.i64;
    case DSE_TYPE_ENUM: return va.choice == vb.choice;
    case DSE_TYPE_PATTERN:
        return va.pattern->n == vb.pattern->n && memcmp(va.pattern->at, vb.pattern->at, (size_t)va.pattern->n) == 0;
    default: return va.ref == vb.ref;
    }
}

double field_number(const struct field *f, const void *object)
{
    double x;
    if (f->type == DSE_TYPE_I64) return (double)field_get(f, object).i64;
    if (f->type != DSE_TYPE_F64) return (double)NAN;
    memcpy(&x, (const char *)object + f->offset, sizeof x);
    return x;
}

const char *value_text(const struct field *f, struct value v, char buf[TEXT_NUMBER_MAX])
{
    switch (f->type) {
    case DSE_TYPE_F64: return isnan(v.f64) ? "auto" : text_number(buf, v.f64);
    case DSE_TYPE_I64: return text_number(buf, (double)v.i64);
    case DSE_TYPE_ENUM: return f->choices[v.choice];
    case DSE_TYPE_PATTERN:
        assert(f->type != DSE_TYPE_PATTERN); /* pattern_text */
        return "";
    default: return v.ref->name;
    }
}

void pattern_text(const struct field *f, const struct dse_pattern *p, struct text *ret)
{
    text_add(ret, "[");
    for (int64_t i = 0, next; i < p->n; i = next) {
        for (next = i + 1; next < p->n && p->at[next] == p->at[i]; next++)
            ;
        text_addf(ret, "%s\"%s", i ? ", " : "", f->choices[p->at[i]]);
        if (next - i > 1) text_addf(ret, "*%lld", (long long)(next - i));
        text_add(ret, "\"");
    }
    text_add(ret, "]");
}

bool field_check(const struct field *f, struct value v, struct srcloc loc, const char *source_text, const char *what,
                 struct diags *diags)
{
    double x;
    if (f->type == DSE_TYPE_F64)
        x = v.f64;
    else if (f->type == DSE_TYPE_I64)
        x = (double)v.i64;
    else
        return true;
    if (x >= f->min && x <= f->max) return true;
    char *allowed = field_allowed(f);
    char buf[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    const char *open = what ? " (" : "", *close = what ? ")" : "";
    if (isnan(x) || isinf(x))
        diags_input(diags, loc, source_text, allowed, "%s: %s%s%s%s is not a finite number", f->name, text_number(buf, x), open,
                    what ? what : "", close);
    else
        diags_input(diags, loc, source_text, allowed, "%s: %s%s%s%s is %s %s", f->name, text_number(buf, x), open, what ? what : "",
                    close, x < f->min ? "below the minimum" : "above the maximum",
                    text_number(limit, x < f->min ? f->min : f->max));
    free(allowed);
    return false;
}

char *field_allowed(const struct field *f)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "%s: %s", f->name, f->doc);
    char lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    switch (f->type) {
    case DSE_TYPE_F64:
    case DSE_TYPE_I64:
        text_addf(&t, "; %s to %s%s%s%s", text_number(lo, f->min), text_number(hi, f->max), *f->unit ? " " : "", f->unit,
                  f->type == DSE_TYPE_I64 ? ", a whole number" : "");
        break;
    case DSE_TYPE_ENUM:
    case DSE_TYPE_PATTERN:
        text_add(&t, f->type == DSE_TYPE_ENUM ? "; one of " : "; [\"NAME\", \"NAME*TIMES\", ...] of ");
        for (const char *const *c = f->choices; *c; c++) text_addf(&t, "%s\"%s\"", c == f->choices ? "" : ", ", *c);
        break;
    default: text_addf(&t, "; one of `dse list %s`", kind_plural(f->kind)); break;
    }
    return text_detach(&t);
}

static const struct {
    const char *singular, *plural;
} kinds[] = {
    [DSE_KIND_LLM] = {"llm", "llms"},
    [DSE_KIND_MEMORY] = {"memory", "memories"},
    [DSE_KIND_GPU] = {"gpu", "gpus"},
    [DSE_KIND_FPGA] = {"fpga", "fpgas"},
    [DSE_KIND_ENGINE] = {"engine", "engines"},
    [DSE_KIND_NPU] = {"npu", "npus"},
    [DSE_KIND_INTERCONNECT] = {"interconnect", "interconnects"},
    [DSE_KIND_TECHNOLOGY] = {"technology", "technologies"},
    [DSE_KIND_SRAM] = {"sram", "srams"},
    [DSE_KIND_PROFILE] = {"profile", "profiles"},
    [DSE_KIND_REQUESTS] = {"request mix", "requests"},
    [DSE_KIND_RETENTION] = {"retention", "retentions"},
    [DSE_KIND_RECORDING] = {"recording", "recordings"},
    [DSE_KIND_COSTS] = {"book of costs", "costs"},
    [DSE_KIND_QUALITY] = {"quality", "quality"},
    [DSE_KIND_TASK] = {"task", "tasks"},
    [DSE_KIND_EXPERT_LOADS] = {"profile of expert loads", "expert_loads"},
    [DSE_KIND_DRAFTS] = {"drafts", "drafts"},
    [DSE_KIND_FORMATS] = {"format", "formats"},
};
_Static_assert(sizeof kinds / sizeof *kinds == DSE_KIND_COUNT, "every catalog has its words");

const char *kind_plural(enum dse_kind kind)
{
    return kinds[kind].plural;
}

const char *kind_singular(enum dse_kind kind)
{
    return kinds[kind].singular;
}

const char *mean_name(enum dse_mean mean)
{
    static const char *const names[] = {[DSE_MEAN_BY_UNIT] = "",
                                        [DSE_MEAN_TIME] = "time",
                                        [DSE_MEAN_STEP] = "steps",
                                        [DSE_MEAN_TOKEN] = "tokens",
                                        [DSE_MEAN_ATTENTION] = "attention",
                                        [DSE_MEAN_ENERGY] = "energy",
                                        [DSE_MEAN_CHIP] = "energy of the chip",
                                        [DSE_MEAN_REQUEST] = "requests",
                                        [DSE_MEAN_LARGEST] = "the largest"};
    _Static_assert(sizeof names / sizeof *names == DSE_MEAN_COUNT, "every mean has its word");
    return names[mean];
}
