/* LD_PRELOAD: locks fail as on NFS without its lock service, on all files or on those whose path has $NO_LOCKS in it. */
#undef _FILE_OFFSET_BITS /* both names of the call are wanted */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlsym gives an object pointer. */
union entry {
    void *object;
    int (*call)(int fd, int command, void *argument);
};

static bool is_lock(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW ||
           command == F_OFD_GETLK;
}

static bool is_without(int fd)
{
    const char *part = getenv("NO_LOCKS");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return !part || strstr(path, part);
}

static int call(const char *name, int fd, int command, void *argument)
{
    if (is_lock(command) && is_without(fd)) {
        errno = ENOLCK;
        return -1;
    }
    const union entry next = {.object = dlsym(RTLD_NEXT, name)};
    return next.call(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return call("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...);
int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return call("fcntl64", fd, command, argument);
}
