/* Keys and values of a layer's attention at event level: where their rows stand in the DRAM, and the feed that reads them ahead
 * of the array (E24). */
#include "veda_heads.h"

#include <dse/num.h>

#include <assert.h>

/* Units whose keys and values are the same rows: queries of a prompt, and query heads that do not share. */
static uint64_t home_of(const struct veda_heads *h, int64_t unit)
{
    if (h->of->prefill) return 0;
    return (uint64_t)unit / (veda_group_shares(h->run, h->of) ? 1 : (uint64_t)h->of->shared);
}

/* The stream `index` of the feed: the vectors of a unit, where they go through the DRAM, then its keys; and its values. E24. */
static bool stream_at(const struct veda_heads *h, int64_t index, bool *ret_vectors, enum veda_period_kind *kind, int64_t *unit)
{
    *ret_vectors = false;
    if (!veda_rows_come(h, VALUES)) { /* K, or q K, of ever the next */
        const int64_t each = h->query_bytes > 0 ? 2 : 1;
        *ret_vectors = index % each != each - 1;
        *kind = SCORES;
        *unit = index / each;
        return *unit < h->units;
    }
    if (h->query_bytes > 0) {
        int64_t turn = h->overlapped ? index - 2 : index; /* q0 K0, then q K V of ever the next; or ever q K V */
        *ret_vectors = index < 2 && h->overlapped ? index == 0 : turn % 3 == 0 && turn / 3 + h->overlapped < h->units;
        index = index < 2 && h->overlapped ? 0 : turn / 3 * 2 + (turn % 3 == 2) + h->overlapped;
    }
    if (index >= 2 * h->units) return false;
    veda_period_at(h, index, kind, unit);
    return true;
}

/* Where the rows of a unit stand that eviction has left: drawn, or evenly spread (DSE_IDEAL_DRAWS). Voting evicts the same
 * positions for all heads of a layer; a draw for each unit gives the mean over layers sooner (A16). */
static void draw_slots(const struct veda_heads *h, struct slots *ret, int64_t unit)
{
    int64_t n = 0;
    ret->unit = unit;
    if (dse_sim_ideal(h->run->sim, DSE_IDEAL_DRAWS)) {
        for (; n < h->length; n++) ret->of_row[n] = n * h->places / h->length;
        return;
    }
    struct dse_random random = dse_sim_random(h->run->sim, ((uint64_t)h->spec.layer << 32) + (uint64_t)unit);
    for (int64_t i = 0; n < h->length; i++)
        if (dse_random_below(&random, (uint64_t)(h->places - i)) < (uint64_t)(h->length - n)) ret->of_row[n++] = i;
}

/* The few units that are being read are kept. */
static uint64_t slot_of(struct veda_heads *h, int64_t unit, uint64_t row)
{
    if (h->places == 0) return row;
    struct slots *s = &h->slots[unit % VEDA_SLOTS];
    if (s->unit != unit) draw_slots(h, s, unit);
    return (uint64_t)s->of_row[row];
}

static uint64_t place_of_row(void *object, uint64_t stream, uint64_t access)
{
    struct veda_heads *h = object;
    enum veda_period_kind kind;
    int64_t unit;
    bool vectors;
    const bool there = stream_at(h, (int64_t)stream, &vectors, &kind, &unit);
    assert(there);
    return h->home[kind] + home_of(h, unit) * h->homes[kind] + slot_of(h, unit, access) * (uint64_t)h->row_bytes[kind];
}

/* A query of a prompt that stays on chip reads its own row, and vectors are read one after another: two reads of one address that
 * wait together would be one to some controllers. */
static uint64_t own_row(const struct veda_heads *h, enum veda_period_kind kind, int64_t unit)
{
    return h->resident > 0 ? (uint64_t)((double)(unit % h->length) * h->row_bytes[kind]) : 0;
}

static uint64_t vectors_of(const struct veda_heads *h, int64_t unit)
{
    return h->vectors_at + (uint64_t)unit % h->vectors * (uint64_t)h->query_bytes;
}

static bool next_rows(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct veda_heads *h = object;
    enum veda_period_kind kind;
    int64_t unit;
    bool vectors;
    if (!stream_at(h, (int64_t)index, &vectors, &kind, &unit)) return false;
    *ret = (struct dse_feed_stream){.bytes = h->stream_bytes[kind], .label = kind == SCORES ? "keys" : "values"};
    ret->address = h->home[kind] + home_of(h, unit) * h->homes[kind] + own_row(h, kind, unit);
    if (vectors) {
        *ret = (struct dse_feed_stream){.address = vectors_of(h, unit), .bytes = (uint64_t)h->query_bytes, .label = "vectors"};
    } else if (h->run->closed->rows_alone != 0) {
        ret->access_bytes = (uint64_t)h->row_bytes[kind];
        ret->place = place_of_row;
        ret->scattered = true;
    }
    return true;
}

