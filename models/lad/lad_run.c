/* What the parts of a run count together. */
#include "lad_run.h"

const char *const lad_place_names[LAD_PLACES] = {
    [LAD_LOAD] = "stage 1", [LAD_SCORE] = "EAS",      [LAD_IDENTIFY] = "APID", [LAD_GATHER] = "stage 4",
    [LAD_READY] = "ready",  [LAD_DISCREPANCY] = "MD", [LAD_COMPUTE] = "AC",    [LAD_STORE] = "store",
};

int64_t lad_sample_id(const struct lad_run *run, const struct lad_sample *s)
{
    return (int64_t)s->head * run->batch + s->sequence;
}

void lad_count(struct lad_run *run, const struct dse_segment *s, enum lad_traffic traffic, bool counted, uint64_t *ret_stage)
{
    uint64_t moved = lad_moved(&run->memory, s);
    run->account.moved += moved;
    if (!counted) return;
    run->account.bytes[traffic] += moved;
    if (ret_stage) *ret_stage += moved;
}

static void settle_flights(struct lad_run *run)
{
    struct lad_account *a = &run->account;
    if (a->counting && a->flying > 0) a->hbm += dse_sim_now(run->sim) - a->flying_since;
    a->flying_since = dse_sim_now(run->sim);
}

void lad_took_off(struct lad_run *run)
{
    if (run->account.flying++ == 0) run->account.flying_since = dse_sim_now(run->sim);
}

void lad_landed(struct lad_run *run)
{
    if (run->account.flying == 1) settle_flights(run);
    run->account.flying--;
}

void lad_count_flights(struct lad_run *run, bool counting)
{
    settle_flights(run);
    run->account.counting = counting;
}
