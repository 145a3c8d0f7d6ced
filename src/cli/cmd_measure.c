/* dse measure: the GPU of this machine as a measured file. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/interrupt.h"
#include "cli/measure_report.h"
#include "cli/progress.h"
#include "dse_config.h"
#include "measure/cuda_device.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double SECONDS_MIN = 0.001, SECONDS_MAX = 10, LIMIT_S = 600;
enum { KINDS_ALL = (1 << METER_KINDS) - 1, ORDINAL_MAX = 1023 };

struct job {
    const struct invocation *in;
    struct meter_options options;
    struct meter_point *points;
    struct meter_result *results;
    size_t n;
    struct catalog *catalog;
    const struct dse_gpu *gpu; /* or NULL */
    char *gpu_name, *path;
    char date[16];
    struct file *file;
    struct meter_device *device;
    struct counting counting;
};

/* ---- options ------------------------------------------------------------------------------------------------------------- */

static const char *const *kind_words(void)
{
    return meter_kind_names;
}

/* --only KIND,KIND */
static bool read_kinds(const struct invocation *in, unsigned *ret)
{
    const char *list = option_get(in, "only");
    *ret = list ? 0 : KINDS_ALL;
    for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
        n = strcspn(list, ",");
        int k = 0;
        while (k < METER_KINDS && (strncmp(meter_kind_names[k], list, n) != 0 || meter_kind_names[k][n])) k++;
        char *word = xstrndup(list, n);
        if (k == METER_KINDS)
            usage_unknown(in, "--only: there is no", word, meter_kind_names, METER_KINDS,
                          "; there are bandwidth, gemm, attention, launch, power");
        else
            *ret |= 1u << k;
        free(word);
    }
    return in->diags->errors == 0;
}

static bool read_options(struct job *j)
{
    const struct invocation *in = j->in;
    const char *seconds = option_get(in, "seconds");
    j->options.seconds = METER_SECONDS;
    if (!read_kinds(in, &j->options.kinds)) return false;
    if (seconds &&
        !(text_parse_f64(seconds, &j->options.seconds) && j->options.seconds >= SECONDS_MIN && j->options.seconds <= SECONDS_MAX))
        return usage_error(in, "--seconds: \"%s\" is not a number from %g to %g", seconds, SECONDS_MIN, SECONDS_MAX) == 0;
    if (option_get(in, "output") && option_get(in, "folder")) return usage_error(in, "--output or --folder, not both") == 0;
    j->options.clocks = option_has(in, "clocks");
    if (j->options.clocks && !(j->options.kinds >> METER_POWER & 1))
        return usage_error(in, "--clocks is about power, which --only leaves out") == 0;
    return true;
}

/* ---- what it is called ------------------------------------------------------------------------------------------------------ */

/* "NVIDIA RTX A6000" as a name of a catalog: "nvidia-rtx-a6000". */
static char *name_of(const char *machine)
{
    struct text t;
    text_init(&t);
    for (; *machine; machine++) {
        const char c = (char)tolower((unsigned char)*machine);
        if (isalnum((unsigned char)c))
            text_add_bytes(&t, &c, 1);
        else if (t.n && t.s[t.n - 1] != '-')
            text_add(&t, "-");
    }
    while (t.n && t.s[t.n - 1] == '-') t.s[--t.n] = '\0';
    return text_detach(&t);
}

static bool unknown_gpu(const struct job *j, const char *name)
{
    const char **names = NULL;
    size_t n = 0;
    const struct dse_entry *e;
    for (; (e = catalog_at(j->catalog, DSE_KIND_GPU, n)) != NULL; n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = e->name;
    }
    usage_unknown(j->in, "--gpu: there is no GPU", name, names, n, "; `dse list gpus` shows which there are, -c FILE adds one");
    free(names);
    return false;
}

/* The GPU that --gpu names. */
static bool find_named(struct job *j)
{
    const char *name = option_get(j->in, "gpu");
    j->gpu = name ? (const struct dse_gpu *)catalog_find(j->catalog, DSE_KIND_GPU, name) : NULL;
    return !name || j->gpu || unknown_gpu(j, name);
}

