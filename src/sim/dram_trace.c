#include "sim/dram_trace.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, LINE_MAX_BYTES = 1 << 12, FAULTS_MAX = 10, DECIMALS_MAX = 15 };

struct dram_trace {
    struct dram_source source;
    char *path;
    int fd;
    bool ended;
    uint64_t capacity;
    uint64_t access_bytes; /* of a request of DRAMsim3 or Ramulator */
    double cycle_ns;
    int line;
    size_t faults;
    double arrival_ns; /* of the last request */
    char *text;        /* BUFFER bytes and a NUL: what is read is [at, n) */
    size_t at, n;
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* Keep what is unread, and read more behind it. False at the end and on an error. */
static bool read_more(struct dram_trace *t, struct diags *diags)
{
    if (t->ended) return false;
    memmove(t->text, t->text + t->at, t->n - t->at);
    t->n -= t->at;
    t->at = 0;
    ssize_t got;
    do {
        got = read(t->fd, t->text + t->n, BUFFER - t->n);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        diags_runtime(diags, t->path, "cannot read: %s", strerror(errno));
        t->faults = FAULTS_MAX;
    }
    t->ended = got <= 0;
    t->n += got > 0 ? (size_t)got : 0;
    return got > 0;
}

static struct srcloc loc_of(const struct dram_trace *t, const char *line, const char *at)
{
    int column = 1;
    for (const char *p = line; p < at; p++) column += (*p & 0xC0) != 0x80;
    return (struct srcloc){.file = t->path, .line = t->line, .column = column};
}

/* An error at a place of the line, which it quotes. Always false. */
static bool fault(struct dram_trace *t, const char *line, const char *at, const char *hint, struct diags *diags, const char *fmt,
                  ...) __attribute__((format(printf, 6, 7)));
static bool fault(struct dram_trace *t, const char *line, const char *at, const char *hint, struct diags *diags, const char *fmt,
                  ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    size_t before = diags->n;
    diags_input(diags, loc_of(t, line, at), NULL, hint, "%s", message);
    free(message);
    if (diags->n > before) {
        struct diag *g = &diags->list[before];
        g->line = 1; /* the only line at hand */
        diag_quote(g, line);
        g->line = t->line;
    }
    t->faults++;
    return false;
}

/* The next line, NUL-terminated in place of its newline; its end in *ret_end. NULL at the end, or when it is too long. */
static char *next_line(struct dram_trace *t, char **ret_end, struct diags *diags)
{
    char *newline;
    while (!(newline = memchr(t->text + t->at, '\n', t->n - t->at)) && t->n - t->at <= LINE_MAX_BYTES && read_more(t, diags)) {
    }
    char *line = t->text + t->at, *end = newline ? newline : t->text + t->n;
    if (line == end && !newline) return NULL;
    t->line++;
    t->at = (size_t)(end - t->text) + (newline != NULL);
    if (end - line > LINE_MAX_BYTES) {
        line[LINE_MAX_BYTES] = '\0';
        fault(t, line, line, NULL, diags, "a line of more than %d bytes", LINE_MAX_BYTES);
        t->faults = FAULTS_MAX; /* it is no trace */
        return NULL;
    }
    *end = '\0';
    if (end > line && end[-1] == '\r') *--end = '\0';
    *ret_end = end;
    return line;
}

/* ---- a line -------------------------------------------------------------------------------------------------------------- */

static const char form[] =
    "R or W, a hexadecimal address, a number of bytes and perhaps a time in ns; or B alone; or a line of DRAMsim3 "
    "(0x1f00 READ 12) or Ramulator (LD 0x1f00)";

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_space(const char *p)
{
    while (is_space(*p)) p++;
    return p;
}

static const char *word_end(const char *p, const char *end)
{
    while (p < end && !is_space(*p)) p++;
    return p;
}

static int shown(const char *word, const char *end)
{
    enum { SHOWN = 24 };
    return (int)(end - word < SHOWN ? end - word : SHOWN);
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return UINT32_MAX;
}

/* All of [p, end) as a whole number of the base; false when it is none. One too large is UINT64_MAX. */
static bool parse_whole(const char *p, const char *end, unsigned base, uint64_t *ret)
{
    if (p == end) return false;
    uint64_t v = 0;
    bool huge = false;
    for (; p < end; p++) {
        unsigned d = digit_of(*p);
        if (d >= base) return false;
        huge |= __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v);
    }
    *ret = huge ? UINT64_MAX : v;
    return true;
}

