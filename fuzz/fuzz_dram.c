/* The DRAM on its own: whatever the bytes, errors, or a run that ends with every burst accounted for. The first line is an
 * address map, the second a pattern, the rest a trace. */
#include "base/xalloc.h"
#include "sim/dram_pattern.h"
#include "sim/dram_trace.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool holds)
{
    if (!holds) abort();
}

/* A small memory: one bus of two channels, so that requests meet. */
static void make_spec(struct dram_spec *s, bool bank_queues)
{
    const struct dse_memory m = {.detail = {.controller = bank_queues ? DSE_DRAM_BANK_QUEUES : DSE_DRAM_ROW_HITS,
                                            .bus_channels = bank_queues ? 1 : 2,
                                            .command_buses = 2,
                                            .burst_clocks = 2,
                                            .activate_clocks = 2,
                                            .bank_queue_depth = 2,
                                            .t_cl_ns = 14,
                                            .t_cwl_ns = 5,
                                            .t_rcd_wr_ns = 12,
                                            .t_rrd_l_ns = 6,
                                            .t_wr_ns = 16,
                                            .t_wtr_s_ns = 6,
                                            .t_wtr_l_ns = 8,
                                            .t_turn_ns = 2}};
    struct dse_dram d = {.memory = &m,
                         .channels = 2,
                         .channel_gbs = 16,
                         .bandwidth_gbs = 32,
                         .burst_bytes = 32,
                         .capacity_gib = 0.001,
                         .timing = {.interleave_bytes = 256,
                                    .row_bytes = 1024,
                                    .banks = 4,
                                    .bank_groups = 2,
                                    .queue_depth = 12,
                                    .t_rcd_ns = 14,
                                    .t_rp_ns = 14,
                                    .t_ras_ns = 34,
                                    .t_rtp_ns = 5,
                                    .t_ccd_ns = 4,
                                    .t_rrd_ns = 4,
                                    .t_faw_ns = 30,
                                    .row_command_ns = 6,
                                    .t_rfc_ns = 260,
                                    .t_refi_ns = 3900}};
    char *why = dram_spec_init(s, &d, true);
    need(why == NULL);
}

/* Requests of another source, as many as a moment allows. */
struct limited {
    struct dram_source source;
    struct dram_source *of;
    uint64_t left;
};

static bool next(struct dram_source *source, struct dram_request *ret, struct diags *diags)
{
    enum { BYTES_MAX = 1 << 12 };
    const double longest_ns = 1e6; /* idle buses refresh */
    struct limited *l = (struct limited *)source;
    if (l->left == 0 || !l->of->next(l->of, ret, diags)) return false;
    l->left--;
    if (ret->bytes > BYTES_MAX) ret->bytes = BYTES_MAX;
    if (ret->arrival_ns > longest_ns) ret->arrival_ns = longest_ns;
    return true;
}

static void run(const struct dram_spec *s, const struct dram_map *map, struct dram_source *of, unsigned front)
{
    struct dram_result *r = xcalloc(1, sizeof *r);
    struct limited l = {.source = {.next = next}, .of = of, .left = 100};
    struct diags d;
    diags_init(&d);
    const bool ok = dram_run(&(struct dram_setup){.spec = s, .map = map, .front = front % 2}, &l.source, r, &d);
    need(ok == (d.errors == 0));
    if (ok)
        need(r->tally.hits + r->tally.misses == r->tally.reads + r->tally.writes && r->tally.reads + r->tally.writes <= r->bursts);
    diags_release(&d);
    free(r);
}

static void run_pattern(const struct dram_spec *s, const struct dram_map *map, const char *text, unsigned front)
{
    struct diags d;
    diags_init(&d);
    struct dram_pattern *p = dram_pattern_new(text, 32, "pattern", &d);
    need((p == NULL) == (d.errors > 0));
    if (p) run(s, map, dram_pattern_source(p), front);
    dram_pattern_free(p);
    diags_release(&d);
}

static void run_trace(const struct dram_spec *s, const struct dram_map *map, const uint8_t *data, size_t n, unsigned front)
{
    const int fd = memfd_create("fuzz", 0);
    need(fd >= 0);
    for (size_t at = 0; at < n;) {
        const ssize_t done = write(fd, data + at, n - at);
        need(done > 0);
        at += (size_t)done;
    }
    char *path = xasprintf("/proc/self/fd/%d", fd);
    struct diags d;
    diags_init(&d);
    struct dram_trace *t = dram_trace_open(path, map->capacity, 64, 0.5, &d);
    need(t != NULL);
    run(s, map, dram_trace_source(t), front);
    dram_trace_close(t);
    diags_release(&d);
    free(path);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *all = xstrndup((const char *)data, n), *lines[2];
    size_t at = 0;
    for (int i = 0; i < 2; i++) {
        const size_t length = strcspn(all + at, "\n");
        lines[i] = xstrndup(all + at, length);
        at += length + (all[at + length] == '\n');
    }
    struct dram_spec s;
    struct dram_map map, given;
    struct diags d;
    make_spec(&s, n % 2);
    dram_map_default(&map, &s);
    diags_init(&d);
    const bool ok = dram_map_parse(&given, &s, lines[0], "map", &d);
    need(ok == (d.errors == 0));
    if (ok) {
        map = given;
        for (uint64_t burst = 0; burst < map.bursts; burst += 1 + map.bursts / 97)
            need(dram_map_burst(&map, dram_map_place(&map, burst)) == burst);
    }
    run_pattern(&s, &map, lines[1], (unsigned)n / 2);
    run_trace(&s, &map, data + (at < n ? at : n), n - (at < n ? at : n), (unsigned)n / 4);
    diags_release(&d);
    free(lines[0]);
    free(lines[1]);
    free(all);
    return 0;
}
