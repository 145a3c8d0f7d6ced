/* Linear layers, and whatever else uses all VPUs: jobs whose bytes come through the weight buffer in chunks (E20, E31).
 *
 * The buffer holds LAD_CHUNKS chunks, each loading, waiting, or at work. The DMA loads chunk after chunk as places become free,
 * those of the next job too: weights do not depend on anything. It rests in attention periods. The VPUs take them in order, a
 * chunk as soon as all of it is there.
 */
#include "lad_linear.h"

#include <dse/num.h>
#include <dse/sampling.h>
#include <dse/units.h>

#include <math.h>

/* ---- bytes of a chunk ---------------------------------------------------------------------------------------------------- */

/* Where chunk `index` of `chunks` begins in `total`; products stay small. */
static uint64_t cut(uint64_t total, uint64_t index, uint64_t chunks)
{
    return total / chunks * index + total % chunks * index / chunks;
}

static uint64_t cut_burst(const struct lad_memory *mem, const struct lad_flow *f, uint64_t index, uint64_t chunks)
{
    return index == chunks ? f->bytes : cut(f->bytes, index, chunks) / mem->burst * mem->burst;
}

static uint64_t base_of(const struct lad_port *p, enum lad_region region)
{
    switch (region) {
    case LAD_AT_WEIGHTS: return p->weights;
    case LAD_AT_KEYS: return p->keys;
    case LAD_AT_VALUES: return p->values;
    default: return p->spilled;
    }
}

static bool flow_segment(struct lad_chunk_port *cp, struct dse_segment *ret)
{
    const struct lad_chunk *c = cp->chunk;
    const struct lad_run *run = c->of->run;
    for (; cp->flow < c->job.flows; cp->flow++, cp->done = 0) {
        const struct lad_flow *f = &c->job.flow[cp->flow];
        uint64_t from = cut_burst(&run->memory, f, c->index, c->job.chunks) + cp->done;
        uint64_t to = cut_burst(&run->memory, f, c->index + 1, c->job.chunks);
        if (f->write != cp->writing || from >= to) continue;
        uint64_t at = from % f->size, left = f->size - at;
        ret->address = base_of(&run->memory.port[cp->port], f->region) + f->offset + at;
        ret->bytes = to - from < left ? to - from : left;
        ret->write = f->write;
        cp->done += ret->bytes;
        return true;
    }
    return false;
}

/* The next of the keys and values that this chunk's part of the QKV projection appends behind this port. */
static bool append_segment(struct lad_chunk_port *cp, struct dse_segment *ret)
{
    const struct lad_chunk *c = cp->chunk;
    const struct lad_job *job = &c->job;
    const struct lad_run *run = c->of->run;
    if (!cp->writing) return false;
    uint64_t from = cut(job->rows, c->index, job->chunks), to = cut(job->rows, c->index + 1, job->chunks);
    for (uint64_t i = from + cp->done; i < to; i++) {
        cp->done++;
        uint32_t sequence = (uint32_t)(i / 2 % run->batch);
        if (sequence % run->memory.ports != cp->port) continue;
        uint64_t kv_head = job->kv_head + i / 2 / run->batch, last = run->memory.positions - 1;
        ret->address = i % 2 ? lad_value_at(&run->memory, job->layer, kv_head, sequence, last)
                             : lad_key_at(&run->memory, job->layer, kv_head, sequence, last);
        ret->bytes = run->memory.row;
        ret->write = true;
        return true;
    }
    return false;
}

static void rewind_port(struct lad_chunk_port *cp, bool writing)
{
    cp->writing = writing;
    cp->flow = 0;
    cp->done = 0;
}

static bool next_segment(struct lad_chunk_port *cp, struct dse_segment *ret)
{
    return flow_segment(cp, ret) || append_segment(cp, ret);
}

static bool next_of_chunk(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_chunk_port *cp = object;
    if (!next_segment(cp, ret)) return false;
    struct lad_linear *l = cp->chunk->of;
    uint64_t moved = lad_moved(&l->run->memory, ret);
    l->run->account.moved += moved;
    l->work[cp->chunk->job.op].bytes += moved;
    return true;
}

