/* The experts of a layer as one grouped kernel runs them (E31). */
#include "flashdecoding_layers.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stdlib.h>

/* What each expert of the fullest device gets, in rows; experts that get none are left out. */
struct routed {
    double rows[FD_EXPERTS_MAX];
    int n;
    bool even;       /* all the same */
    double all, own; /* rows of all devices: tokens times experts of a token; of those above */
};

/* ---- routing --------------------------------------------------------------------------------------------------------------- */

/* The same number for every expert: balanced ones as many as there are rows for, uniform ones as many as independent choices
 * touch. */
static void route_evenly(struct routed *ret, const struct fd_expert_layer *l, bool is_balanced)
{
    const double experts = (double)l->experts, missed = is_balanced ? 0 : pow(1 - (double)l->active / experts, l->tokens);
    const double touched = is_balanced ? dse_min(experts, ret->all) : experts * (1 - missed);
    const double each = ret->all / touched;
    ret->n = (int)dse_ceil(touched / (double)l->groups - 1e-9);
    ret->even = true;
    ret->rows[0] = each;
    for (int i = 1; i < ret->n; i++) ret->rows[i] = each;
}

/* Whole rows, of as many as there are: what rounding leaves over goes to the next. */
static void round_on(double *rows, int n, double most)
{
    double exact = 0, given = 0;
    for (int i = 0; i < n; i++) {
        exact += rows[i];
        rows[i] = dse_min(most, dse_floor(exact + 0.5) - given);
        given += rows[i];
    }
}

/* Whole rows, each for itself; returns how many are left over. */
static double round_each(double *rows, int n, double most, double all)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        rows[i] = dse_min(most, dse_floor(rows[i] + 0.5));
        sum += rows[i];
    }
    const int over = (int)(sum - all);
    for (int i = 0; i < over; i++) rows[i % n]--;
    return dse_max(0, all - sum);
}

/* Rows of all experts by a power law between least and most, the most loaded first: its quantiles, scaled to the sum, no expert
 * more rows than there are tokens. */
static void draw_power_law(double *rows, const struct fd_expert_layer *l, double exponent, double all)
{
    enum { ROUNDS = 32 };
    const int n = (int)l->experts;
    const bool is_many = all > n;
    const double tokens = l->tokens, e = 1 - exponent, least = is_many ? 1 : 0.01, most = is_many ? dse_max(2, 0.8 * tokens) : 2;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double u = (n - i - 0.5) / n;
        rows[i] = e == 0 ? least * pow(most / least, u) : pow((pow(most, e) - pow(least, e)) * u + pow(least, e), 1 / e);
        sum += rows[i];
    }
    for (int i = 0; i < n; i++) rows[i] *= all / sum;
    for (int round = 0; round < ROUNDS; round++) {
        double over = 0, free = 0;
        for (int i = 0; i < n; i++) {
            over += dse_max(0, rows[i] - tokens);
            rows[i] = dse_min(rows[i], tokens);
            free += rows[i] < tokens ? 1 : 0;
        }
        if (over <= 0 || free <= 0) break;
        for (int i = 0; i < n; i++)
            if (rows[i] < tokens) rows[i] += over / free;
    }
}

/* Rows left over go to experts with fewest, one each, to the first of them first: to neighbours where many have none. */
static void give_left(double *rows, int n, double left)
{
    int given = 0;
    for (int fewest = 0; given < (int)left; fewest++)
        for (int i = 0; i < n && given < (int)left; i++)
            if (rows[i] == (double)fewest) {
                rows[i]++;
                given++;
            }
}

/* Steele et al., SplitMix64: a sequence that is the same on every machine. */
static uint64_t next_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static void shuffle(double *rows, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)(next_number(state) % (uint64_t)(i + 1));
        const double kept = rows[i];
        rows[i] = rows[k];
        rows[k] = kept;
    }
}

