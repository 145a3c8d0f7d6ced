#include "base/threads.h"

#include "base/xalloc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tried, found; /* most that were wanted yet, and how many of them there were */

/* Threads that all exist at the same time. */
struct crowd {
    pthread_mutex_t mutex;
    pthread_cond_t over;
    bool is_over;
};

static void *wait_for_end(void *user)
{
    struct crowd *c = user;
    pthread_mutex_lock(&c->mutex);
    while (!c->is_over) pthread_cond_wait(&c->over, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static int try_threads(int wanted)
{
    struct crowd c = {.mutex = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
    pthread_t *threads = xcalloc((size_t)wanted, sizeof *threads);
    int n = 0;
    while (n + 1 < wanted && pthread_create(&threads[n], NULL, wait_for_end, &c) == 0) n++;
    pthread_mutex_lock(&c.mutex);
    c.is_over = true;
    pthread_cond_broadcast(&c.over);
    pthread_mutex_unlock(&c.mutex);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    free(threads);
    return n + 1;
}

int threads_available(int wanted)
{
    if (wanted <= 1) return 1;
    pthread_mutex_lock(&mutex);
    if (wanted > tried) {
        found = try_threads(wanted);
        tried = wanted;
    }
    int n = wanted < found ? wanted : found;
    pthread_mutex_unlock(&mutex);
    return n;
}
