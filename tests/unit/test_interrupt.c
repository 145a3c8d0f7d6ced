/* cli/interrupt.h */
#include "cli/interrupt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOT_ASKED = 3, OBEYED = 4, NOT_ENDED = 5 };

/* A process that is asked to stop by the signals given, one at once after the other, and, if `later`, once more after a second. */
static int status_of(int first, int second, bool later)
{
    pid_t child = fork();
    if (child == 0) {
        const volatile sig_atomic_t *asked = interrupt_catch();
        if (*asked) _exit(NOT_ASKED);
        raise(first);
        raise(second);
        if (!*asked) _exit(NOT_ASKED);
        if (!later) _exit(OBEYED);
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        raise(second);
        _exit(NOT_ENDED);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* timeout(1) sends its signal to the command and then to its group; both are one request. */
static void interrupt_catch__two_signals_at_once_are_one_request(void **state)
{
    (void)state;
    static const int signals[][2] = {{SIGTERM, SIGTERM}, {SIGINT, SIGINT}, {SIGINT, SIGTERM}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int status = status_of(signals[i][0], signals[i][1], false);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), OBEYED);
    }
}

static void interrupt_catch__a_later_one_ends_the_program(void **state)
{
    (void)state;
    int status = status_of(SIGTERM, SIGTERM, true);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupt_catch__two_signals_at_once_are_one_request),
        cmocka_unit_test(interrupt_catch__a_later_one_ends_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
