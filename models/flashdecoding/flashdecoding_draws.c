/* Which vectors of a layer leave the range of the unified maximum, and the blocks that do them again: E23. */
#include "flashdecoding_events.h"

#include <dse/num.h>

#include <math.h>

/* Streams of random numbers: one a layer. */
enum { OF_LAYERS = 0 };
/* The choices of recompute_blocks. */
enum { ONE, SPLIT };

struct again {
    const struct fd_attention *a;
    struct fd_blocks *blocks;
    size_t n;
    double vectors;
};

/* One of the groups that share K and V has `rows` vectors to do again: as many blocks as they fill. */
static void add_group(struct again *g, double rows)
{
    double most = g->a->prefill ? g->a->tile : rows;
    g->vectors += rows;
    while (rows > 0 && g->n < FD_AGAIN_MAX) {
        double some = dse_min(rows, most);
        g->blocks[g->n++] = fd_again_blocks(g->a, some, 1);
        rows -= some;
    }
}

/* Vector by vector: from one that leaves the range to the next. */
static void draw(struct again *g, double share, uint64_t layer)
{
    const struct fd_attention *a = g->a;
    struct dse_random random = dse_sim_random(a->at->sim, OF_LAYERS + layer);
    double of_group = fd_group_vectors(a), all = of_group * fd_groups(a), at = -1, group = -1, rows = 0;
    double scale = share < 1 ? 1 / log1p(-share) : 0;
    for (;;) {
        at += 1 + floor(log1p(-dse_random_uniform(&random)) * scale);
        if (!(at < all)) break;
        double its_group = floor((at + 0.5) / of_group);
        if (its_group != group && rows > 0) {
            add_group(g, rows);
            rows = 0;
        }
        group = its_group;
        rows++;
    }
    if (rows > 0) add_group(g, rows);
}

/* So many that draws would differ by a percent or two: every group that has any has as many as the mean one. */
static void take_mean(struct again *g, double share)
{
    const struct fd_attention *a = g->a;
    double of_group = fd_group_vectors(a), groups = fd_groups(a), some = -expm1(of_group * log1p(-dse_min(share, 1 - 1e-16)));
    double rows = share * of_group / some, most = a->prefill ? a->tile : rows;
    g->vectors = share * of_group * groups;
    g->blocks[g->n++] = fd_again_blocks(a, dse_min(rows, most), groups * some * dse_ceil(rows / most));
}

/* A block of its own for as many parts of the positions as there are slots for all of them. */
static void split(struct again *g, double slots)
{
    double blocks = 0;
    for (size_t i = 0; i < g->n; i++) blocks += g->blocks[i].count;
    double parts = dse_min((double)(int64_t)(slots / blocks), g->a->tiles);
    if (parts <= 1) return;
    for (size_t i = 0; i < g->n; i++) {
        g->blocks[i].count *= parts;
        g->blocks[i].steps = g->a->tiles / parts;
    }
}

struct fd_again_run fd_draw_again(const struct fd_attention *a, uint64_t layer, struct fd_blocks *blocks)
{
    const struct flashdecoding_run_reads *r = &a->at->r;
    struct again g = {.a = a, .blocks = blocks};
    const double share = r->recompute_percent / 100, expected = share * fd_group_vectors(a) * fd_groups(a);
    struct fd_again_run run = {.grid = a->first};
    run.grid.blocks = blocks;
    run.grid.n = 0;
    if (r->asynchronous == 0 || share <= 0) return run;
    if (2 * expected > FD_AGAIN_MAX)
        take_mean(&g, share);
    else
        draw(&g, share, layer);
    if (g.n > 0 && r->recompute_blocks == SPLIT) split(&g, a->first.sms * a->first.resident);
    run.grid.n = g.n;
    run.vectors = g.vectors;
    if (!a->at->flat_memory)
        for (size_t i = 0; i < g.n; i++) run.bytes += blocks[i].count * blocks[i].steps * blocks[i].dram;
    return run;
}
