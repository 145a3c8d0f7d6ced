/* dse: the command line. The only place that prints diagnostics and decides the exit status. */
#include "base/text.h"
#include "base/wrap.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/commands.h"
#include "cli/crash.h"
#include "config/catalog.h"
#include "dse_config.h"
#include "model/registry.h"
#include "toml_model/toml_model.h"

#include <assert.h>
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- version -------------------------------------------------------------------------------------------------------------- */

/* `dse --version`, and with --verbose what it was built of and what its numbers rest on. */

/* "lad 7 (event level), veda 4": the caller frees it. */
static char *models_text(void)
{
    struct text t;
    text_init(&t);
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%s %d", i ? ", " : "", models[i].desc->name, models[i].desc->version);
    return text_detach(&t);
}

static void version_print(bool verbose)
{
    printf("dse %s (%s)\n", DSE_VERSION, DSE_COMMIT);
    if (!verbose) return;
    const char *dir = catalog_data_dir();
    size_t entries;
    const uint64_t catalog = catalog_digest(dir, &entries);
    char *models = models_text();
    printf("build: %s\n", DSE_BUILD);
    printf("libraries: SQLite %s, GSL %s, %s\n", sqlite3_libversion(), gsl_version, DSE_LIBRARIES);
    printf("models: %s\n", models);
    printf("data: %s\n", dir);
    printf("catalog: %016" PRIx64 ", %zu files\n", catalog, entries);
    printf("licence: Apache-2.0\n");
    free(models);
}

/* ---- help ----------------------------------------------------------------------------------------------------------------- */

/* ---- help ---------------------------------------------------------------------------------------------------------------- */

/* Text at `left` characters from the edge, behind `head` that stands there, in lines as wide as the terminal. */
static void print_beside(const char *head, size_t left, const char *s)
{
    size_t width = terminal_width(stdout);
    struct text t;
    text_init(&t);
    text_addf(&t, "%-*s ", (int)left - 1, head);
    if (width)
        wrap_add(&t, s, width, wrap_width(t.s), left, NULL);
    else
        text_add(&t, s);
    puts(t.s);
    text_release(&t);
}

/* The lines of a help text as they are but those of a paragraph, which are as long as the terminal has room; examples begin with
 * a space. */
static void print_paragraphs(const char *s)
{
    size_t width = terminal_width(stdout), used = 0;
    struct text t;
    text_init(&t);
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        bool prose = n && *s != ' ';
        char *line = xasprintf("%s%.*s", prose && used ? " " : "", (int)n, s);
        if (used && !prose) text_add(&t, "\n");
        used = width && prose ? wrap_add(&t, line, width, used, 0, NULL) : 0;
        if (!width || !prose) text_addf(&t, "%.*s\n", (int)n, s);
        free(line);
    }
    if (used) text_add(&t, "\n");
    fputs(t.s, stdout);
    text_release(&t);
}

static int print_help(void)
{
    char *title = xasprintf("dse %s: which machine for LLM inference, out of a trillion, and why?\n\nUsage: dse COMMAND ...\n\n",
                            DSE_VERSION);
    print_paragraphs(title);
    free(title);
    for (size_t i = 0; i < all_commands.n; i++) {
        if (all_commands.list[i]->hidden) continue;
        char *name = xasprintf("  %s", all_commands.list[i]->name);
        print_beside(name, 14, all_commands.list[i]->summary);
        free(name);
    }
    printf("\nStart with:\n%s", all_commands.start);
    print_paragraphs(
        "\n"
        "dse --plugin FILE COMMAND ... adds the models of a plug-in or of a TOML file. $DSE_PLUGINS names several such files.\n"
        "\n"
        "dse COMMAND --help explains a command. Exit status: 0 done, 1 failed while running, 2 bad usage or input,\n"
        "130 interrupted with the state saved.\n");
    return 0;
}

static void print_option(const struct option_row *o)
{
    char letter[] = {'-', o->letter, ',', '\0'};
    char *left = xasprintf("  %3s --%s%s%s", o->letter ? letter : "", o->name, o->argument && *o->argument != '[' ? " " : "",
                           o->argument ? o->argument : "");
    char *help = option_help(o);
    print_beside(left, 33, help);
    free(help);
    free(left);
}

