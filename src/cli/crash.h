/* A crash is told by what crashed. */
#ifndef DSE_CLI_CRASH_H
#define DSE_CLI_CRASH_H

/* From now on, a crash in the model of a plug-in names it, before it ends the program as crashes do; and a plug-in that calls
 * exit() is told, with exit status 1. Called again, it does nothing. */
void crash_watch(void);
/* The program itself ends. */
void crash_watch_ends(void);

#endif
