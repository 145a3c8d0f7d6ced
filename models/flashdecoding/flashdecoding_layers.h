/* Kernels of layers that the LLMs of the catalog do not have: experts (E31) and latent attention (E32). Only equations ask for them;
 * a step has the layers of its LLM. */
#ifndef FLASHDECODING_LAYERS_H
#define FLASHDECODING_LAYERS_H

#include "flashdecoding.h"

/* E31: the experts of one layer on the fullest of p->devices * p->expert_devices: from a token's choice of experts to the sum over
 * them. Without the all-to-all between devices. */
struct fd_experts {
    double touched, rows;                  /* experts with work, and rows of all of them together */
    double weight_bytes;                   /* of those experts: gate, up and down */
    double gemm_s, elementwise_s, seconds; /* seconds: with what is fixed */
};
void fd_experts(struct fd_experts *ret, const struct fd_machine *m);

/* E32: attention of one layer over a latent of kv_rank + rope_dim elements a position, on one device. */
struct fd_latent {
    double bytes, products; /* of the cache; operations of the products of attention */
    double expanding_s;     /* prefill: from latents to keys and values of all heads */
    double seconds;         /* with expanding_s and what is fixed */
};
void fd_latent(struct fd_latent *ret, const struct fd_machine *m);

#endif