/* A dealing of the experts to devices: where the fullest one begins, and its rows. */
static int fullest(const double *rows, int n, int each, double *ret_rows)
{
    int at = 0;
    *ret_rows = -1;
    for (int first = 0; first < n; first += each) {
        double sum = 0;
        for (int i = first; i < first + each && i < n; i++) sum += rows[i];
        if (sum <= *ret_rows) continue;
        *ret_rows = sum;
        at = first;
    }
    return at;
}

struct dealing {
    double rows;
    uint64_t state; /* before it */
};

static int by_rows(const void *a, const void *b)
{
    const struct dealing *x = a, *y = b;
    return (x->rows > y->rows) - (x->rows < y->rows);
}

/* The fullest device of the dealing that is in the middle of some. */
static void route_unevenly(struct routed *ret, const struct fd_expert_layer *l, double exponent, enum fd_expert_ties ties)
{
    enum { DEALINGS = 9 };
    const int n = (int)l->experts, each = (int)fd_experts_each(l);
    double drawn[FD_EXPERTS_MAX] = {0}, dealt[FD_EXPERTS_MAX];
    struct dealing dealings[DEALINGS];
    uint64_t state = 1;
    double left = 0;
    draw_power_law(drawn, l, exponent, ret->all);
    if (ties == FD_NEIGHBOURS)
        left = round_each(drawn, n, l->tokens, ret->all);
    else
        round_on(drawn, n, l->tokens);
    for (int d = 0; d < DEALINGS; d++) {
        dealings[d].state = state;
        for (int i = 0; i < n; i++) dealt[i] = drawn[i];
        shuffle(dealt, n, &state);
        give_left(dealt, n, left);
        fullest(dealt, n, each, &dealings[d].rows);
    }
    qsort(dealings, DEALINGS, sizeof *dealings, by_rows);
    state = dealings[DEALINGS / 2].state;
    shuffle(drawn, n, &state);
    give_left(drawn, n, left);
    double sum;
    const int first = fullest(drawn, n, each, &sum);
    for (int i = first; i < first + each && i < n; i++)
        if (drawn[i] > 0) ret->rows[ret->n++] = drawn[i];
}

/* As many experts with work as a profile of loads has on the mean, and the rows of the fullest device among them. */
static void route_by_profile(struct routed *ret, const struct fd_expert_layer *l)
{
    ret->n = (int)dse_ceil(l->touched - 1e-9);
    ret->even = true;
    ret->rows[0] = l->own / l->touched;
    for (int i = 1; i < ret->n; i++) ret->rows[i] = ret->rows[0];
}

static void route_as_drawn(struct routed *ret, const struct fd_expert_layer *l)
{
    for (int64_t i = 0; i < l->n_drawn; i++)
        if (l->drawn[i] > 0) ret->rows[ret->n++] = l->drawn[i];
}

static void route(struct routed *ret, const struct fd_expert_layer *l, const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    ret->n = 0;
    ret->even = false;
    ret->all = l->tokens * (double)l->active;
    ret->own = 0;
    if (l->drawn)
        route_as_drawn(ret, l);
    else if (w->routing == DSE_ROUTING_PROFILE && l->touched > 0)
        route_by_profile(ret, l);
    else if (w->routing == DSE_ROUTING_POWER_LAW)
        route_unevenly(ret, l, w->routing_exponent, (enum fd_expert_ties)p->expert_ties);
    else
        route_evenly(ret, l, w->routing == DSE_ROUTING_BALANCED);
    for (int i = 0; i < ret->n; i++) ret->own += ret->rows[i];
}

/* ---- the grouped GEMM ------------------------------------------------------------------------------------------------------ */

/* A tile of the result, and how many elements of a row one step reads; 0: a line of the cache. */
struct tile {
    double rows, columns, depth;
};
static const struct tile searched[] = {{256, 128, 0}, {128, 128, 0}, {64, 128, 0}, {64, 64, 0}, {16, 64, 0}};
enum { SEARCHED = sizeof searched / sizeof *searched };
/* Where nobody searched: up to a token an expert, beyond, and with a scale for each block of weights. */
static const struct tile few = {16, 32, 64}, many = {64, 64, 32}, scaled = {64, 128, 128};

