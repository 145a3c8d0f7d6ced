/* Networks against theory: mean waits of queueing theory, and the recursions (Lindley; max-plus) that give every time exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "sim_parts.h"

/* ---- one server ------------------------------------------------------------------------------------------------------------- */

enum { CUSTOMERS = 400000, BATCHES = 40 };
static const double mean_service = 1e6; /* ps */

struct server {
    struct dse_fifo *queue;
    uint32_t source;
    struct dse_random arrivals, services;
    double utilisation;
    bool fixed; /* M/D/1, else M/M/1 */
    uint64_t arrived, taken;
    dse_ps *arrival, *service, *wait;
};

static dse_ps exponential(struct dse_random *r, double mean)
{
    return (dse_ps)llrint(-mean * log1p(-dse_random_uniform(r)));
}

static void arrive(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct server *s = object;
    s->arrival[s->arrived] = dse_sim_now(sim);
    assert_true(dse_fifo_put(s->queue, s->arrived));
    if (++s->arrived < CUSTOMERS)
        dse_sim_at(sim, dse_sim_now(sim) + exponential(&s->arrivals, mean_service / s->utilisation), s->source, arg);
}

static void serve_customer(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)out;
    struct server *s = object;
    assert_int_equal(in[0], s->taken);
    s->wait[s->taken] = dse_sim_now(sim) - s->arrival[in[0]];
    s->service[s->taken++] = ret->interval = ret->latency =
        s->fixed ? (dse_ps)mean_service : exponential(&s->services, mean_service);
}

/* Mean of the waits and its standard error, from the means of batches that are long against the time in which a queue forgets. */
static double mean_wait(const struct server *s, double *ret_error)
{
    double batch[BATCHES] = {0}, mean = 0, squares = 0;
    for (size_t i = 0; i < CUSTOMERS; i++) batch[i / (CUSTOMERS / BATCHES)] += (double)s->wait[i] / (CUSTOMERS / BATCHES);
    for (int b = 0; b < BATCHES; b++) mean += batch[b] / BATCHES;
    for (int b = 0; b < BATCHES; b++) squares += (batch[b] - mean) * (batch[b] - mean);
    *ret_error = sqrt(squares / (BATCHES - 1) / BATCHES);
    return mean;
}

/* A customer waits until the one before is served: W' = max(0, W + S - A). Lindley 1952. */
static void check_lindley(const struct server *s)
{
    dse_ps wait = 0;
    for (size_t i = 0; i < CUSTOMERS; i++) {
        if (i > 0) wait += s->service[i - 1] - (s->arrival[i] - s->arrival[i - 1]);
        if (wait < 0) wait = 0;
        assert_int_equal(s->wait[i], wait);
    }
}

static void check_server(double utilisation, bool fixed)
{
    struct dse_sim *sim = sim_new(NULL);
    struct server s = {.utilisation = utilisation, .fixed = fixed};
    dse_sim_seed(sim, 12);
    s.arrival = xcalloc(CUSTOMERS, sizeof *s.arrival);
    s.service = xcalloc(CUSTOMERS, sizeof *s.service);
    s.wait = xcalloc(CUSTOMERS, sizeof *s.wait);
    s.arrivals = dse_sim_random(sim, 0);
    s.services = dse_sim_random(sim, 1);
    s.queue = dse_fifo_new(sim, "queue", 0);
    s.source = dse_sim_actor(sim, arrive, &s);
    const struct dse_stage_spec spec = {.name = "server", .in = {s.queue}, .serve = serve_customer, .object = &s};
    const uint32_t r = dse_stage_resource(dse_stage_new(sim, &spec));
    dse_sim_at(sim, 0, s.source, 0);
    assert_true(dse_sim_run(sim));
    assert_int_equal(s.taken, CUSTOMERS);
    check_lindley(&s);
    double error, theory = mean_service * utilisation / (1 - utilisation) * (fixed ? 0.5 : 1); /* Pollaczek and Khinchin */
    const double mean = mean_wait(&s, &error);
    assert_true(fabs(mean - theory) < 4 * error);
    assert_true(error < 0.04 * theory); /* the test says something */
    assert_true(fabs(sim_resource_share(sim, r, DSE_BUSY) - utilisation) < 0.01);
    free(s.wait);
    free(s.service);
    free(s.arrival);
    sim_free(sim);
}

