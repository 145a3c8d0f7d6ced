/* dse accelergy: energy and area tables of Accelergy, and entries of the catalog made from them. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "command/command.h"
#include "command/output.h"
#include "config/accelergy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_tables(const struct energy_table *t, enum output_format format)
{
    static const char *const names[] = {"component", "area_mm2", "action", "energy_pj"};
    struct output *o = output_new(stdout, format, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < t->n; i++) {
        const struct energy_component *c = &t->components[i];
        for (size_t k = 0; k < c->n_actions || (k == 0 && !c->n_actions); k++) {
            output_text(o, c->name);
            output_f64(o, c->area_mm2);
            output_text(o, c->n_actions ? c->actions[k].name : NULL);
            output_f64(o, c->n_actions ? c->actions[k].energy_pj : (double)NAN);
        }
    }
    output_end(o);
}

/* A positive number of an option; NaN, with an error, when it is missing or no such. */
static double option_number(const struct invocation *in, const char *name)
{
    const char *s = option_get(in, name);
    double v;
    if (s && text_parse_f64(s, &v) && v > 0 && isfinite(v)) return v;
    if (s)
        usage_error(in, "--%s: \"%s\" is no number above 0", name, s);
    else
        usage_error(in, "--%s is needed beside --component", name);
    return (double)NAN;
}

static void add_cell(struct text *t, double v)
{
    char buf[TEXT_NUMBER_MAX];
    text_addf(t, ",%s", isnan(v) ? "" : text_number(buf, v));
}

/* Leakage in mW from pJ a cycle. */
static double leakage(const struct energy_component *c, double cycle_ns)
{
    const double pj = energy_of(c, "leak");
    return pj / cycle_ns;
}

/* The component as a table of one SRAM macro: a file, and how a catalog names it. */
static bool write_sram(const struct invocation *in, const struct energy_component *c, const char *name, const char *source)
{
    const char *path = option_get(in, "output");
    const double node = option_number(in, "node-nm"), capacity = option_number(in, "capacity-mib"),
                 word = option_number(in, "word-bits");
    const double cycle = option_get(in, "cycle-ns") ? option_number(in, "cycle-ns") : 1;
    if (!path) usage_error(in, "-o FILE.csv is needed beside --component");
    if (in->diags->errors) return false;
    struct text t;
    text_init(&t);
    text_addf(&t, "name,node_nm,capacity_mib,word_bits,area_mm2,read_pj,write_pj,leakage_mw,dynamic_mw,access_ns,source\n%s", name);
    add_cell(&t, node);
    add_cell(&t, capacity);
    add_cell(&t, word);
    add_cell(&t, c->area_mm2);
    add_cell(&t, energy_of(c, "read"));
    add_cell(&t, isnan(energy_of(c, "write")) ? energy_of(c, "update") : energy_of(c, "write"));
    add_cell(&t, leakage(c, cycle));
    text_addf(&t, ",,,%s\n", source);
    const bool ok = file_write(path, t.s, t.n, in->diags);
    text_release(&t);
    if (ok) printf("[srams]\n%s = \"%s\"\n", name, path);
    return ok;
}

/* The component as a memory that is like another but for its energy. */
static bool print_memory(const struct invocation *in, const struct energy_component *c, const char *name, const char *source)
{
    char buf[TEXT_NUMBER_MAX];
    const double bits = option_number(in, "word-bits"), read = energy_of(c, "read");
    if (isnan(read)) usage_error(in, "component %s has no action read", c->name);
    if (in->diags->errors) return false;
    printf("[memories.%s]\nlike = \"%s\"\ndram_pj_per_bit = %s\nsource = \"%s\"\n", name, option_get(in, "like"),
           text_number(buf, read / bits), source);
    return true;
}

static bool make_entry(const struct invocation *in, const struct energy_table *t)
{
    const char *wanted = option_get(in, "component"), *name = option_get(in, "name");
    const struct energy_component *c = energy_table_find(t, wanted);
    if (!c) {
        const char **names = xcalloc(t->n, sizeof *names);
        for (size_t i = 0; i < t->n; i++) names[i] = t->components[i].name;
        usage_unknown(in, "no component", wanted, names, t->n, "");
        free(names);
        return false;
    }
    if (!name) name = wanted;
    if (!text_is_file_name(name)) {
        usage_error(in, "--name: \"%s\" cannot be the name of an entry: %s", name, TEXT_FILE_NAME_RULE);
        return false;
    }
    char *source = xasprintf("Accelergy %s of %s", c->name, in->operands[0]);
    for (char *p = source; *p; p++)
        if (strchr(",\"\\", *p)) *p = ' ';
    const bool ok = option_get(in, "like") ? print_memory(in, c, name, source) : write_sram(in, c, name, source);
    free(source);
    return ok;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    struct energy_table t = {0};
    bool ok = output_parse_format(in, &format);
    for (size_t i = 0; ok && i < in->n_operands; i++) ok = energy_table_read(&t, in->operands[i], in->diags);
    if (ok && option_get(in, "component"))
        ok = make_entry(in, &t);
    else if (ok)
        print_tables(&t, format);
    energy_table_release(&t);
    return ok ? 0 : 2;
}

const struct command command_accelergy = {
    .name = "accelergy",
    .operands = "ERT.yaml [ART.yaml]",
    .summary = "print energy and area tables of Accelergy, or make catalog entries from them",
    .options =
        (const struct option_row[]){
            {0, "component", "NAME", "make an entry from the component with this full name, or this last part of it"},
            {0, "name", "NAME", "name of the entry (default: that of the component)"},
            {0, "node-nm", "N", "SRAM: technology node of the tables"},
            {0, "capacity-mib", "N", "SRAM: its capacity"},
            {0, "word-bits", "N", "bits that one action moves"},
            {0, "cycle-ns", "NS", "length of the cycle of the action leak (default: 1)"},
            {'o', "output", "FILE", "SRAM: the table of macros to write"},
            {0, "like", "MEMORY", "make a memory like this one, with another energy of a bit"},
            OPTION_FORMAT,
            {0},
        },
    .help = "Without --component dse prints the tables: pJ of each action, mm2 of each component. With --component an SRAM\n"
            "becomes a file with one macro (read, write or update, leak). dse prints the catalog lines that name this file.\n"
            "With --like a component becomes a memory. If an action has several sets of arguments, dse takes the largest\n"
            "energy.\n"
            "\n"
            "  dse accelergy ERT.yaml ART.yaml\n"
            "  dse accelergy ERT.yaml ART.yaml --component buffer --node-nm 22 --capacity-mib 0.5 --word-bits 256 -o buffer.csv > "
            "own.toml\n"
            "  dse accelergy ERT.yaml --component DRAM --like hbm2-5cube --word-bits 64 --name my-dram >> own.toml\n"
            "  dse eval lad -c own.toml --set sram=buffer\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
