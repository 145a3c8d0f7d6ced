/* Policies of KV eviction as a machine meets them: what it costs to decide who leaves the cache, and what a measurement of that
 * depends on.
 *
 * A policy is a row of the table in src/workload/eviction_traits.c. src/attention/eviction_policies.c says what it does; `dse
 * profile` measures it.
 * A model whose cache evicts takes the values of its parameter from dse_eviction_choices and asks the traits below: it knows no
 * policy by name, and a new row is a new value of it.
 */
#ifndef DSE_EVICTION_H
#define DSE_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

struct dse_eviction {
    const char *name; /* of the parameter's value, and of the policy in retention profiles */
    const char *doc;
    const char *title, *source; /* what papers call it, and which one does; NULL: nobody's */
    bool keeps_all;             /* no eviction */
    bool counts;                /* the probabilities of every step go into a count, or a sum, that is kept for each position */
    /* A step's probabilities are counted only when all of them are known, as for a threshold over them: they are kept until then
     * and pass once more. */
    bool drained;
    bool per_head;  /* every KV head decides for itself, with counts of its own; else one decision for all heads of a layer */
    bool scattered; /* the positions that stay have gaps between them */
    bool reserves;  /* the cache is never shorter than a reserved length */
    /* It decides once, when the prompt ends, by what the last `observed` steps of the prompt attend to; it needs a prompt. Nothing
     * leaves after that: the cache has S positions of the prompt and all that were generated. */
    bool selects;
    bool by_layer; /* S is the mean over the layers, and a layer has its own */
    /* Nothing leaves. A step reads S positions of all that stay: the read set is not the kept set. */
    bool reads_part;
    /* They are read in pages of `page` positions, chosen by a bound of their scores: the smallest and the largest of each element
     * of a page's keys, which is two more vectors kept and read for each page. */
    bool paged;
    /* The settings (1u << enum dse_setting) that a profile of the policy must have been measured with (dse_measured_unlike). */
    unsigned settings;
};

/* The values of a parameter, for DSE_PARAM_ENUM_OF: "none", then the policies that a machine can carry out, in the order of the
 * table. */
const char *const *dse_eviction_choices(void);
/* The policy of a value of such a parameter; of 0, which keeps all, too. Pure, thread-safe. */
const struct dse_eviction *dse_eviction_at(int32_t choice);
/* Does what was measured of the policy depend on this setting (enum dse_setting)? */
static inline bool dse_eviction_depends(const struct dse_eviction *e, int setting)
{
    return (e->settings >> setting & 1) != 0;
}

#endif