static void queueing__mean_waits_follow_pollaczek_and_khinchin(void **state)
{
    (void)state;
    check_server(0.3, false);
    check_server(0.8, false);
    check_server(0.3, true);
    check_server(0.8, true);
}

/* ---- random networks -------------------------------------------------------------------------------------------------------- */

/* A network without cycles in which every stage takes one item from each input and gives one to each output, so that all stages
 * serve as many items. Its times follow from a recursion over items and, within an item, over stages in the order of their
 * making. */
enum { NODES_MAX = 24, WIRES_MAX = NODES_MAX * DSE_STAGE_PORTS, ITEMS = 40 };

struct wire {
    int from, to; /* nodes; from -1: filled at the start; to -1: taken by a sink as it comes */
    uint32_t capacity;
    dse_ps put[ITEMS]; /* by the recursion */
    struct dse_fifo *fifo;
    dse_ps seen[ITEMS]; /* by the sink */
    int n_seen;
};

struct node {
    int in[DSE_STAGE_PORTS], out[DSE_STAGE_PORTS]; /* wires; -1 ends */
    uint32_t depth;
    dse_ps interval[ITEMS], latency[ITEMS];
    dse_ps take[ITEMS], ready[ITEMS], left[ITEMS]; /* by the recursion */
    int n_taken;
    dse_ps taken[ITEMS]; /* by the run */
    struct dse_stage *stage;
};

struct network {
    struct node node[NODES_MAX];
    struct wire wire[WIRES_MAX];
    int nodes, wires;
};

static int below(struct dse_random *r, int bound)
{
    return (int)dse_random_below(r, (uint64_t)bound);
}

static int add_wire(struct network *w, int from, uint32_t capacity)
{
    w->wire[w->wires] = (struct wire){.from = from, .to = -1, .capacity = capacity};
    return w->wires++;
}

/* One to three of the wires that nobody takes from yet. */
static void connect_inputs(struct network *w, int node, struct dse_random *r)
{
    int loose[WIRES_MAX], n = 0;
    for (int i = 0; i < w->wires; i++)
        if (w->wire[i].to < 0) loose[n++] = i;
    int wanted = 1 + below(r, 3);
    for (int i = 0; i < DSE_STAGE_PORTS; i++) w->node[node].in[i] = -1;
    for (int i = 0; i < wanted && n > 0; i++) {
        const int k = below(r, n);
        w->node[node].in[i] = loose[k];
        w->wire[loose[k]].to = node;
        loose[k] = loose[--n];
    }
    if (w->node[node].in[0] < 0) w->wire[w->node[node].in[0] = add_wire(w, -1, 0)].to = node;
}

static dse_ps draw_time(struct dse_random *r)
{
    return below(r, 4) ? below(r, 50) : 0;
}

static void draw_network(struct network *w, struct dse_random *r)
{
    w->nodes = 1 + below(r, NODES_MAX);
    w->wires = 0;
    add_wire(w, -1, 0);
    for (int i = 0; i < w->nodes; i++) {
        struct node *n = &w->node[i];
        *n = (struct node){.depth = (uint32_t)below(r, 4)};
        connect_inputs(w, i, r);
        const int outputs = below(r, 3) ? 1 + below(r, 2) : below(r, 3);
        for (int o = 0; o < DSE_STAGE_PORTS; o++)
            n->out[o] = o < outputs && w->wires < WIRES_MAX - 1 ? add_wire(w, i, (uint32_t)below(r, 4)) : -1;
        for (int k = 0; k < ITEMS; k++) {
            n->interval[k] = draw_time(r);
            n->latency[k] = draw_time(r);
        }
    }
}

static dse_ps later_of(dse_ps a, dse_ps b)
{
    return a > b ? a : b;
}

/* When node i takes set k: all inputs are there, the interval of the one before is over, and there is room inside. */
static dse_ps take_time(const struct network *w, const struct node *n, int k)
{
    dse_ps t = 0;
    for (int i = 0; i < DSE_STAGE_PORTS && n->in[i] >= 0; i++) t = later_of(t, w->wire[n->in[i]].put[k]);
    if (k > 0) t = later_of(t, n->take[k - 1] + n->interval[k - 1]);
    if (n->depth && k >= (int)n->depth) t = later_of(t, n->left[k - (int)n->depth]);
    for (int j = 0; n->depth == 0 && j < k; j++) /* not while one that is ready cannot leave */
        if (n->ready[j] <= t && t < n->left[j]) t = n->left[j];
    return t;
}

