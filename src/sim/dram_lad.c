#include "sim/dram_lad.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 256,
    HEAD_BYTES = 1 << 20, /* of keys, of values */
    VALUES_AT = 1 << 26,
    STATE_AT = 1 << 27,
    STATE_BYTES = 32768,
    CACHE_AT = 192 << 20,
    CACHE_STRIDE = 34816,
    CACHE_BYTES = 34304
};

/* The requests of one head: its phases as lists, one behind the other. */
struct head {
    struct dram_request *list;
    size_t n, at;
    uint64_t cut; /* bytes given of list[at] */
};

struct dram_lad {
    uint32_t context, heads, interleave;
    bool barriers;
    uint64_t state;
    uint32_t next_head;
    struct head *group; /* `interleave` heads */
    uint32_t in_group, turn;
    uint8_t *drawn; /* a flag a position */
};

static void add(struct head *h, enum dram_request_kind kind, uint64_t address, uint64_t bytes)
{
    h->list[h->n++] = (struct dram_request){.kind = kind, .address = address, .bytes = bytes};
}

/* Draw `n` distinct positions, for which drawn[i] is set. */
static void draw(struct dram_lad *l, uint32_t n)
{
    memset(l->drawn, 0, l->context);
    for (uint32_t k = 0; k < n;) {
        uint8_t *flag = &l->drawn[dram_splitmix(&l->state) % l->context];
        k += !*flag;
        *flag = 1;
    }
}

static void end_phase(struct dram_lad *l, struct head *h)
{
    if (l->barriers) add(h, DRAM_BARRIER, 0, 0);
}

static void make_head(struct dram_lad *l, struct head *h, uint64_t index)
{
    const uint64_t keys = index * HEAD_BYTES, values = VALUES_AT + index * HEAD_BYTES, state = STATE_AT + index * STATE_BYTES,
                   cache = CACHE_AT + index * CACHE_STRIDE, state_bytes = (uint64_t)l->context * 8;
    *h = (struct head){.list = h->list};
    add(h, DRAM_READ, state, state_bytes);
    end_phase(l, h);
    draw(l, l->context / 8);
    for (uint32_t i = 0; i < l->context; i++)
        if (l->drawn[i]) add(h, DRAM_READ, keys + (uint64_t)i * PIECE, PIECE);
    end_phase(l, h);
    add(h, DRAM_WRITE, state, state_bytes);
    end_phase(l, h);
    add(h, DRAM_WRITE, cache, CACHE_BYTES);
    end_phase(l, h);
    add(h, DRAM_READ, cache, CACHE_BYTES);
    end_phase(l, h);
    draw(l, 3 * l->context / 64);
    for (uint32_t i = 0; i < l->context; i++) {
        if (!l->drawn[i]) continue;
        add(h, DRAM_READ, keys + (uint64_t)i * PIECE, PIECE);
        add(h, DRAM_READ, values + (uint64_t)i * PIECE, PIECE);
    }
    end_phase(l, h);
}

struct dram_lad *dram_lad_new(uint32_t context, uint32_t heads, uint32_t interleave, bool barriers, uint64_t seed)
{
    struct dram_lad *l = xcalloc(1, sizeof *l);
    *l = (struct dram_lad){
        .context = context, .heads = heads, .interleave = interleave, .barriers = barriers && interleave == 1, .state = seed};
    l->group = xcalloc(interleave, sizeof *l->group);
    l->drawn = xcalloc(context, 1);
    for (uint32_t i = 0; i < interleave; i++)
        l->group[i].list = xcalloc(context / 8 + 2 * (3 * context / 64) + 16, sizeof *l->group->list);
    return l;
}

void dram_lad_free(struct dram_lad *l)
{
    if (!l) return;
    for (uint32_t i = 0; i < l->interleave; i++) free(l->group[i].list);
    free(l->group);
    free(l->drawn);
    free(l);
}

/* Fill the group with the next heads. False: there are none. */
static bool next_group(struct dram_lad *l)
{
    l->in_group = l->heads - l->next_head < l->interleave ? l->heads - l->next_head : l->interleave;
    for (uint32_t i = 0; i < l->in_group; i++) make_head(l, &l->group[i], l->next_head++);
    l->turn = 0;
    return l->in_group > 0;
}

/* Take the next request of a head, or a piece of it. */
static void take(struct dram_lad *l, struct head *h, struct dram_request *ret)
{
    const struct dram_request *q = &h->list[h->at];
    *ret = *q;
    if (l->interleave > 1) {
        const uint64_t left = q->bytes - h->cut;
        ret->address += h->cut;
        ret->bytes = left < PIECE ? left : PIECE;
        h->cut += ret->bytes;
        if (h->cut < q->bytes) return;
    }
    h->cut = 0;
    h->at++;
}

bool dram_lad_next(struct dram_lad *l, struct dram_request *ret)
{
    for (;;) {
        for (uint32_t tried = 0; tried < l->in_group; tried++) {
            struct head *h = &l->group[l->turn];
            l->turn = (l->turn + 1) % l->in_group;
            if (h->at == h->n) continue;
            take(l, h, ret);
            return true;
        }
        if (!next_group(l)) return false;
    }
}

uint64_t dram_splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
