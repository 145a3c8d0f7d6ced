/* Where an address lies: the map from addresses to buses, channels, banks, rows and columns.
 *
 * A map is a list of fields from the least significant digit of the address upwards, above the bytes of a burst: "co3 ch3 pc1 bg2
 * co2 ba2 ro15". A field is a name and a number of bits; a name without a number stands for all that is left of it, whatever its
 * size ("co3 ch bg2 co ba ro" on 80 channels). A field named again gets its higher digits. Fields of one value only may be left
 * out.
 *
 *   co  column, in bursts     ch  channel: what has a command bus of its own     pc  pseudo channel of it
 *   bg  bank group            ba  bank of the group                              ro  row
 */
#ifndef DSE_SIM_DRAM_MAP_H
#define DSE_SIM_DRAM_MAP_H

#include "base/diag.h"
#include "sim/dram_spec.h"

/* A burst's place. `bank` counts over all channels of the bus: (channel * groups + group) * group_banks + bank. */
struct dram_place {
    uint32_t bus, row;
    uint16_t column;
    uint8_t bank;
};

enum { DRAM_MAP_STEPS_MAX = 64 };

/* One digit of the address: worth `weight` in its field. */
struct dram_step {
    uint8_t field, shift; /* of a size that is a power of two; else shift is DRAM_MAP_DIVIDE */
    uint64_t size, weight;
};
enum { DRAM_MAP_DIVIDE = 255 };

struct dram_map {
    struct dram_step steps[DRAM_MAP_STEPS_MAX];
    int n;
    int lead;        /* bursts that lie side by side in a row, from a multiple of it: the first field if it is co, else 1 */
    int burst_shift; /* of burst_bytes when it is a power of two, else -1 */
    uint64_t bursts; /* that the memory holds */
    uint64_t burst_bytes, capacity; /* bytes */
    uint32_t bank_weight, group_banks;
};

/* The map of `text`; every fault of it is an error in diags, at its column of a file named `where`. */
bool dram_map_parse(struct dram_map *m, const struct dram_spec *s, const char *text, const char *where, struct diags *diags);
/* interleave_bytes of a row, then the next channel, then the next bank group, then the rest of the row. */
void dram_map_default(struct dram_map *m, const struct dram_spec *s);
/* The map as users write it. The caller frees it. */
char *dram_map_text(const struct dram_map *m);

/* The place of a burst (address / burst_bytes), which must be below m->bursts; and back. */
struct dram_place dram_map_place(const struct dram_map *m, uint64_t burst);
uint64_t dram_map_burst(const struct dram_map *m, struct dram_place p);

#endif
