#include "model/plugin_try.h"

#include "base/limits.h"
#include "model/plugin_watch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