static void name_gpu(struct job *j)
{
    const struct meter_machine *m = &j->device->machine;
    if (!j->gpu) j->gpu = measure_find_gpu(j->catalog, m);
    j->gpu_name = j->gpu ? xstrdup(j->gpu->entry.name) : name_of(m->name);
    if (!j->gpu)
        diags_warn(j->in->diags, (struct srcloc){0}, NULL,
                   "the catalog has no GPU %s with %lld SMs and %.3g GiB, so its rows name it \"%s\"; --gpu NAME sets another name",
                   m->name, (long long)m->sms, m->capacity_gib, j->gpu_name);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

static void show_progress(void *user, size_t done, size_t n, const struct meter_point *next)
{
    struct job *j = user;
    char *text = meter_point_text(next);
    snprintf(j->counting.state.phase, sizeof j->counting.state.phase, "%s", text);
    counting_update(&j->counting, done, n);
    free(text);
}

/* The file is opened before ten minutes are spent. */
static bool open_file(struct job *j)
{
    const time_t t = time(NULL);
    struct tm day;
    if (!gmtime_r(&t, &day) || !strftime(j->date, sizeof j->date, "%Y-%m-%d", &day)) strcpy(j->date, "unknown");
    const char *given = option_get(j->in, "output"), *folder = option_get(j->in, "folder");
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return diags_runtime(j->in->diags, folder, "cannot make the folder: %s", strerror(errno));
    j->path = folder  ? xasprintf("%s/measured.csv", folder)
              : given ? xstrdup(given)
                      : xasprintf("measured-%s-%s.csv", j->gpu_name, j->date);
    j->file = file_begin(j->path, j->in->diags);
    return j->file != NULL;
}

static bool write_file(struct job *j, enum meter_end end)
{
    const char *licence = option_get(j->in, "licence");
    const struct meter_about about = {
        .tool = "dse " DSE_VERSION, .date = j->date, .gpu = j->gpu_name, .licence = licence ? licence : "none is stated"};
    char *rows = meter_rows(j->device, &about, j->points, j->results, j->n, end);
    file_put(j->file, rows, strlen(rows));
    free(rows);
    struct file *f = j->file;
    j->file = NULL;
    return file_commit(f, j->in->diags);
}

/* What `dse validate --measured --from` reads beside the rows, where the folder has none of it. */
static bool write_bindings(const struct job *j)
{
    enum { LARGEST = 1 << 20 };
    static const char *const files[] = {"bindings.toml", "entries.toml"};
    const char *folder = option_get(j->in, "folder");
    bool ok = true;
    for (size_t i = 0; folder && ok && i < sizeof files / sizeof *files; i++) {
        char *from = xasprintf("%s/catalog/measured/own/%s", catalog_data_dir(), files[i]),
             *to = xasprintf("%s/%s", folder, files[i]);
        char *text = NULL;
        size_t n = 0;
        if (access(to, F_OK) != 0)
            ok = text_read_file(from, LARGEST, &text, &n, j->in->diags) && file_write(to, text, n, j->in->diags);
        free(text);
        free(to);
        free(from);
    }
    return ok;
}

static size_t count_done(const struct job *j)
{
    size_t done = 0;
    for (size_t i = 0; i < j->n; i++) done += j->results[i].is_done;
    return done;
}

/* The reason of the last point that has one. */
static const char *last_reason(const struct job *j)
{
    for (size_t i = j->n; i-- > 0;)
        if (*j->results[i].reason) return j->results[i].reason;
    return "unknown";
}

/* Points that have a reason: the first, and how many others. */
static void tell_left_out(const struct job *j)
{
    size_t n = 0, first = 0;
    for (size_t i = 0; i < j->n; i++) {
        if (j->results[i].is_done || !*j->results[i].reason) continue;
        if (n++ == 0) first = i;
    }
    if (n == 0) return;
    char *what = meter_point_text(&j->points[first]);
    terminal_say(stderr, "dse: %zu points could not be measured; the file says why of each, of the first (%s): %s", n, what,
                 j->results[first].reason);
    free(what);
}

static int tell(struct job *j, enum meter_end end, enum output_format format)
{
    measure_print_best(j->points, j->results, j->n, j->gpu, format);
    tell_left_out(j);
    terminal_say(stderr, "dse: %zu of %zu points are in %s", count_done(j), j->n, j->path);
    if (j->device->keeps_clock)
        diags_runtime(j->in->diags, NULL, "the clock could not be restored (%s): `nvidia-smi -rgc` restores it", j->device->reason);
    if (end == METER_BROKEN) diags_runtime(j->in->diags, NULL, "the GPU failed: %s", last_reason(j));
    if (end == METER_LATE) terminal_say(stderr, "dse: ten minutes are over; the rest was left out");
    if (end == METER_STOPPED) terminal_say(stderr, "dse: stopped; the file says that it is incomplete");
    return end == METER_STOPPED ? INTERRUPTED_STATUS : 0;
}

static int measure(struct job *j, enum output_format format)
{
    const struct invocation *in = j->in;
    const struct cuda_options o = {.ordinal = (int)option_integer(in, "device", 0, ORDINAL_MAX, 0),
                                   .kinds = j->options.kinds,
                                   .libraries = option_get(in, "libraries")};
    if (in->diags->errors) return 2;
    j->device = cuda_device_open(&o, in->diags);
    if (!j->device) return 1;
    name_gpu(j);
    if (!open_file(j)) return 1;
    const struct meter_control control = {
        .stop = interrupt_catch(), .limit_s = LIMIT_S, .progress = option_has(in, "quiet") ? NULL : show_progress, .user = j};
    j->results = xcalloc(j->n, sizeof *j->results);
    counting_init(&j->counting, j->gpu_name, "");
    const enum meter_end end = meter_run(j->device, j->points, j->n, &control, j->results);
    progress_clear(&j->counting.bar);
    return write_file(j, end) && write_bindings(j) ? tell(j, end, format) : 1;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    struct job j = {.in = in};
    int status = 2;
    if (!output_parse_format(in, &format) || !read_options(&j)) return 2;
    j.points = meter_plan(&j.options, &j.n);
    if (option_has(in, "dry-run")) {
        measure_print_plan(j.points, j.n, format);
        status = 0;
    } else if ((j.catalog = open_catalog(in)) != NULL && find_named(&j)) {
        status = measure(&j, format);
    }
    if (j.device) j.device->close(j.device);
    file_abandon(j.file);
    free(j.path);
    free(j.gpu_name);
    free(j.results);
    free(j.points);
    catalog_free(j.catalog);
    return status;
}

const struct command command_measure = {
    .name = "measure",
    .operands = "",
    .summary = "measure the GPU of this machine: bandwidth, GEMMs, attention, launches, power",
    .options =
        (const struct option_row[]){
            {'o', "output", "FILE", "the file to write (default: measured-GPU-DATE.csv)"},
            {0, "folder", "DIR", "write measured.csv into DIR, with the files that `dse validate --measured --from DIR` needs"},
            {0, "only", "KINDS", "measure only some of %s; several with commas", kind_words},
            {'g', "gpu", "NAME", "its name in `dse list gpus` (default: found by name, SMs and memory)"},
            {'d', "device", "N", "number of the GPU, as CUDA counts (default: 0)"},
            {0, "clocks", NULL, "also measure power and speed at lower clocks; only root may set clocks; dse restores them"},
            {0, "seconds", "S", "seconds for a point, and 8 times as many for power (default: 0.5)"},
            {'n', "dry-run", NULL, "show what would be measured and how long it takes; needs no GPU"},
            {0, "libraries", "DIR", "look for the driver, NVRTC, cuBLAS and NVML only in this folder"},
            {0, "licence", "TEXT", "licence of the rows, for the head of the file"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress"},
            {0},
        },
    .help = "dse measure needs an NVIDIA driver, and NVRTC and cuBLAS of CUDA 11 or later. It loads them at run time from the\n"
            "system, $CUDA_HOME or /usr/local/cuda. For those of Python packages set LD_LIBRARY_PATH. A run takes a few\n"
            "minutes, never more than ten. The GPU should be idle: dse also measures the work of others on it.\n"
            "\n"
            "A number is the median of repeats after a warm-up. `spread` is the standard deviation of the repeats over the\n"
            "median, by the median absolute deviation. `far_out` counts repeats that lie more than five such deviations away.\n"
            "Weights and KV caches rotate through copies that are larger than the GPU's cache. So they come from DRAM, as in\n"
            "a step of an LLM. Attention is a split-KV kernel of dse on tensor cores, whose result is checked first. It shows\n"
            "what the hardware allows, not what an engine does. Power is that of the board, by NVML. dse changes no setting\n"
            "of the GPU unless --clocks asks for it. Ctrl-C keeps the numbers measured so far.\n"
            "docs/how-to/measure-a-gpu.md has the steps, and docs/reference/measured-files.md the columns.\n"
            "\n"
            "  dse measure --dry-run\n"
            "  dse measure --folder mine && dse validate --measured --from mine\n"
            "  dse measure --only gemm,launch --seconds 0.2 -o quick.csv\n"
            "  sudo dse measure --only power --clocks -o clocks.csv\n"
            "  LD_LIBRARY_PATH=$(ls -d venv/lib/python3*/site-packages/nvidia/*/lib | paste -sd:) dse measure\n",
    .run = run,
};
