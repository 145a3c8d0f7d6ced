#include "attention/trace_import.h"

#include "attention/half.h"
#include "attention/trace.h"
#include "attention/trace_format.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a file is ------------------------------------------------------------------------------------------------------- */

/* Is a file without a header what its reader was told it is? Values of attention tell: those of a type all lie within a few
 * powers of two of each other, and each element of a vector has a mean of its own. Both are lost when bytes are read as another
 * type or in rows of another length.
 */

/* ---- types --------------------------------------------------------------------------------------------------------------- */

enum type { TYPE_F16, TYPE_BF16, TYPE_F32, TYPE_F64, TYPES };
static const struct {
    const char *name;
    size_t bytes;
} types[TYPES] = {{"fp16", 2}, {"bf16", 2}, {"fp32", 4}, {"fp64", 8}};

static double value_at(const unsigned char *p, enum type type)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < types[type].bytes; i++) bits |= (uint64_t)p[i] << 8 * i;
    if (type == TYPE_F16) return half_to_float((uint16_t)bits);
    if (type == TYPE_F64) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    uint32_t word = (uint32_t)(type == TYPE_BF16 ? bits << 16 : bits);
    float v;
    memcpy(&v, &word, sizeof v);
    return v;
}

/* How values look when their bytes are read as a type. */
struct look {
    double largest, spread; /* spread: standard deviation of log2 |value| */
    bool natural;           /* finite, hardly any zeros, and within a few powers of two of each other */
};

/* Of q, k and v of attention, whatever the model: spreads from 1 to 3 were measured; those of bytes read as another type are
 * below 0.3 or above 4. */
static struct look look_at(const unsigned char *p, size_t n, enum type type)
{
    static const double least = 0.5, most = 4, zeros_most = 0.3;
    struct look ret = {0};
    const size_t count = n / types[type].bytes;
    double sum = 0, squares = 0, values = (double)count, used = 0;
    bool finite = true;
    for (size_t at = 0; at + types[type].bytes <= n; at += types[type].bytes) {
        double v = fabs(value_at(p + at, type));
        if (!isfinite(v)) finite = false;
        if (!isfinite(v) || v == 0) continue;
        double log_v = log2(v);
        ret.largest = fmax(ret.largest, v);
        sum += log_v;
        squares += log_v * log_v;
        used++;
    }
    if (used > 0) ret.spread = sqrt(fmax(0, squares / used - sum / used * (sum / used)));
    ret.natural = finite && used >= (1 - zeros_most) * values && ret.spread >= least && ret.spread <= most;
    return ret;
}

/* fp32 whose lower halves are numbers of their own is bf16: real fp32 has noise there. */
static enum type guess_type(const struct look *looks, enum type told)
{
    if (told == TYPE_F32 && looks[TYPE_BF16].natural && looks[TYPE_F32].natural) return TYPE_BF16;
    if (looks[told].natural) return told;
    static const enum type order[] = {TYPE_BF16, TYPE_F32, TYPE_F16, TYPE_F64};
    for (size_t i = 0; i < TYPES; i++)
        if (looks[order[i]].natural) return order[i];
    return told;
}

static void warn_of_type(const unsigned char *sample, size_t n, const struct trace_info *a, struct srcloc loc, struct diags *diags)
{
    struct look looks[TYPES];
    for (enum type t = 0; t < TYPES; t++) looks[t] = look_at(sample, n, t);
    enum type told = a->bits == 16 ? TYPE_F16 : TYPE_F32, guess = guess_type(looks, told);
    if (guess == told) return;
    char most[TEXT_NUMBER_MAX], less[TEXT_NUMBER_MAX];
    text_short_number(most, looks[told].largest);
    text_short_number(less, looks[guess].largest);
    struct text fit;
    text_init(&fit);
    if (guess == TYPE_BF16 || guess == TYPE_F64) {
        text_addf(&fit, "write it as fp32 or fp16 (.astype(\"<f4\"))");
    } else {
        size_t now = (size_t)a->bits, then = types[guess].bytes * 8;
        text_addf(&fit, "--bits %zu, with --positions %zu or --dim %zu", then, a->n * now / then, a->d * now / then);
    }
    diags_warn(
        diags, loc, NULL,
        "read as %s its values reach %s and scatter by 2^%.1f; those of attention scatter by 2^1 to 2^3, as these do read as %s "
        "(up to %s, 2^%.1f). What would fit: %s",
        types[told].name, most, looks[told].spread, types[guess].name, less, looks[guess].spread, fit.s);
    text_release(&fit);
}

/* ---- dimension ----------------------------------------------------------------------------------------------------------- */

/* The share of the variance of x[0..n) that is between the elements of rows of length d, less what chance gives. */
static double between_elements(const float *x, size_t n, size_t d)
{
    size_t rows = n / d;
    double *sum = xcalloc(d, sizeof *sum), all = 0, squares = 0, between = 0;
    n = rows * d;
    for (size_t i = 0; i < n; i++) {
        sum[i % d] += (double)x[i];
        all += (double)x[i];
        squares += (double)x[i] * (double)x[i];
    }
    double mean = all / (double)n, variance = squares - (double)n * mean * mean;
    for (size_t j = 0; j < d; j++) {
        double apart = sum[j] / (double)rows - mean;
        between += (double)rows * apart * apart;
    }
    free(sum);
    return variance > 0 ? between / variance - (double)d / (double)n : 0;
}

