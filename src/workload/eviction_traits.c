#include "workload/eviction_traits.h"

#include <threads.h>

#define VEDA "Wang et al., VEDA, DAC 2025, Sec. III"
#define H2O "Zhang et al., H2O: Heavy-Hitter Oracle, arXiv:2306.14048, Sec. 4"

enum {
    BITS = 1u << DSE_SET_KV_BITS,
    HISTORY = BITS | 1u << DSE_SET_BOUNDARY, /* what stays depends on what came before, so on how the prompt ended */
    THRESHOLD = HISTORY | 1u << DSE_SET_THRESHOLD_A | 1u << DSE_SET_THRESHOLD_B | 1u << DSE_SET_RESERVED_LENGTH,
    SELECTION = HISTORY | 1u << DSE_SET_OBSERVED | 1u << DSE_SET_POOL | 1u << DSE_SET_POOLING,
};

const struct eviction_row eviction_rows[EVICTION_POLICIES] = {
    [EVICTION_VOTING] =
        {.traits = {.name = "voting",
                    .doc = "the position with the most votes (scores below a threshold) leaves; one decision per layer",
                    .title = "VEDA, voting",
                    .source = VEDA,
                    .counts = true,
                    .drained = true,
                    .scattered = true,
                    .reserves = true,
                    .settings = THRESHOLD},
         .machine = true},
    [EVICTION_VOTING_HEAD] = {.traits = {.name = "voting-head",
                                         .doc = "voting, one decision per head",
                                         .title = "VEDA, voting by head",
                                         .source = VEDA,
                                         .counts = true,
                                         .drained = true,
                                         .per_head = true,
                                         .scattered = true,
                                         .reserves = true,
                                         .settings = THRESHOLD}},
    [EVICTION_H2O] = {.traits = {.name = "h2o",
                                 .doc = "the position with the smallest sum of probabilities leaves; the newest stay",
                                 .title = "H2O",
                                 .source = H2O,
                                 .counts = true,
                                 .per_head = true,
                                 .scattered = true,
                                 .settings = HISTORY | 1u << DSE_SET_RECENT_SHARE},
                      .machine = true},
    [EVICTION_H2O_ACCUMULATE] = {.traits = {.name = "h2o-accumulate",
                                            .doc = "h2o without recent_share: the sums alone decide",
                                            .title = "H2O without recent positions",
                                            .source = H2O,
                                            .counts = true,
                                            .per_head = true,
                                            .scattered = true,
                                            .settings = HISTORY}},
    [EVICTION_WINDOW] = {.traits = {.name = "window",
                                    .doc = "the first positions (sinks) and the newest stay",
                                    .title = "StreamingLLM",
                                    .source =
                                        "Xiao et al., Efficient Streaming Language Models with Attention Sinks, arXiv:2309.17453",
                                    .per_head = true,
                                    .settings = BITS | 1u << DSE_SET_SINKS},
                         .machine = true},
    [EVICTION_RANDOM] =
        {.traits = {.name = "random", .doc = "a random position leaves", .per_head = true, .scattered = true, .settings = HISTORY}},
    [EVICTION_ORACLE] = {.traits = {.name = "oracle",
                                    .doc =
                                        "the step's most probable positions stay: an upper bound on retained mass, not a machine",
                                    .per_head = true,
                                    .scattered = true,
                                    .settings = BITS}},
    [EVICTION_SNAPKV] =
        {.traits = {.name = "snapkv",
                    .doc = "prompt positions that the last prompt steps attend to stay, with neighbours; then nothing leaves",
                    .title = "SnapKV",
                    .source = "Li et al., SnapKV, arXiv:2404.14469, Sec. 4",
                    .per_head = true,
                    .scattered = true,
                    .selects = true,
                    .settings = SELECTION},
         .machine = true},
    [EVICTION_PYRAMIDKV] = {.traits = {.name = "pyramidkv",
                                       .doc = "snapkv with a cache that gets smaller from layer to layer",
                                       .title = "PyramidKV",
                                       .source = "Cai et al., PyramidKV, arXiv:2406.02069, Sec. 4",
                                       .per_head = true,
                                       .scattered = true,
                                       .selects = true,
                                       .by_layer = true,
                                       .settings = SELECTION | 1u << DSE_SET_BETA},
                            .machine = true},
    [EVICTION_QUEST] = {.traits = {.name = "quest",
                                   .doc = "nothing leaves; only the pages with the largest score bounds are read",
                                   .title = "Quest",
                                   .source = "Tang et al., Quest, arXiv:2406.10774, Sec. 3",
                                   .per_head = true,
                                   .scattered = true,
                                   .reads_part = true,
                                   .paged = true,
                                   .settings = BITS | 1u << DSE_SET_PAGE},
                        .machine = true},
};
static const struct dse_eviction nothing = {.name = "none", .doc = "every position stays", .keeps_all = true};

const char *const eviction_pooling_names[] = {[EVICTION_POOL_MAX] = "max", [EVICTION_POOL_MEAN] = "mean", NULL};

/* ---- lists of the rows --------------------------------------------------------------------------------------------------- */

/* Tables of parameters point to lists of words; these are made once. [0]: of "none" */
static const char *names[EVICTION_POLICIES + 1], *choices[EVICTION_POLICIES + 2];
static const struct dse_eviction *chosen[EVICTION_POLICIES + 1];
static once_flag listed = ONCE_FLAG_INIT;

static void list_rows(void)
{
    size_t n = 0;
    choices[n] = nothing.name;
    chosen[n++] = &nothing;
    for (size_t i = 0; i < EVICTION_POLICIES; i++) {
        names[i] = eviction_rows[i].traits.name;
        if (!eviction_rows[i].machine) continue;
        choices[n] = names[i];
        chosen[n++] = &eviction_rows[i].traits;
    }
}

const char *const *eviction_policy_names(void)
{
    call_once(&listed, list_rows);
    return names;
}

const char *const *dse_eviction_choices(void)
{
    call_once(&listed, list_rows);
    return choices;
}

const struct dse_eviction *dse_eviction_at(int32_t choice)
{
    call_once(&listed, list_rows);
    return chosen[choice];
}
