/* Pre-fetching: keys and values of the positions that were active in the step before, while linear layers leave the HBM idle
 * (E14, E32).
 *
 * prefetch = "limited": in the QKV period of a head, for that head. "ideal": in all linear layers, for the heads of the layer one
 * after the other. The sequences of a head take turns. The HBM is idle as long as half of the weight buffer is full. What is
 * under way is no more than a chunk of weights, so that weights wait little.
 */
#include "lad_fetch.h"

#include <math.h>

/* ---- whose positions ----------------------------------------------------------------------------------------------------- */

/* As many as there are, or as there is room for. */
static uint32_t wanted_of(const struct lad_run *run, const struct lad_sample *s)
{
    if (run->p->fetches_nothing != 0) return 0;
    return (uint32_t)fmin(s->active, lad_room(run->pt, s->active));
}

static void begin_head(struct lad_fetcher *f, uint32_t layer, uint32_t head)
{
    const struct lad_run *run = f->run;
    f->layer = layer;
    f->head = head;
    f->turn = 0;
    for (uint32_t i = 0; i < run->batch; i++) {
        struct lad_sample s = lad_draw(&run->draws, layer, head, i);
        f->wanted[i] = wanted_of(run, &s);
        f->positions[i] = lad_active_positions(&run->draws, &s);
    }
}

uint32_t lad_fetched(const struct lad_fetcher *f, const struct lad_sample *s)
{
    if (!s->counted) return (uint32_t)(f->warm * wanted_of(f->run, s));
    return f->fetched[(size_t)s->head * f->run->batch + s->sequence];
}

/* ---- a quantum: some positions of one sequence --------------------------------------------------------------------------- */

/* Its head has gone to the tiles. */
static bool is_late(const struct lad_fetcher *f, const struct lad_quantum *q)
{
    return q->layer != f->layer || q->head < f->from;
}

static bool next_segment(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_quantum *q = object;
    struct lad_fetcher *f = q->of;
    struct lad_run *run = f->run;
    uint32_t position;
    bool repeated;
    *ret = (struct dse_segment){.address = q->value, .bytes = run->memory.row};
    if (q->value) {
        q->value = 0;
    } else {
        uint64_t *shared = lad_shared_rows(&run->shared, q->layer, q->head, q->sequence);
        do {
            if (!f->open || is_late(f, q) || q->left == 0) return false;
            if (!lad_positions_next(&q->positions, &position, &repeated)) return false;
            q->left--;
            f->fetched[(size_t)q->head * run->batch + q->sequence]++;
            if (!repeated) position = (uint32_t)dse_random_below(&f->vain, (uint64_t)run->pt->n);
        } while ((!repeated && run->p->vain_counts == 0) || lad_found(shared, position));
        uint64_t kv = lad_kv_head(&run->memory, q->head);
        ret->address = lad_key_at(&run->memory, q->layer, kv, q->sequence, position);
        q->value = lad_value_at(&run->memory, q->layer, kv, q->sequence, position);
    }
    lad_count(run, ret, LAD_FETCHED, true, NULL);
    return true;
}

static void start(struct lad_fetcher *f, struct lad_quantum *q)
{
    const struct lad_run *run = f->run;
    q->state = LAD_FLYING;
    if (f->flying++ == 0) dse_resource_state(run->sim, f->resource, DSE_BUSY, "prefetch", q->head);
    dse_dram_start(run->memory.port[q->sequence % run->memory.ports].dram_port,
                   &(struct dse_transfer){.next = next_segment,
                                          .object = q,
                                          .label = lad_traffic_labels[LAD_FETCHED],
                                          .access_bytes = run->memory.gathered,
                                          .actor = f->actor,
                                          .actor_arg = (uint32_t)(q - f->quantum)});
}

/* The next sequence in turn that wants something; false: none. */
static bool pick(struct lad_fetcher *f, uint32_t *ret)
{
    uint32_t batch = f->run->batch;
    for (uint32_t i = 0; i < batch; i++) {
        uint32_t s = (f->turn + i) % batch;
        if (f->wanted[s] == 0) continue;
        f->turn = s + 1;
        *ret = s;
        return true;
    }
    return false;
}

