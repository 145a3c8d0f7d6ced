#include "cli/interrupt.h"

#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t asked;
static struct timespec asked_at; /* written before `asked` is set, and by the handler alone */

/* One request may come twice: timeout(1) signals the command and then its group. A second one this much later means it. */
static const double AGAIN_S = 0.5;

/* The first signal asks; one that comes later, while the work does not stop, ends the program. */
static void on_signal(int number)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!asked) {
        asked_at = now;
        asked = 1;
        return;
    }
    if ((double)(now.tv_sec - asked_at.tv_sec) + (double)(now.tv_nsec - asked_at.tv_nsec) * 1e-9 < AGAIN_S) return;
    signal(number, SIG_DFL);
    raise(number);
}

const volatile sig_atomic_t *interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask); /* of both: neither interrupts the handler of the other */
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &asked;
}
