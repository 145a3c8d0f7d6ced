#include "model/plugin_watch.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is seen of a process at a moment. */
struct sight {
    char state;           /* as in /proc/PID/stat; 'R' where nothing is known */
    unsigned long faults; /* pages that came from the disk */
    long kib;             /* of memory; 0: not known */
    double worked, at;    /* seconds: of CPU; of the clock */
};

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

/* The n-th word of the text, counted from 0; its end, where it has fewer. */
static const char *word_at(const char *s, int n)
{
    for (s += strspn(s, " "); n > 0 && *s; n--) {
        s += strcspn(s, " ");
        s += strspn(s, " ");
    }
    return s;
}

static struct sight look_at(const char *stat_file, clockid_t clock)
{
    struct sight s = {.state = 'R', .worked = seconds_of(clock), .at = seconds_of(CLOCK_MONOTONIC)};
    char text[1024];
    const int fd = open(stat_file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return s;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return s;
    text[n] = '\0';
    enum { STATE = 3, FAULTS = 12, PAGES = 24 }; /* numbers of fields; the second is the name, in parentheses */
    const char *fields = strrchr(text, ')');
    if (!fields || !*word_at(fields + 1, PAGES - STATE)) return s;
    s.state = *word_at(fields + 1, 0);
    s.faults = strtoul(word_at(fields + 1, FAULTS - STATE), NULL, 10);
    s.kib = strtol(word_at(fields + 1, PAGES - STATE), NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024);
    return s;
}

/* Seconds that count, of those between two sights; *idle: for how long nothing has come from the disk. */
static double spent(const struct sight *before, const struct sight *now, double *idle)
{
    enum { PATIENCE_MS = 300, STEP_MS_MAX = 50 }; /* a longer step is one in which nobody watched */
    const double worked = now->worked - before->worked, step = now->at - before->at;
    *idle = now->faults == before->faults ? *idle + step : 0;
    const bool sleeps = strchr("STZ", now->state) || (now->state == 'D' && *idle > 1e-3 * PATIENCE_MS);
    return sleeps && step > worked ? (step < 1e-3 * STEP_MS_MAX ? step : 1e-3 * STEP_MS_MAX) : worked;
}

/* Has it ended? It can still be asked for, and its group is there. */
static bool has_ended(pid_t child, bool *ret_unseen)
{
    siginfo_t info = {0};
    int rc;
    do rc = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
    while (rc < 0 && errno == EINTR);
    *ret_unseen = rc < 0;
    return rc < 0 || info.si_pid == child;
}

static enum watch_end wait_or_stop(pid_t child)
{
    enum { SHORT_NS = 100000, LONG_NS = 10000000 };
    char stat_file[64];
    clockid_t clock;
    bool unseen;
    snprintf(stat_file, sizeof stat_file, "/proc/%ld/stat", (long)child);
    if (clock_getcpuclockid(child, &clock) != 0) clock = CLOCK_MONOTONIC;
    const struct sight first = look_at(stat_file, clock);
    struct sight before = first;
    double time = 0, idle = 0;
    for (long step = SHORT_NS; !has_ended(child, &unseen); step = 2 * step < LONG_NS ? 2 * step : LONG_NS) {
        nanosleep(&(struct timespec){.tv_nsec = step}, NULL);
        if (has_ended(child, &unseen)) break;
        const struct sight now = look_at(stat_file, clock);
        time += spent(&before, &now, &idle);
        before = now;
        if (1e3 * time > PLUGIN_LOAD_MS_MAX) return WATCH_TOO_LONG;
        if (now.kib - first.kib > PLUGIN_LOAD_MIB_MAX * 1024L) return WATCH_TOO_LARGE;
    }
    return unseen ? WATCH_UNSEEN : WATCH_ENDED;
}

enum watch_end plugin_watch(pid_t child, int *ret_status)
{
    const enum watch_end end = wait_or_stop(child);
    if (end != WATCH_UNSEEN) kill(-child, SIGKILL);
    if (end == WATCH_TOO_LONG || end == WATCH_TOO_LARGE) kill(child, SIGKILL); /* it may have left its group */
    pid_t ended;
    do ended = waitpid(child, ret_status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 && end == WATCH_ENDED ? WATCH_UNSEEN : end;
}

long plugin_watch_kib(void)
{
    return look_at("/proc/self/stat", CLOCK_MONOTONIC).kib;
}
