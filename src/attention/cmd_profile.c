/* dse profile: statistics of real or synthetic attention, as files that the catalog takes. */
#include "base/file.h"
#include "base/xalloc.h"
#include "attention/attention.h"
#include "attention/profile_kinds.h"
#include "attention/profile_surface.h"
#include "dse_config.h"
#include "attention/surface.h"
#include "attention/trace.h"

#include <dse/catalog.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is measured: the heads of traces, or those of a generator. */
struct origin {
    struct trace **traces;
    size_t n_traces;
    struct generator generator;
    size_t generated; /* heads; 0: traces */
    struct head_source *sources;
    size_t n_sources;
    size_t positions; /* of the shortest */
};

static bool open_traces(struct origin *o, const struct invocation *in)
{
    if (in->n_operands == 0) return usage_error(in, "a TRACE is needed, or --synthetic") == 0;
    if (option_has(in, "heads")) return usage_error(in, "--heads is only for --synthetic; a trace has heads of its own") == 0;
    o->traces = xcalloc(in->n_operands, sizeof(struct trace *));
    o->sources = xcalloc(in->n_operands, sizeof *o->sources);
    for (size_t i = 0; i < in->n_operands; i++) {
        struct trace *t = trace_open(in->operands[i], in->diags);
        if (!t) continue;
        o->traces[o->n_traces++] = t;
        const struct trace_info *info = trace_info(t);
        o->sources[o->n_sources++] = head_source_trace(t);
        if (o->positions == 0 || info->n < o->positions) o->positions = info->n;
    }
    return o->n_traces == in->n_operands;
}

static bool open_generator(struct origin *o, const struct invocation *in)
{
    if (!profile_read_generator(&o->generator, &o->generated, in) || !generator_check(&o->generator, in->diags)) return false;
    o->sources = xcalloc(1, sizeof *o->sources);
    o->positions = (size_t)o->generator.n;
    o->sources[o->n_sources++] = head_source_generator(&o->generator, o->generated);
    return true;
}

static void origin_release(struct origin *o)
{
    for (size_t i = 0; i < o->n_traces; i++) trace_close(o->traces[i]);
    free(o->traces);
    free(o->sources);
}

/* ---- what a file says of itself ------------------------------------------------------------------------------------------ */

static void add_ids(struct text *t, const char *what, const int32_t *ids, size_t n)
{
    text_addf(t, ", %s", what);
    for (size_t i = 0; i < n; i++) text_addf(t, " %ld", (long)ids[i]);
}

/* Add a text that may have several lines as one line. */
static void add_line(struct text *t, const char *s)
{
    for (; *s; s++) text_add_bytes(t, *s == '\n' || *s == '\r' ? " " : s, 1);
}

static void add_trace(struct text *t, const struct trace_info *info)
{
    text_add(t, "source: ");
    add_line(t, info->model);
    add_ids(t, "layers", info->layer_ids, info->layers);
    add_ids(t, "heads", info->head_ids, info->heads);
    text_add(t, "; ");
    add_line(t, info->source);
    text_addf(t, "\ntrace: %016llx, %zu positions of %zu, fp%d\n", (unsigned long long)info->hash, info->n, info->d, info->bits);
}

/* What models compare with a point besides what was asked: how a prompt ended, the width of keys and values, the LLM. */
static void add_settings(struct text *t, const struct origin *o, const struct profile_options *options)
{
    enum { FLOAT_BITS = 32 };
    int bits = FLOAT_BITS;
    if (options->kind->of_policies)
        text_addf(t, " boundary=%s", dse_boundary_names[options->settings.prompt_share > 0 ? DSE_BULK : DSE_TOKEN]);
    for (size_t i = 0; i < o->n_traces; i++)
        if (i == 0 || trace_info(o->traces[i])->bits < bits) bits = trace_info(o->traces[i])->bits;
    if (!options->kind->of_bits) text_addf(t, " kv_bits=%d", bits);
    text_add(t, " llm=");
    for (size_t i = 0; i < o->n_traces; i++) { /* of traces of several, the file is of none of them */
        const char *llm = trace_info(o->traces[i])->model;
        if (i > 0 && strcmp(llm, trace_info(o->traces[i - 1])->model) == 0) continue;
        if (i) text_add(t, ",");
        for (; *llm; llm++) text_add_bytes(t, strchr(" \t\r\n,", *llm) ? "-" : llm, 1);
    }
    if (o->generated) text_add(t, "synthetic");
    text_add(t, "\n");
}