static void fill(struct lad_fetcher *f, struct lad_quantum *q, uint32_t sequence)
{
    uint32_t n = f->wanted[sequence] < LAD_QUANTUM ? f->wanted[sequence] : LAD_QUANTUM, position;
    bool repeated;
    q->layer = f->layer;
    q->head = f->head;
    q->sequence = sequence;
    q->left = n;
    q->value = 0;
    q->positions = f->positions[sequence];
    f->wanted[sequence] -= n;
    for (uint32_t i = 0; i < n; i++) lad_positions_next(&f->positions[sequence], &position, &repeated);
}

/* Start one more; false: nothing is wanted. */
static bool start_one(struct lad_fetcher *f)
{
    struct lad_quantum *unused = NULL;
    for (int i = 0; i < LAD_QUANTA; i++) {
        struct lad_quantum *q = &f->quantum[i];
        if (q->state == LAD_PARKED && is_late(f, q)) q->state = LAD_UNUSED;
        if (q->state == LAD_PARKED) {
            start(f, q);
            return true;
        }
        if (q->state == LAD_UNUSED) unused = q;
    }
    uint32_t sequence;
    while (!pick(f, &sequence)) {
        if (f->run->p->fetches_always == 0 || f->head + 1 >= f->run->heads) return false;
        begin_head(f, f->layer, f->head + 1);
    }
    if (!unused) return false;
    fill(f, unused, sequence);
    start(f, unused);
    return true;
}

void lad_fetch_more(struct lad_fetcher *f)
{
    while (f->open && f->flying < f->flying_max && lad_linear_has_stock(f->linear) && start_one(f)) continue;
}

static void on_landed(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct lad_fetcher *f = object;
    struct lad_quantum *q = &f->quantum[arg];
    q->state = q->left > 0 ? LAD_PARKED : LAD_UNUSED;
    if (--f->flying == 0) dse_resource_state(sim, f->resource, DSE_IDLE, NULL, -1);
    lad_fetch_more(f);
}

/* ---- when ---------------------------------------------------------------------------------------------------------------- */

void lad_fetch_open(struct lad_fetcher *f, uint32_t layer, uint32_t head)
{
    const struct lad_run *run = f->run;
    if (run->p->fetches_nothing != 0) return;
    bool fresh = f->fresh || layer != f->layer;
    if (fresh)
        for (size_t i = 0; i < (size_t)run->heads * run->batch; i++) f->fetched[i] = 0;
    f->from = head;
    if (fresh || f->head < head) begin_head(f, layer, head);
    f->fresh = false;
    f->open = true;
    lad_fetch_more(f);
}

void lad_fetch_close(struct lad_fetcher *f)
{
    f->open = false;
}

/* Share of what is wanted that the closed form fetches. */
static double closed_form_fetches(const struct lad_run *run)
{
    const struct lad_point *pt = run->pt;
    if (pt->active <= 0) return 0;
    double wanted = fmin(pt->active, lad_room(pt, pt->active));
    return wanted > 0 ? fmin(1, pt->prefetched / wanted) : 0;
}

void lad_fetch_init(struct lad_fetcher *f, struct lad_run *run, const struct lad_linear *linear)
{
    struct dse_sim *sim = run->sim;
    *f = (struct lad_fetcher){.run = run, .linear = linear, .fresh = true, .vain = dse_sim_random(sim, UINT64_C(15) << 60)};
    f->wanted = dse_sim_alloc(sim, run->batch, sizeof *f->wanted);
    f->positions = dse_sim_alloc(sim, run->batch, sizeof *f->positions);
    f->fetched = dse_sim_alloc(sim, (size_t)run->heads * run->batch, sizeof *f->fetched);
    for (int i = 0; i < LAD_QUANTA; i++) f->quantum[i].of = f;
    double quantum = LAD_QUANTUM * 2 * (double)run->memory.row;
    f->flying_max = (unsigned)fmax(1, fmin(LAD_QUANTA, linear->chunk_bytes / quantum));
    f->warm = closed_form_fetches(run);
    f->actor = dse_sim_actor(sim, on_landed, f);
    dse_sim_actor_name(sim, f->actor, "prefetch");
    f->resource = dse_resource(sim, NULL, "prefetch DMA");
}
