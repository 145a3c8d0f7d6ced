/* A cache that keeps, or reads, part of its positions: what its technique takes of a step on one device, and its quality (E33). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

struct dse_cache_step fd_cache_step(const struct fd_params *p)
{
    struct dse_cache_step s;
    dse_cache_step_at(&p->kept, &p->workload, &s);
    return s;
}

struct dse_cache_steps fd_cache_steps(const struct fd_params *p, struct dse_arithmetic *ret_arithmetic)
{
    struct dse_cache_steps s = dse_cache_steps_of(&p->kept, &p->workload, NULL);
    *ret_arithmetic =
        (struct dse_arithmetic){.method = "partial-softmax", .given = 1u << DSE_SET_PHI | 1u << DSE_SET_LOW | 1u << DSE_SET_HIGH};
    ret_arithmetic->setting[DSE_SET_PHI] = p->unified_max;
    ret_arithmetic->setting[DSE_SET_LOW] = p->score_low;
    ret_arithmetic->setting[DSE_SET_HIGH] = p->score_high;
    if (p->arithmetic_error == FD_ERRORS_MEASURED && p->softmax == FD_ASYNCHRONOUS) s.arithmetic = ret_arithmetic;
    return s;
}

double fd_read(const struct fd_params *p)
{
    return fd_cache_step(p).read;
}

const char *fd_cache_check(const struct fd_params *p)
{
    const struct dse_eviction *policy = dse_eviction_at(p->kept.eviction);
    const char *why = dse_cache_check(&p->kept, &p->workload, (double)p->workload.context);
    if (why) return why;
    if (policy->counts && !policy->per_head && p->workload.tensor_parallel > 1)
        return "one eviction decision per layer needs all heads on one device (eviction, tensor_parallel)";
    if ((!policy->keeps_all || p->kept.kv_format != DSE_KV_TOKEN) && !fd_is_plain(&p->workload))
        return "eviction and kivi need a dense LLM that decodes one token per sequence, with tensor parallelism only "
               "(eviction, kv_format)";
    return NULL;
}

/* Of a device, its share of what KV heads have. */
static double share(const struct fd_params *p)
{
    const double heads = (double)p->workload.llm->kv_heads;
    return heads > 0 ? dse_ceil(heads / (double)p->workload.tensor_parallel) / heads : 1; /* none: all of it is one latent */
}

double fd_kept_bytes(const struct fd_params *p)
{
    const struct dse_cache_step s = fd_cache_step(p);
    return (double)p->workload.batch * s.besides_bytes * share(p);
}

/* Decode: scores are written by the attention kernel, and read once more when maximum and sum are known. Prefill: they are made
 * again, of the queries that count. */
static void count(const struct fd_params *p, const struct fd_machine *m, const struct dse_cache_step *s, double efficiency,
                  struct fd_technique *t)
{
    enum { SCORE_BYTES = 4, COUNT_OPS = 3 };
    const double d = (double)p->workload.llm->head_dim, batch = (double)p->workload.batch;
    const double pairs = batch * dse_ceil((double)p->workload.llm->heads / (double)p->workload.tensor_parallel) * s->pairs;
    const double reads = s->policy->drained ? 2 : 1;
    t->kernels += s->policy->selects ? 2 : reads;
    t->bytes += batch * s->count_bytes * share(p);
    if (s->prefill)
        t->bytes += batch * s->read * d * dse_ceil((double)p->workload.llm->kv_heads / (double)p->workload.tensor_parallel) *
                    dse_kv_bits(&p->workload) / DSE_BITS_PER_BYTE;
    else
        t->bytes += (1 + reads) * SCORE_BYTES * pairs;
    t->compute_s += COUNT_OPS * reads * pairs / m->vector_peak;
    if (s->prefill) t->compute_s += DSE_OPS_PER_MAC * pairs * d / (m->tensor_peak * efficiency);
}

void fd_technique(struct fd_technique *ret, const struct fd_params *p, const struct fd_machine *m, double stream_share,
                  double efficiency)
{
    enum { PAGE_KERNELS = 2 /* bounds, and the choice */ };
    const struct dse_cache_step s = fd_cache_step(p);
    const double batch = (double)p->workload.batch,
                 heads = dse_ceil((double)p->workload.llm->heads / (double)p->workload.tensor_parallel);
    *ret = (struct fd_technique){0};
    if (s.pairs > 0) count(p, m, &s, efficiency, ret);
    if (s.pages > 0) {
        ret->kernels += s.prefill ? 1 : PAGE_KERNELS;
        ret->bytes += batch * s.page_bytes * share(p);
        const double rows = s.prefill ? s.read * share(p) * (double)p->workload.llm->kv_heads : 2 * s.pages * heads;
        ret->compute_s += DSE_OPS_PER_MAC * batch * rows * (double)p->workload.llm->head_dim / m->vector_peak;
    }
    if (s.residual_bytes > 0) ret->kernels++; /* KIVI multiplies the rows at 16 bits apart */
    ret->bytes += batch * (s.moved_bytes + s.residual_bytes) * share(p);
    ret->seconds = dse_max(ret->bytes / (m->bandwidth * stream_share), ret->compute_s);
}
