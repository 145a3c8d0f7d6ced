#include "sim/dram_line.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
    [DRAM_DIALECT_OWN] = "dse's own",
    [DRAM_DIALECT_DRAMSIM] = "DRAMsim's or Ramulator 1's",
    [DRAM_DIALECT_LOAD_STORE] = "Ramulator 2's",
    [DRAM_DIALECT_PACKETS] = "gem5's",
};

static const char *const forms[] = {
    [DRAM_DIALECT_NONE] =
        "R or W, a hexadecimal address, a number of bytes and perhaps a time in ns; or B alone; or a line of DRAMsim "
        "(0x1f00 READ 12), of Ramulator (0x1f00 R; LD 4096) or of gem5's decode_packet_trace.py (r,4096,64,256,5000)",
    [DRAM_DIALECT_OWN] = "R or W, a hexadecimal address, a number of bytes and perhaps a time in ns; or B alone",
    [DRAM_DIALECT_DRAMSIM] = "a hexadecimal address, READ or WRITE (or R, W, P_MEM_RD, P_MEM_WR, P_FETCH, BOFF, ...) and perhaps a "
                             "cycle: 0x1f00 READ 12",
    [DRAM_DIALECT_LOAD_STORE] = "LD or ST, and an address: decimal, or hexadecimal behind 0x",
    [DRAM_DIALECT_PACKETS] = "perhaps an id, r or w, address, bytes, perhaps flags, time in ps: r,4096,64,256,5000",
};

/* What requests are called in traces of DRAMsim2, DRAMsim3 and Ramulator 1. DRAMsim3 takes for a read what it does not know as a
 * write; a locked write is a read in both. */
static const struct {
    const char *word;
    bool write;
} kinds[] = {
    {"READ", false},      {"WRITE", true},    {"R", false},         {"W", true},          {"P_MEM_RD", false}, {"P_MEM_WR", true},
    {"P_FETCH", false},   {"BOFF", true},     {"P_LOCK_RD", false}, {"P_LOCK_WR", false}, {"IFETCH", false},   {"FETCH", false},
    {"P_INT_ACK", false}, {"P_IO_RD", false}, {"P_IO_WR", false},   {"P_I/O_RD", false},  {"P_I/O_WR", false}, {"MEM_RD", false},
    {"MEM_WR", true},     {"RD", false},      {"WR", true},
};

/* ---- words --------------------------------------------------------------------------------------------------------------- */

struct word {
    const char *s, *end;
};

enum { WORDS_MAX = 8 };

struct words {
    struct word w[WORDS_MAX]; /* those that are not there are empty, at the end of the line */
    size_t n;                 /* words beyond WORDS_MAX are in the last */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static struct word trimmed(const char *s, const char *end)
{
    while (s < end && is_space(*s)) s++;
    while (end > s && is_space(end[-1])) end--;
    return (struct word){s, end};
}

/* Words with blanks between them, or with commas, where `commas` says so. */
static struct words split(const char *line, const char *end, bool commas)
{
    struct words ret = {.n = 0};
    const char *p = line;
    while (ret.n < WORDS_MAX && p < end) {
        const char *e = p;
        while (e < end && (ret.n + 1 == WORDS_MAX || (commas ? *e != ',' : !is_space(*e)))) e++;
        ret.w[ret.n++] = trimmed(p, e);
        p = e < end ? e + 1 : e;
        while (!commas && p < end && is_space(*p)) p++;
    }
    for (size_t i = ret.n; i < WORDS_MAX; i++) ret.w[i] = (struct word){end, end};
    return ret;
}

static bool is_missing(struct word w)
{
    return w.s == w.end;
}

static bool is_word(struct word w, const char *text)
{
    const size_t n = (size_t)(w.end - w.s);
    return n == strlen(text) && strncasecmp(w.s, text, n) == 0;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return UINT32_MAX;
}

/* All of a word as a whole number of the base; false when it is none. One too large is UINT64_MAX. */
static bool parse_whole(struct word w, unsigned base, uint64_t *ret)
{
    if (is_missing(w)) return false;
    uint64_t v = 0;
    bool huge = false;
    for (const char *p = w.s; p < w.end; p++) {
        unsigned d = digit_of(*p);
        if (d >= base) return false;
        huge |= __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v);
    }
    *ret = huge ? UINT64_MAX : v;
    return true;
}

