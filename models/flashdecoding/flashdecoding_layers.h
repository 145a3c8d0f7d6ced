/* Kernels of layers other than full attention and dense networks: experts (E31) and latent attention (E32). Equations ask for them
 * by parameters of one layer; a step has the layers of its LLM (flashdecoding_llms.c). */
#ifndef FLASHDECODING_LAYERS_H
#define FLASHDECODING_LAYERS_H

#include "flashdecoding.h"

#include <dse/interconnect.h>

/* The experts of one layer. */
struct fd_expert_layer {
    int64_t experts, active, groups; /* routed; of a token; groups of devices that they are dealt out to */
    double tokens, hidden, ffn; /* tokens of all of these groups; what an expert works on; hidden units of an expert on a device */
    double matrices;            /* of an expert: 3 with a gate, else 2 */
    double touched, own;        /* experts with work on a device, and their rows, by the profile of loads; 0: by the law */
    const double *drawn;        /* NULL, or rows of each of n_drawn experts of the fullest device */
    int64_t n_drawn;
    double activation_bits;
};
/* Experts of a device. */
static inline double fd_experts_each(const struct fd_expert_layer *l)
{
    return dse_ceil((double)l->experts / (double)l->groups);
}
/* E31: on the fullest device, from a token's choice of experts to the sum over them. Without the all-to-all between devices. */
struct fd_experts {
    double touched, rows;                  /* experts with work, and rows of all of them together */
    double weight_bytes;                   /* of those experts: gate, up and down */
    double gemm_s, elementwise_s, seconds; /* seconds: with what is fixed */
    double up_s, down_s, kernels;          /* of gemm_s; kernels: each has what is fixed once */
};
void fd_experts_of(struct fd_experts *ret, const struct fd_machine *m, const struct fd_expert_layer *layer);
/* The same for a bound: as many blocks draw as `drawn` has, and as many rows are of other devices as that leaves. */
void fd_experts_of_drawn(struct fd_experts *ret, const struct fd_machine *m, const struct fd_expert_layer *layer,
                         const struct fd_expert_layer *drawn);
/* Of the layer that the parameters describe. */
void fd_experts(struct fd_experts *ret, const struct fd_machine *m);

/* ---- operators as kernels: E36 to E40 ------------------------------------------------------------------------------------- */

/* Is the operator the routed experts' (E38)? */
static inline bool fd_is_experts(const struct dse_op *op)
{
    return op->role == DSE_ROLE_EXPERT_UP || op->role == DSE_ROLE_EXPERT_DOWN;
}
/* Kernels that an instance of an operator is: gate and up are two (E1); below 1: those of a head of latent attention are one for
 * all. */
double fd_kernels_of(const struct fd_params *p, const struct dse_op *op);
/* E32: what keys take beside the GEMM that makes them of latents. */
double fd_joined_bytes(const struct fd_params *p, const struct dse_op *op);
/* The experts that an operator of role DSE_ROLE_EXPERT_UP is of. It stands behind its router. */
void fd_expert_layer_of(struct fd_expert_layer *ret, const struct fd_params *p, const struct dse_op *op);
/* The operator whose GEMM fd_gemm_of_parts gives. */
int fd_gemm_operator(const struct dse_oplist *ops, enum fd_gemm_choice which);
void fd_shape_of(struct fd_attention_shape *ret, const struct fd_machine *m, const struct dse_attention *a);

/* E32: attention of one layer over a latent of kv_rank + rope_dim elements a position, on one device. */
struct fd_latent {
    double bytes, products; /* of the cache; operations of the products of attention */
    double expanding_s;     /* prefill: from latents to keys and values of all heads */
    double seconds;         /* with expanding_s and what is fixed */
};
void fd_latent(struct fd_latent *ret, const struct fd_machine *m);

#endif
