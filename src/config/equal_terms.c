#include "config/equal_terms.h"

#include <math.h>
#include <string.h>

/* The node of a technology; NaN: there is none of that name. */
static double node_of(const struct catalog *c, const char *value)
{
    const struct dse_technology *t = (const struct dse_technology *)(const void *)catalog_find(c, DSE_KIND_TECHNOLOGY, value);
    return t ? t->node_nm : (double)NAN;
}

/* The kind of a memory, which fields of that enumeration have as their choice. */
static double kind_of(const struct catalog *c, const char *value)
{
    const struct dse_memory *m = (const struct dse_memory *)(const void *)catalog_find(c, DSE_KIND_MEMORY, value);
    return m ? m->make.kind : (double)NAN;
}

const struct equal_term equal_terms[] = {
    {.name = "technology",
     .what = "process node",
     .doc = "the node that chips are made in; of a chip that is sold (gpu, fpga, npu) it is the entry's",
     .params = {"technology"},
     .entry_has = "is made in",
     .entry_field = "node_nm",
     .number = node_of,
     .without = (double)NAN},
    {.name = "memory",
     .what = "DRAM",
     .doc = "the memory of the catalog, and with it bandwidth, energy, capacity and the price of a GB; a GPU takes its own kind",
     .params = {"memory"},
     .entry_has = "comes with",
     .entry_field = "kind",
     .number = kind_of,
     .without = (double)NAN},
    {.name = "capacity_gib",
     .what = "capacity of the DRAM [GiB]",
     .doc = "the room for weights and caches of a device",
     .params = {"capacity_gib"},
     .entry_has = "comes with",
     .entry_field = "capacity_gib",
     .without = (double)NAN},
    {.name = "bandwidth_gbs",
     .what = "peak bandwidth of the DRAM [GB/s]",
     .doc = "of a device",
     .params = {"bandwidth_gbs"},
     .entry_has = "comes with",
     .entry_field = "bandwidth_gbs",
     .without = (double)NAN},
    {.name = "dram_pj_per_bit",
     .what = "energy of the DRAM [pJ/bit]",
     .doc = "a bit between DRAM and chip",
     .params = {"dram_pj_per_bit"},
     .entry_has = "comes with",
     .entry_field = "dram_pj_per_bit",
     .without = (double)NAN},
    {.name = "dram_efficiency",
     .what = "share of the DRAM's peak that is sustained",
     .doc = "of long streams; of a GPU both attention_efficiency and linear_efficiency",
     .params = {"dram_efficiency", "attention_efficiency", "linear_efficiency"},
     .without = (double)NAN},
    {.name = "compute_efficiency",
     .what = "share of the arithmetic's peak that is sustained",
     .doc = "of a GPU in GEMM, GEMV and prefill attention, of SwiftKV in linear layers; a model without such a parameter is at 1",
     .params = {"compute_efficiency", "gemv_efficiency", "gemm_tensor_share", "attention_tensor_share"},
     .without = 1},
    {.name = "collective_start_us",
     .what = "start of an exchange between chips [us]",
     .doc = "before the first byte of a collective; a GPU under NCCL has it in cycles (nccl_start_cycles)",
     .params = {"collective_start_us"},
     .elsewhere = "nccl_start_cycles",
     .without = (double)NAN},
    {0},
};

const struct equal_term *equal_term_find(const char *name)
{
    for (const struct equal_term *t = equal_terms; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

const struct equal_term *equal_term_of_param(const char *param)
{
    for (const struct equal_term *t = equal_terms; t->name; t++) {
        if (t->elsewhere && strcmp(t->elsewhere, param) == 0) return t;
        for (const char *const *p = t->params; *p; p++)
            if (strcmp(*p, param) == 0) return t;
    }
    return NULL;
}

/* The parameter that names an entry with the term's field, or NULL. */
static const struct field *entry_of(const struct equal_term *t, const struct binding *b)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n && t->entry_field; i++) {
        const struct field *f = &params->fields[i];
        if (f->type == DSE_TYPE_REF && !f->alone && schema_find(catalog_fields(b->catalog, f->kind), t->entry_field)) return f;
    }
    return NULL;
}

enum equal_hold equal_hold_of(const struct equal_term *t, const struct binding *b, const struct field **ret)
{
    const struct schema *params = &b->model->params;
    for (const char *const *p = t->params; *p; p++)
        if ((*ret = schema_find(params, *p))) return EQUAL_BY_PARAMS;
    if ((*ret = entry_of(t, b))) return EQUAL_BY_ENTRY;
    if (t->elsewhere && (*ret = schema_find(params, t->elsewhere))) return EQUAL_ELSEWHERE;
    return isnan(t->without) ? EQUAL_NOT_KNOWN : EQUAL_BY_NATURE;
}

const char *equal_entry_text(const struct equal_term *t, const struct binding *b, const struct field *names,
                             const struct dse_entry *entry, char *buf)
{
    const struct field *f = schema_find(catalog_fields(b->catalog, names->kind), t->entry_field);
    if (!f || catalog_is_left_out(f, entry)) return NULL;
    const struct value v = field_get(f, entry);
    if (f->type == DSE_TYPE_ENUM && f->optional && v.choice == 0) return NULL; /* what an entry has that leaves it out */
    const char *value = value_text(f, v, buf);
    if (!field_is_number(f)) return value;
    memcpy(buf + strlen(value), f->unit, strlen(f->unit) + 1);
    return buf;
}

bool equal_entry_is(const struct equal_term *t, const struct binding *b, const struct field *names, const struct dse_entry *entry,
                    const char *value, double number)
{
    const struct field *f = schema_find(catalog_fields(b->catalog, names->kind), t->entry_field);
    if (value) number = t->number ? t->number(b->catalog, value) : (double)NAN;
    if (f->type == DSE_TYPE_ENUM) return field_get(f, entry).choice == number && number != 0; /* 0: nobody says */
    return field_number(f, entry) == number;
}

const struct dse_entry *equal_entry_at(const struct binding *b, const struct field *names, size_t i, size_t *ret_n)
{
    const struct given *g = &b->given[schema_index(&b->model->params, names)];
    *ret_n = g->is_given ? g->n : 1;
    return g->is_given ? g->values[i].ref : field_get(names, b->defaults).ref;
}