static bool has_0x(struct word w)
{
    return w.end - w.s > 2 && w.s[0] == '0' && (w.s[1] == 'x' || w.s[1] == 'X');
}

/* An address of that base, or hexadecimal behind 0x. */
static bool parse_address(struct word w, unsigned base, uint64_t *ret)
{
    return has_0x(w) ? parse_whole((struct word){w.s + 2, w.end}, 16, ret) : parse_whole(w, base, ret);
}

/* Digits, at most one point among them, DECIMALS_MAX of them in all: exact without strtod. */
static bool parse_plain(struct word w, double *ret)
{
    enum { DECIMALS_MAX = 15 };
    double scale = 1, v = 0;
    bool fraction = false;
    if (w.end - w.s > DECIMALS_MAX) return false;
    for (const char *p = w.s; p < w.end; p++) {
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

static bool parse_time(struct word w, double *ret)
{
    if (!is_missing(w) && !is_word(w, ".") && parse_plain(w, ret)) return true;
    char *word = xstrndup(w.s, (size_t)(w.end - w.s));
    bool ok = text_parse_f64(word, ret);
    free(word);
    return ok;
}

/* ---- faults -------------------------------------------------------------------------------------------------------------- */

static bool fault(struct dram_line_fault *ret, struct word w, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static bool fault(struct dram_line_fault *ret, struct word w, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *ret = (struct dram_line_fault){.at = w.s, .hint = hint, .message = xvasprintf(fmt, ap)};
    va_end(ap);
    return false;
}

static int shown(struct word w)
{
    enum { SHOWN = 24 };
    return (int)(w.end - w.s < SHOWN ? w.end - w.s : SHOWN);
}

/* Nothing may stand from word i on. */
static bool ends(const struct words *words, size_t i, const char *hint, struct dram_line_fault *ret)
{
    const struct word w = {words->w[i].s, words->w[words->n ? words->n - 1 : 0].end};
    return words->n <= i || fault(ret, w, hint, "\"%.*s\" is too much on this line", shown(w), w.s);
}

/* ---- ours ---------------------------------------------------------------------------------------------------------------- */

static const double longest_ns = 1e15; /* 11 days */

static bool read_own_place(const struct dram_lines *l, const struct words *words, struct dram_request *ret,
                           struct dram_line_fault *f)
{
    const struct word address = words->w[1], bytes = words->w[2];
    const char *form = forms[DRAM_DIALECT_OWN];
    if (is_missing(address)) return fault(f, address, form, "the address is missing");
    if (!parse_address(address, 16, &ret->address))
        return fault(f, address, form, "\"%.*s\" is no hexadecimal address", shown(address), address.s);
    if (ret->address >= l->capacity)
        return fault(f, address, NULL, "address %.*s: the memory ends at %llx", shown(address), address.s,
                     (unsigned long long)l->capacity);
    if (is_missing(bytes)) return fault(f, bytes, form, "the number of bytes is missing");
    if (!parse_whole(bytes, 10, &ret->bytes)) return fault(f, bytes, form, "\"%.*s\" is no number of bytes", shown(bytes), bytes.s);
    if (ret->bytes == 0) return fault(f, bytes, NULL, "a request of 0 bytes");
    if (ret->bytes <= l->capacity - ret->address) return true;
    return fault(f, bytes, NULL, "%.*s bytes at address %llx: the memory ends at %llx", shown(bytes), bytes.s,
                 (unsigned long long)ret->address, (unsigned long long)l->capacity);
}

static bool read_own_arrival(struct dram_lines *l, struct word w, struct dram_request *ret, struct dram_line_fault *f)
{
    double v;
    ret->arrival_ns = l->arrival_ns;
    if (is_missing(w)) return true;
    if (!parse_time(w, &v) || !(v >= 0 && v <= longest_ns))
        return fault(f, w, NULL, "\"%.*s\" is no time from 0 to 1e15 ns", shown(w), w.s);
    if (v < l->arrival_ns)
        return fault(f, w, "requests stand in the order of their arrival",
                     "it arrives at %.*s ns, before the request in front of it", shown(w), w.s);
    ret->arrival_ns = l->arrival_ns = v;
    ret->timed = true;
    return true;
}

static bool read_own(struct dram_lines *l, const struct words *words, struct dram_request *ret, struct dram_line_fault *f)
{
    const struct word kind = words->w[0];
    const char c = kind.end - kind.s == 1 ? *kind.s : '\0', *form = forms[DRAM_DIALECT_OWN];
    if (c != 'R' && c != 'W' && c != 'B') return fault(f, kind, form, "\"%.*s\" is no request", shown(kind), kind.s);
    *ret = (struct dram_request){.kind = c == 'R' ? DRAM_READ : c == 'W' ? DRAM_WRITE : DRAM_BARRIER};
    if (c == 'B') return ends(words, 1, form, f);
    return read_own_place(l, words, ret, f) && read_own_arrival(l, words->w[3], ret, f) && ends(words, 4, form, f);
}

/* ---- of others ----------------------------------------------------------------------------------------------------------- */

static bool find_kind(struct word w, bool *ret_write)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is_word(w, kinds[i].word)) continue;
        *ret_write = kinds[i].write;
        return true;
    }
    return false;
}

