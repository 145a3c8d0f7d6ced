/* How many threads there are to be had. OpenMP ends the program when the system gives it fewer than it was asked for, as in a
 * container or for a user with a limit on processes: so what is asked for is tried first.
 */
#ifndef DSE_BASE_THREADS_H
#define DSE_BASE_THREADS_H

/* How many of `wanted` threads can run at a time, the caller's own among them; at least 1. What was found out once is not tried
 * again. Thread-safe. */
int threads_available(int wanted);

#endif
