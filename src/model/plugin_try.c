#include "model/plugin_try.h"

#include "base/limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- watching ------------------------------------------------------------------------------------------------------------- */

/* A child process that runs foreign code, watched until it ends: it may work and wait for some time, and take some memory.
 *
 * Time is what the child works (its CPU time) or, if that is less, what it sleeps or is stopped. What it waits for a core or for
 * the disk does not count, so that a slow or busy machine refuses nothing that a quiet one takes. A wait for the disk in which
 * nothing comes is sleep. */

enum watch_end {
    WATCH_ENDED,     /* by itself: *ret_status is that of waitpid */
    WATCH_TOO_LONG,  /* it was killed: PLUGIN_LOAD_MS_MAX */
    WATCH_TOO_LARGE, /* it was killed: it took PLUGIN_LOAD_MIB_MAX more than when it began */
    WATCH_UNSEEN,    /* it ended, and how is not known: the program lets children go */
};

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

/* Wait for the child, which leads a process group of its own; what else is in the group is ended with it. */
static enum watch_end plugin_watch(pid_t child, int *ret_status)
{
    const enum watch_end end = wait_or_stop(child);
    if (end != WATCH_UNSEEN) kill(-child, SIGKILL);
    if (end == WATCH_TOO_LONG || end == WATCH_TOO_LARGE) kill(child, SIGKILL); /* it may have left its group */
    pid_t ended;
    do ended = waitpid(child, ret_status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 && end == WATCH_ENDED ? WATCH_UNSEEN : end;
}

/* KiB of memory that this process has. 0: not known. */
static long plugin_watch_kib(void)
{
    return look_at("/proc/self/stat", CLOCK_MONOTONIC).kib;
}

/* ---- trying --------------------------------------------------------------------------------------------------------------- */

/* ---- cut short -------------------------------------------------------------------------------------------------------------- */

/* How many bytes the file must have, by its head: up to the end of what is mapped. 0: it is no shared object, and the loader says
 * so. */
static uint64_t bytes_needed(int fd)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    uint64_t needed = 0;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        const off_t at = (off_t)(head.e_phoff + i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) break;
        const uint64_t end = (uint64_t)segment.p_offset + segment.p_filesz;
        if (segment.p_type == PT_LOAD && end > needed) needed = end;
    }
    return needed;
}

static bool check_length(const char *file, struct diags *diags)
{
    struct stat st;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true; /* the loader says why */
    const uint64_t needed = fstat(fd, &st) == 0 ? bytes_needed(fd) : 0;
    close(fd);
    return needed <= (uint64_t)st.st_size || diags_input(diags, (struct srcloc){.file = file}, NULL, "compile or copy it again",
                                                         "the plug-in is cut short: it has %llu bytes, and %llu are needed",
                                                         (unsigned long long)st.st_size, (unsigned long long)needed);
}

/* ---- in a child ------------------------------------------------------------------------------------------------------------- */

/* What the child says, in memory that both have. */
struct said {
    bool ended;       /* the plug-in is loaded, or refused: this is no _exit() of its own */
    bool refused;     /* why: */
    size_t n, used;   /* pairs of a message and its hint, which may be "" */
    bool took_stdio;  /* it has closed standard input, output or error */
    bool took_memory; /* more than it may; and gave it back */
    char texts[1 << 15];
};

enum { CPU_SECONDS = 2, SECONDS = 10 }; /* for a child that nobody watches any more */

static void say(struct said *to, const char *text)
{
    const size_t n = strnlen(text, DIAG_TEXT_MAX);
    memcpy(to->texts + to->used, text, n);
    to->texts[to->used + n] = '\0';
    to->used += n + 1;
}

/* As many errors as there is room for. */
static void say_errors(struct said *to, const struct diags *diags)
{
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *d = &diags->list[i];
        if (d->severity != DIAG_ERROR || sizeof to->texts - to->used < 2 * (size_t)(DIAG_TEXT_MAX + 1)) continue;
        say(to, d->message);
        say(to, d->hint ? d->hint : "");
        to->n++;
    }
}

static bool has_stdio(void)
{
    return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
}