/* Start what the chunk has to read or to write; returns false when that is nothing. */
static bool start_transfers(struct lad_chunk *c, bool writing)
{
    const struct lad_run *run = c->of->run;
    uint32_t started = 0;
    enum lad_traffic traffic = writing || c->job.flow[0].region != LAD_AT_WEIGHTS ? LAD_KV : LAD_WEIGHTS;
    for (uint32_t i = 0; i < run->memory.ports; i++) {
        struct dse_segment any;
        rewind_port(&c->port[i], writing);
        if (!next_segment(&c->port[i], &any)) continue;
        rewind_port(&c->port[i], writing);
        c->flying++;
        started++;
        dse_dram_start(run->memory.port[i].dram_port, &(struct dse_transfer){.next = next_of_chunk,
                                                                             .object = &c->port[i],
                                                                             .label = lad_traffic_labels[traffic],
                                                                             .access_bytes = run->memory.stream,
                                                                             .actor = c->of->dma_actor,
                                                                             .actor_arg = (uint32_t)(c - c->of->chunk)});
    }
    return started > 0;
}

/* ---- the DMA ------------------------------------------------------------------------------------------------------------- */

static void show_dma(struct lad_linear *l)
{
    bool flies = l->loading_now > 0;
    dse_resource_state(l->run->sim, l->dma, flies ? DSE_BUSY : DSE_IDLE, flies ? lad_traffic_labels[LAD_WEIGHTS] : NULL, -1);
}

static void took_off(struct lad_linear *l)
{
    if (l->loading_now++ > 0) return;
    l->loading_since = dse_sim_now(l->run->sim);
    show_dma(l);
}

static void landed(struct lad_linear *l)
{
    if (--l->loading_now > 0) return;
    l->loaded_time += dse_sim_now(l->run->sim) - l->loading_since;
    show_dma(l);
}

/* Time that weights have been under way. */
static dse_ps loaded_by_now(const struct lad_linear *l)
{
    return l->loaded_time + (l->loading_now ? dse_sim_now(l->run->sim) - l->loading_since : 0);
}

static void compute_next(struct lad_linear *l);

/* May the DMA go on to the job after the one at work? Attention comes first where a head's projection is at work: what is under way
 * when it begins takes the HBM from it, and is no gain where the HBM limits the projection. */
static bool goes_on(const struct lad_linear *l)
{
    return l->job.head < 0 || l->run->step->op[l->job.op].leaves_hbm;
}

/* In attention periods the HBM is theirs. */
static void load_more(struct lad_linear *l)
{
    while (l->active) {
        struct lad_chunk *c = &l->chunk[l->loaded % LAD_CHUNKS];
        if (c->state != LAD_FREE) return;
        if (l->loading_chunk == l->loading.simulated) {
            if (l->next_job >= l->jobs && !goes_on(l)) return;
            if (!l->run->signals->job(l->run->machine, l->next_job, &l->loading)) return;
            l->next_job++;
            l->loading_chunk = 0;
        }
        c->job = l->loading;
        c->index = l->loading_chunk++;
        c->state = LAD_COMING;
        l->loaded++;
        if (start_transfers(c, false))
            took_off(l);
        else
            c->state = LAD_THERE;
    }
}

static void free_chunk(struct lad_linear *l, struct lad_chunk *c)
{
    c->state = LAD_FREE;
    load_more(l);
}

/* Results leave the buffer by a writer; the chunk is free when one has taken them over. False: all are busy. */
static bool write_results(struct lad_linear *l, struct lad_chunk *c)
{
    struct lad_chunk *w = l->chunk + LAD_CHUNKS, *end = w + LAD_WRITERS;
    while (w < end && w->state != LAD_FREE) w++;
    if (w == end) return false;
    w->job = c->job;
    w->index = c->index;
    if (start_transfers(w, true)) w->state = LAD_WRITING;
    free_chunk(l, c);
    return true;
}

/* The chunks that waited for a writer, oldest first. */
static void written(struct lad_linear *l, struct lad_chunk *writer)
{
    writer->state = LAD_FREE;
    for (uint64_t i = l->loaded - LAD_CHUNKS; i < l->consumed; i++)
        if (l->loaded >= LAD_CHUNKS && l->chunk[i % LAD_CHUNKS].state == LAD_WRITING) {
            write_results(l, &l->chunk[i % LAD_CHUNKS]);
            return;
        }
}

static void on_transfer(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    struct lad_linear *l = object;
    struct lad_chunk *c = &l->chunk[arg];
    if (--c->flying > 0) return;
    if (arg >= LAD_CHUNKS) {
        written(l, c);
        return;
    }
    landed(l);
    c->state = LAD_THERE;
    compute_next(l);
    l->run->signals->stocked(l->run->machine);
}

bool lad_linear_has_stock(const struct lad_linear *l)
{
    unsigned there = 0;
    for (int i = 0; i < LAD_CHUNKS; i++) there += l->chunk[i].state == LAD_THERE;
    return there >= LAD_CHUNKS / 2 || l->loading_now == 0;
}

