/* dse dram: a DRAM subsystem on its own, fed with a trace or a pattern. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/dram_report.h"
#include "cli/interrupt.h"
#include "desc/schema.h"
#include "sim/dram_pattern.h"
#include "sim/dram_trace.h"

#include <dse/hw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct job {
    struct catalog *catalog;
    struct dse_memory memory; /* a copy, with what --set changed */
    struct dse_dram dram;
    struct dram_spec spec;
    struct dram_map map;
    struct dram_trace *trace; /* one of the two */
    struct dram_pattern *pattern;
    int front;
    bool refresh;
    struct file *commands; /* or NULL */
    const volatile sig_atomic_t *stop;
};

/* ---- options ------------------------------------------------------------------------------------------------------------- */

static bool unknown_memory(const struct invocation *in, const struct catalog *c, const char *name)
{
    const char **names = NULL;
    size_t n = 0;
    const struct dse_entry *e;
    for (; (e = catalog_at(c, DSE_KIND_MEMORY, n)) != NULL; n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = e->name;
    }
    usage_unknown(in, "there is no memory", name, names, n, "; `dse list memories` shows which there are");
    free(names);
    return false;
}

static bool read_value(const struct field *f, const char *text, struct value *ret)
{
    *ret = (struct value){0};
    if (f->type == DSE_TYPE_I64) return text_parse_i64(text, &ret->i64);
    if (f->type == DSE_TYPE_F64) return text_parse_f64(text, &ret->f64);
    for (; f->choices[ret->choice]; ret->choice++)
        if (strcmp(f->choices[ret->choice], text) == 0) return true;
    return false;
}

/* Set a field of the memory from --set NAME=VALUE. */
static bool set(const struct invocation *in, const struct schema *fields, struct dse_memory *m, const char *setting)
{
    size_t n = strcspn(setting, "=");
    char *name = xstrndup(setting, n);
    const struct field *f = schema_find(fields, name);
    struct value v;
    bool ok = false;
    if (setting[n] != '=') {
        usage_error(in, "--set: \"%s\" is not NAME=VALUE", setting);
    } else if (!f) {
        const char **names = schema_names(fields);
        usage_unknown(in, "--set: a memory has no", name, names, fields->n, "; it has the columns of `dse list memories`");
        free(names);
    } else if (!read_value(f, setting + n + 1, &v)) {
        char *allowed = field_allowed(f);
        diags_input(in->diags, (struct srcloc){0}, NULL, allowed, "--set %s: \"%s\" is not allowed", name, setting + n + 1);
        free(allowed);
    } else if (field_check(f, v, (struct srcloc){0}, NULL, NULL, in->diags)) {
        field_set(f, m, v);
        ok = true;
    }
    free(name);
    return ok;
}

static bool read_memory(struct job *j, const struct invocation *in)
{
    const char *name = option_get(in, "memory");
    if (!name) name = "hbm2-5cube";
    const struct dse_entry *e = catalog_find(j->catalog, DSE_KIND_MEMORY, name);
    if (!e) return unknown_memory(in, j->catalog, name);
    j->memory = *(const struct dse_memory *)(const void *)e;
    bool ok = true;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0)
            ok = set(in, catalog_fields(j->catalog, DSE_KIND_MEMORY), &j->memory, in->options[i].argument) && ok;
    long long channels = option_integer(in, "channels", 1, 65536, 0);
    if (channels) {
        j->memory.capacity_gib *= (double)channels / (double)j->memory.channels;
        j->memory.channels = channels;
    }
    const char *why = ok ? dse_memory_check(&j->memory) : NULL;
    if (why) usage_error(in, "%s", why);
    return ok && in->diags->errors == 0;
}

static bool read_spec(struct job *j, const struct invocation *in)
{
    const struct dse_memory *m = &j->memory;
    j->dram = (struct dse_dram){.memory = m,
                                .channels = m->channels,
                                .channel_gbs = m->channel_gbs,
                                .bandwidth_gbs = (double)NAN,
                                .dram_efficiency = 1,
                                .dram_pj_per_bit = m->dram_pj_per_bit,
                                .burst_bytes = m->burst_bytes,
                                .capacity_gib = m->capacity_gib,
                                .timing = m->timing};
    dse_dram_resolve(&j->dram);
    j->refresh = !option_has(in, "no-refresh");
    char *why = dram_spec_init(&j->spec, &j->dram, j->refresh);
    if (why) usage_error(in, "%s", why);
    free(why);
    return in->diags->errors == 0;
}

static bool read_map(struct job *j, const struct invocation *in)
{
    const char *text = option_get(in, "mapping");
    if (text) return dram_map_parse(&j->map, &j->spec, text, "--mapping", in->diags);
    dram_map_default(&j->map, &j->spec);
    return true;
}