/* A request of one access. Its address may be of a larger machine: what is above the memory is cut off, as the simulators do. */
static struct dram_request access_at(const struct dram_lines *l, uint64_t address, bool write)
{
    return (struct dram_request){.kind = write ? DRAM_WRITE : DRAM_READ,
                                 .address = address % l->capacity / l->access_bytes * l->access_bytes,
                                 .bytes = l->access_bytes,
                                 .arrival_ns = l->arrival_ns};
}

/* The request arrives then; where one in front of it comes later, after that one: they are taken in the order of the file. */
static void arrive(struct dram_lines *l, double ns, struct dram_request *ret)
{
    ret->arrival_ns = l->arrival_ns = fmax(l->arrival_ns, ns);
    ret->timed = true;
}

static bool read_dramsim(struct dram_lines *l, const struct words *words, struct dram_request *ret, struct dram_line_fault *f)
{
    const struct word at = words->w[0], kind = words->w[1], when = words->w[2];
    const char *form = forms[DRAM_DIALECT_DRAMSIM];
    uint64_t address, cycle;
    bool write = false;
    if (!parse_address(at, 16, &address)) return fault(f, at, form, "\"%.*s\" is no hexadecimal address", shown(at), at.s);
    if (!is_missing(kind) && !find_kind(kind, &write))
        return fault(f, kind, form, "\"%.*s\" is no kind of request", shown(kind), kind.s);
    *ret = access_at(l, address, write);
    if (is_missing(when)) return true;
    if (!parse_whole(when, 10, &cycle) || (double)cycle * l->cycle_ns > longest_ns)
        return fault(f, when, form, "\"%.*s\" is no cycle", shown(when), when.s);
    arrive(l, (double)cycle * l->cycle_ns, ret);
    return ends(words, 3, form, f);
}

static bool read_load_store(struct dram_lines *l, const struct words *words, struct dram_request *ret, struct dram_line_fault *f)
{
    const struct word kind = words->w[0], at = words->w[1];
    const char *form = forms[DRAM_DIALECT_LOAD_STORE];
    uint64_t address;
    if (!is_word(kind, "LD") && !is_word(kind, "ST"))
        return fault(f, kind, form, "\"%.*s\" is neither LD nor ST", shown(kind), kind.s);
    if (is_missing(at)) return fault(f, at, form, "the address is missing");
    if (!parse_address(at, 10, &address))
        return fault(f, at, form, "\"%.*s\" is no decimal address, and has no 0x", shown(at), at.s);
    *ret = access_at(l, address, is_word(kind, "ST"));
    return ends(words, 2, form, f);
}

static bool is_packet_kind(struct word w)
{
    return is_word(w, "r") || is_word(w, "w") || is_word(w, "u");
}

