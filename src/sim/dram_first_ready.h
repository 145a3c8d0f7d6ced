/* The inside of the first-ready controller, shared by its two parts:
 *   dram_first_ready_waiting.c  the bursts that wait: taking them in, in which bank they find their row open, taking one out
 *   dram_first_ready.c          commands, refresh, and which command is next
 *
 * What keeps the masks, the lists of banks with a hit and the lists of entries in step is the waiting part's alone; the
 * commands change `open` and a bank's `row`, and have it look that bank over. Clocks from which something may go ("ok") are
 * the commands'. */
#ifndef DSE_SIM_DRAM_FIRST_READY_H
#define DSE_SIM_DRAM_FIRST_READY_H

#include "sim/dram_bus.h"

enum { NONE = UINT16_MAX };
enum direction { READ, WRITE };

struct entry {
    uint64_t order;
    int64_t arrival;
    uint32_t row, owner;
    uint16_t column, next;           /* of the first that waits; next entry of the list */
    uint8_t first, n;                /* the first that waits is the first-th of the entry; how many wait */
    uint8_t untold;                  /* done, and not yet in the list of the bus */
    bool counted;                    /* the first that waits has been counted as a hit or a miss */
    uint32_t accepted[DRAM_RUN_MAX]; /* clock of acceptance, modulo 2^32 */
};

/* The burst that a row was opened for. */
struct opener {
    int64_t arrival;
    uint64_t order; /* of the activate */
    uint32_t accepted, owner;
    uint16_t column;
    uint8_t untold; /* of its entry, when it was the last of it */
    bool write;
};

struct bank {
    /* The clocks from which the bank allows a column command in each direction, a precharge, and an activate. */
    int64_t ok[2], pre_ok, act_ok;
    uint32_t row;              /* when open */
    uint16_t head[2], tail[2]; /* entries */
    uint16_t hit[2], miss[2];  /* first entry for the open row, first for another one; NONE */
    uint8_t channel, group;    /* group counts over all channels */
    uint64_t activates;
    struct opener opener;
};

/* A bank that has a hit, with what is asked of it in every clock: from when on the bank allows it (which stays while the row is
 * open), and the order of its first entry for that row. */
struct hit {
    int64_t ok;
    uint64_t order;
    uint8_t bank, group;
};

/* Constraints among banks of a group, and of a channel. */
struct group {
    int64_t ok[2], act_ok;
    uint64_t columns;
};
struct channel {
    int64_t ok[2], act_ok, pre_all_ok, ref_ok;
    int64_t act[4]; /* clocks of the last four activates, a ring */
    int act_at;
    int open; /* banks */
    int64_t open_since;
    uint64_t banks;      /* mask */
    struct hit *hits[2]; /* the oldest first; room for all banks of the channel */
    int n_hits[2];
};

struct first_ready {
    struct dram_bus bus;
    struct bank bank[DRAM_BANKS_MAX];
    struct group group[DRAM_BANKS_MAX];
    struct channel channel[DRAM_CHANNELS_MAX];
    uint64_t has[2], miss[2], open, opening; /* masks of banks; opening: the opener still waits */
    int64_t bus_ok;                          /* row-command bus; all commands on one_command_bus */
    int64_t row_next;                        /* no row command is ready before */
    int64_t opener_next;                     /* no opener is ready before */
    int count[2], room[2];
    bool writing;
    int64_t refresh_at;
    uint64_t refreshes_due; /* of channels, in turn */
    int refresh_channel;
    int64_t last_return;
    uint64_t order, acts;
    struct entry *entry;
    uint16_t last[2], free; /* the entry last appended to; list of free entries */
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Is clock a no later than clock b? Both are modulo 2^32. */
static inline bool no_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) <= 0;
}

static inline int64_t activate_ready(const struct first_ready *f, const struct bank *b)
{
    return later(b->act_ok, later(f->group[b->group].act_ok, f->channel[b->channel].act_ok));
}

/* There may be a row command from clock t on. */
static inline void expect_row(struct first_ready *f, int64_t t)
{
    if (t < f->row_next) f->row_next = t;
}

/* ---- the bursts that wait ------------------------------------------------------------------------------------------------ */

/* The function `accept` of the controller. */
int first_ready_accept(struct dram_bus *bus, const struct dram_run *run, int64_t t);
/* Find again what hits and what misses the open row of a bank. This is called when a row was opened or closed. */
void first_ready_look_over(struct first_ready *f, int bank, int dir);
/* Take the first burst of an entry out of the queue of its bank, and the entry as well when that was its last. */
void first_ready_take_first(struct first_ready *f, int bank, int dir, uint16_t entry);

#endif