static bool read_front(struct job *j, const struct invocation *in)
{
    const char *text = option_get(in, "frontend");
    for (; text && dram_front_names[j->front]; j->front++)
        if (strcmp(dram_front_names[j->front], text) == 0) return true;
    if (text) usage_error(in, "--frontend: there is no \"%s\": per-channel or in-order", text);
    return !text;
}

/* A request of another simulator is a burst, and its cycle the memory's, unless options say otherwise. */
static void open_trace(struct job *j, const struct invocation *in)
{
    const long long bytes = option_integer(in, "access", 1, 1 << 20, j->spec.burst_bytes);
    const char *text = option_get(in, "cycle-ns");
    double cycle = j->spec.clock_ns;
    if (text && (!text_parse_f64(text, &cycle) || !(cycle > 0 && cycle <= 1e6)))
        usage_error(in, "--cycle-ns: \"%s\" is no time from 0 to 1e6 ns", text);
    else if (in->diags->errors == 0)
        j->trace = dram_trace_open(in->operands[0], j->map.capacity, (uint64_t)bytes, cycle, in->diags);
}

static bool open_source(struct job *j, const struct invocation *in)
{
    const char *pattern = option_get(in, "pattern");
    if (!pattern && in->n_operands == 0) return usage_error(in, "a TRACE is needed, or --pattern") == 0;
    if (pattern && in->n_operands) return usage_error(in, "a TRACE or --pattern, not both") == 0;
    if (pattern)
        j->pattern = dram_pattern_new(pattern, dram_spec_peak_gbs(&j->spec), "--pattern", in->diags);
    else
        open_trace(j, in);
    return j->pattern || j->trace;
}