static bool read_packet(struct dram_lines *l, const struct words *words, struct dram_request *ret, struct dram_line_fault *f)
{
    const size_t first = !is_packet_kind(words->w[0]) && is_packet_kind(words->w[1]); /* the id is in front */
    const struct word *w = words->w + first, when = w[words->n - first > 4 ? 4 : 3];
    const char *form = forms[DRAM_DIALECT_PACKETS];
    uint64_t tick;
    if (!is_packet_kind(w[0])) return fault(f, w[0], form, "\"%.*s\" is no packet", shown(w[0]), w[0].s);
    if (is_word(w[0], "u"))
        return fault(f, w[0], "leave such packets out: r and w are those of ReadReq and WriteReq",
                     "a packet that neither reads nor writes");
    *ret = (struct dram_request){.kind = is_word(w[0], "w") ? DRAM_WRITE : DRAM_READ};
    if (!parse_address(w[1], 10, &ret->address)) return fault(f, w[1], form, "\"%.*s\" is no decimal address", shown(w[1]), w[1].s);
    if (!parse_whole(w[2], 10, &ret->bytes) || ret->bytes == 0 || ret->bytes > l->capacity)
        return fault(f, w[2], form, "\"%.*s\" is no number of bytes", shown(w[2]), w[2].s);
    if (!parse_whole(when, 10, &tick) || (double)tick / 1000 > longest_ns)
        return fault(f, when, form, "\"%.*s\" is no time", shown(when), when.s);
    ret->address %= l->capacity;
    if (ret->bytes > l->capacity - ret->address) ret->address = l->capacity - ret->bytes; /* it would wrap around in its middle */
    arrive(l, (double)tick / 1000, ret);
    return ends(words, first + 6, form, f);
}

/* ---- whose it is --------------------------------------------------------------------------------------------------------- */

static bool is_packet(const struct words *fields)
{
    uint64_t id;
    return is_packet_kind(fields->w[0]) || (parse_whole(fields->w[0], 10, &id) && is_packet_kind(fields->w[1]));
}

/* Whose line it is; NONE: it is like none of them. */
static enum dram_dialect dialect_of(const struct words *words, const struct words *fields)
{
    const struct word first = words->w[0];
    uint64_t address;
    bool write;
    if (fields->n > 1) return is_packet(fields) ? DRAM_DIALECT_PACKETS : DRAM_DIALECT_NONE;
    if (is_word(first, "LD") || is_word(first, "ST")) return DRAM_DIALECT_LOAD_STORE;
    const char letter = first.end - first.s == 1 ? *first.s : '\0';
    if (letter == 'R' || letter == 'W') return DRAM_DIALECT_OWN;
    if (letter == 'B' && !find_kind(words->w[1], &write)) return DRAM_DIALECT_OWN; /* else it is an address */
    if (!parse_address(first, 16, &address)) return DRAM_DIALECT_NONE;
    const bool is_access = words->n == 1 ? has_0x(first) : find_kind(words->w[1], &write);
    return is_access ? DRAM_DIALECT_DRAMSIM : DRAM_DIALECT_NONE;
}

static bool unknown(const struct words *words, const struct words *fields, struct dram_line_fault *f)
{
    const struct word first = words->w[0], second = words->w[1];
    uint64_t address;
    if ((is_word(first, "R") || is_word(first, "W")) && fields->n > 1)
        return fault(f, second, "write addresses of bytes: LD 4096 and ST 4096 are read as Ramulator 2 reads them",
                     "\"%.*s\" is an address in channels, banks and rows, which depend on the memory", shown(second), second.s);
    if (!is_missing(second) && parse_address(first, 16, &address))
        return fault(f, second, forms[DRAM_DIALECT_NONE], "\"%.*s\" is no kind of request", shown(second), second.s);
    return fault(f, first, forms[DRAM_DIALECT_NONE], "\"%.*s\" is no request", shown(first), first.s);
}

bool dram_line_read(struct dram_lines *l, const char *line, const char *end, struct dram_request *ret,
                    struct dram_line_fault *ret_fault)
{
    while (line < end && is_space(*line)) line++;
    const struct words words = split(line, end, false), fields = split(line, end, true);
    const enum dram_dialect whose = dialect_of(&words, &fields);
    if (l->dialect == DRAM_DIALECT_NONE) l->dialect = whose;
    if (whose != DRAM_DIALECT_NONE && whose != l->dialect)
        return fault(ret_fault, words.w[0], forms[l->dialect], "a line of a trace that is %s, in one that is %s", names[whose],
                     names[l->dialect]);
    switch (l->dialect) {
    case DRAM_DIALECT_OWN: return read_own(l, &words, ret, ret_fault);
    case DRAM_DIALECT_DRAMSIM: return read_dramsim(l, &words, ret, ret_fault);
    case DRAM_DIALECT_LOAD_STORE: return read_load_store(l, &words, ret, ret_fault);
    case DRAM_DIALECT_PACKETS: return read_packet(l, &fields, ret, ret_fault);
    default: return unknown(&words, &fields, ret_fault);
    }
}
