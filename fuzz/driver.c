/* Runs a fuzz target (LLVMFuzzerTestOneInput, as libFuzzer calls it) without libFuzzer, so that gcc will do:
 *
 *     fuzz_toml [-n INPUTS | -t SECONDS] [-s SEED] FILE|DIRECTORY...
 *
 * First every file as it is, then, as many as asked for or as long, inputs made from them: bytes flipped, words put in, pieces
 * cut, doubled and joined. The sequence follows from the seed (default: the time), which is printed. An input that crashes or
 * takes more than 20 seconds is left in crash-TARGET in the working directory; run the target on it without options to see it
 * again. Build with ASan and UBSan.
 *
 * To have coverage guide the search, link the target with clang -fsanitize=fuzzer instead of this file.
 */
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Read by UBSan: the first fault ends the run. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "halt_on_error=1:print_stacktrace=1";
}

/* Read by ASan: what was freed is kept for a while, so that its use is found; a short while, so that memory stays in the caches. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16";
}

enum { INPUT_MAX = 1 << 16, SECONDS_MAX = 20 };

struct input {
    char *bytes;
    size_t n;
};

static struct input *seeds;
static size_t n_seeds, n_own; /* the target's own come first */
static const char *target;    /* "toml" of fuzz_toml */
static uint8_t current[INPUT_MAX];
static size_t current_n;
static char crash_file[PATH_MAX + 256];

/* ---- what is left behind by a crash --------------------------------------------------------------------------------------- */

static void save_current(void)
{
    FILE *f = fopen(crash_file, "wb");
    if (!f) return;
    fwrite(current, 1, current_n, f);
    fclose(f);
    fprintf(stderr, "fuzz: the input is in %s\n", crash_file);
}

static void on_signal(int signal_number)
{
    fprintf(stderr, "fuzz: signal %d\n", signal_number);
    save_current();
    _exit(1);
}

/* In the working directory as it is now: a target may go elsewhere. */
static void watch(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    char here[PATH_MAX];
    snprintf(crash_file, sizeof crash_file, "%s/crash-%s", getcwd(here, sizeof here) ? here : ".", name);
    target = strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name;
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(save_current);
#else
    signal(SIGSEGV, on_signal);
#endif
}

static void run_current(void)
{
    alarm(SECONDS_MAX);
    LLVMFuzzerTestOneInput(current, current_n);
    alarm(0);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------------ */

/* Is a file made for this target: does its name begin as the target's? */
static bool is_own(const char *path)
{
    enum { ENOUGH = 4 };
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, target, ENOUGH) == 0;
}

static void add_file(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct input in = {0};
    if (!text_read_file(path, 64 << 20, &in.bytes, &in.n, &d)) {
        diags_print(&d, stderr, false);
        exit(2);
    }
    diags_release(&d);
    seeds = xrealloc(seeds, n_seeds + 1, sizeof *seeds);
    seeds[n_seeds++] = in;
    if (!is_own(path)) return;
    seeds[n_seeds - 1] = seeds[n_own];
    seeds[n_own++] = in;
}

static void add_path(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        add_file(path);
        return;
    }
    for (int i = 0; i < n; i++) {
        char *name = xasprintf("%s/%s", path, entries[i]->d_name);
        struct stat st;
        if (stat(name, &st) == 0 && S_ISREG(st.st_mode)) add_file(name);
        free(name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- mutations -------------------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)(random_state % n) : 0;
}

/* Replace current[at, at + cut) by n bytes; too much is left out. */
static void replace(size_t at, size_t cut, const void *bytes, size_t n)
{
    if (n > INPUT_MAX - (current_n - cut)) n = INPUT_MAX - (current_n - cut);
    memmove(current + at + n, current + at + cut, current_n - at - cut);
    memcpy(current + at, bytes, n);
    current_n = current_n - cut + n;
}

