#include "attention/generator.h"

#include "base/xalloc.h"
#include "desc/schema.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <math.h>
#include <stdlib.h>

const struct generator generator_defaults = {
    .seed = 1,
    .n = 1024,
    .d = 128,
    .level_sd = 2.05,
    .level_offset = -4.5,
    .norm_sd = 0.05,
    .rho = 0.9355,
    .noise_sd = 3.21,
    .noise_decay = 0.674,
    .settle_steps = 128,
    .sinks = 4,
    .sink_gain = 7.18,
    .recency_gain = 0.5,
    .recency_steps = 16,
    .heavy_share = 0.01,
    .heavy_gain = 4,
    .step_sd = 1.12,
    .cluster_start = 0.3,
    .cluster_growth = 0.5,
    .cluster_noise = 0.01,
    .sink_value = 1,
};

#define ROW_F64(f, min, max, doc) DSE_PARAM_F64(struct generator, f, "", min, max, doc, "")
#define ROW_I64(f, min, max, doc) DSE_PARAM_I64(struct generator, f, min, max, doc, "")
const struct dse_param generator_params[] = {
    ROW_I64(seed, 0, INT32_MAX, "seed of all random numbers"),
    ROW_I64(n, 1, 262144, "positions of a head"),
    ROW_I64(d, 1, 1024, "head dimension"),
    ROW_F64(level_sd, 0, 50, "standard deviation of the score levels of clusters"),
    ROW_F64(level_offset, -100, 100, "mean score level"),
    ROW_F64(norm_sd, 0, 2, "standard deviation of the logarithm of the keys' lengths"),
    ROW_F64(rho, 0, 1, "correlation of a position's noise from step to step"),
    ROW_F64(noise_sd, 0, 50, "standard deviation of the noise of scores, at the first step"),
    ROW_F64(noise_decay, 0, 4, "the noise falls as (1 + step / settle_steps) ^ -noise_decay"),
    ROW_F64(settle_steps, 1, 1e6, "steps after which the noise has begun to fall"),
    ROW_I64(sinks, 0, 262144, "first positions that are attention sinks"),
    ROW_F64(sink_gain, -100, 100, "sinks score level_offset + sink_gain"),
    ROW_F64(recency_gain, -100, 100, "added to the newest position's score"),
    ROW_F64(recency_steps, 0.1, 1e6, "age at which recency_gain has fallen to 1/e"),
    ROW_F64(heavy_share, 0, 1, "share of the clusters that are heavy hitters"),
    ROW_F64(heavy_gain, -100, 100, "added to the level of heavy hitters"),
    ROW_F64(step_sd, 0, 50, "standard deviation of the offset that all scores of a step share"),
    ROW_F64(cluster_start, 0, 1e6, "concentration of the clusters of key directions: how many there are early"),
    ROW_F64(cluster_growth, 0, 1, "clusters grow in number like n to this power; 1: every key has its own direction"),
    ROW_F64(cluster_noise, 0, 2, "deviation of a key from its cluster's direction, over its length"),
    ROW_F64(fast_share, 0, 1, "share of the noise's variance that is drawn anew at each step"),
    ROW_F64(recency_power, -10, 10, "scores fall with the logarithm of their position's age by this"),
    ROW_F64(sink_growth, -10, 10, "sinks gain this with the logarithm of the step"),
    ROW_F64(sink_sd, 0, 50, "standard deviation of the sinks' score from step to step"),
    ROW_F64(sink_value, 0, 100, "length of the sinks' values over that of the others'"),
    DSE_PARAM_END,
};

bool generator_check(const struct generator *g, struct diags *diags)
{
    struct schema s;
    schema_init_params(&s, generator_params);
    bool ok = true;
    for (size_t i = 0; i < s.n; i++)
        ok = field_check(&s.fields[i], field_get(&s.fields[i], g), (struct srcloc){0}, NULL, NULL, diags) && ok;
    schema_release(&s);
    return ok;
}

/* ---- random streams ------------------------------------------------------------------------------------------------------ */

