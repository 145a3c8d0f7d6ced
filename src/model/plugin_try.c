#include "model/plugin_try.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum { CHILD_DONE = 93, CPU_SECONDS = 1, SECONDS = 5 };

/* Crashes end it by their signal, and what it prints is printed when it is loaded for good. */
static void load_in_child(const char *file, bool (*load)(const char *file, struct diags *diags))
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM, SIGXCPU, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; nowhere >= 0 && fd <= 2; fd++) dup2(nowhere, fd);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS + 1});
    alarm(SECONDS);
    struct diags own;
    diags_init(&own);
    load(file, &own);
    _exit(CHILD_DONE);
}

static bool judge(const char *file, int status, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_DONE) return true;
    if (!WIFSIGNALED(status))
        return diags_input(diags, loc, NULL, "a constructor of it calls exit()", "the plug-in ends the program when it is loaded");
    const int by = WTERMSIG(status);
    if (by == SIGALRM || by == SIGXCPU || by == SIGKILL)
        return diags_input(diags, loc, NULL, "its constructors run then: let them do less",
                           "the plug-in takes too long to load; at most %d s", SECONDS);
    return diags_input(diags, loc, NULL, "its constructors run then, and its tables are read",
                       "the plug-in crashes when it is loaded: %s", strsignal(by));
}

bool plugin_try(const char *file, bool (*load)(const char *file, struct diags *diags), struct diags *diags)
{
    if (!check_length(file, diags)) return false;
    fflush(NULL); /* or the child has it, too */
    const pid_t child = fork();
    if (child < 0) return true;
    if (child == 0) load_in_child(file, load);
    int status;
    pid_t ended;
    do ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 || judge(file, status, diags); /* nobody knows where the program lets children go unseen */
}