static void solve_node(struct network *w, struct node *n, int k)
{
    n->take[k] = take_time(w, n, k);
    n->ready[k] = later_of(n->take[k] + n->latency[k], k > 0 ? n->left[k - 1] : 0);
    n->left[k] = n->ready[k];
    for (int o = 0; o < DSE_STAGE_PORTS && n->out[o] >= 0; o++) {
        struct wire *x = &w->wire[n->out[o]];
        x->put[k] = n->ready[k];
        if (x->capacity && x->to >= 0 && k >= (int)x->capacity)
            x->put[k] = later_of(x->put[k], w->node[x->to].take[k - (int)x->capacity]);
        n->left[k] = later_of(n->left[k], x->put[k]);
    }
}

static void serve_node(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct node *n = object;
    const int k = n->n_taken++;
    assert_true(k < ITEMS);
    n->taken[k] = dse_sim_now(sim);
    for (int i = 0; i < DSE_STAGE_PORTS; i++) {
        if (n->in[i] >= 0) assert_int_equal(in[i], k);
        if (n->in[i] < 0) break;
    }
    ret->interval = n->interval[k];
    ret->latency = n->latency[k];
    for (int o = 0; o < DSE_STAGE_PORTS && n->out[o] >= 0; o++) {
        out[o] = (uint64_t)k;
        ret->outputs |= 1u << o;
    }
}

static void serve_wire_end(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)out;
    (void)ret;
    struct wire *x = object;
    assert_int_equal(in[0], x->n_seen);
    x->seen[x->n_seen++] = dse_sim_now(sim);
}

static void build_network(struct dse_sim *sim, struct network *w)
{
    for (int i = 0; i < w->wires; i++) {
        struct wire *x = &w->wire[i];
        x->fifo = dse_fifo_new(sim, "wire", x->capacity);
        x->n_seen = 0;
        if (x->to < 0)
            dse_stage_new(sim, &(struct dse_stage_spec){.name = "end", .in = {x->fifo}, .serve = serve_wire_end, .object = x});
        if (x->from < 0) fill(x->fifo, ITEMS);
    }
    for (int i = 0; i < w->nodes; i++) {
        struct node *n = &w->node[i];
        struct dse_stage_spec spec = {.name = "node", .serve = serve_node, .object = n, .depth = n->depth};
        for (int p = 0; p < DSE_STAGE_PORTS && n->in[p] >= 0; p++) spec.in[p] = w->wire[n->in[p]].fifo;
        for (int p = 0; p < DSE_STAGE_PORTS && n->out[p] >= 0; p++) spec.out[p] = w->wire[n->out[p]].fifo;
        n->n_taken = 0;
        n->stage = dse_stage_new(sim, &spec);
    }
}

static void check_times(const struct network *w)
{
    for (int i = 0; i < w->nodes; i++) {
        assert_int_equal(w->node[i].n_taken, ITEMS);
        assert_int_equal(dse_stage_served(w->node[i].stage), ITEMS);
        assert_memory_equal(w->node[i].taken, w->node[i].take, sizeof w->node[i].take);
    }
    for (int i = 0; i < w->wires; i++) {
        const struct wire *x = &w->wire[i];
        assert_int_equal(dse_fifo_size(x->fifo), 0);
        if (x->capacity) assert_true(dse_fifo_peak(x->fifo) <= x->capacity);
        if (x->to >= 0 || x->from < 0) continue;
        assert_int_equal(x->n_seen, ITEMS);
        assert_memory_equal(x->seen, x->put, sizeof x->put);
    }
}