/* What random numbers are for. A stream each, so that a change of one parameter leaves the others' numbers alone. */
enum purpose { SEATING, LEVELS, HEAVY, DIRECTIONS, NORMS, JITTER, QUERIES, CONTEXTS, STEPS, VALUES, FAST, SINKS, PURPOSES };

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static gsl_rng *stream_new(const struct generator *g, uint64_t head, enum purpose p)
{
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    if (!r) out_of_memory(0);
    gsl_rng_set(r, (unsigned long)(mix(mix(mix((uint64_t)g->seed) ^ head) ^ (uint64_t)p) >> 32));
    return r;
}

/* ---- where things are in a vector ---------------------------------------------------------------------------------------- */

enum { LEVEL = 0, OFFSET = 1, FIRST_NOISE = 2, FIRST_RECENCY = 3, STRIDE = 2 };

/* Length of a key in the dimension of offsets and in those of recency: small beside the keys' other lengths of about ten. */
static const double aside = 0.25;

static size_t dimensions_from(size_t first, size_t d)
{
    return d > first ? (d - first + STRIDE - 1) / STRIDE : 0;
}

/* A vector that wanders: components of variance 1, correlation rho from one step to the next. */
struct wanderer {
    gsl_rng *r;
    double rho, kick;
    double *at;
    size_t n;
};

static void wanderer_init(struct wanderer *w, gsl_rng *r, double rho, size_t n)
{
    *w = (struct wanderer){.r = r, .rho = rho, .kick = sqrt((1 - rho) * (1 + rho)), .n = n};
    w->at = xcalloc(n ? n : 1, sizeof *w->at);
    for (size_t j = 0; j < n; j++) w->at[j] = gsl_ran_gaussian_ziggurat(r, 1);
}

static void wanderer_step(struct wanderer *w)
{
    for (size_t j = 0; j < w->n; j++) w->at[j] = w->rho * w->at[j] + gsl_ran_gaussian_ziggurat(w->r, w->kick);
}

/* ---- clusters ------------------------------------------------------------------------------------------------------------ */

struct cluster {
    double level;
    size_t members;
};

struct making {
    const struct generator *g;
    struct head *h;
    size_t noises;    /* dimensions of noise */
    size_t recencies; /* and of recency */
    size_t turns;     /* pairs of dimensions that turn with the position, behind these */
    size_t sink;      /* the dimension of sink(t); 0: none */
    gsl_rng *rng[PURPOSES];
    struct cluster *clusters;
    double *directions; /* noises a cluster */
    size_t n_clusters, capacity;
    size_t *seat; /* cluster of a position, from the first that is no sink */
    size_t seated;
    size_t asked; /* of the steps that have q: those made */
    float *aside; /* the query of a step that has none */
};

static size_t cluster_open(struct making *m)
{
    const struct generator *g = m->g;
    if (m->n_clusters == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 64;
        m->clusters = xrealloc(m->clusters, m->capacity, sizeof *m->clusters);
        m->directions = xrealloc(m->directions, m->capacity * (m->noises ? m->noises : 1), sizeof *m->directions);
    }
    bool heavy = gsl_rng_uniform(m->rng[HEAVY]) < g->heavy_share;
    m->clusters[m->n_clusters].level =
        g->level_offset + g->level_sd * gsl_ran_gaussian_ziggurat(m->rng[LEVELS], 1) + (heavy ? g->heavy_gain : 0);
    m->clusters[m->n_clusters].members = 0;
    if (m->noises) gsl_ran_dir_nd(m->rng[DIRECTIONS], m->noises, m->directions + m->n_clusters * m->noises);
    return m->n_clusters++;
}

/* The cluster of the next key. An existing one is drawn with probability proportional to members - growth: a seated key's at
 * random, accepted with (members - growth) / members. */
static size_t cluster_next(struct making *m)
{
    const struct generator *g = m->g;
    gsl_rng *r = m->rng[SEATING];
    double open = g->cluster_start + g->cluster_growth * (double)m->n_clusters;
    bool fresh = m->seated == 0 || gsl_rng_uniform(r) * (g->cluster_start + (double)m->seated) < open;
    size_t c = fresh ? cluster_open(m) : 0;
    while (!fresh) {
        c = m->seat[gsl_rng_uniform_int(r, m->seated)];
        double members = (double)m->clusters[c].members;
        if (gsl_rng_uniform(r) * members < members - g->cluster_growth) break;
    }
    m->clusters[c].members++;
    m->seat[m->seated++] = c;
    return c;
}

