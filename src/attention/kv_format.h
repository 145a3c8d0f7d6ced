/* Keys and values in few bits: a cache in KIVI's format (Liu et al., KIVI, arXiv:2402.02750, Sec. 3) or with other groups, carried
 * out.
 *
 * A group of elements shares a scale and a zero point, both rounded to fp16: x = zero + scale * q with q of 0 to 2^bits - 1, the
 * zero at the smallest of the group and the largest at 2^bits - 1. Elements of a group are neighbours, in one token (by token) or
 * in one channel of tokens that follow each other (by channel). By channel a group can be made when all of its tokens are there.
 *
 * The newest positions may be kept as they are. By token those are the last `residual`. By channel, keys wait until as many are
 * there (or as a group has) and become small together, so that after n positions n mod max(residual, group) are as they were:
 * KIVI's Algorithm 1.
 */
#ifndef DSE_ATTENTION_KV_FORMAT_H
#define DSE_ATTENTION_KV_FORMAT_H

#include "attention/head.h"
#include "base/diag.h"

#include <dse/catalog.h>
#include <dse/desc.h>

struct kv_format {
    int64_t kv_bits;  /* 1 to 8; 16: keys and values as they are */
    int32_t scales;   /* enum dse_kv_scales */
    int64_t group;    /* elements; 0: all of a token, not by channel */
    int64_t residual; /* positions; by channel a multiple of group, or 0 */
};
extern const struct dse_param kv_format_params[];
extern const struct kv_format kv_format_defaults; /* KIVI's: 2 bits, groups of 32, 128 positions */

/* False with an error for each thing that is wrong for heads of dimension d. */
bool kv_format_check(const struct kv_format *f, size_t d, struct diags *diags);

/* A head's keys and values as the cache holds them when all its positions have left the residual, as far as groups are whole; the
 * rest as they are. What a step sees of it: the first kv_format_keys (kv_format_values) positions of n. Both are n x d; the caller
 * frees them. Requires a checked format. */
void kv_format_apply(const struct kv_format *f, const struct head *h, float **ret_k, float **ret_v);
size_t kv_format_keys(const struct kv_format *f, size_t n);
size_t kv_format_values(const struct kv_format *f, size_t n);

struct kv_format_result {
    size_t steps;        /* whose exact output is not 0 */
    double output_error; /* |o - exact| / |exact|, mean over them; NaN without any */
    double key_error;    /* |K - exact| / |exact| of all keys that are small after the last step, in the Frobenius norm */
    double value_error;  /* 0 where none are */
};
/* Steps [first, n) of a head, those that have q, against exact attention. False with errors. Cost: twice exact attention. */
bool kv_format_run(const struct head *h, const struct kv_format *f, size_t first, struct kv_format_result *ret,
                   struct diags *diags);

#endif