/* Digits, at most one point among them, DECIMALS_MAX of them in all: exact without strtod. */
static bool parse_plain(const char *p, const char *end, double *ret)
{
    double scale = 1, v = 0;
    bool fraction = false;
    if (end - p > DECIMALS_MAX) return false;
    for (; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = true;
        } else {
            if (*p < '0' || *p > '9') return false;
            v = 10 * v + (*p - '0');
            if (fraction) scale *= 10;
        }
    }
    *ret = v / scale;
    return true;
}

static bool parse_time(const char *p, const char *end, double *ret)
{
    if (end - p > 0 && !(end - p == 1 && *p == '.') && parse_plain(p, end, ret)) return true;
    char *word = xstrndup(p, (size_t)(end - p));
    bool ok = text_parse_f64(word, ret);
    free(word);
    return ok;
}

static bool read_address(struct dram_trace *t, const char *line, const char *p, const char *end, struct dram_request *ret,
                         struct diags *diags)
{
    const char *digits = end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;
    if (p == end) return fault(t, line, p, form, diags, "the address is missing");
    if (!parse_whole(digits, end, 16, &ret->address))
        return fault(t, line, p, form, diags, "\"%.*s\" is no hexadecimal address", shown(p, end), p);
    if (ret->address < t->capacity) return true;
    return fault(t, line, p, NULL, diags, "address %.*s: the memory ends at %llx", shown(p, end), p,
                 (unsigned long long)t->capacity);
}

static bool read_bytes(struct dram_trace *t, const char *line, const char *p, const char *end, struct dram_request *ret,
                       struct diags *diags)
{
    if (p == end) return fault(t, line, p, form, diags, "the number of bytes is missing");
    if (!parse_whole(p, end, 10, &ret->bytes))
        return fault(t, line, p, form, diags, "\"%.*s\" is no number of bytes", shown(p, end), p);
    if (ret->bytes == 0) return fault(t, line, p, NULL, diags, "a request of 0 bytes");
    if (ret->bytes <= t->capacity - ret->address) return true;
    return fault(t, line, p, NULL, diags, "%.*s bytes at address %llx: the memory ends at %llx", shown(p, end), p,
                 (unsigned long long)ret->address, (unsigned long long)t->capacity);
}

static bool read_arrival(struct dram_trace *t, const char *line, const char *p, const char *end, struct dram_request *ret,
                         struct diags *diags)
{
    const double longest = 1e15; /* 11 days in ns */
    ret->arrival_ns = t->arrival_ns;
    if (p == end) return true;
    double v;
    if (!parse_time(p, end, &v) || !(v >= 0 && v <= longest))
        return fault(t, line, p, NULL, diags, "\"%.*s\" is no time from 0 to 1e15 ns", shown(p, end), p);
    if (v < t->arrival_ns)
        return fault(t, line, p, "requests stand in the order of their arrival", diags,
                     "it arrives at %.*s ns, before the request in front of it", shown(p, end), p);
    ret->arrival_ns = t->arrival_ns = v;
    ret->timed = true;
    return true;
}

static bool word_is(const char *p, const char *end, const char *word)
{
    return (size_t)(end - p) == strlen(word) && strncasecmp(p, word, (size_t)(end - p)) == 0;
}

/* What a word means in the traces of DRAMsim3 and Ramulator; false when it is none of theirs. */
static bool is_foreign_kind(const char *p, const char *end, bool write_and_read, struct dram_request *ret)
{
    static const char *const reads[] = {"READ", "R", "LD"}, *const writes[] = {"WRITE", "W", "ST"};
    const size_t first = write_and_read ? 0 : 2, last = write_and_read ? 2 : 3;
    for (size_t i = first; i < last; i++) {
        if (word_is(p, end, reads[i]) || word_is(p, end, writes[i])) {
            *ret = (struct dram_request){.kind = word_is(p, end, reads[i]) ? DRAM_READ : DRAM_WRITE};
            return true;
        }
    }
    return false;
}

/* Is it a line of DRAMsim3, "0x1f00 READ 12" with a cycle, of Ramulator 1, "0x1f00 R", or of Ramulator 2, "LD 0x1f00"? Their
 * addresses may be of a larger machine: what is above the memory is cut off, as they do. */
static bool is_foreign(const char *p, const char *end, struct dram_request *ret, const char **ret_address, const char **ret_rest)
{
    const char *first_end = word_end(p, end), *second = skip_space(first_end), *second_end = word_end(second, end);
    const bool loads = is_foreign_kind(p, first_end, false, ret);
    if (!loads && (first_end - p == 1 || !is_foreign_kind(second, second_end, true, ret))) return false;
    *ret_address = loads ? second : p;
    *ret_rest = skip_space(second_end);
    return true;
}

