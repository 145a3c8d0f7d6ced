#include "space/bug.h"

#include "base/xalloc.h"

#include <string.h>

/* The key of [step] that is too small where the share of a peak is above 1; NULL: none is known. */
static const char *peak_key(const char *found)
{
    static const struct {
        const char *metric, *key;
    } peaks[] = {{"dram_utilization is ", "peak_bytes"}, {"compute_utilization is ", "peak_ops"}};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        if (strncmp(found, peaks[i].metric, strlen(peaks[i].metric)) == 0 && strstr(found, "share of the peak"))
            return peaks[i].key;
    return NULL;
}

char *bug_text(const struct model *m, const char *found)
{
    const char *key = m->made.source ? peak_key(found) : NULL;
    return key ? xasprintf("a bug in model %s: %s: %s in [step] is too small", m->desc->name, found, key)
               : xasprintf("a bug in model %s: %s", m->desc->name, found);
}
