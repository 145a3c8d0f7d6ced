/* A disk on which the n-th write, sync or name fails, for every n (disk.h): dse says so and ends with exit status 1, or has done
 * all of it; what stands there then is what was committed; and with a disk that works the same command goes on to the rows of an
 * undisturbed run. */
#include "power_bed.h"
#include "samples.h"

#include <errno.h>

struct kind {
    const char *name;
    struct disk_fault fault; /* but for its place */
};

static const struct kind kinds[] = {
    {"the disk is full", {.kind = DISK_WRITES, .stays = true, .code = ENOSPC}},
    {"a write fails", {.kind = DISK_WRITES, .code = EIO}},
    {"a write is short", {.kind = DISK_SHORT_WRITES, .code = ENOSPC}},
    {"a sync fails", {.kind = DISK_SYNCS, .code = EIO}},
    {"no sync works", {.kind = DISK_SYNCS, .stays = true, .code = EIO}},
    {"a name cannot be made", {.kind = DISK_NAMES, .code = EACCES}},
};

static bool was_committed(const struct recorded *r, uint64_t digest)
{
    size_t i = 0;
    while (i < r->n_commits && r->commits[i].digest != digest) i++;
    return i < r->n_commits;
}

/* The session from its beginning, with a fault at call fault.at; *ret_calls: how many calls there were. NULL: all is as it must
 * be. */
static const char *try_fault(struct power_bed *b, const struct recorded *r, struct disk_fault fault, size_t *ret_calls)
{
    const struct session *s = r->session;
    struct diags d;
    diags_init(&d);
    show(b, r->log, 0, DISK_KILLED);
    disk_fail(b->disk, fault);
    const bool ok = s->go_on(b, &d);
    *ret_calls = disk_heal();
    const bool told = ok ? d.errors == 0 : d.errors > 0 && diags_exit_status(&d) == 1;
    diags_release(&d);
    if (!told) return "no message, or another exit status than 1";
    if (ok && session_result(s, b) != r->result) return "all is said to be well, and is not";
    if (!was_committed(r, session_state(s, b)) && !s->merges) return "what stands there was never committed";
    diags_init(&d);
    const bool went_on = s->go_on(b, &d);
    if (!went_on) no_errors(&d);
    diags_release(&d);
    if (!went_on) return "the same command does not go on";
    return session_result(s, b) == r->result ? NULL : "the command that went on comes to another result";
}

/* At every call of the kind; in everyday runs at a few. */
static size_t fail_at_every_call(struct power_bed *b, const struct recorded *r, const struct kind *k)
{
    size_t tried = 0;
    const int share = r->session->share ? r->session->share : 1;
    const size_t step = (size_t)(share * samples(29, 1));
    for (size_t n = 0, calls = 1; n < calls; n += step, tried++) {
        struct disk_fault fault = k->fault;
        fault.at = n;
        const char *wrong = try_fault(b, r, fault, &calls);
        if (wrong)
            fail_msg("%s: %s at call %zu: %s (the database: %s)", r->session->name, k->name, n, wrong,
                     b->said ? b->said : "could be read");
        calls = calls > n ? n + step + 1 : 0; /* no more: it was not reached */
    }
    return tried;
}

static void fail_everywhere(struct power_bed *b, const struct session *s)
{
    struct recorded r;
    record(b, s, &r);
    for (size_t i = 0; i < COUNT(kinds); i++)
        print_message("%s, %s: %zu places\n", s->name, kinds[i].name, fail_at_every_call(b, &r, &kinds[i]));
    recorded_release(&r);
}

#define SESSION(name, number) \
    static void disk_faults__are_told_by_a_##name(void **state) \
    { \
        fail_everywhere(*state, &sessions[number]); \
    }
SESSION(run_of_rows, 0)
SESSION(sweep, 1)
SESSION(sweep_that_goes_on, 2)
SESSION(merge, 3)
SESSION(streamed_sweep, 4)
SESSION(certificate, 5)
SESSION(worker_with_leases, 6)

#define IN_BED(test) cmocka_unit_test_setup_teardown(test, bed_make, bed_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BED(disk_faults__are_told_by_a_run_of_rows),        IN_BED(disk_faults__are_told_by_a_sweep),
        IN_BED(disk_faults__are_told_by_a_sweep_that_goes_on), IN_BED(disk_faults__are_told_by_a_merge),
        IN_BED(disk_faults__are_told_by_a_streamed_sweep),     IN_BED(disk_faults__are_told_by_a_certificate),
        IN_BED(disk_faults__are_told_by_a_worker_with_leases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
