#include "sim/dram_map.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum field { CO, CH, PC, BG, BA, RO, FIELDS };
static const char *const names[FIELDS] = {"co", "ch", "pc", "bg", "ba", "ro"};
static const char *const meanings[FIELDS] = {"columns", "channels", "pseudo channels", "bank groups", "banks a group", "rows"};

static void sizes_of(const struct dram_spec *s, uint64_t ret[FIELDS])
{
    ret[CO] = (uint64_t)s->columns;
    ret[CH] = (uint64_t)s->buses;
    ret[PC] = (uint64_t)s->channels;
    ret[BG] = (uint64_t)s->groups;
    ret[BA] = (uint64_t)s->group_banks;
    ret[RO] = (uint64_t)s->rows;
}

static void add_step(struct dram_map *m, enum field f, uint64_t size, uint64_t weight)
{
    bool power = (size & (size - 1)) == 0;
    m->steps[m->n++] = (struct dram_step){(uint8_t)f, power ? (uint8_t)__builtin_ctzll(size) : DRAM_MAP_DIVIDE, size, weight};
}

/* Compute what follows from the steps. */
static void finish(struct dram_map *m, const struct dram_spec *s)
{
    m->lead = m->n && m->steps[0].field == CO ? (int)m->steps[0].size : 1;
    m->burst_bytes = (uint64_t)s->burst_bytes;
    m->burst_shift = (m->burst_bytes & (m->burst_bytes - 1)) == 0 ? __builtin_ctzll(m->burst_bytes) : -1;
    m->bursts = (uint64_t)s->columns * (uint64_t)s->buses * (uint64_t)s->channels * (uint64_t)s->banks * (uint64_t)s->rows;
    m->capacity = m->bursts * m->burst_bytes;
    m->bank_weight = (uint32_t)s->banks;
    m->group_banks = (uint32_t)s->group_banks;
}

