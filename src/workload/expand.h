/* How a step becomes operators: what the files expand*.c share. */
#ifndef WORKLOAD_EXPAND_H
#define WORKLOAD_EXPAND_H

#include "workload/experts.h"
#include "workload/llm.h"

#include <dse/llm.h>
#include <dse/workload.h>

#include <math.h>

/* Operations of the small operators, as scalar operations an element. */
enum {
    OPS_SOFTMAX = 5,   /* maximum, subtract, exp, sum, divide: a score */
    OPS_NORM = 4,      /* square, sum, scale, weight: an element of a normalised vector */
    OPS_ROTARY = 3,    /* two multiplies and an add an element of q and k */
    OPS_RESIDUAL = 1,  /* an add */
    OPS_GATED = 5,     /* SiLU (exp, add, divide, multiply) and the product with the gate */
    OPS_SILU = 4,      /* without a product */
    OPS_ACTIVATION = 1 /* ReLU */
};

/* Layers that are expanded together: those of the LLM, or those that draft. Everything is of one chip and one pass. */
struct expansion {
    struct dse_oplist *list;
    const struct dse_workload *w;
    const struct dse_llm *llm;
    bool draft;
    int64_t times;              /* that the layers run in the pass: drafted tokens one after another */
    int64_t one_layer;          /* 1: a single layer of the last kind stands for all (DSE_DRAFT_LAYER); else 0 */
    int64_t sequences, queries; /* of a sequence, in decode with drafts k + 1 */
    int64_t chunk;              /* tokens of a prompt beside them */
    int64_t rows;               /* sequences * queries + chunk */
    int64_t context, read;      /* positions there are; that techniques leave to be read of them, or -1 */
    int64_t tensor, stages;
    int64_t layers[DSE_LAYER_KINDS_MAX]; /* of this stage, of each kind of the LLM */
    bool by_class;                       /* formats differ from class to class; else all weights take element_bytes */
    double activation_bits;              /* likewise, of what they are multiplied with */
    double element_bytes;                /* of a weight, with its share of scales */
    double key_bytes, value_bytes;       /* likewise, of an element of keys and latents, and of values */
    double index_bytes, state_bytes;     /* of an element of an indexer's keys, and of a recurrent state */
    const struct dse_draw *draw;         /* NULL: experts are the mean */
    struct expand_drawn *drawn;          /* those that were asked for last */
    bool *ret_full;                      /* the list has no room for all operators */
};
struct expand_drawn {
    struct dse_choice choice;
    double tokens, chips;
    struct experts_at_work work;
};
/* Experts of one chip when so many tokens meet: the mean, or as drawn. */
struct experts_at_work expand_experts(const struct expansion *x, struct dse_choice choice, double tokens, double chips);

/* What operators of one role have in common (expand_roles.c). */
struct expand_role {
    const char *name, *draft; /* of the LLM's operator, and of one that drafts */
    enum dse_op_kind kind;
    enum dse_weight_class class;                  /* of LINEAR */
    bool follows_norm, writes_cache, is_per_head; /* as in struct dse_op */
};
extern const struct expand_role expand_roles[]; /* [enum dse_op_role] */

/* Instances in one stage of layers that are alike. */
int64_t expand_layers(const struct expansion *x, int64_t layers);
/* A share of a width on each of `parts` chips, rounded up. */
int64_t expand_share(int64_t width, int64_t parts);

/* An operator without bytes and operations, filled in place: points are expanded millions of times a second. */
struct dse_op *expand_add(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t k, int64_t n);
/* A matrix of k x n weights, in each of `repeat` instances, applied to m rows. Nothing where there is no instance. */
struct dse_op *expand_linear(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t k, int64_t n);
void expand_elementwise(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t n, double ops);

/* Has a list of operators room for every step of this LLM? Of one that dse_llm_resolve has made kinds of. */
bool expand_fits(const struct dse_llm *llm);

void expand_mixers(struct expansion *x);      /* expand_mixers.c */
void expand_recurrences(struct expansion *x); /* expand_states.c */
void expand_networks(struct expansion *x);    /* expand_networks.c */
/* Scalar operations of a token in a layer: rotary embeddings, gates and what is normed inside of the mixers; activation functions,
 * and the choice among experts. */
double expand_mixer_scalars(const struct expansion *x, const struct dse_layer_kind *k);
double expand_network_scalars(const struct expansion *x, const struct dse_layer_kind *k);
/* What chips exchange in a pass. */
void expand_collectives(struct expansion *x); /* expand_collectives.c */

#endif