struct grouped {
    const struct fd_machine *m;
    const struct routed *routed, *drawn; /* drawn: whose blocks draw */
    double k, n, activation_bytes;       /* activation_bytes: of an element that is multiplied */
    bool warm;
};

/* Tiles of all experts, one below the other. */
static double tiles_of(const struct routed *r, const struct tile *t)
{
    double down = 0;
    if (r->even) return r->n * dse_ceil(r->rows[0] / t->rows);
    for (int i = 0; i < r->n; i++) down += dse_ceil(r->rows[i] / t->rows);
    return down;
}

/* Of what the maker's kernels reach: on tensor cores, reading weights, reading and writing rows. The maker's own kernel of experts
 * computes as its GEMMs do (tensor 0). */
struct shares {
    double tensor, stream, rows;
};

static struct shares shares_of(const struct fd_params *p)
{
    if (p->expert_tiles == FD_MAKERS) return (struct shares){0, 1, 1};
    const struct dse_gpu_kernels *k = &p->kernels;
    const double tensor = p->expert_tiles == FD_SCALED ? k->expert_scaled_share : k->expert_tensor_share;
    return (struct shares){tensor, k->expert_stream_share, k->expert_row_share};
}

/* Bytes of a weight as the DRAM takes its time. A step of a tile reads a piece of each of its columns, which lie behind each other:
 * where every piece opens a page, it costs no less than that. */
static double weight_cost(const struct grouped *g, const struct tile *t)
{
    const double page = 2048; /* GDDR6: JESD250 */
    const double wb = g->m->weight_bytes, opened = dse_min(1, g->k * wb / page);
    return t->depth > 0 ? dse_max(wb, g->m->p->kernels.dram_piece_bytes * opened / t->depth) : wb;
}

/* E28 of all experts at once. A row of a tile is read in pieces as deep as a step, each no less than a line of the cache. Where
 * blocks of weights have scales, sums are scaled after each step, and the next operands wait for it. */
static double tile_seconds(const struct grouped *g, const struct tile *t, bool is_scaled)
{
    const double line = 128, least = t->depth > 0 ? line / t->depth : 0;
    const struct fd_machine *m = g->m;
    const struct fd_vendor_rates *v = &m->vendor;
    const double wb = m->weight_bytes, ab = g->activation_bytes;
    const struct shares s = shares_of(m->p);
    const double rows = g->routed->own, down = tiles_of(g->routed, t),
                 drawing = (g->drawn == g->routed ? down : tiles_of(g->drawn, t)) * dse_ceil(g->n / t->columns);
    const double read = rows * g->k * FD_ACTIVATION_BYTES;
    const double bytes = g->routed->n * g->k * g->n * weight_cost(g, t) + (read > m->l2 ? read : 0);
    const double blocks = down * dse_ceil(g->n / t->columns);
    const double computed = DSE_OPS_PER_MAC * t->rows * t->columns / (s.tensor > 0 ? v->generated_ops * s.tensor : v->sm_ops);
    const double fed = (t->rows * ab + t->columns * wb) / v->sm_path;
    const double cached = (t->rows * dse_max(ab, least) + t->columns * dse_max(wb, least)) / v->tile_path;
    const double each = is_scaled ? computed + cached : dse_max(computed, dse_max(fed, cached));
    const double load_s =
        g->warm ? 0 : dse_max(bytes / (v->stream * s.stream), bytes / (dse_min(drawing, m->sms) * v->block_stream));
    const double written_s = rows * g->n * FD_ACTIVATION_BYTES / (v->stream * s.rows);
    return fd_overlapped(load_s, dse_ceil(blocks / m->sms) * g->k * each, v->exposed) + written_s;
}

static double grouped_seconds(const struct grouped *g, const struct fd_expert_layer *l)
{
    const struct fd_params *p = g->m->p;
    if (p->expert_tiles == FD_SCALED) return tile_seconds(g, &scaled, true);
    if (p->expert_tiles == FD_DEFAULT) return tile_seconds(g, l->tokens <= fd_experts_each(l) ? &few : &many, false);
    double best = (double)INFINITY;
    for (int i = 0; i < SEARCHED; i++) best = dse_min(best, tile_seconds(g, &searched[i], false));
    return best;
}