static char *file_head(const struct origin *o, const struct profile_options *options)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < o->n_traces; i++) add_trace(&t, trace_info(o->traces[i]));
    if (o->generated) {
        char *parameters = profile_generator_text(&o->generator);
        text_addf(&t, "source: synthetic, %zu heads of the generator\ngenerator: %s\n", o->generated, parameters);
        free(parameters);
    }
    char *asked = profile_options_text(options);
    text_addf(&t, "written by dse profile %s: %s", DSE_VERSION, asked);
    add_settings(&t, o, options);
    free(asked);
    if (options->kind->is_surface)
        text_addf(&t,
                  "Means over heads, which count as the layers that each stored layer stands for (those nearest to it; layer 0 for "
                  "itself), and over the %s%s%s.\n",
                  options->steps == 0 ? "second half of each context's steps" : "last steps of each context",
                  options->steps_given || options->steps == 0 ? "" : "; of policies without a prompt over the second half of them",
                  options->ends > 1 ? "; each context at several ends, from 7/8 to 9/8 of it" : "");
    else if (options->kind->every_step)
        text_addf(&t,
                  "The last %lld steps up to each context; head: counted from 0 over layers and heads as they stand above; step: "
                  "positions, with the new one.\nactive, updates and hits: with the newest positions, as in a profile.\n",
                  (long long)options->steps);
    else if (options->steps)
        text_addf(&t, "Means over heads, and over the %lld steps before each context; _sd is the spread of the heads.\n",
                  (long long)options->steps);
    else
        text_add(&t, "Means over heads, and over the second half of each context's steps; _sd is the spread of the heads.\n");
    return text_detach(&t);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

static void show_progress(void *user, double share)
{
    (void)user;
    fprintf(stderr, "\r\033[Kmeasured: %d %%", (int)(100 * share));
    fflush(stderr);
}

/* Can the profile be written? If `why` says why not, that becomes a usage error; it is freed. */
static bool check_writable(const struct invocation *in, const char *path, char *why)
{
    if (why) usage_error(in, "%s would be no profile: %s", path, why);
    free(why);
    return !why;
}

static bool write_report(const struct invocation *in, const struct origin *from, const struct profile_options *o,
                         const struct profile_report *r, const char *path)
{
    if (!check_writable(in, path, r->kind->fault ? r->kind->fault(r) : NULL)) return false;
    char *head = file_head(from, o);
    struct text t;
    text_init(&t);
    report_csv(r, head, &t);
    bool ok = file_write(path, t.s, t.n, in->diags);
    text_release(&t);
    free(head);
    return ok;
}

/* The number of layers that the stored ones stand for: --layers, else as many as the last stored one needs. */
static size_t layers_of(const struct trace_info *info, const struct invocation *in)
{
    enum { LAYERS_MAX = 4096 };
    int32_t last = 0;
    for (size_t i = 0; i < info->layers; i++)
        if (info->layer_ids[i] > last) last = info->layer_ids[i];
    const int64_t least = (int64_t)last + 1;
    return (size_t)option_integer(in, "layers", least, LAYERS_MAX, least);
}

static bool same_text(const struct trace_info *a, const struct trace_info *b)
{
    return strcmp(a->model, b->model) == 0 && strcmp(a->source, b->source) == 0;
}

/* The number of an earlier head that is the same of the model, on another text; else its own. */
static size_t same_head(const struct origin *from, size_t source, size_t layer, size_t head, size_t own)
{
    if (!from->n_traces) return own;
    const struct trace_info *info = trace_info(from->traces[source]);
    for (size_t i = 0, before = 0; i < source; i++) {
        const struct trace_info *other = trace_info(from->traces[i]);
        for (size_t k = 0; k < other->layers * other->heads && strcmp(other->model, info->model) == 0; k++)
            if (other->layer_ids[k / other->heads] == info->layer_ids[layer] &&
                other->head_ids[k % other->heads] == info->head_ids[head])
                return before + k;
        before += other->layers * other->heads;
    }
    return own;
}

static bool of_one_model(const struct origin *from)
{
    for (size_t i = 1; i < from->n_traces; i++)
        if (strcmp(trace_info(from->traces[i])->model, trace_info(from->traces[0])->model) != 0) return false;
    return from->n_traces > 0;
}

/* Of each head: traces count alike, their layers as the layers that they stand for, heads of a layer alike. A trace is a text,
 * unless another has the same source. The caller frees it. */