static bool read_foreign(struct dram_trace *t, const char *line, const char *end, const char *p, const char *rest,
                         struct dram_request *ret, struct diags *diags)
{
    const char *e = word_end(p, end);
    const char *digits = e - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;
    if (!parse_whole(digits, e, 16, &ret->address))
        return fault(t, line, p, form, diags, "\"%.*s\" is no hexadecimal address", shown(p, e), p);
    ret->bytes = t->access_bytes;
    ret->address = ret->address % t->capacity / t->access_bytes * t->access_bytes;
    ret->arrival_ns = t->arrival_ns;
    if (rest == end) return true;
    e = word_end(rest, end);
    uint64_t cycle;
    if (!parse_whole(rest, e, 10, &cycle) || (double)cycle * t->cycle_ns > 1e15)
        return fault(t, line, rest, form, diags, "\"%.*s\" is no cycle", shown(rest, e), rest);
    const double v = (double)cycle * t->cycle_ns;
    if (v < t->arrival_ns)
        return fault(t, line, rest, "requests stand in the order of their arrival", diags,
                     "cycle %.*s is before that of the request in front of it", shown(rest, e), rest);
    ret->arrival_ns = t->arrival_ns = v;
    ret->timed = true;
    rest = skip_space(e);
    return rest >= end || fault(t, line, rest, form, diags, "\"%.*s\" is too much on this line", shown(rest, end), rest);
}

/* A request from a line; the line is neither empty nor a comment. */
static bool read_request(struct dram_trace *t, const char *line, const char *end, struct dram_request *ret, struct diags *diags)
{
    const char *p = skip_space(line), *e = word_end(p, end), *address, *rest;
    if (is_foreign(p, end, ret, &address, &rest)) return read_foreign(t, line, end, address, rest, ret, diags);
    if (e - p != 1 || (*p != 'R' && *p != 'W' && *p != 'B'))
        return fault(t, line, p, form, diags, "\"%.*s\" is no request", shown(p, e), p);
    *ret = (struct dram_request){.kind = *p == 'R' ? DRAM_READ : *p == 'W' ? DRAM_WRITE : DRAM_BARRIER};
    p = skip_space(e);
    if (ret->kind != DRAM_BARRIER) {
        if (!read_address(t, line, p, e = word_end(p, end), ret, diags)) return false;
        p = skip_space(e);
        if (!read_bytes(t, line, p, e = word_end(p, end), ret, diags)) return false;
        p = skip_space(e);
        if (!read_arrival(t, line, p, e = word_end(p, end), ret, diags)) return false;
        p = skip_space(e);
    }
    if (p < end) return fault(t, line, p, form, diags, "\"%.*s\" is too much on this line", shown(p, end), p);
    return true;
}

static bool next(struct dram_source *source, struct dram_request *ret, struct diags *diags)
{
    struct dram_trace *t = (struct dram_trace *)source;
    char *end;
    while (t->faults < FAULTS_MAX) {
        char *line = next_line(t, &end, diags);
        if (!line) return false;
        char *comment = memchr(line, '#', (size_t)(end - line));
        if (comment) end = comment;
        while (end > line && is_space(end[-1])) end--;
        if (skip_space(line) >= end) continue;
        /* After a fault: only further faults are looked for. */
        if (read_request(t, line, end, ret, diags) && t->faults == 0) return true;
    }
    return false;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

struct dram_trace *dram_trace_open(const char *path, uint64_t capacity, uint64_t access_bytes, double cycle_ns, struct diags *diags)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        diags_input(diags, (struct srcloc){.file = path}, NULL, NULL, "cannot open: %s", strerror(errno));
        return NULL;
    }
    struct dram_trace *t = xcalloc(1, sizeof *t);
    t->source.next = next;
    t->path = xstrdup(standard ? "standard input" : path);
    t->fd = fd;
    t->capacity = capacity;
    t->access_bytes = access_bytes;
    t->cycle_ns = cycle_ns;
    t->text = xmalloc(BUFFER + 1);
    t->text[0] = '\0';
    return t;
}

void dram_trace_close(struct dram_trace *t)
{
    if (!t) return;
    if (t->fd != STDIN_FILENO) close(t->fd);
    free(t->path);
    free(t->text);
    free(t);
}

struct dram_source *dram_trace_source(struct dram_trace *t)
{
    return &t->source;
}

void dram_request_print(FILE *out, const struct dram_request *q)
{
    if (q->kind == DRAM_BARRIER)
        fputs("B\n", out);
    else if (q->timed)
        fprintf(out, "%c %llx %llu %.6f\n", q->kind == DRAM_WRITE ? 'W' : 'R', (unsigned long long)q->address,
                (unsigned long long)q->bytes, q->arrival_ns);
    else
        fprintf(out, "%c %llx %llu\n", q->kind == DRAM_WRITE ? 'W' : 'R', (unsigned long long)q->address,
                (unsigned long long)q->bytes);
}
