#include "cli/crash.h"

#include "model/plugin.h"

#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched, FRAMES = 256, STACK = 1 << 16 };
static struct sigaction before[WATCHED];

static void say(const char *s)
{
    if (write(STDERR_FILENO, s, strlen(s)) < 0) return; /* nobody is there to be told */
}

static void on_crash(int signal_number)
{
    void *stack[FRAMES];
    const char *function = NULL;
    const int n = backtrace(stack, FRAMES);
    const struct model *m = plugin_at_fault(stack, n, &function);
    if (m) {
        say("dse: error: the plug-in ");
        say(m->file);
        say(" crashed: ");
        say(function);
        say(" of model ");
        say(m->desc->name);
        say(signal_number == SIGFPE    ? ", a division by zero or the like\n"
            : signal_number == SIGABRT ? ", which gave up\n"
                                       : ", at an address that is not its own\n");
    }
    for (size_t i = 0; i < WATCHED; i++) /* what crashed does so again, to whoever watched before */
        if (watched[i] == signal_number) sigaction(signal_number, &before[i], NULL);
}

static bool ends;

/* dse itself comes to the end of main. */
static void on_exit_of_other(void)
{
    if (ends) return;
    say("dse: error: a plug-in ended the program\n");
    _exit(1);
}

void crash_watch_ends(void)
{
    ends = true;
}

void crash_watch(void)
{
    static char stack_of_handler[STACK]; /* for a stack that is full */
    static bool watching;
    if (watching) return;
    watching = true;
    atexit(on_exit_of_other);
    void *once[1];
    backtrace(once, 1); /* loads what a handler must not load */
    sigaltstack(&(stack_t){.ss_sp = stack_of_handler, .ss_size = STACK}, NULL);
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < WATCHED; i++) sigaction(watched[i], &action, &before[i]);
}
