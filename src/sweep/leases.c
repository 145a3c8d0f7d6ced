/* A worker among those that share a folder of leases. */
#include "sweep/leases_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOUCHES_AN_AGE = 6, HOST_CHARACTERS = 24, SECONDS_A_LOOK = 5 };

struct leases {
    struct lease_folder folder;
    char *worker, *database, *alive;
    double age;
    struct lease_list free; /* as it was when it was last read; those before `next` were tried, in a circle from `start` */
    size_t start, tried;
    size_t seen_done;
    time_t looked; /* when it was counted last, while there was work */

    pthread_t thread; /* touches `alive` */
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool leaving;
};

/* ---- alive ------------------------------------------------------------------------------------------------------------------- */

/* Touch a file without saying what time it is: the server of the file does. */
static bool touch(const char *path)
{
    return utimensat(AT_FDCWD, path, NULL, 0) == 0;
}

static void *keep_alive(void *user)
{
    struct leases *l = user;
    pthread_mutex_lock(&l->mutex);
    while (!l->leaving) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        const double at = (double)t.tv_nsec * 1e-9 + l->age / TOUCHES_AN_AGE;
        t.tv_sec += (time_t)at;
        t.tv_nsec = (long)(1e9 * (at - (double)(time_t)at));
        pthread_cond_timedwait(&l->changed, &l->mutex, &t);
        touch(l->alive);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* A worker's name: host, process and something that no other worker has. */
static char *worker_name(void)
{
    char host[HOST_CHARACTERS + 1] = "";
    uint32_t r;
    if (gethostname(host, sizeof host - 1) != 0 || !*host) strcpy(host, "host");
    for (char *c = host; *c; c++)
        if (!strchr(TEXT_ALNUM "-", *c)) *c = '-';
    if (getrandom(&r, sizeof r, 0) != sizeof r) r = (uint32_t)time(NULL);
    return xasprintf("worker-%s-%ld-%08x", host, (long)getpid(), r);
}

static bool begin_life(struct leases *l, struct diags *diags)
{
    const int fd = open(l->alive, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || close(fd) != 0) return diags_runtime(diags, l->alive, "cannot be written: %s", strerror(errno));
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->has_thread = pthread_create(&l->thread, NULL, keep_alive, l) == 0;
    return l->has_thread || diags_runtime(diags, l->folder.path, "cannot start a thread that keeps the leases alive");
}

struct leases *leases_join(const char *folder, const struct lease_plan *plan, double age, struct diags *diags)
{
    bool there;
    if (!leases_plan(folder, plan, age, diags)) return NULL;
    struct leases *l = xcalloc(1, sizeof *l);
    l->age = age;
    l->worker = worker_name();
    l->database = lease_database_path(folder, l->worker);
    l->alive = lease_alive_path(folder, l->worker);
    bool ok = lease_folder_read(folder, &l->folder, &there, diags);
    ok = ok && (there || diags_runtime(diags, folder, "has lost its leases: somebody removed them"));
    if (ok && begin_life(l, diags)) return l;
    leases_leave(l);
    return NULL;
}

void leases_leave(struct leases *l)
{
    if (!l) return;
    if (l->has_thread) {
        pthread_mutex_lock(&l->mutex);
        l->leaving = true;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->mutex);
        pthread_join(l->thread, NULL);
        unlink(l->alive);
    }
    lease_list_release(&l->free);
    lease_folder_release(&l->folder);
    free(l->worker);
    free(l->database);
    free(l->alive);
    free(l);
}

const char *leases_database(const struct leases *l)
{
    return l->database;
}

size_t leases_blocks(const struct leases *l)
{
    return l->folder.n_blocks;
}

size_t leases_seen_done(const struct leases *l)
{
    return l->seen_done;
}

/* ---- taking ------------------------------------------------------------------------------------------------------------------ */

/* 1: taken, 0: none is free, -1: failed. Each worker begins somewhere else in the list and goes round, so that few meet. */
static int take_free(struct leases *l, size_t *ret, struct diags *diags)
{
    while (l->tried < l->free.n) {
        const size_t number = l->free.entries[(l->start + l->tried++) % l->free.n].number;
        const int moved = lease_move(&l->folder, number, LEASE_FREE, NULL, LEASE_HELD, l->worker, diags);
        *ret = number;
        if (moved) return moved;
    }
    return 0;
}

static bool read_free(struct leases *l, struct diags *diags)
{
    lease_list_release(&l->free);
    l->tried = 0;
    if (!lease_list_read(&l->folder, LEASE_FREE, &l->free, diags)) return false;
    if (l->free.n) l->start = (size_t)(text_hash(TEXT_HASH_INIT, l->worker, strlen(l->worker)) % l->free.n);
    return true;
}

