/* Boxes of workloads, for dse_model.bound: what the operators of a step come to between two points of any LLM.
 *
 * Degrees of parallelism, and whether tokens are drafted, a chunk is worked on, or contexts are unequal, decide which operators
 * there are. So a box is taken apart into parts of which each has one list of operators; a model bounds each part, and the hull of
 * them all is its bound (dse_bound_parts below does both):
 *
 *     struct dse_workload_parts parts;
 *     struct dse_workload_part part;
 *     if (!dse_workload_parts_begin(&parts, &lo->workload, &hi->workload)) nothing is known
 *     while (dse_workload_parts_next(&parts, &part)) {
 *         struct dse_oplist least, most;               operator i of both is the same one, at its least and at its most
 *         dse_workload_part_expand(&part, read_lo, read_hi, &least, &most);
 *         ...
 *     }
 *
 * A machine's time of an operator grows with its bytes, rows and operations, so that its law with `least` and the fastest machine
 * of the box is a floor, and with `most` and the slowest a ceiling. All pure and thread-safe. docs/explanation/llms.md, "Bounds
 * over boxes".
 */
#ifndef DSE_WORKLOAD_BOX_H
#define DSE_WORKLOAD_BOX_H

#include <dse/interval.h>
#include <dse/model.h>
#include <dse/workload.h>

/* All points that dse_workload_check accepts of a part have the same operators, of the same LLM. */
struct dse_workload_part {
    /* The ends, number by number. tensor_parallel, pipeline_parallel and expert_parallel are single values; data_parallel is 1, or
     * 2 and more and a multiple of what experts need. */
    struct dse_workload lo, hi;
    /* The points at which a chip has the least and the most to do: lo and hi with data_parallel the other way round. What a chip's
     * operators, bytes, footprint and passes are at any point lies between those of these two. */
    struct dse_workload least, most;
    /* False: contexts are unequal, or loads of experts follow another law, somewhere between lo and hi, and nothing is followed. */
    bool is_followed;
};

/* The parts of a box, one after another. */
struct dse_workload_parts {
    struct dse_workload lo, hi;
    int64_t tensor, pipeline, expert; /* of the next one */
    int groups;                       /* data_parallel: 0: one, 1: several */
    int drafts, chunk, spread;        /* 0: without, 1: with */
};
enum { DSE_WORKLOAD_PARTS = 64 };

/* False: there are more than DSE_WORKLOAD_PARTS, so that it costs more to look at them than it may bring. */
bool dse_workload_parts_begin(struct dse_workload_parts *ret, const struct dse_workload *lo, const struct dse_workload *hi);
/* False: there are no more. A box that dse_workload_check refuses everywhere may have none. */
bool dse_workload_parts_next(struct dse_workload_parts *parts, struct dse_workload_part *ret);

/* The operators of a pass at both ends; read_lo and read_hi as `read` of dse_workload_expand_reading, or -1. Every number of an
 * operator, of its exchange and of its attention lies between those of the two lists, each by itself: `copies` and `rows` of
 * experts need not grow together, their ops and weight_bytes are of both. `context` of attention is not looked at. */
void dse_workload_part_expand(const struct dse_workload_part *part, int64_t read_lo, int64_t read_hi, struct dse_oplist *ret_least,
                              struct dse_oplist *ret_most);

/* The same of dse_workload_expand_row. */
void dse_workload_part_expand_row(const struct dse_workload_part *part, struct dse_oplist *ret_least, struct dse_oplist *ret_most);

/* What dse_workload_tokens gives: tokens that a step yields. */
struct dse_interval dse_workload_part_tokens(const struct dse_workload_part *part);

/* The bound of one part: params are those of the box but for their workload, which is part->lo and part->hi. As dse_model.bound. */
typedef bool dse_bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling);
/* The hull over all parts of the box from lo to hi, whose struct dse_workload lies `workload_at` bytes behind their beginning.
 * Nothing is known where there are too many parts, or one that is not followed. */
bool dse_bound_parts(const struct dse_model *model, size_t workload_at, const void *lo, const void *hi, dse_bound_part *bound,
                     void *floor, void *ceiling);

#endif
