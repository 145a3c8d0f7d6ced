/* dse trace import: arrays of .npy and .safetensors files. */
#include "attention/action.h"
#include "attention/trace_arrays.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { Q, K, V, STEPS, ARRAYS };
static const char *const names[ARRAYS] = {"q", "k", "v", "steps"};

struct files {
    struct mapped maps[ARRAYS]; /* of .npy; the first: of .safetensors */
    struct safetensors *tensors;
    struct array arrays[ARRAYS];
    bool has_steps; /* an array has them */
    int32_t *steps;
    size_t n_steps;
};

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static bool parse_number(const char **p, int64_t *ret)
{
    size_t n = strspn(*p, "0123456789");
    char *word = xstrndup(*p, n);
    bool ok = n > 0 && text_parse_i64(word, ret) && *ret <= TRACE_POSITIONS_MAX;
    free(word);
    *p += n;
    return ok;
}

/* One item of the list: 7, 0-31 or 0-131071/512. */
static bool parse_item(const char **p, int64_t *from, int64_t *to, int64_t *stride)
{
    if (!parse_number(p, from)) return false;
    *to = *from;
    *stride = 1;
    if (**p == '-') {
        ++*p;
        if (!parse_number(p, to)) return false;
    }
    if (**p == '/') {
        ++*p;
        if (!parse_number(p, stride)) return false;
    }
    return *to >= *from && *stride > 0 && (**p == 0 || **p == ',');
}

static bool read_step_list(const struct invocation *in, const char *s, struct files *f)
{
    for (const char *p = s;;) {
        int64_t from, to, stride;
        if (!parse_item(&p, &from, &to, &stride)) {
            usage_error(in, "--steps: \"%s\" is not a list of steps such as 0-131071/512,131060-131071", s);
            return false;
        }
        size_t more = (size_t)((to - from) / stride) + 1;
        if (more > TRACE_POSITIONS_MAX - f->n_steps) {
            usage_error(in, "--steps: more than the %d that a trace may have", TRACE_POSITIONS_MAX);
            return false;
        }
        f->steps = xrealloc(f->steps, f->n_steps + more, sizeof *f->steps);
        for (int64_t i = from; i <= to; i += stride) f->steps[f->n_steps++] = (int32_t)i;
        if (*p++ == 0) return true;
    }
}

/* ---- arrays -------------------------------------------------------------------------------------------------------------- */

static bool is_list(const char *s)
{
    return s && *s >= '0' && *s <= '9' && !strstr(s, ".npy");
}

static bool read_npy(const struct invocation *in, size_t which, struct files *f)
{
    const char *path = option_get(in, names[which]);
    return mapped_open(&f->maps[which], path, "a .npy file", in->diags) &&
           array_read_npy(&f->maps[which], names[which], option_has(in, "bf16"), &f->arrays[which], in->diags);
}

static bool read_tensor(const struct invocation *in, size_t which, struct files *f)
{
    const char *name = option_get(in, names[which]);
    return safetensors_find(f->tensors, name ? name : names[which], &f->arrays[which], in->diags);
}

static bool read_arrays(const struct invocation *in, struct files *f)
{
    const char *tensors = option_get(in, "safetensors"), *steps = option_get(in, "steps");
    if (tensors) {
        if (!mapped_open(&f->maps[0], tensors, "a .safetensors file", in->diags)) return false;
        f->tensors = safetensors_read(&f->maps[0], in->diags);
        if (!f->tensors) return false;
    }
    f->has_steps = !is_list(steps) && (steps || (tensors && safetensors_has(f->tensors, "steps")));
    for (size_t i = 0; i < (f->has_steps ? ARRAYS : STEPS); i++)
        if (!(tensors ? read_tensor : read_npy)(in, i, f)) return false;
    return true;
}

static bool read_steps(const struct invocation *in, struct files *f)
{
    const char *steps = option_get(in, "steps");
    if (is_list(steps)) return read_step_list(in, steps, f);
    if (f->has_steps) f->steps = trace_array_steps(&f->arrays[STEPS], &f->n_steps, in->diags);
    return !f->has_steps || f->steps;
}

void trace_import_files(const struct invocation *in, struct trace_info *info, const struct trace_pick *pick)
{
    struct files f = {0};
    if (read_arrays(in, &f) && read_steps(in, &f)) {
        info->steps = f.steps;
        info->n_steps = f.n_steps;
        const struct trace_arrays arrays = {f.arrays[Q], f.arrays[K], f.arrays[V]};
        trace_import_arrays(&arrays, info, pick, option_get(in, "output"), in->diags);
    }
    free(f.steps);
    safetensors_free(f.tensors);
    for (size_t i = 0; i < ARRAYS; i++) mapped_release(&f.maps[i]);
}