/* Has its worker not shown itself for the age of a lease? Now is when this worker's file was touched last. */
static bool is_dead(const struct leases *l, const char *worker, const struct timespec *now)
{
    struct timespec seen;
    char *path = lease_alive_path(l->folder.path, worker);
    const bool there = lease_time(path, &seen);
    free(path);
    return !there || (double)(now->tv_sec - seen.tv_sec) + 1e-9 * (double)(now->tv_nsec - seen.tv_nsec) > l->age;
}

/* Likewise among the blocks that dead workers hold. */
static int take_dead(struct leases *l, size_t *ret, struct diags *diags)
{
    struct lease_list held;
    struct timespec now;
    if (!touch(l->alive) || !lease_time(l->alive, &now)) {
        diags_runtime(diags, l->alive, "cannot be touched: %s", strerror(errno));
        return -1;
    }
    int moved = lease_list_read(&l->folder, LEASE_HELD, &held, diags) ? 0 : -1;
    for (size_t i = 0; moved == 0 && i < held.n; i++) {
        const struct lease_entry *e = &held.entries[i];
        if (strcmp(e->worker, l->worker) == 0 || !is_dead(l, e->worker, &now)) continue;
        moved = lease_move(&l->folder, e->number, LEASE_HELD, e->worker, LEASE_HELD, l->worker, diags);
        *ret = e->number;
    }
    lease_list_release(&held);
    return moved;
}

/* Count what is done. Blocks whose database is gone are free again; then *ret_freed is set. */
static bool look_at_done(struct leases *l, bool *ret_freed, struct diags *diags)
{
    struct lease_list done;
    bool ok = lease_list_read(&l->folder, LEASE_DONE, &done, diags);
    l->seen_done = done.n;
    for (size_t i = 0; ok && i < done.n && done.n == l->folder.n_blocks; i++) {
        const struct lease_entry *e = &done.entries[i];
        char *path = lease_database_path(l->folder.path, e->worker);
        if (access(path, F_OK) != 0 && errno == ENOENT) {
            ok = lease_move(&l->folder, e->number, LEASE_DONE, e->worker, LEASE_FREE, NULL, diags) >= 0;
            *ret_freed = true;
        }
        free(path);
    }
    lease_list_release(&done);
    return ok;
}

/* While there is work, what is done is looked at now and then, for the progress alone: it is a long list. */
static bool is_look_due(struct leases *l)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const bool due = t.tv_sec - l->looked >= SECONDS_A_LOOK;
    if (due) l->looked = t.tv_sec;
    return due;
}

/* One round: free blocks, those of the dead, and else whether all are done. */
static int try_take(struct leases *l, struct lease *ret, bool *ret_dead, bool *ret_all, struct diags *diags)
{
    size_t number;
    bool freed = false;
    int taken = take_free(l, &number, diags);
    if (taken == 0) taken = read_free(l, diags) ? take_free(l, &number, diags) : -1;
    *ret_dead = false;
    if (taken == 0) {
        taken = take_dead(l, &number, diags);
        *ret_dead = taken > 0;
    }
    if (taken > 0) *ret = lease_of(&l->folder, number);
    if (taken == 0 || (taken > 0 && is_look_due(l)))
        if (!look_at_done(l, &freed, diags)) taken = -1;
    *ret_all = l->seen_done >= l->folder.n_blocks && !freed;
    return taken;
}

enum lease_answer leases_take(struct leases *l, const volatile sig_atomic_t *stop, struct lease *ret, bool *ret_dead,
                              struct diags *diags)
{
    bool all;
    for (double wait = 0.02; !stop || !*stop;) {
        const int taken = try_take(l, ret, ret_dead, &all, diags);
        if (taken) return taken > 0 ? LEASE_TAKEN : LEASE_FAILED;
        if (all) return LEASE_ALL_DONE;
        lease_sleep(wait);
        wait = 2 * wait < l->age / TOUCHES_AN_AGE ? 2 * wait : l->age / TOUCHES_AN_AGE;
        if (wait > 2) wait = 2;
    }
    return LEASE_STOPPED;
}

bool leases_done(struct leases *l, const struct lease *lease, struct diags *diags)
{
    const int moved = lease_move(&l->folder, lease->number, LEASE_HELD, l->worker, LEASE_DONE, l->worker, diags);
    if (moved > 0) l->seen_done++;
    return moved >= 0;
}

bool leases_give_back(struct leases *l, const struct lease *lease, struct diags *diags)
{
    return lease_move(&l->folder, lease->number, LEASE_HELD, l->worker, LEASE_FREE, NULL, diags) >= 0;
}