/* ---- vectors ------------------------------------------------------------------------------------------------------------- */

/* The key of a position that is no sink, but for offset and recency. */
static void make_key(struct making *m, float *k)
{
    const struct generator *g = m->g;
    size_t c = cluster_next(m);
    const double *direction = m->directions + c * m->noises;
    double norm = exp(g->norm_sd * gsl_ran_gaussian_ziggurat(m->rng[NORMS], 1) - g->norm_sd * g->norm_sd / 2);
    double level = norm * m->clusters[c].level, noise = m->noises ? norm * g->noise_sd * sqrt((double)m->h->d) : 0;
    double jitter = g->cluster_noise * hypot(level, noise) / sqrt((double)(m->noises + 1));
    k[LEVEL] = (float)(level + gsl_ran_gaussian_ziggurat(m->rng[JITTER], 1) * jitter);
    for (size_t j = 0; j < m->noises; j++)
        k[FIRST_NOISE + STRIDE * j] = (float)(noise * direction[j] + gsl_ran_gaussian_ziggurat(m->rng[JITTER], 1) * jitter);
}

/* Pairs that turn: angles 1, 1 / ratio, 1 / ratio^2, ... a position. The sum of their cosines falls by one where the age grows by
 * the ratio, so that equal weights make a logarithm of it. */
static void make_turns(const struct making *m, size_t t, float *q, float *k)
{
    const struct generator *g = m->g;
    const double octaves = 18; /* 2^18 positions are the most */
    double ratio = exp2(octaves / (double)m->turns), root = sqrt((double)m->h->d), each = g->recency_power * log(ratio);
    size_t quick = 0; /* pairs that turn within the steps of recency: they have its gain */
    while (quick < m->turns && pow(ratio, -(double)quick) * g->recency_steps > 1) quick++;
    size_t at = FIRST_RECENCY + STRIDE * m->recencies;
    for (size_t j = 0; j < m->turns; j++, at += (size_t)2 * STRIDE) {
        double angle = (double)t * pow(ratio, -(double)j);
        double weight = root * (each + (j < quick ? g->recency_gain / (double)quick : 0));
        k[at] = (float)(aside * cos(angle));
        k[at + STRIDE] = (float)(aside * sin(angle));
        q[at] = (float)(weight / aside * cos(angle));
        q[at + STRIDE] = (float)(weight / aside * sin(angle));
    }
}

/* What wanders from step to step. */
struct wandering {
    struct wanderer query, context, offset, sink;
    double *fast; /* noises, anew at each step */
};

static void make_sink(const struct making *m, size_t t, double wanders, float *q, float *k)
{
    const struct generator *g = m->g;
    if (t < (size_t)g->sinks) k[m->sink] = (float)aside;
    q[m->sink] = (float)(sqrt((double)m->h->d) / aside * (g->sink_growth * log1p((double)t) + g->sink_sd * wanders));
}

/* Where the query of step t goes, which comes after all before it; of a step that has none it is made all the same, for nothing. */
static float *query_row(struct making *m, size_t t)
{
    if (!m->h->steps) return m->h->q + t * m->h->d;
    if (m->asked == m->h->n_steps || (size_t)m->h->steps[m->asked] != t) return m->aside;
    return m->h->q + m->asked++ * m->h->d;
}

