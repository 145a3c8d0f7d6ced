#include "sim/dram_trace.h"

#include "base/xalloc.h"
#include "sim/dram_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, LINE_MAX_BYTES = 1 << 12, FAULTS_MAX = 10 };

struct dram_trace {
    struct dram_source source;
    char *path;
    int fd;
    bool ended;
    struct dram_lines lines;
    int line;
    size_t faults;
    char *text; /* BUFFER bytes and a NUL: what is read is [at, n) */
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
    if (t->line++ == 0 && end - line >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) line += 3; /* a byte order mark */
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

/* The request of a line, or its fault as an error that quotes it. */
static bool read_request(struct dram_trace *t, const char *line, const char *end, struct dram_request *ret, struct diags *diags)
{
    struct dram_line_fault f;
    if (dram_line_read(&t->lines, line, end, ret, &f)) return true;
    fault(t, line, f.at, f.hint, diags, "%s", f.message);
    free(f.message);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
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
        if (end == line) continue;
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
    t->lines = (struct dram_lines){.capacity = capacity, .access_bytes = access_bytes, .cycle_ns = cycle_ns};
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