static struct surface_head *weigh_heads(const struct invocation *in, const struct origin *from, const struct measure_plan *plan)
{
    struct surface_head *heads = xcalloc(measure_heads(plan) + 1, sizeof *heads), *to = heads;
    for (size_t i = 0; i < from->n_sources; i++) {
        const struct head_source *s = &from->sources[i];
        const struct trace_info *info = from->n_traces ? trace_info(from->traces[i]) : NULL;
        double *layers = xcalloc(s->layers, sizeof *layers);
        size_t text = 0;
        while (info && text < i && !same_text(trace_info(from->traces[text]), info)) text++;
        for (size_t k = 0; k < s->layers; k++) layers[k] = 1;
        const size_t model = info ? layers_of(info, in) : s->layers;
        if (info) surface_layer_weights(info->layer_ids, s->layers, model, layers);
        for (size_t k = 0; k < s->layers; k++)
            for (size_t h = 0; h < s->heads; h++, to++)
                *to = (struct surface_head){layers[k] / (double)(model * s->heads),
                                            info && of_one_model(from) ? info->layer_ids[k] : -1,
                                            same_head(from, i, k, h, (size_t)(to - heads)), text};
        free(layers);
    }
    return heads;
}

/* Layers of one model alone have rows, and means. */
static bool check_models(const struct invocation *in, const struct origin *from)
{
    static const char *const options[] = {"by-layer", "means", NULL};
    for (const char *const *o = options; *o; o++) {
        if (!option_has(in, *o)) continue;
        if (!from->n_traces) return usage_error(in, "--%s: generated heads have no layers", *o) == 0;
        if (!of_one_model(from)) return usage_error(in, "--%s: the traces are of several models", *o) == 0;
    }
    return true;
}

static void surface(const struct invocation *in, const struct origin *from, const struct profile_options *o,
                    const struct measure_plan *plan)
{
    if (!check_models(in, from)) return;
    struct surface_head *heads = weigh_heads(in, from, plan);
    struct surface_plan p = {.plan = plan, .heads = heads};
    char *head = file_head(from, o);
    struct text t;
    text_init(&t);
    const bool ok = in->diags->errors == 0 && profile_surface(in, o, &p, head, &t);
    if (plan->progress) fprintf(stderr, "\r\033[K");
    const char *path = option_get(in, "output");
    if (ok && path) file_write(path, t.s, t.n, in->diags);
    if (ok && !path) fputs(t.s, stdout);
    text_release(&t);
    free(head);
    free(heads);
}

static void profile(const struct invocation *in, const struct origin *from, const struct profile_options *o,
                    enum output_format format)
{
    bool terminal = isatty(STDERR_FILENO) != 0;
    struct measure_plan plan = {.sources = from->sources,
                                .n_sources = from->n_sources,
                                .contexts = o->contexts,
                                .n_contexts = o->n_contexts,
                                .steps = (size_t)o->steps,
                                .progress = terminal ? show_progress : NULL};
    if (o->kind->is_surface) {
        surface(in, from, o, &plan);
        return;
    }
    struct profile_report report;
    bool ok = o->kind->measure(o, &plan, &report, in->diags);
    if (terminal) fprintf(stderr, "\r\033[K");
    if (!ok) return;
    if (option_has(in, "fit")) report_fit_locality(&report);
    const char *path = option_get(in, "output");
    if (path)
        write_report(in, from, o, &report, path);
    else
        report_print(&report, format);
    report_release(&report);
}

/* Read --kept, which a kind that takes it must have. */
static bool open_kept(const struct origin *o, const struct profile_options *options, const struct invocation *in,
                      struct kept_sets **ret)
{
    const char *path = option_get(in, "kept");
    if (!options->kind->of_sets) return true;
    if (!path) return usage_error(in, "--kind %s needs --kept FILE", options->kind->name) == 0;
    if (o->n_traces != 1) return usage_error(in, "--kept goes with one trace") == 0;
    *ret = kept_sets_read(path, trace_info(o->traces[0]), in->diags);
    return *ret != NULL;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    const char *path = option_get(in, "output");
    if (path && !*path) return usage_error(in, "--output: an empty name");
    struct origin from = {0};
    struct profile_options options = {0};
    bool ok = option_has(in, "synthetic") ? open_generator(&from, in) : open_traces(&from, in);
    ok = profile_options_read(&options, in, from.positions) && ok;
    if (ok && path && options.kind->too_few)
        ok = check_writable(in, path, options.kind->too_few(&options)); /* before minutes of measuring */
    struct kept_sets *kept = NULL;
    ok = ok && open_kept(&from, &options, in, &kept);
    options.kept = kept;
    if (ok) profile(in, &from, &options, format);
    kept_sets_free(kept);
    profile_options_release(&options);
    origin_release(&from);
    return 0;
}