static int print_command_help(const struct command *c)
{
    terminal_say(stdout, "dse %s: %s", c->name, c->summary);
    putchar('\n');
    terminal_say(stdout, "Usage: dse %s%s%s%s", c->name, c->options && c->options->name ? " [OPTION]..." : "",
                 *c->operands ? " " : "", c->operands);
    printf("\nOptions:\n");
    for (const struct option_row *o = c->options; o && o->name; o++) print_option(o);
    print_option(&option_row_help);
    putchar('\n');
    print_paragraphs(c->help);
    return 0;
}

/* ---- parsing ------------------------------------------------------------------------------------------------------------- */

enum { OPTIONS_MAX = 64, HELP = 'h' };

/* getopt_long's description of a command's options; option i has value 256 + i, its letter too. */
static void describe_options(const struct command *c, struct option *longs, char *shorts)
{
    size_t n = 0;
    char *s = shorts;
    *s++ = ':';
    for (const struct option_row *o = c->options; o && o->name; o++, n++) {
        longs[n] = (struct option){.name = o->name,
                                   .has_arg = !o->argument          ? no_argument
                                              : *o->argument == '[' ? optional_argument
                                                                    : required_argument,
                                   .val = 256 + (int)n};
        if (!o->letter) continue;
        *s++ = o->letter;
        if (o->argument) *s++ = ':';
    }
    assert(n + 2 <= OPTIONS_MAX); /* this one, and the end */
    longs[n++] = (struct option){.name = "help", .val = HELP};
    longs[n] = (struct option){0};
    *s++ = HELP;
    *s = '\0';
}

static const struct option_row *find_row(const struct command *c, int value)
{
    if (value >= 256) return &c->options[value - 256];
    for (const struct option_row *o = c->options; o && o->name; o++)
        if (o->letter == value) return o;
    return NULL;
}

static int unknown_option(const struct invocation *in, const char *given)
{
    const char *names[OPTIONS_MAX];
    size_t n = 0;
    for (const struct option_row *o = in->command->options; o && o->name; o++) names[n++] = o->name;
    const char *near = strncmp(given, "--", 2) == 0 ? text_nearest(given + 2, names, n) : NULL;
    if (strncmp(given, "--plugin", strlen("--plugin")) == 0)
        return usage_error(in, "--plugin stands before the command: dse --plugin FILE %s ...", in->command->name);
    return near ? usage_error(in, "unknown option \"%s\"; did you mean --%s?", given, near)
                : usage_error(in, "unknown option \"%s\"", given);
}

/* Read the command line. Returns -1 to go on, or the exit status. */
static int parse(struct invocation *in, int argc, char **argv)
{
    struct option longs[OPTIONS_MAX];
    char shorts[2 * OPTIONS_MAX];
    describe_options(in->command, longs, shorts);
    opterr = 0;
    optind = 1;
    for (;;) {
        int value = getopt_long(argc, argv, shorts, longs, NULL);
        if (value == -1) break;
        if (value == HELP) return print_command_help(in->command);
        if (value == '?') return unknown_option(in, optopt && optopt < 256 ? (char[]){'-', (char)optopt, '\0'} : argv[optind - 1]);
        if (value == ':') return usage_error(in, "option %s needs an argument", argv[optind - 1]);
        in->options = xrealloc(in->options, in->n_options + 1, sizeof *in->options); /* one argument may hold many: -bbb */
        const struct option_row *row = find_row(in->command, value);
        if (row) in->options[in->n_options++] = (struct option_value){row, optarg};
    }
    for (int i = optind; i < argc; i++) in->operands[in->n_operands++] = argv[i];
    if (in->n_operands < in->command->min_operands)
        return usage_error(in, "something is missing: dse %s %s", in->command->name, in->command->operands);
    if (in->n_operands > in->command->max_operands)
        return usage_error(in, "one argument too many: \"%s\"", in->operands[in->command->max_operands]);
    return -1;
}

static int failure_status = 1; /* of the command that runs */