/* ---- the VPUs ------------------------------------------------------------------------------------------------------------ */

static bool is_elementwise(const struct lad_linear *l)
{
    return l->run->step->op[l->job.op].kind == DSE_OP_ELEMENTWISE;
}

static void show_vpu(struct lad_linear *l, enum dse_state state)
{
    const char *name = l->run->step->op[l->job.op].name;
    dse_resource_state(l->run->sim, is_elementwise(l) ? l->sfm : l->vpu, state, state == DSE_IDLE ? NULL : name, l->job.head);
}

/* The share of a job's time that one of its chunks takes. */
static dse_ps chunk_time(const struct lad_linear *l, uint32_t index)
{
    double slow = is_elementwise(l) ? 1 : l->slowdown, seconds = l->job.compute_s * slow, chunks = l->job.chunks;
    return dse_ps_of_s(seconds * (index + 1) / chunks) - dse_ps_of_s(seconds * index / chunks);
}

static void compute_next(struct lad_linear *l)
{
    const struct lad_chunk *c = &l->chunk[l->consumed % LAD_CHUNKS];
    if (!l->active || l->computing) return;
    if (c->state != LAD_THERE || l->consumed == l->loaded) {
        show_vpu(l, DSE_STALL_INPUT);
        return;
    }
    l->computing = true;
    dse_ps time = chunk_time(l, c->index);
    l->computed_time += time;
    show_vpu(l, DSE_BUSY);
    dse_sim_at(l->run->sim, dse_sim_now(l->run->sim) + time, l->vpu_actor, 0);
}

/* ---- what is left out (E53) ------------------------------------------------------------------------------------------------ */

/* All chunks of a job are alike. Where positions are fetched ahead beside them, as large a share is simulated as of the heads that
 * these are for, so that each head has its time; those of a single head are few. */
uint32_t lad_chunks_simulated(const struct lad_linear *l, const struct lad_job *job)
{
    const struct lad_run *run = l->run;
    if (job->head >= 0 || l->sample_bytes == 0) return job->chunks;
    const double share = (double)run->heads / (double)run->pt->heads, least = 2 * LAD_CHUNKS;
    const double chunks = job->beside ? share * job->chunks : l->sample_bytes / l->chunk_bytes;
    return (uint32_t)fmin(job->chunks, fmax(least, ceil(chunks)));
}

static void begin_marks(struct lad_linear *l)
{
    l->began = dse_sim_now(l->run->sim);
    l->done_n = 0;
    if (l->job.simulated == l->job.chunks || l->done_room >= l->job.simulated) return;
    l->done_room = l->job.simulated;
    l->done_s = dse_sim_alloc(l->run->sim, l->done_room, sizeof *l->done_s);
    l->done = dse_sim_alloc(l->run->sim, l->done_room, sizeof *l->done);
}

static void mark(struct lad_linear *l)
{
    if (l->job.simulated == l->job.chunks) return;
    l->done_s[l->done_n] = dse_s_of_ps(dse_sim_now(l->run->sim) - l->began);
    l->done[l->done_n] = l->done_n + 1;
    l->done_n++;
}

/* Seconds a chunk, over whole refresh intervals after the first quarter of the sample. Where positions are fetched beside them this
 * may end at any time: over all but the chunks that were in the buffer as the job began. */
static double pace_of(struct lad_linear *l)
{
    const uint32_t first = l->job.beside ? LAD_CHUNKS : l->done_n / 4, n = l->done_n - first;
    const double *s = l->done_s + first, *done = l->done + first;
    if (s[n - 1] <= s[0]) return 0;
    if (l->job.beside) return (s[n - 1] - s[0]) / (n - 1);
    const double error = dse_pace_error(s, done, n, l->period_s);
    if (isfinite(error)) l->error = fmax(l->error, error);
    return dse_pace(s, done, n, l->period_s);
}

/* Bytes of the chunks that are left out. */
static double bytes_left(const struct lad_linear *l)
{
    const struct lad_job *job = &l->job;
    const struct lad_memory *mem = &l->run->memory;
    double bytes = (double)(job->rows - cut(job->rows, job->simulated, job->chunks)) * (double)mem->row;
    for (int i = 0; i < job->flows; i++)
        bytes += (double)(job->flow[i].bytes - cut_burst(mem, &job->flow[i], job->simulated, job->chunks)) * mem->ports;
    return bytes;
}

