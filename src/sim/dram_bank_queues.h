/* The inside of the controller with a queue a bank, shared by its two parts:
 *   dram_bank_queues_waiting.c  what waits: taking it in, on to the queue of its bank, which of it finds its row open, out again
 *   dram_bank_queues.c          commands, refresh, and which command is next
 *
 * Lists, their masks and first_hit are the waiting part's alone; the commands change `open` and a bank's `row`, and have it look
 * that bank over. Clocks from which something may go ("ok") are the commands'. */
#ifndef DSE_SIM_DRAM_BANK_QUEUES_H
#define DSE_SIM_DRAM_BANK_QUEUES_H

#include "sim/dram_bus.h"

enum { NONE = UINT32_MAX, HITS_ENOUGH = 4, DRAIN_WHEN_EMPTY = 8 };
enum direction { READ, WRITE };

struct item {
    uint64_t order;
    int64_t arrival, accepted;
    uint32_t row, owner, next;
    uint32_t merged; /* reads that share it: a list */
    uint16_t column;
    bool write;
};

struct merged {
    int64_t arrival, accepted;
    uint32_t owner, n, next;
};

struct list {
    uint32_t head, tail;
};

struct bank {
    int64_t ok[2], pre_ok, act_ok, ref_ok;
    uint32_t row, hits; /* column commands since the activate */
    struct list waiting[2], queue;
    int queued;
    uint32_t first_hit[2]; /* in `queue`, NONE when there is none or the bank is closed */
    uint64_t activates;
    uint8_t group;
};

struct group {
    int64_t ok[2], act_ok;
    uint64_t columns;
};

struct bank_queues {
    struct dram_bus bus;
    struct bank bank[DRAM_BANKS_MAX];
    struct group group[DRAM_BANKS_MAX];
    int64_t bus_ok; /* row-command bus behind an activate of several clocks; all commands on one_command_bus */
    int64_t ok[2], act_ok, act[4];
    int act_at;
    uint64_t waiting[2], queued, full, open; /* masks of banks: something waits in front, in the queue; the queue is full */
    int turn;                                /* the bank that had a command last */
    int open_banks;
    int64_t open_since, refresh_at;
    uint64_t refreshes_due;
    int count[2], draining;
    uint64_t order;
    struct item *item;
    uint32_t free;
    struct merged *merged;
    uint32_t merged_free, merged_size;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- what waits ---------------------------------------------------------------------------------------------------------- */

/* The function `accept` of the controller. */
int bank_queues_accept(struct dram_bus *bus, const struct dram_run *run, int64_t t);
/* Move one read or write on to the queue of its bank. False when none can move. */
bool bank_queues_move_one(struct bank_queues *q);
/* Find again the first item in the queue of the bank that finds its row open. This is called when a row was opened or closed. */
void bank_queues_look_over(struct bank_queues *q, int bank);
/* Note that the data of a read, and of those merged with it, arrive at clock `done`. */
void bank_queues_return(struct bank_queues *q, uint32_t item, int64_t done);
/* Take an item out of the queue of its bank; it is free then. */
void bank_queues_remove(struct bank_queues *q, int bank, uint32_t item);

#endif