/* ---- the layer ------------------------------------------------------------------------------------------------------------- */

/* Bytes of the kernels between and after the two GEMMs, which go over the rows of all devices: gate times up, zeros for rows of
 * other devices, the sum over a token's experts, and activations made narrow. */
static double elementwise_bytes(const struct fd_expert_layer *l, double all, double own)
{
    const double wide = FD_ACTIVATION_BYTES, others = dse_max(0, all - own), narrow = l->activation_bits / DSE_BITS_PER_BYTE;
    const double read =
        all * (l->matrices * l->ffn + l->hidden) + l->tokens * l->hidden + others * ((l->matrices - 1) * l->ffn + l->hidden);
    const double made = l->activation_bits < FD_WIDE_BITS ? l->tokens * l->hidden + all * l->ffn : 0;
    return read * wide + made * (wide + narrow);
}

static void experts_of(struct fd_experts *ret, const struct fd_machine *m, const struct fd_expert_layer *l,
                       const struct fd_expert_layer *other)
{
    enum { KERNELS = 4 /* sorting, two GEMMs, gate times up or the sum */, NARROWING = 2 };
    /* A cache in partitions may hold a line twice. */
    const double kept_share = m->p->kernels.l2_copies > 1 ? 0.7 : 0.9, narrow = l->activation_bits / DSE_BITS_PER_BYTE;
    const struct fd_params *p = m->p;
    struct routed routed, of_other;
    const struct routed *drawn = other == l ? &routed : &of_other;
    route(&routed, l, p);
    if (other != l) route(&of_other, other, p);
    *ret = (struct fd_experts){.touched = routed.n, .rows = routed.own};
    ret->weight_bytes = routed.n * l->matrices * l->hidden * l->ffn * m->weight_bytes;
    const bool warm = p->cache == FD_WARM && ret->weight_bytes <= kept_share * m->l2;
    const struct grouped up = {m, &routed, drawn, l->hidden, (l->matrices - 1) * l->ffn, narrow, warm},
                         down = {m, &routed, drawn, l->ffn, l->hidden, narrow, warm};
    ret->up_s = grouped_seconds(&up, l);
    ret->down_s = grouped_seconds(&down, l);
    ret->gemm_s = ret->up_s + ret->down_s;
    ret->kernels = KERNELS + (l->activation_bits < FD_WIDE_BITS ? NARROWING : 0);
    ret->elementwise_s = elementwise_bytes(l, routed.all, drawn->own) / (m->vendor.stream * shares_of(p).rows);
    ret->seconds = ret->kernels * m->vendor.kernel_fixed_s + ret->gemm_s + ret->elementwise_s;
}

void fd_experts_of(struct fd_experts *ret, const struct fd_machine *m, const struct fd_expert_layer *l)
{
    experts_of(ret, m, l, l);
}

void fd_experts_of_drawn(struct fd_experts *ret, const struct fd_machine *m, const struct fd_expert_layer *l,
                         const struct fd_expert_layer *drawn)
{
    experts_of(ret, m, l, drawn);
}

void fd_experts(struct fd_experts *ret, const struct fd_machine *m)
{
    const struct fd_params *p = m->p;
    const struct dse_workload *w = &p->workload;
    const struct fd_expert_layer l = {.experts = p->experts,
                                      .active = dse_min_i64(p->experts_active, p->experts),
                                      .groups = p->expert_devices,
                                      .tokens = (double)w->batch * (w->phase == DSE_PREFILL ? (double)w->context : 1),
                                      .hidden = (double)w->llm->hidden,
                                      .ffn = (double)p->moe_intermediate / (double)w->tensor_parallel,
                                      .matrices = 3,
                                      .activation_bits = (double)p->expert_activation_bits};
    fd_experts_of(ret, m, &l);
}
