/* Ctrl-C and SIGTERM as a flag that long work looks at. */
#ifndef DSE_CLI_INTERRUPT_H
#define DSE_CLI_INTERRUPT_H

#include <signal.h>

/* Catch signals from now on: the first sets the flag that is returned; one that comes more than half a second later ends the
 * process. */
const volatile sig_atomic_t *interrupt_catch(void);

/* Exit status of work that a signal has stopped. */
enum { INTERRUPTED_STATUS = 130 };

#endif