const struct command command_profile = {
    .name = "profile",
    .operands = "TRACE...|--synthetic [NAME=VALUE]...",
    .summary = "measure traces of attention for the catalog: locality, eviction, ranges, formats",
    .options =
        (const struct option_row[]){
            {'k', "kind", "KIND", "%s; recording is locality step by step", .words = profile_kind_names},
            {'o', "output", "FILE", "write a CSV file for the catalog (default: print)"},
            {0, "contexts", "LIST", "contexts to measure at, in growing order (default: 64,128,... as long as the trace)"},
            {0, "steps", "N|half", "the last N steps of each context, or its second half (default: 32)"},
            {'s', "set", "NAME=VALUE", "a setting of the kind: collinear=0.95, reserved_length=64, low=-10, ..."},
            {0, "ratios", "LIST", "retention: shares of the cache to keep (default: nine from 0.05 to 0.8)"},
            {0, "edges", "LIST",
             "locality, recording: right edges of all intervals of exp but the last, in growing order: -10,-6,-3,-1"},
            {0, "policies", "LIST", "retention: %s (default: all that the settings allow)", .words = eviction_policy_names},
            {0, "kept", "FILE",
             "kept: positions that a method reads: a CSV of layer,head,step,kept with kept as 0-3 17 20-40 "
             "(docs/how-to/measure-quality.md)"},
            {0, "vary", "NAME=LIST", "surface: further values of a setting; A=LIST*B=LIST combines two; any number of times"},
            {0, "kv-bits", "LIST",
             "surface: also measure policies with a cache of these bits: scales by token, and KIVI's where nothing is evicted"},
            {0, "layers", "N",
             "surface: number of layers that the stored layers stand for (default: as many as the last one needs)"},
            {0, "by-layer", NULL, "surface: also write rows of each stored layer"},
            {0, "ends", "N", "surface: measure each context at N lengths, from 7/8 to 9/8 of it"},
            {0, "means", "FILE",
             "surface: means over all heads, a CSV of method,context,ratio,metric,mean; heads are weighted to match them"},
            {0, "fit", NULL, "locality: fit laws a n^b, with standard errors"},
            {0, "synthetic", NULL, "measure generated heads; the operands NAME=VALUE set parameters of the generator"},
            {0, "heads", "N", "synthetic: number of heads (default: 8)"},
            OPTION_FORMAT,
            {0},
        },
    .help = "Every head of every trace has the same weight. In a surface a head has the weight of the layers that its layer\n"
            "stands for. The file has the mean and the spread over heads. It names the trace (by its checksum), the settings\n"
            "and the version of dse, so the same command writes the same bytes. docs/reference/catalog.md explains the\n"
            "columns, and docs/reference/quality-files.md those of a surface.\n"
            "\n"
            "Each kind has settings of its own (-s):\n"
            "\n"
            "  locality         collinear, recent, scores=centers|exact, intervals.\n"
            "  retention        threshold_a, threshold_b, reserved_length, recent_share, sinks, observed, pool, pooling=max|mean, "
            "beta,\n"
            "                   layers, page, decides=head|group, seed, prompt_share.\n"
            "  range            phi, low, high.\n"
            "  partial-softmax  phi, low, high, part, held=fp32|mixed|fp16.\n"
            "  fixed-point      fraction_bits, exp_bits, rounding=round|truncate, products=round|truncate.\n"
            "  kv-format        kv_bits, scales=token|channel|kivi, group, residual.\n"
            "  kept             none; --kept names the file.\n"
            "  recording        those of locality.\n"
            "  surface          those of its methods, also for --vary.\n"
            "\n"
            "The policy voting makes one decision for the heads of a layer, and voting-head one for the heads that share keys\n"
            "and values. dse leaves out a cache that is shorter than reserved_length. It leaves out a policy that needs a\n"
            "prompt or the number of layers, unless these are set. recording has a row for every head and step, for LAD at\n"
            "event level (draws = \"replay\").\n"
            "\n"
            "  dse profile model.trace --kind locality --fit\n"
            "  dse profile model.trace --kind locality -s collinear=0.9 -o profiles/mine.csv\n"
            "  dse profile a.trace b.trace --kind retention --policies voting,h2o --contexts 512,1024,2048 -o retentions/mine.csv\n"
            "  dse profile model.trace --kind recording --steps 16 -o recordings/mine.csv\n"
            "  dse profile --synthetic n=2048 seed=7 --heads 4 --kind range\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
