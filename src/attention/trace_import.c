#include "attention/trace_import.h"

#include "attention/trace_format.h"
#include "attention/trace_guess.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct raw {
    const char *path;
    int fd;
    const struct trace_info *array;
    struct trace_picked trace; /* what is picked */
    unsigned char *bytes;      /* a picked matrix */
};

static bool read_at(const struct raw *r, size_t n, uint64_t offset, struct diags *diags)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(r->fd, r->bytes + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return diags_input(diags, (struct srcloc){.file = r->path}, NULL, NULL, "cannot read the file: %s",
                               got ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    return true;
}

static bool pull_raw(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    const struct raw *r = user;
    const struct trace_info *t = &r->trace.info, *a = r->array;
    struct trace_matrix m = {t->layer_ids[layer], t->head_ids[head], 0, t->n, t->d, t->bits, NULL};
    size_t value = (size_t)t->bits / 8, from_layer = trace_place(a->layer_ids, a->layers, m.layer),
           from_head = trace_place(a->head_ids, a->heads, m.head);
    head_init(ret, t->n, t->d);
    float *matrices[3] = {ret->q, ret->k, ret->v};
    for (size_t i = 0; i < 3; i++) {
        m.which = trace_matrices[i];
        uint64_t index = 3 * (from_layer * a->heads + from_head) + i;
        if (read_at(r, t->n * t->d * value, index * a->n * a->d * value, diags) &&
            trace_get_matrix(r->bytes, &m, matrices[i], (struct srcloc){.file = r->path}, diags))
            continue;
        head_release(ret);
        return false;
    }
    return true;
}

/* Open the array, whose shape is a possible one. */
static bool open_raw(struct raw *r, struct diags *diags)
{
    struct srcloc loc = {.file = r->path};
    const struct trace_info *a = r->array;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->fd < 0) return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    struct stat st;
    if (fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return diags_input(diags, loc, NULL, NULL, "is not a regular file; an array is needed");
    uint64_t wanted = trace_value_bytes(a);
    if ((uint64_t)st.st_size == wanted) return true;
    char *fits = trace_fits(a, (uint64_t)st.st_size), *hint = fits ? xasprintf("it would fit %s", fits) : NULL;
    diags_input(diags, loc, NULL, hint,
                "has %lld bytes; %zu layers x %zu heads x 3 x %zu positions x %zu elements of %d bits are %llu",
                (long long)st.st_size, a->layers, a->heads, a->n, a->d, a->bits, (unsigned long long)wanted);
    free(hint);
    free(fits);
    return false;
}

bool trace_import_raw(const char *from, const struct trace_info *array, const struct trace_pick *pick, const char *to,
                      struct diags *diags)
{
    struct raw r = {.path = from, .fd = -1, .array = array};
    struct srcloc loc = {.file = from};
    bool ok = trace_check(array, loc, diags) && open_raw(&r, diags) && trace_pick_apply(pick, array, &r.trace, loc, diags);
    if (ok) {
        trace_guess(r.fd, array, loc, diags);
        const struct trace_info *t = &r.trace.info;
        r.bytes = xmalloc(t->n * t->d * (size_t)t->bits / 8);
        ok = trace_write(to, t, pull_raw, &r, diags);
    }
    free(r.bytes);
    trace_picked_release(&r.trace);
    if (r.fd >= 0) close(r.fd);
    return ok;
}
