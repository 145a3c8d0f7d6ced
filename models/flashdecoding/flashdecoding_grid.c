/* Blocks on SMs: E20. */
#include "flashdecoding_grid.h"

#include <dse/num.h>

#include <math.h>
#include <string.h>

enum phase { LATENCY, FIRST, LOOP, LAST, DONE };

struct fd_cohort {
    const struct fd_blocks *blocks;
    double count;
    double waves; /* full waves of nothing but these blocks, one after the other, all alike */
    enum phase phase;
    double left; /* of the phase: 1 to 0 */
};

/* ---- rates ------------------------------------------------------------------------------------------------------------------- */

/* What all blocks that run share. */
struct load {
    double drawing; /* blocks that load */
    double an_sm;   /* blocks of the fullest SM */
};

static struct load load_of(const struct fd_grid *g)
{
    struct load l = {0};
    double running = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct fd_cohort *c = &g->cohort[i];
        running += c->count;
        if (c->phase == FIRST || c->phase == LOOP) l.drawing += c->count;
    }
    l.an_sm = dse_ceil(running / g->spec.sms);
    return l;
}

static double phase_seconds(const struct fd_grid *g, const struct fd_cohort *c, const struct load *at)
{
    const struct fd_blocks *b = c->blocks;
    const struct fd_grid_spec *s = &g->spec;
    double dram = dse_max(b->dram * dse_max(at->drawing, 1) / s->stream, b->dram / s->block_stream);
    double load = dse_max(dram, at->an_sm * b->l2 / s->l2_stream), compute = at->an_sm * b->sm_s;
    double longer = dse_max(load, compute), shorter = dse_min(dram, compute);
    double step = longer + b->exposed * shorter, updates = b->steps * b->update * longer;
    switch (c->phase) {
    case LATENCY: return c->waves * b->latency_s;
    case FIRST: return c->waves * load;
    case LOOP: break;
    case LAST: return c->waves * compute;
    case DONE: return 0;
    }
    if (b->buffers == FD_ONE_BUFFER) return c->waves * (b->steps * (b->latency_s + load + compute) + updates);
    return c->waves * ((b->buffers == FD_AHEAD ? b->steps : b->steps - 1) * step + updates);
}

/* ---- starting ------------------------------------------------------------------------------------------------------------ */

static void add(struct fd_grid *g, const struct fd_blocks *b, double count, double waves)
{
    if (g->n == g->room) {
        struct fd_cohort *more = dse_sim_alloc(g->sim, 2 * g->room + 8, sizeof *more);
        if (g->n) memcpy(more, g->cohort, g->n * sizeof *more);
        g->cohort = more;
        g->room = 2 * g->room + 8;
    }
    enum phase first = b->buffers == FD_ONE_BUFFER ? LOOP : LATENCY;
    g->cohort[g->n++] = (struct fd_cohort){.blocks = b, .count = count, .waves = waves, .phase = first, .left = 1};
    g->free -= count;
    g->waves += waves * count / g->slots;
}

static void next_kind(struct fd_grid *g)
{
    g->next++;
    g->left = g->next < g->spec.n ? g->spec.blocks[g->next].count : 0;
}

/* Blocks into the slots that are free. Where all are free and there are blocks alike for whole waves, these are run as one. */
static void fill(struct fd_grid *g)
{
    while (g->free > 0 && g->next < g->spec.n) {
        const struct fd_blocks *b = &g->spec.blocks[g->next];
        if (g->left <= 0) {
            next_kind(g);
        } else if (g->spec.even) {
            if (g->n > 0) return;
            double waves = g->left / g->slots;
            g->left = 0;
            add(g, b, g->slots, waves);
        } else {
            double count = dse_min(g->left, g->free), waves = 1;
            if (g->n == 0 && g->left >= g->slots) waves = (double)(int64_t)(g->left / g->slots);
            g->left -= waves * count;
            add(g, b, count, waves);
        }
    }
}

void fd_grid_start(struct fd_grid *g, struct dse_sim *sim, const struct fd_grid_spec *spec)
{
    struct fd_cohort *cohort = g->cohort; /* of a grid before, in the same run; or NULL */
    size_t room = g->room;
    *g = (struct fd_grid){.sim = sim, .spec = *spec, .cohort = cohort, .room = room};
    g->slots = g->free = spec->sms * spec->resident;
    double blocks = 0;
    for (size_t i = 0; i < spec->n; i++) blocks += spec->blocks[i].count;
    if (blocks > FD_WAVES_APART * g->slots) g->spec.even = true;
    g->left = spec->n > 0 ? spec->blocks[0].count : 0;
    fill(g);
}

/* ---- going on ------------------------------------------------------------------------------------------------------------ */

bool fd_grid_next(const struct fd_grid *g, double *ret)
{
    struct load at = load_of(g);
    *ret = (double)INFINITY;
    for (size_t i = 0; i < g->n; i++) *ret = dse_min(*ret, g->cohort[i].left * phase_seconds(g, &g->cohort[i], &at));
    return g->n > 0;
}

static enum phase phase_after(const struct fd_cohort *c)
{
    switch (c->phase) {
    case LATENCY: return c->blocks->buffers == FD_AHEAD ? LOOP : FIRST;
    case FIRST: return LOOP;
    case LOOP: return c->blocks->buffers == FD_TWO_BUFFERS ? LAST : DONE;
    case LAST:
    case DONE: break;
    }
    return DONE;
}

/* Phases that end within a rounding error of each other end together. */
void fd_grid_advance(struct fd_grid *g)
{
    const double together = 1 + 1e-9;
    double dt;
    struct load at = load_of(g);
    fd_grid_next(g, &dt);
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct fd_cohort c = g->cohort[i];
        double whole = phase_seconds(g, &c, &at), rest = c.left * whole;
        if (rest <= dt * together) {
            c.phase = phase_after(&c);
            c.left = 1;
        } else {
            c.left -= dt / whole;
        }
        if (c.phase == DONE)
            g->free += c.count;
        else
            g->cohort[kept++] = c;
    }
    g->n = kept;
    g->elapsed += dt;
    fill(g);
}

double fd_grid_running(const struct fd_grid *g)
{
    return g->slots - g->free;
}

double fd_grid_seconds(struct dse_sim *sim, const struct fd_grid_spec *spec)
{
    struct fd_grid g = {0};
    double dt;
    fd_grid_start(&g, sim, spec);
    while (fd_grid_next(&g, &dt)) fd_grid_advance(&g);
    return g.elapsed;
}
