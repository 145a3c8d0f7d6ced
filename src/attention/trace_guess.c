#include "attention/trace_guess.h"

#include "attention/half.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void trace_guess(int fd, const struct trace_info *array, struct srcloc loc, struct diags *diags)
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

char *trace_fits(const struct trace_info *array, uint64_t bytes)
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