/* Crashes end it by their signal, and what it prints is not seen. */
static void begin_child(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM, SIGXCPU, SIGTERM};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; nowhere >= 0 && fd <= 2; fd++) dup2(nowhere, fd);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS + 1});
    alarm(SECONDS);
}

static void load_in_child(const char *file, bool (*load)(const char *file, struct diags *diags), struct said *said)
{
    struct diags own;
    struct rusage usage;
    begin_child();
    const long kib = plugin_watch_kib();
    const pid_t self = getpid();
    diags_init(&own);
    const bool loaded = load(file, &own);
    if (getpid() != self) _exit(0); /* a child of the plug-in's making says nothing */
    said->refused = !loaded;
    say_errors(said, &own);
    said->took_stdio = !has_stdio();
    said->took_memory = kib > 0 && getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss - kib > PLUGIN_LOAD_MIB_MAX * 1024L;
    said->ended = true;
    _exit(0);
}

/* What it was refused for when it was loaded for a try. Always false. */
static bool refuse(const char *file, const struct said *said, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    const char *text = said->texts;
    if (said->n == 0) return diags_input(diags, loc, NULL, NULL, "the plug-in cannot be loaded");
    for (size_t i = 0; i < said->n; i++) {
        const char *hint = text + strlen(text) + 1;
        diags_input(diags, loc, NULL, *hint ? hint : NULL, "%s", text);
        text = hint + strlen(hint) + 1;
    }
    return false;
}

static bool too_large(const char *file, struct diags *diags)
{
    return diags_input(diags, (struct srcloc){.file = file}, NULL, "its constructors run then: let them take less",
                       "the plug-in takes too much memory to load; at most %d MiB", PLUGIN_LOAD_MIB_MAX);
}

static bool judge(const char *file, const struct said *said, enum watch_end end, int status, struct diags *diags)
{
    static const char tables[] = "its constructors run then, and its tables are read";
    const struct srcloc loc = {.file = file};
    if (end == WATCH_TOO_LARGE || said->took_memory) return too_large(file, diags);
    if (end == WATCH_TOO_LONG)
        return diags_input(diags, loc, NULL, "its constructors run then: let them do less",
                           "the plug-in takes too long to load; at most %g s", 1e-3 * PLUGIN_LOAD_MS_MAX);
    if (said->ended && said->refused) return refuse(file, said, diags);
    if (said->took_stdio)
        return diags_input(diags, loc, NULL, tables, "the plug-in closes the input or output of the program when it is loaded");
    if (said->ended) return true;
    if (end == WATCH_ENDED && WIFSIGNALED(status))
        return diags_input(diags, loc, NULL, tables, "the plug-in crashes when it is loaded: %s", strsignal(WTERMSIG(status)));
    return diags_input(diags, loc, NULL, "a constructor of it calls exit()", "the plug-in ends the program when it is loaded");
}

bool plugin_try(const char *file, bool (*load)(const char *file, struct diags *diags), struct diags *diags)
{
    if (!check_length(file, diags)) return false;
    struct said *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED) return true;
    fflush(NULL); /* or the child has it, too */
    const pid_t child = fork();
    if (child == 0) load_in_child(file, load, said);
    bool ok = true;
    if (child > 0) {
        int status = 0;
        setpgid(child, child); /* whoever comes first */
        const enum watch_end end = plugin_watch(child, &status);
        ok = judge(file, said, end, status, diags);
    }
    munmap(said, sizeof *said);
    return ok;
}

bool plugin_try_call(const char *file, const char *what, void (*call)(void *user), void *user, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return true;
    if (child == 0) {
        begin_child();
        call(user);
        _exit(0);
    }
    int status;
    setpgid(child, child);
    const enum watch_end end = plugin_watch(child, &status);
    if (end == WATCH_TOO_LONG)
        return diags_input(diags, loc, NULL, NULL, "%s takes too long; at most %g s", what, 1e-3 * PLUGIN_LOAD_MS_MAX);
    return end != WATCH_TOO_LARGE ||
           diags_input(diags, loc, NULL, NULL, "%s takes too much memory; at most %d MiB", what, PLUGIN_LOAD_MIB_MAX);
}
