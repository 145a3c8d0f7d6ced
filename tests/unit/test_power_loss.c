/* Power losses with writes in any order (disk.h): what was committed is there, what is there is what was committed, and the same
 * command goes on to the rows of an undisturbed run. Each session is recorded once, and thousands of pictures are made of it. */
#include "power_bed.h"
#include "samples.h"

/* NULL: all is as it must be. */
static const char *try_loss(struct power_bed *b, const struct recorded *r, size_t moment, uint64_t luck)
{
    struct diags d;
    diags_init(&d);
    show(b, r->log, moment, luck);
    const uint64_t digest = session_state(r->session, b);
    size_t last = 0;
    while (last + 1 < r->n_commits && r->commits[last + 1].moment <= moment) last++;
    const bool is_next = last + 1 < r->n_commits && digest == r->commits[last + 1].digest;
    if (digest != r->commits[last].digest && !is_next) return digest ? "rows are wrong or lost" : "what was committed is refused";
    const bool ok = r->session->go_on(b, &d);
    if (!ok) no_errors(&d);
    diags_release(&d);
    if (!ok) return "the same command does not go on";
    return session_result(r->session, b) == r->result ? NULL : "the command that went on comes to another result";
}

static void lose_power_often(struct power_bed *b, const struct session *s)
{
    const size_t losses = (size_t)(samples(40, 1600) / (s->share ? s->share : 1));
    struct recorded r;
    record(b, s, &r);
    for (size_t i = 0; i < losses; i++) {
        const uint64_t luck = i + 1;
        const size_t moment = (size_t)(luck * 0x9E3779B97F4A7C15u % (r.log->n_events + 1));
        const char *wrong = try_loss(b, &r, moment, luck);
        if (wrong)
            fail_msg("%s: power lost after %zu of %zu events, luck %zu: %s (the database: %s)", s->name, moment, r.log->n_events,
                     (size_t)luck, wrong, b->said ? b->said : "could be read");
    }
    print_message("%s: %zu losses in %zu events, %zu states committed\n", s->name, losses, r.log->n_events, r.n_commits);
    recorded_release(&r);
}

#define SESSION(name, number) \
    static void power_loss__leaves_a_##name(void **state) \
    { \
        lose_power_often(*state, &sessions[number]); \
    }
SESSION(run_of_rows, 0)
SESSION(sweep, 1)
SESSION(sweep_that_went_on, 2)
SESSION(merge, 3)
SESSION(streamed_sweep, 4)
SESSION(certificate, 5)
SESSION(folder_of_leases, 6)

#define IN_BED(test) cmocka_unit_test_setup_teardown(test, bed_make, bed_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BED(power_loss__leaves_a_run_of_rows),        IN_BED(power_loss__leaves_a_sweep),
        IN_BED(power_loss__leaves_a_sweep_that_went_on), IN_BED(power_loss__leaves_a_merge),
        IN_BED(power_loss__leaves_a_streamed_sweep),     IN_BED(power_loss__leaves_a_certificate),
        IN_BED(power_loss__leaves_a_folder_of_leases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