/* What files are made of. */
/* clang-format off */
static const char *const words[] = {
    /* TOML, JSON, text */
    "[", "]", "[[", "]]", "{", "}", "=", ",", ".", "\n", "\r\n", "#", "\"", "'", "\"\"\"", "'''", "\\", "\\u0000", "\\n", " ",
    "-", "+", "_", "0x", "0", "1", "-1", "1e308", "1e-308", "1e18", "inf", "nan", "true", "0.1", "9223372036854775807",
    "1979-05-27", "07:32:00",
    /* sweeps, catalogs, claims */
    "from", "to", "step", "points", "scale", "\"log\"", "\"auto\"", "params", "sweep", "models", "toy", "pebble", "tiles",
    "llm", "tiny", "derive", "constraints", "objectives", "per", "catalog", "llms", "baseline", "requests", "mix", "short",
    "model", "profiles", "claims", "machines", "cases", "constants", "calibrate", "value", "published", "unreachable", "toy.",
    "latency_us", "op:>;", "\"max\"",
    /* no ASCII */
    "\xEF\xBB\xBF", "\xC3\xA4", "\xFF", "\xED\xA0\x80",
    /* figures */
    "kind", "\"lines\"", "\"bars\"", "\"heatmap\"", "series", "column", "annotation_sql", "band_sql", "label", "\"log2\"",
    "min", "max", "better", "font",
    /* commands */
    "`touch x`", "--set\n", "--format\n", "event-level\n", "tiles=4\n", "context=", "--gantt\n",
};
/* clang-format on */

static void put_word(void)
{
    const char *word = words[below(sizeof words / sizeof *words)];
    replace(below(current_n + 1), 0, word, strlen(word));
}

static void mutate(void)
{
    size_t at = below(current_n + 1), left = current_n - at, length = below(left < 64 ? left + 1 : 64);
    uint8_t byte = (uint8_t)below(256), piece[64];
    switch (below(8)) {
    case 0:
        if (left) current[at] = (uint8_t)(current[at] ^ (1u << below(8)));
        break;
    case 1: replace(at, left ? 1 : 0, &byte, 1); break;
    case 2: replace(at, 0, &byte, 1); break;
    case 3: replace(at, length, "", 0); break;
    case 4: /* doubled elsewhere */
        memcpy(piece, current + at, length);
        replace(below(current_n + 1), 0, piece, length);
        break;
    case 5: { /* a piece of another seed */
        const struct input *other = &seeds[below(n_seeds)];
        size_t start = below(other->n + 1), n = below(other->n - start + 1);
        replace(at, length, other->bytes + start, n < 4096 ? n : 4096);
        break;
    }
    default: put_word(); break;
    }
}

static void set_current(const struct input *in)
{
    current_n = in->n < INPUT_MAX ? in->n : INPUT_MAX;
    memcpy(current, in->bytes, current_n);
}

/* What the command line asks for. */
struct wish {
    unsigned long inputs, seconds, seed;
};

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [-n INPUTS | -t SECONDS] [-s SEED] FILE|DIRECTORY...\n", program);
    return 2;
}

static bool read_options(int argc, char **argv, struct wish *ret)
{
    *ret = (struct wish){.seed = (unsigned long)time(NULL)};
    for (int option; (option = getopt(argc, argv, "n:t:s:")) != -1;) {
        unsigned long *const to = option == 'n' ? &ret->inputs : option == 't' ? &ret->seconds : &ret->seed;
        int64_t number;
        if (option == '?' || !text_parse_i64(optarg, &number) || number < 0) return false;
        *to = (unsigned long)number;
    }
    for (int i = optind; i < argc; i++) add_path(argv[i]);
    return n_seeds > 0;
}

static void make_input(void)
{
    set_current(&seeds[below(n_own && below(4) ? n_own : n_seeds)]);
    for (size_t n = below(2) ? 1 : 1 + below(8); n > 0; n--) mutate();
}

int main(int argc, char **argv)
{
    struct wish wish;
    watch(argv[0]);
    if (!read_options(argc, argv, &wish)) return usage(argv[0]);
    printf("fuzz: %zu files, -s %lu\n", n_seeds, wish.seed);
    fflush(stdout);
    random_state = wish.seed * 0x9E3779B97F4A7C15u | 1;
    for (size_t i = 0; i < n_seeds; i++) {
        set_current(&seeds[i]);
        run_current();
    }
    unsigned long runs = 0;
    const time_t begin = time(NULL);
    for (; runs < wish.inputs || (wish.inputs == 0 && time(NULL) < begin + (time_t)wish.seconds); runs++) {
        make_input();
        run_current();
    }
    fprintf(stderr, "fuzz: %lu inputs made in %ld s, none crashed\n", runs, (long)(time(NULL) - begin));
    for (size_t i = 0; i < n_seeds; i++) free(seeds[i].bytes);
    free(seeds);
    return 0;
}