void dram_map_default(struct dram_map *m, const struct dram_spec *s)
{
    *m = (struct dram_map){0};
    uint64_t side = (uint64_t)s->interleave, rest = (uint64_t)s->columns / side;
    if (side > 1) add_step(m, CO, side, 1);
    if (s->buses > 1) add_step(m, CH, (uint64_t)s->buses, 1);
    if (s->channels > 1) add_step(m, PC, (uint64_t)s->channels, 1);
    if (s->groups > 1) add_step(m, BG, (uint64_t)s->groups, 1);
    if (rest > 1) add_step(m, CO, rest, side);
    if (s->group_banks > 1) add_step(m, BA, (uint64_t)s->group_banks, 1);
    if (s->rows > 1) add_step(m, RO, (uint64_t)s->rows, 1);
    finish(m, s);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

struct parser {
    struct dram_map *map;
    const char *text, *where;
    struct diags *diags;
    uint64_t size[FIELDS], given[FIELDS]; /* of the memory; by the fields so far */
    bool closed[FIELDS];                  /* a name without a number took the rest */
};

static bool fault(struct parser *p, const char *at, const char *hint, const char *message)
{
    struct srcloc loc = {.file = p->where, .line = 1, .column = (int)(at - p->text) + 1};
    return diags_input(p->diags, loc, p->text, hint, "%s", message);
}

static bool faultf(struct parser *p, const char *at, const char *hint, char *message)
{
    fault(p, at, hint, message);
    free(message);
    return false;
}

/* The field that `word` names, or FIELDS. */
static enum field find_field(const char *word)
{
    int f = 0;
    while (f < FIELDS && strncmp(word, names[f], 2) != 0) f++;
    return (enum field)f;
}

/* Take all bits that are left of a field. */
static bool take_rest(struct parser *p, const char *at, enum field f)
{
    if (p->size[f] % p->given[f] != 0)
        return faultf(p, at, "a power of two that divides them, or nothing, can stand before",
                      xasprintf("%llu %s are not a multiple of the %llu that the fields before it make",
                                (unsigned long long)p->size[f], meanings[f], (unsigned long long)p->given[f]));
    if (p->size[f] > p->given[f]) add_step(p->map, f, p->size[f] / p->given[f], p->given[f]);
    p->given[f] = p->size[f];
    p->closed[f] = true;
    return true;
}

static bool take_bits(struct parser *p, const char *at, enum field f, long bits)
{
    uint64_t more = (uint64_t)1 << bits;
    if (more > p->size[f] / p->given[f] || p->size[f] % (p->given[f] * more) != 0)
        return faultf(p, at, "other numbers: --set channels=, capacity_gib=, ...; a name without a number takes what is left",
                      xasprintf("%s%ld: too many bits; the memory has %llu %s%s", names[f], bits, (unsigned long long)p->size[f],
                                meanings[f], p->given[f] > 1 ? ", and fields before it took some" : ""));
    if (bits > 0) add_step(p->map, f, more, p->given[f]);
    p->given[f] *= more;
    return true;
}

/* A field: a name of two letters, then nothing or a number of bits. */
static bool take_field(struct parser *p, const char *word, size_t n)
{
    static const char known[] = "fields: co column, ch channel, pc pseudo channel, bg bank group, ba bank, ro row";
    enum { BITS_MAX = 40 };
    enum field f = n >= 2 ? find_field(word) : FIELDS;
    size_t digits = 0;
    while (2 + digits < n && isdigit((unsigned char)word[2 + digits])) digits++;
    if (f == FIELDS || 2 + digits != n)
        return faultf(p, word, known, xasprintf("\"%.*s\" is no field with its bits", (int)(n < 20 ? n : 20), word));
    if (p->closed[f]) return faultf(p, word, NULL, xasprintf("%s: the %s before it took all %s", names[f], names[f], meanings[f]));
    if (p->map->n == DRAM_MAP_STEPS_MAX) return fault(p, word, NULL, "too many fields");
    if (digits == 0) return take_rest(p, word, f);
    long bits = digits > 2 ? BITS_MAX + 1 : strtol(word + 2, NULL, 10);
    if (bits > BITS_MAX) return faultf(p, word, NULL, xasprintf("%.*s: at most %d bits", (int)(n < 20 ? n : 20), word, BITS_MAX));
    return take_bits(p, word, f, bits);
}

/* Does every field make up what the memory has? */
static bool check_complete(struct parser *p)
{
    bool ok = true;
    const char *end = p->text + strlen(p->text);
    for (int f = 0; f < FIELDS; f++) {
        if (p->given[f] == p->size[f]) continue;
        const char *how = p->given[f] == 1 ? "is missing" : "does not make all of them";
        ok = faultf(p, end, "a name without a number takes what is left",
                    xasprintf("%s %s: the memory has %llu %s%s", names[f], how, (unsigned long long)p->size[f], meanings[f],
                              p->given[f] == 1 ? "" : ", the fields fewer"));
    }
    return ok;
}

bool dram_map_parse(struct dram_map *m, const struct dram_spec *s, const char *text, const char *where, struct diags *diags)
{
    *m = (struct dram_map){0};
    struct parser p = {.map = m, .text = text, .where = where, .diags = diags};
    sizes_of(s, p.size);
    for (int f = 0; f < FIELDS; f++) p.given[f] = 1;
    bool ok = true;
    const char *at = text;
    for (;;) {
        at += strspn(at, " \t");
        size_t n = strcspn(at, " \t");
        if (n == 0) break;
        ok = take_field(&p, at, n) && ok;
        at += n;
    }
    if (ok) ok = check_complete(&p);
    if (ok) finish(m, s);
    return ok;
}

char *dram_map_text(const struct dram_map *m)
{
    struct text t;
    text_init(&t);
    for (int i = 0; i < m->n; i++) {
        const struct dram_step *step = &m->steps[i];
        text_addf(&t, "%s%s", i ? " " : "", names[step->field]);
        if (step->shift != DRAM_MAP_DIVIDE) text_addf(&t, "%d", step->shift);
    }
    return text_detach(&t);
}

/* ---- places -------------------------------------------------------------------------------------------------------------- */

struct dram_place dram_map_place(const struct dram_map *m, uint64_t burst)
{
    uint64_t value[FIELDS] = {0};
    for (const struct dram_step *step = m->steps, *end = step + m->n; step < end; step++) {
        uint64_t digit;
        if (step->shift != DRAM_MAP_DIVIDE) {
            digit = burst & (step->size - 1);
            burst >>= step->shift;
        } else {
            digit = burst % step->size;
            burst /= step->size;
        }
        value[step->field] += digit * step->weight;
    }
    return (struct dram_place){.bus = (uint32_t)value[CH],
                               .row = (uint32_t)value[RO],
                               .column = (uint16_t)value[CO],
                               .bank = (uint8_t)(value[PC] * m->bank_weight + value[BG] * m->group_banks + value[BA])};
}

uint64_t dram_map_burst(const struct dram_map *m, struct dram_place p)
{
    uint32_t bank = p.bank % m->bank_weight;
    const uint64_t value[FIELDS] = {
        [CO] = p.column, [CH] = p.bus, [PC] = p.bank / m->bank_weight, [BG] = bank / m->group_banks, [BA] = bank % m->group_banks,
        [RO] = p.row};
    uint64_t burst = 0, scale = 1;
    for (int i = 0; i < m->n; i++) {
        const struct dram_step *step = &m->steps[i];
        burst += value[step->field] / step->weight % step->size * scale;
        scale *= step->size;
    }
    return burst;
}
