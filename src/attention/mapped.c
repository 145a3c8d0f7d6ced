#include "attention/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool mapped_open(struct mapped *m, const char *path, const char *needed, struct diags *diags)
{
    *m = (struct mapped){.path = path};
    struct srcloc loc = {.file = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would be waited for */
    if (fd < 0) return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (!ok)
        diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    else if (!S_ISREG(st.st_mode))
        ok = diags_input(diags, loc, NULL, NULL, "is not a regular file; %s is needed", needed);
    else if ((m->size = (size_t)st.st_size) > 0) {
        m->map = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m->map == MAP_FAILED) {
            m->map = NULL;
            m->size = 0;
            ok = diags_input(diags, loc, NULL, NULL, "cannot map the file into memory: %s", strerror(errno));
        }
        m->bytes = m->map;
    }
    close(fd);
    return ok;
}

void mapped_release(struct mapped *m)
{
    if (m->map) munmap(m->map, m->size);
    *m = (struct mapped){0};
}
