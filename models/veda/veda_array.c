/* The PE array: how long a GEMV takes (E1 to E3), and sums over the lengths of a cache (E4). */
#include "veda.h"

#include <dse/num.h>
#include <dse/units.h>

void veda_array_init(struct veda_array *ret, const struct veda_params *p)
{
    double unit = (double)(p->pe_rows * p->pe_columns), pes = unit * (double)p->pe_copies, width = (double)p->tree_width;
    *ret = (struct veda_array){
        .tree = p->dataflow == VEDA_ADDER_TREE,
        .unit = unit,
        .copies = (double)p->pe_copies,
        .pes = pes,
        .width = width,
        .trees = dse_max(1, dse_floor(pes / width)),
        .issue = dse_ceil(width / pes),
    };
}

struct veda_lay veda_lay_out(const struct veda_array *a, double size)
{
    if (a->tree) return (struct veda_lay){.cycles = dse_ceil(size / a->width) * a->issue, .at_once = a->trees};
    double needed = dse_ceil(size / a->unit); /* copies that one vector fills */
    if (needed > a->copies) return (struct veda_lay){.cycles = dse_ceil(needed / a->copies), .at_once = 1};
    return (struct veda_lay){.cycles = 1, .at_once = dse_floor(a->copies / needed)};
}

double veda_gemv_cycles(const struct veda_array *a, enum veda_product product, double k, double n)
{
    bool inner = product == VEDA_INNER || a->tree;
    struct veda_lay lay = veda_lay_out(a, inner ? k : n);
    return lay.cycles * dse_ceil((inner ? n : k) / lay.at_once);
}

/* Sum of ceil(i / q) for i = 1 .. n; n and q whole. */
static double sum_ceil(double n, double q)
{
    double whole = dse_floor(n / q), rest = n - whole * q;
    return q * whole * (whole + 1) / 2 + rest * (whole + 1);
}

double veda_span_sum(const struct veda_span *s, double q)
{
    double sum = s->flat * dse_ceil(s->flat_length / q);
    if (s->to > s->from) sum += sum_ceil(s->to, q) - sum_ceil(s->from, q);
    return sum / s->mean_of;
}

double veda_scores_cycles(const struct veda_point *pt)
{
    struct veda_lay lay = veda_lay_out(&pt->array, pt->d);
    return lay.cycles * veda_span_sum(&pt->span, lay.at_once);
}

/* Rows of a group that share them are widened once. */
double veda_widening_cycles(const struct veda_point *pt)
{
    const double uses = pt->p->sharing == VEDA_SHARE_GROUP ? pt->group : 1;
    return dse_cache_widening(&pt->p->workload) / DSE_OPS_PER_MAC * veda_scores_cycles(pt) / uses;
}

double veda_row_widening_cycles(const struct veda_point *pt, double rows)
{
    const struct veda_lay lay = veda_lay_out(&pt->array, pt->d);
    return dse_cache_widening(&pt->p->workload) / DSE_OPS_PER_MAC * lay.cycles * dse_ceil(rows / lay.at_once);
}

/* The adder trees take the positions as inputs and the elements of a head as outputs, and read V by columns. */
double veda_values_cycles(const struct veda_point *pt)
{
    const struct veda_array *a = &pt->array;
    if (!a->tree) return veda_scores_cycles(pt);
    double passes = a->issue * dse_ceil(pt->d / a->trees);
    return passes * veda_span_sum(&pt->span, a->width) + pt->p->v_access_cycles * pt->positions;
}