int64_t veda_rows_there(const struct veda_heads *h)
{
    if (!veda_rows_come(h, h->kind)) return h->length;
    uint64_t bytes = dse_feed_arrived(h->feed);
    if (bytes >= h->stream_bytes[h->kind]) return h->length;
    return h->resident + (int64_t)((double)bytes / h->row_bytes[h->kind]);
}

/* What the array is through with goes back to the feed. */
void veda_rows_give_back(struct veda_heads *h)
{
    if (!veda_rows_come(h, h->kind)) return;
    uint64_t there = dse_feed_arrived(h->feed);
    double used = (double)(h->row - h->resident) * h->row_bytes[h->kind];
    if (h->row == h->length)
        dse_feed_next(h->feed);
    else if (used > 0)
        dse_feed_give_back(h->feed, used < (double)there ? (uint64_t)used : there);
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

/* Bytes of a unit's rows go over the bus in whole bursts. */
static void set_rows(struct veda_heads *h, enum veda_period_kind kind)
{
    static const enum veda_region region[] = {[SCORES] = VEDA_KEYS, [VALUES] = VEDA_VALUES};
    const double burst = (double)h->run->dram->burst_bytes, row = h->of->row_bytes[kind];
    const bool apart = h->run->closed->rows_alone != 0;
    h->row_bytes[kind] = apart ? dse_ceil(row / burst) * burst : row;
    h->stream_bytes[kind] = (uint64_t)dse_ceil((double)h->fetched * h->row_bytes[kind]);
    h->homes[kind] = (uint64_t)dse_ceil((apart ? h->of->held : (double)h->length) * h->row_bytes[kind]);
    const uint64_t n = home_of(h, h->units - 1) + 1;
    if (veda_rows_come(h, kind)) h->home[kind] = veda_region(h->run, region[kind], (double)(n * h->homes[kind]));
    const double moved = dse_ceil((double)h->stream_bytes[kind] / burst) * burst;
    h->total.at[kind == SCORES ? VEDA_SCORES_BYTES : VEDA_VALUES_BYTES] = moved;
    h->total.at[VEDA_KV_BYTES] += moved;
}

void veda_rows_init(struct veda_heads *h)
{
    const struct veda_kind *k = h->of;
    h->fetched = k->stays ? 1 : h->length; /* E24: a query of a prompt that stays on chip is met by one row that is new */
    h->resident = h->length - h->fetched;
    set_rows(h, SCORES);
    set_rows(h, VALUES);
    const bool holes = h->run->closed->rows_alone != 0 && k->held > (double)h->length && k->policy->scattered && !k->prefill;
    if (holes) h->places = (int64_t)k->held;
    for (int i = 0; i < VEDA_SLOTS && holes; i++) {
        h->slots[i].unit = -1;
        h->slots[i].of_row = dse_sim_alloc(h->run->sim, (size_t)h->length, sizeof *h->slots[i].of_row);
    }
    const double vector_bytes = VEDA_ACTIVATION_BYTES * (double)h->group;
    if (k->scores_leave) h->spilled = vector_bytes * (double)h->length;
    if (k->vectors_leave[SCORES]) h->query_bytes = vector_bytes * k->dim[SCORES];
    if (k->vectors_leave[VALUES]) h->output_bytes = vector_bytes * k->dim[VALUES];
    if (h->query_bytes > 0) h->vectors = h->run->program->flight_bytes / (uint64_t)h->query_bytes + 2;
    const double vectors = dse_max((double)h->vectors * h->query_bytes, h->output_bytes);
    h->vectors_at = veda_region(h->run, VEDA_REST, dse_max(h->spilled, vectors));
    h->total.at[VEDA_SCORES_BYTES] += h->spilled + h->query_bytes;
    h->total.at[VEDA_VALUES_BYTES] += h->spilled + h->output_bytes;
}

void veda_rows_start(struct veda_heads *h)
{
    const struct dse_program *on = h->run->program;
    struct dse_feed_spec feed = {.port = on->port,
                                 .window_bytes = on->window_bytes,
                                 .flight_bytes = on->flight_bytes,
                                 .chunk_bytes = on->chunk_bytes,
                                 .stream = next_rows,
                                 .object = h};
    const int64_t rows = dse_max_i64(h->block[VALUES], h->block[SCORES]);
    const double block = (double)rows * dse_max(h->row_bytes[SCORES], h->row_bytes[VALUES]); /* what the array takes at once */
    feed.window_bytes = dse_max_u64(feed.window_bytes, (uint64_t)block + 2 * on->chunk_bytes);
    if (h->query_bytes > (double)feed.window_bytes) feed.window_bytes = (uint64_t)h->query_bytes + 2 * on->chunk_bytes;
    if (dse_sim_ideal(on->sim, DSE_IDEAL_FIFOS))
        feed.window_bytes +=
            dse_max_u64(h->stream_bytes[SCORES], h->stream_bytes[VALUES]) + (uint64_t)h->query_bytes; /* a product ahead */
    h->window = feed.window_bytes;
    h->feed = dse_feed_new(on->sim, &feed);
}
