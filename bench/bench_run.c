/* Run a command and print its wall seconds, its CPU seconds (of all its threads) and its largest resident set in MiB. The
 * command's own output goes to /dev/null, and what it says of errors is shown when it fails. */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    FILE *errors = tmpfile();
    if (!errors) return 1;
    double start = wall_s();
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(fileno(errors), 2);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        rewind(errors);
        for (int c; (c = getc(errors)) != EOF;) putc(c, stderr);
        fprintf(stderr, "bench_run: %s failed\n", argv[1]);
        return 1;
    }
    const double wall = wall_s() - start;
    printf("%.3f %.3f %.0f\n", wall, seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024);
    return 0;
}