/* The dimension that the values have, by their means element by element; the one that was told when they say nothing. Rows of
 * twice the dimension tell as much as those of the dimension, rows of half of it half: so it is the shortest that tells about
 * all. */
static size_t guess_dim(const float *x, size_t n, size_t told)
{
    enum { DIM_LEAST = 8, ROWS_LEAST = 64, CANDIDATES = 16 };
    static const double enough = 0.03, all_of_it = 0.9;
    const size_t candidate[] = {told / 4, told / 2, told, 2 * told, 4 * told, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 512};
    double tells[CANDIDATES], most = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        bool some = candidate[i] >= DIM_LEAST && candidate[i] <= n / ROWS_LEAST;
        tells[i] = some ? between_elements(x, n, candidate[i]) : 0;
        most = fmax(most, tells[i]);
    }
    size_t best = 0;
    for (size_t i = 0; i < CANDIDATES && most >= enough; i++)
        if (tells[i] >= all_of_it * most && (best == 0 || candidate[i] < best)) best = candidate[i];
    return best ? best : told;
}

static void warn_of_dim(const unsigned char *bytes, size_t n, const struct trace_info *a, struct srcloc loc, struct diags *diags)
{
    float *x = xcalloc(n, sizeof *x);
    bool finite = true;
    enum type type = a->bits == 16 ? TYPE_F16 : TYPE_F32;
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)value_at(bytes + i * types[type].bytes, type);
        finite = finite && isfinite(x[i]);
    }
    size_t d = finite ? guess_dim(x, n, a->d) : a->d;
    free(x);
    if (d == a->d) return;
    char at[TEXT_NUMBER_MAX] = "";
    if (a->n * a->d % d == 0) snprintf(at, sizeof at, " --positions %zu", a->n * a->d / d);
    diags_warn(diags, loc, NULL, "its rows look as if they had %zu elements, not %zu. What would fit: --dim %zu%s", d, a->d, d, at);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* Up to n bytes at an offset; how many there are. */
static size_t read_some(int fd, unsigned char *p, size_t n, uint64_t offset)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, p + done, n - done, (off_t)(offset + done));
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

/* Warn when the values of an open array of that shape look like those of another type, or like rows of another dimension, and say
 * what would fit. Random numbers look like nothing, and are not warned of. */
static void trace_guess(int fd, const struct trace_info *array, struct srcloc loc, struct diags *diags)
{
    enum { PIECES = 16, PIECE = 1 << 14, TYPE_LEAST = 1 << 12, DIM_MOST = 1 << 21 };
    const uint64_t bytes = trace_value_bytes(array);
    const size_t value = (size_t)array->bits / 8;
    unsigned char *sample = xmalloc(PIECES * (size_t)PIECE);
    size_t n = 0, warned = diags->n;
    for (uint64_t i = 0; i < PIECES; i++) n += read_some(fd, sample + n, PIECE, bytes / PIECES * i & ~(uint64_t)7);
    if (n >= TYPE_LEAST) warn_of_type(sample, n, array, loc, diags);
    free(sample);
    if (diags->n > warned) return; /* of another type no row can be told */
    size_t values = array->n * array->d < DIM_MOST ? array->n * array->d : DIM_MOST;
    sample = xmalloc(values * value);
    n = read_some(fd, sample, values * value,
                  2 * (uint64_t)(array->n * array->d * value)); /* v of the first head: it has no rotary embedding */
    if (n == values * value) warn_of_dim(sample, values, array, loc, diags);
    free(sample);
}

/* What of the shape, changed alone, would have so many bytes: "--positions 4096, --dim 128 or --bits 32"; NULL: nothing. The
 * caller frees it. */
static char *trace_fits(const struct trace_info *array, uint64_t bytes)
{
    struct text t;
    text_init(&t);
    const uint64_t units = (uint64_t)array->layers * array->heads * 3 * (uint64_t)array->bits / 8;
    uint64_t n = bytes / (units * array->d), d = bytes / (units * array->n);
    if (n > 0 && n * units * array->d == bytes && n <= TRACE_POSITIONS_MAX)
        text_addf(&t, "--positions %llu", (unsigned long long)n);
    if (d > 0 && d * units * array->n == bytes && d <= TRACE_DIM_MAX)
        text_addf(&t, "%s--dim %llu", t.n ? " or " : "", (unsigned long long)d);
    int other = array->bits == 16 ? 32 : 16;
    if (trace_value_bytes(array) / (uint64_t)array->bits * (uint64_t)other == bytes)
        text_addf(&t, "%s--bits %d", t.n ? " or " : "", other);
    if (t.n) return text_detach(&t);
    text_release(&t);
    return NULL;
}

/* ---- import --------------------------------------------------------------------------------------------------------------- */

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