/* `first`: what stands before the command. */
static int run_command(const struct command *c, const struct invocation *first, int argc, char **argv)
{
    if (c->failure) failure_status = c->failure;
    struct invocation in = *first;
    in.command = c;
    in.operands = xcalloc((size_t)argc, sizeof *in.operands);
    int status = parse(&in, argc, argv);
    if (option_has(&in, "wide")) terminal_set_wide();
    if (option_has(&in, "no-pager")) terminal_set_no_pager();
    if (status < 0) status = c->run(&in);
    free(in.options);
    free(in.operands);
    return status;
}

static int no_such_command(const char *name, struct diags *diags)
{
    const char **names = command_names();
    size_t n = 0;
    while (names[n]) n++;
    const int status = usage_unknown(&(struct invocation){.diags = diags}, "unknown command", name, names, n, "");
    free(names);
    return status;
}

/* The options before the command: --no-pager, where git has it, too, and --plugin FILE. */
static bool take_first_options(struct invocation *in, int *argc, char ***argv)
{
    static const char plugin[] = "--plugin", plugin_is[] = "--plugin=";
    static const char **files; /* until the next call, of which a program has one */
    bool ok = true;
    free(files);
    in->plugins = files = xcalloc((size_t)*argc, sizeof *files);
    for (; *argc > 1; (*argc)--, (*argv)++) {
        const char *word = (*argv)[1];
        if (strcmp(word, "--no-pager") == 0) {
            terminal_set_no_pager();
        } else if (strncmp(word, plugin_is, strlen(plugin_is)) == 0) {
            files[in->n_plugins++] = word + strlen(plugin_is);
        } else if (strcmp(word, plugin) == 0) {
            if (*argc < 3) return usage_error(in, "option --plugin needs an argument") == 0;
            files[in->n_plugins++] = (*argv)[2];
            (*argc)--, (*argv)++;
        } else {
            break;
        }
    }
    for (size_t i = 0; i < in->n_plugins; i++) ok = model_load(files[i], in->diags) && ok;
    ok = model_load_all(catalog_data_dir(), in->diags) && ok;
    size_t n;
    const struct model *added = registry_added(&n);
    for (size_t i = 0; i < n; i++)
        if (added[i].file) crash_watch();
    return ok;
}

static int dispatch(int argc, char **argv, struct diags *diags)
{
    struct invocation in = {.all = &all_commands, .diags = diags};
    if (!take_first_options(&in, &argc, &argv)) return 2;
    if (argc < 2) return usage_error(&in, "a command is needed");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) return print_help();
    if (strcmp(name, "--version") == 0) {
        const bool verbose = argc == 3 && (strcmp(argv[2], "--verbose") == 0 || strcmp(argv[2], "-v") == 0);
        if (argc > 2 && !verbose) return usage_error(&in, "--version takes --verbose and nothing else, not \"%s\"", argv[2]);
        version_print(verbose);
        return 0;
    }
    const struct command *c = command_find(&all_commands, name);
    return c ? run_command(c, &in, argc - 1, argv + 1) : no_such_command(name, diags);
}

/* Was stdout a pipe whose reader, `head` say, has seen enough? */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/* The handler of GSL's errors. GSL's own one ends the program with a core dump. */
static void on_gsl_error(const char *reason, const char *file, int line, int code)
{
    if (code == GSL_ENOMEM) out_of_memory(0);
    fprintf(stderr, "dse: a bug: %s:%d: %s\n", file, line, reason);
    abort();
}

int main(int argc, char **argv)
{
    gsl_set_error_handler(on_gsl_error);
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away must not end a sweep that is still to be stored */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow further */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8"); /* tables have texts in UTF-8 */
    struct diags diags;
    diags_init(&diags);
    int status = dispatch(argc, argv, &diags);
    if (!pager_finish() && diags.errors == 0) status = 0;
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written && reader_is_gone())
        status = 1;
    else if (!written)
        diags_runtime(&diags, NULL, "cannot write to standard output");
    diags_print(&diags, stderr, wants_colour(stderr));
    if (diags.errors) status = diags_exit_status(&diags) == 1 ? failure_status : diags_exit_status(&diags);
    diags_release(&diags);
    registry_release();
    crash_watch_ends();
    return status;
}