static void leave_out(struct lad_linear *l)
{
    const double rest = l->job.chunks - l->job.simulated, share = rest / l->job.simulated;
    struct lad_op_work *work = &l->work[l->job.op];
    if (rest == 0) return;
    l->skipped = dse_ps_of_s(rest * pace_of(l));
    l->sfm_until = dse_max_i64(l->sfm_until - l->skipped, dse_sim_now(l->run->sim));
    work->vpu += (dse_ps)(share * (double)(l->computed_time - l->computed_before));
    work->dram += (dse_ps)(share * (double)(loaded_by_now(l) - l->loaded_before));
    work->bytes += (uint64_t)bytes_left(l);
}

/* The job is over when the special functions are that run behind it. */
static void end_job(struct lad_linear *l)
{
    struct lad_op_work *work = &l->work[l->job.op];
    dse_ps now = dse_sim_now(l->run->sim);
    l->active = false;
    show_vpu(l, DSE_IDLE);
    work->vpu += l->computed_time - l->computed_before;
    work->dram += loaded_by_now(l) - l->loaded_before;
    leave_out(l);
    bool waits = l->job.waits && l->sfm_until > now;
    dse_sim_at(l->run->sim, waits ? l->sfm_until : now, l->end_actor, 0);
}

static void on_computed(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    struct lad_linear *l = object;
    struct lad_chunk *c = &l->chunk[l->consumed % LAD_CHUNKS];
    l->computing = false;
    l->consumed++;
    bool last = c->index + 1 == l->job.simulated;
    c->state = LAD_WRITING;
    mark(l);
    if (last) end_job(l);
    write_results(l, c);
    if (!last) compute_next(l);
    l->run->signals->stocked(l->run->machine);
}

static void on_end(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    struct lad_linear *l = object;
    l->run->signals->over(l->run->machine);
}

void lad_job_start(struct lad_linear *l, const struct lad_job *job)
{
    l->job = *job;
    l->jobs++;
    l->active = true;
    l->computed_before = l->computed_time;
    l->loaded_before = loaded_by_now(l);
    begin_marks(l);
    load_more(l);
    compute_next(l);
}

/* ---- special functions --------------------------------------------------------------------------------------------------- */

static void on_sfm(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    struct lad_linear *l = object;
    if (l->sfm_until <= dse_sim_now(sim)) dse_resource_state(sim, l->sfm, DSE_IDLE, NULL, -1);
}

void lad_sfm_start(struct lad_linear *l, double seconds)
{
    dse_ps now = dse_sim_now(l->run->sim);
    l->sfm_until = dse_max_i64(l->sfm_until, now) + dse_ps_of_s(seconds);
    dse_resource_state(l->run->sim, l->sfm, DSE_BUSY, "elementwise", -1);
    dse_sim_at(l->run->sim, l->sfm_until, l->sfm_actor, 0);
}

void lad_linear_init(struct lad_linear *l, struct lad_run *run)
{
    const struct lad_events_reads *p = run->p;
    struct dse_sim *sim = run->sim;
    double lanes = p->vpu_eas + p->vpu_md + p->vpu_ac, ports = p->sram_ports;
    l->run = run;
    l->chunk_bytes = p->weight_buffer_kib * DSE_KIB * p->tiles / LAD_CHUNKS;
    l->period_s = run->pt->dram->timing.t_refi_ns / DSE_GIGA;
    /* Three quarters of it are at least three intervals long. */
    if (p->stream_mib > 0) l->sample_bytes = fmax(p->stream_mib * DSE_MIB, 4 * l->period_s * dse_dram_peak(run->pt->dram));
    l->slowdown = ports > 0 && ports < lanes ? lanes / ports : 1;
    for (int i = 0; i < LAD_CHUNKS + LAD_WRITERS; i++) {
        l->chunk[i].of = l;
        l->chunk[i].port = dse_sim_alloc(sim, run->memory.ports, sizeof *l->chunk[i].port);
        for (uint32_t k = 0; k < run->memory.ports; k++)
            l->chunk[i].port[k] = (struct lad_chunk_port){&l->chunk[i], k, 0, 0, false};
    }
    l->dma_actor = dse_sim_actor(sim, on_transfer, l);
    l->vpu_actor = dse_sim_actor(sim, on_computed, l);
    l->end_actor = dse_sim_actor(sim, on_end, l);
    l->sfm_actor = dse_sim_actor(sim, on_sfm, l);
    l->dma = dse_resource(sim, NULL, "weight DMA");
    l->vpu = dse_resource(sim, NULL, "VPUs");
    l->sfm = dse_resource(sim, NULL, "SFM");
}
