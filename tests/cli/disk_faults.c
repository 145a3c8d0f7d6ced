/* LD_PRELOAD: the disk of tests/unit/disk.h for the program itself. DISK_FAULT="KIND AT STAYS ERRNO FOLDER", the numbers as in
 * struct disk_fault; DISK_COUNT names a file that gets the number of calls of the kind when the program ends. */
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>

static void __attribute__((constructor)) begin(void)
{
    const char *said = getenv("DISK_FAULT");
    unsigned kind, stays;
    int code, n = 0;
    size_t at;
    if (!said || sscanf(said, "%u %zu %u %d %n", &kind, &at, &stays, &code, &n) != 4 || n == 0) return;
    disk_fail(said + n, (struct disk_fault){.kind = (enum disk_fault_kind)kind, .at = at, .stays = stays != 0, .code = code});
}

static void __attribute__((destructor)) end(void)
{
    const size_t calls = disk_heal();
    const char *path = getenv("DISK_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%zu\n", calls);
    fclose(f);
}