static struct dram_source *source_of(const struct job *j)
{
    return j->pattern ? dram_pattern_source(j->pattern) : dram_trace_source(j->trace);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static void write_command(void *object, int64_t bus, const struct dram_command *c)
{
    static const char *const names[] = {"ACT", "PRE", "PREA", "RD", "WR", "REF"};
    const struct job *j = object;
    const int bank = c->bank % j->spec.banks;
    char line[128];
    int n = snprintf(line, sizeof line, "%lld,%lld,%d,%s,%d,%d,%lu,%d\n", (long long)c->clock, (long long)bus, c->channel,
                     names[c->kind], bank / j->spec.group_banks, bank % j->spec.group_banks, (unsigned long)c->row, c->column);
    file_put(j->commands, line, (size_t)n);
}

/* A line that is overwritten, at most some times a second. */
static void show_progress(void *object, uint64_t bursts)
{
    double *last = object;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    char count[TEXT_NUMBER_MAX];
    if (s < *last + 0.5) return;
    if (*last > 0) fprintf(stderr, "\r\033[K%s bursts", text_count(count, bursts));
    *last = s;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool simulate(struct job *j, const struct invocation *in, struct dram_result *result, double *ret_cpu_s)
{
    double shown = 0;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const struct dram_setup setup = {.spec = &j->spec,
                                     .map = &j->map,
                                     .front = (enum dram_front)j->front,
                                     .on_command = j->commands ? write_command : NULL,
                                     .on_command_object = j,
                                     .progress = terminal ? show_progress : NULL,
                                     .progress_object = &shown,
                                     .stop = j->stop};
    const double start = cpu_seconds();
    bool ok = dram_run(&setup, source_of(j), result, in->diags);
    *ret_cpu_s = cpu_seconds() - start;
    if (terminal) fprintf(stderr, "\r\033[K");
    if (ok && result->requests == 0) ok = usage_error(in, "no request in %s", j->trace ? in->operands[0] : "the pattern") == 0;
    return ok;
}

static bool open_commands(struct job *j, const struct invocation *in)
{
    const char *path = option_get(in, "commands");
    if (!path) return true;
    j->commands = file_begin(path, in->diags);
    if (!j->commands) return false;
    char *head = xasprintf("# clocks of %.6g ns\nclock,bus,channel,command,bank_group,bank,row,column\n", j->spec.clock_ns);
    file_put(j->commands, head, strlen(head));
    free(head);
    return true;
}

/* Close the file of commands. The commands of a run that was stopped are kept: they were carried out. */
static void close_commands(struct job *j, bool whole, struct diags *diags)
{
    if (j->commands && whole)
        file_commit(j->commands, diags);
    else
        file_abandon(j->commands);
}

static bool run_job(struct job *j, const struct invocation *in, enum output_format format)
{
    struct dram_result *result = xcalloc(1, sizeof *result);
    char *mapping = dram_map_text(&j->map);
    struct dram_subject subject = {.memory = j->memory.entry.name,
                                   .mapping = mapping,
                                   .front = dram_front_names[j->front],
                                   .refresh = j->spec.refi ? "on" : "off",
                                   .spec = &j->spec,
                                   .result = result};
    const bool ok = simulate(j, in, result, &subject.cpu_s);
    if (ok) {
        if (*j->stop) terminal_say(stderr, "dse: stopped; the results cover the requests until then");
        if (format == OUTPUT_TABLE)
            terminal_say(stderr, "%s, %lld channels, map %s, %s front-end, refresh %s", subject.memory,
                         (long long)j->spec.buses * j->spec.channels, mapping, subject.front, subject.refresh);
        dram_report(&subject, format);
    }
    free(mapping);
    free(result);
    return ok;
}

static void print_trace(const struct job *j, const struct invocation *in)
{
    struct dram_request q;
    while (!*j->stop && !ferror(stdout) && source_of(j)->next(source_of(j), &q, in->diags)) dram_request_print(stdout, &q);
}

static int run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    struct job j = {.catalog = open_catalog(in), .stop = interrupt_catch()};
    if (!j.catalog) return 2;
    bool ok = read_memory(&j, in) && read_spec(&j, in);
    ok = read_front(&j, in) && ok;
    ok = ok && read_map(&j, in) && open_source(&j, in);
    if (ok && option_has(in, "print-trace")) {
        print_trace(&j, in);
    } else if (ok && open_commands(&j, in)) {
        close_commands(&j, run_job(&j, in, format), in->diags);
    }
    dram_pattern_free(j.pattern);
    dram_trace_close(j.trace);
    catalog_free(j.catalog);
    return !ok ? 2 : *j.stop ? INTERRUPTED_STATUS : 0;
}

const struct command command_dram = {
    .name = "dram",
    .operands = "TRACE|--pattern PATTERN",
    .summary = "simulate a DRAM under a trace of requests: bandwidth, latency, energy",
    .options =
        (const struct option_row[]){
            {'m', "memory", "NAME", "a memory of `dse list memories` (default: hbm2-5cube)"},
            {'s', "set", "NAME=VALUE", "change a property of the memory: t_faw_ns=16; any number of times"},
            {0, "channels", "N", "number of channels; the capacity changes in proportion"},
            {0, "mapping", "FIELDS", "the fields of an address, lowest bits first: \"co3 ch3 pc1 bg2 co2 ba2 ro15\""},
            {0, "frontend", "F", "per-channel: a queue for each command bus (default); in-order: one queue for all"},
            {0, "no-refresh", NULL, "never refresh"},
            {'p', "pattern", "PATTERN", "generate the requests: random,size=256,count=65536"},
            {0, "access", "BYTES", "size of a request of DRAMsim3 or Ramulator (default: a burst of the memory)"},
            {0, "cycle-ns", "NS", "length of a cycle in a trace of DRAMsim3 (default: the memory's clock)"},
            {0, "print-trace", NULL, "print the requests as a trace and do not simulate"},
            {0, "commands", "FILE", "write every command to a CSV file"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help = "A trace has one request on each line: R or W, a hexadecimal address, a number of bytes, and if known the arrival\n"
            "time in ns. B waits until all requests before it are done. Without arrival times the controller takes each\n"
            "request as soon as it can. TRACE - reads standard input.\n"
            "\n"
            "dse also reads traces of DRAMsim2 and DRAMsim3 (0x1f00 READ 12), Ramulator (0x1f00 R; LD 4096) and gem5\n"
            "(r,4096,64,256,5000). docs/how-to/dram-traces.md has the rules of each format, and --print-trace shows how dse\n"
            "reads a trace.\n"
            "\n"
            "--mapping lists fields with their number of bits. The fields are co column (in bursts), ch channel (has a\n"
            "command bus), pc pseudo channel, bg bank group, ba bank and ro row. A field without a number takes all remaining\n"
            "bits of its kind: \"co3 ch pc bg co ba ro\".\n"
            "\n"
            "The patterns are sequential, random, stride, copy and lad, each with settings of its own. An unknown setting\n"
            "makes dse list the known ones. docs/explanation/dram.md says what is modelled, and docs/appendix/dram.md how well\n"
            "it agrees with DRAMsim3 and Ramulator 2.\n"
            "\n"
            "  dse dram --pattern random,size=256,count=65536\n"
            "  dse dram --pattern sequential,size=64MiB,count=1 --memory ddr4-3200-2ch\n"
            "  dse dram --pattern random,size=64,load=50 --memory hbm2-dramsim3 --set t_faw_ns=16 --format json\n"
            "  dse dram --pattern lad,context=1024 --print-trace | dse dram - --mapping \"co ch pc bg ba ro\"\n",
    .min_operands = 0,
    .max_operands = 1,
    .run = run,
};