static void make_position(struct making *m, size_t t, const struct wandering *w)
{
    const struct wanderer *query = &w->query, *context = &w->context;
    double step = w->offset.at[0];
    const struct generator *g = m->g;
    size_t d = m->h->d;
    float *q = query_row(m, t), *k = m->h->k + t * d, *v = m->h->v + t * d;
    double root = sqrt((double)d);
    if (t < (size_t)g->sinks)
        k[LEVEL] = (float)(g->level_offset + g->sink_gain);
    else
        make_key(m, k);
    q[LEVEL] = (float)root;
    if (d > OFFSET) {
        k[OFFSET] = (float)aside;
        q[OFFSET] = (float)(g->step_sd * root / aside * step);
    }
    double settled = pow(1 + (double)t / g->settle_steps, -g->noise_decay);
    double slow = sqrt(1 - g->fast_share), fast = sqrt(g->fast_share);
    for (size_t j = 0; j < m->noises; j++)
        q[FIRST_NOISE + STRIDE * j] = (float)(settled * (slow * query->at[j] + fast * w->fast[j]));
    double spread = sqrt((double)m->recencies);
    for (size_t j = 0; j < m->recencies; j++) {
        k[FIRST_RECENCY + STRIDE * j] = (float)(aside / spread * context->at[j]);
        q[FIRST_RECENCY + STRIDE * j] = (float)(g->recency_gain * root / (aside * spread) * context->at[j]);
    }
    if (m->turns) make_turns(m, t, q, k);
    if (m->sink) make_sink(m, t, w->sink.at[0], q, k);
    double length = t < (size_t)g->sinks ? g->sink_value : 1;
    for (size_t j = 0; j < d; j++) v[j] = (float)(length * gsl_ran_gaussian_ziggurat(m->rng[VALUES], 1));
}

static void make_head(struct making *m)
{
    struct wandering w = {.fast = xcalloc(m->noises + 1, sizeof *w.fast)};
    wanderer_init(&w.query, m->rng[QUERIES], m->g->rho, m->noises);
    wanderer_init(&w.context, m->rng[CONTEXTS], exp(-1 / m->g->recency_steps), m->recencies);
    wanderer_init(&w.offset, m->rng[STEPS], m->g->rho, 1);
    wanderer_init(&w.sink, m->rng[SINKS], m->g->rho, 1);
    for (size_t t = 0; t < m->h->n; t++) {
        for (size_t j = 0; j < m->noises; j++) w.fast[j] = gsl_ran_gaussian_ziggurat(m->rng[FAST], 1);
        make_position(m, t, &w);
        wanderer_step(&w.query);
        wanderer_step(&w.context);
        wanderer_step(&w.offset);
        wanderer_step(&w.sink);
    }
    free(w.sink.at);
    free(w.offset.at);
    free(w.query.at);
    free(w.context.at);
    free(w.fast);
}

/* Which dimensions are whose. */
static void share_out(struct making *m)
{
    const struct generator *g = m->g;
    const size_t d = m->h->d, least = 16; /* below it there is no room for more than level, offset, noise and recency */
    m->noises = dimensions_from(FIRST_NOISE, d);
    m->recencies = dimensions_from(FIRST_RECENCY, d);
    if (d < least) return;
    if (g->sink_growth != 0 || g->sink_sd != 0) {
        m->sink = d - 1;
        if ((d - 1 - FIRST_NOISE) % STRIDE == 0)
            m->noises--;
        else
            m->recencies--;
    }
    if (g->recency_power != 0) {
        m->turns = m->recencies / 2;
        m->recencies = 0;
    }
}

bool generator_head_sampled(const struct generator *g, uint64_t head, const int32_t *steps, size_t n_steps, struct head *ret,
                            struct diags *diags)
{
    if (!generator_check(g, diags)) return false;
    size_t n = (size_t)g->n, d = (size_t)g->d;
    head_init_sampled(ret, n, d, steps, n_steps);
    struct making m = {.g = g, .h = ret, .aside = xcalloc(d, sizeof(float))};
    share_out(&m);
    m.seat = xcalloc(n, sizeof *m.seat);
    for (enum purpose p = 0; p < PURPOSES; p++) m.rng[p] = stream_new(g, head, p);
    make_head(&m);
    for (enum purpose p = 0; p < PURPOSES; p++) gsl_rng_free(m.rng[p]);
    free(m.clusters);
    free(m.directions);
    free(m.seat);
    free(m.aside);
    return true;
}

bool generator_head(const struct generator *g, uint64_t head, struct head *ret, struct diags *diags)
{
    return generator_head_sampled(g, head, NULL, 0, ret, diags);
}
