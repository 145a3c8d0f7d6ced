#include "cli/eval_step.h"

#include "base/text.h"
#include "dse_config.h"

#include <dse/interconnect.h>
#include <dse/workload.h>
#include <math.h>
#include <string.h>

static const char *const kind_names[] = {
    [DSE_OP_LINEAR] = "linear",           [DSE_OP_SCORES] = "scores",         [DSE_OP_VALUES] = "values",
    [DSE_OP_ELEMENTWISE] = "elementwise", [DSE_OP_RECURRENCE] = "recurrence", [DSE_OP_COLLECTIVE] = "collective",
};

/* ---- members of an object: each but the first is behind a comma -------------------------------------------------------------- */

static void add_key(struct text *t, const char *key)
{
    const char last = t->n ? t->s[t->n - 1] : '{';
    if (last != '{' && last != '[') text_add(t, ", ");
    text_add_json(t, key);
    text_add(t, ": ");
}

static void add_text(struct text *t, const char *key, const char *s)
{
    add_key(t, key);
    if (s)
        text_add_json(t, s);
    else
        text_add(t, "null");
}

static void add_number(struct text *t, const char *key, double v)
{
    char buf[TEXT_NUMBER_MAX];
    add_key(t, key);
    text_add(t, isfinite(v) ? text_number(buf, v) : "null");
}

static void add_integer(struct text *t, const char *key, int64_t v)
{
    add_key(t, key);
    text_addf(t, "%lld", (long long)v);
}

static void add_fields(struct text *t, const char *key, const struct schema *s, const void *object)
{
    char buf[TEXT_NUMBER_MAX];
    add_key(t, key);
    text_add(t, "{");
    for (size_t i = 0; i < s->n; i++) {
        const struct field *f = &s->fields[i];
        const struct value v = field_get(f, object);
        if (f->without || (f->type == DSE_TYPE_REF && !v.ref))
            add_text(t, f->name, NULL);
        else if (f->type == DSE_TYPE_F64)
            add_number(t, f->name, v.f64);
        else if (f->type == DSE_TYPE_I64)
            add_integer(t, f->name, v.i64);
        else
            add_text(t, f->name, value_text(f, v, buf));
    }
    text_add(t, "}");
}

/* A list of objects: each begins a line, behind a comma but for the first. */
static void begin_list(struct text *t, const char *key)
{
    add_key(t, key);
    text_add(t, "[");
}

static void begin_item(struct text *t, int i)
{
    text_add(t, i ? ",\n  {" : "\n  {");
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

static void add_parts(struct text *t, const struct dse_breakdown *b)
{
    begin_list(t, "parts");
    for (int i = 0; i < b->n; i++) {
        const struct dse_part *p = &b->part[i];
        begin_item(t, i);
        add_text(t, "part", p->name);
        add_integer(t, "depth", p->depth);
        add_text(t, "bound", p->bound);
        add_number(t, "time_us", p->time_us);
        add_number(t, "dram_bytes", p->dram_bytes);
        add_number(t, "operations", p->ops);
        add_number(t, "energy_mj", p->energy_mj);
        text_add(t, "}");
    }
    text_add(t, "]");
}

/* The part that has the operator's time: that of its name; of attention, the part of all of it. NULL: none. */
static const struct dse_part *part_of(const struct dse_breakdown *b, const struct dse_op *op)
{
    const struct dse_part *found = NULL;
    for (int i = 0; i < b->n; i++) {
        if (strcmp(b->part[i].name, op->name) == 0) return &b->part[i];
        if (op->in_attention && strcmp(b->part[i].name, "attention") == 0) found = &b->part[i];
    }
    return found;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

/* The workload among the parameters; NULL in a model without one. */
static const struct dse_workload *workload_of(const struct dse_model *m, const void *params)
{
    for (const struct dse_param *row = m->params; row->type != DSE_TYPE_END; row++)
        if (row->type == DSE_TYPE_EMBED && row->embed == dse_workload_params)
            return (const struct dse_workload *)(const void *)((const char *)params + row->offset);
    return NULL;
}

static void add_operator(struct text *t, const struct dse_op *op, const struct dse_breakdown *b)
{
    const struct dse_part *part = part_of(b, op);
    const bool own = part && strcmp(part->name, op->name) == 0;
    add_text(t, "operator", op->name);
    add_text(t, "kind", kind_names[op->kind]);
    add_integer(t, "repeat", op->repeat);
    add_number(t, "copies", op->copies > 0 ? op->copies : 1);
    add_integer(t, "m", op->m);
    add_integer(t, "k", op->k);
    add_integer(t, "n", op->n);
    add_number(t, "weight_bytes", op->weight_bytes);
    add_number(t, "kv_read_bytes", op->kv_read_bytes);
    add_number(t, "kv_write_bytes", op->kv_write_bytes);
    add_number(t, "operations", op->ops);
    add_text(t, "collective", op->kind == DSE_OP_COLLECTIVE ? dse_collective_names[op->exchange.kind] : NULL);
    add_number(t, "exchanged_bytes", op->kind == DSE_OP_COLLECTIVE ? op->exchange.bytes * (double)op->repeat : 0);
    add_text(t, "part", part ? part->name : NULL);
    add_number(t, "time_us", own ? part->time_us : (double)NAN);
    add_number(t, "energy_mj", own ? part->energy_mj : (double)NAN);
}

static void add_operators(struct text *t, const struct dse_workload *w, const struct dse_breakdown *b)
{
    static struct dse_oplist list; /* too large for the stack */
    begin_list(t, "operators");
    if (w) dse_workload_expand(w, &list);
    for (int i = 0; w && i < list.n; i++) {
        begin_item(t, i);
        add_operator(t, &list.op[i], b);
        text_add(t, "}");
    }
    text_add(t, "]");
}

void eval_print_step(const struct eval_answer *a)
{
    const struct model *m = a->point.model;
    struct text t;
    text_init(&t);
    text_add(&t, "{");
    add_text(&t, "schema", "dse-step-1");
    add_text(&t, "dse", DSE_VERSION);
    add_text(&t, "commit", DSE_COMMIT);
    add_text(&t, "model", m->desc->name);
    add_integer(&t, "model_version", m->desc->version);
    add_text(&t, "fidelity", eval_fidelity(a));
    text_add(&t, ",\n \"per\": \"step\"");
    add_fields(&t, "parameters", &m->params, a->point.params);
    add_fields(&t, "metrics", &m->metrics, a->point.metrics);
    add_parts(&t, &a->breakdown);
    add_operators(&t, workload_of(m->desc, a->point.params), &a->breakdown);
    text_add(&t, "}\n");
    fputs(t.s, stdout);
    text_release(&t);
}