static void check_statistics(const struct dse_sim *sim, const struct network *w)
{
    for (uint32_t i = 0; i < sim_resources(sim); i++) {
        const struct sim_resource r = sim_resource(sim, i);
        dse_ps sum = 0;
        for (int s = 0; s < DSE_STATES; s++) {
            assert_true(r.time[s] >= 0);
            sum += r.time[s];
        }
        assert_int_equal(sum, dse_sim_now(sim));
    }
    for (int i = 0; i < w->nodes; i++) {
        const struct node *n = &w->node[i];
        dse_ps busy = 0;
        for (int k = 0; k < ITEMS; k++) busy += n->interval[k];
        if (n->depth == 0) assert_int_equal(dse_resource_time(sim, dse_stage_resource(n->stage), DSE_BUSY), busy);
        if (n->depth > 0) assert_true(dse_resource_time(sim, dse_stage_resource(n->stage), DSE_BUSY) >= busy);
    }
}

static void network__any_without_cycles_follows_its_recursion(void **state)
{
    (void)state;
    static struct network w;
    struct dse_sim *sim = sim_new(NULL); /* one run's memory for all */
    struct dse_random r = dse_sim_random(sim, 77);
    for (int round = 0; round < 3000; round++) {
        draw_network(&w, &r);
        build_network(sim, &w);
        for (int k = 0; k < ITEMS; k++)
            for (int i = 0; i < w.nodes; i++) solve_node(&w, &w.node[i], k);
        assert_true(dse_sim_run(sim));
        check_times(&w);
        check_statistics(sim, &w);
        sim_reset(sim, NULL);
    }
    sim_free(sim);
}

/* With FIFOs without bound nothing is later than with bounded ones. */
static void network__bounds_only_delay(void **state)
{
    (void)state;
    static struct network w;
    static dse_ps unbounded[NODES_MAX][ITEMS];
    struct dse_sim *sim = sim_new(NULL);
    struct dse_random r = dse_sim_random(sim, 78);
    bool delayed = false;
    for (int round = 0; round < 500; round++) {
        draw_network(&w, &r);
        for (int ideal = 1; ideal >= 0; ideal--) {
            sim_reset(sim, &(struct sim_options){.ideal = ideal ? DSE_IDEAL_FIFOS : 0});
            build_network(sim, &w);
            assert_true(dse_sim_run(sim));
            for (int i = 0; i < w.nodes; i++)
                for (int k = 0; k < ITEMS; k++) {
                    if (ideal) unbounded[i][k] = w.node[i].taken[k];
                    assert_true(w.node[i].taken[k] >= unbounded[i][k]);
                    delayed |= w.node[i].taken[k] > unbounded[i][k];
                }
        }
    }
    assert_true(delayed);
    sim_free(sim);
}

/* ---- determinism ------------------------------------------------------------------------------------------------------------ */

static uint64_t hash_of_spans;

static void ignore_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    (void)object;
    (void)resource;
    (void)group;
    (void)name;
}

static void hash_span(void *object, const struct sim_span *s)
{
    (void)object;
    const uint64_t words[] = {s->resource, s->state, (uint64_t)s->from, (uint64_t)s->to};
    for (size_t i = 0; i < 4; i++) hash_of_spans = (hash_of_spans ^ words[i]) * 0x100000001b3u;
}

static void network__a_run_is_the_same_again_span_for_span(void **state)
{
    (void)state;
    static struct network w;
    const struct sim_recorder recorder = {.resource = ignore_resource, .span = hash_span};
    const struct sim_options options = {.recorder = &recorder};
    struct dse_sim *used = sim_new(NULL);
    struct dse_random r = dse_sim_random(used, 79);
    for (int round = 0; round < 200; round++) {
        uint64_t hash[2], events[2];
        draw_network(&w, &r);
        for (int again = 0; again < 2; again++) {
            struct dse_sim *sim = again ? used : sim_new(&options);
            if (again) sim_reset(used, &options);
            hash_of_spans = 0xcbf29ce484222325u;
            build_network(sim, &w);
            assert_true(dse_sim_run(sim));
            sim_finish(sim);
            hash[again] = hash_of_spans;
            events[again] = sim_events(sim);
            if (!again) sim_free(sim);
        }
        assert_true(hash[0] == hash[1]);
        assert_true(events[0] == events[1]);
    }
    sim_free(used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queueing__mean_waits_follow_pollaczek_and_khinchin),
        cmocka_unit_test(network__any_without_cycles_follows_its_recursion),
        cmocka_unit_test(network__bounds_only_delay),
        cmocka_unit_test(network__a_run_is_the_same_again_span_for_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
