/* dse complete: what may stand next on a command line. The completions of the shells call it, so that they know what dse knows. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/commands.h"
#include "command/command.h"
#include "config/bind.h"
#include "model/groups.h"
#include "model/registry.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------------------------------------- */

/* What may stand in a place of the command line, for completion. */

/* Candidates for one word. They are printed as they come; what does not begin with the word is left out. */
struct candidates {
    const char *word;   /* as far as it is typed */
    const char *before; /* what stands before each: "--set=" */
    bool files;         /* the name of a file may stand here, too */
};

/* "word", a tab, "meaning" on a line; meaning may be NULL. */
static void candidate_add(const struct candidates *c, const char *word, const char *meaning)
{
    if (strncmp(word, c->word, strlen(c->word)) != 0) return;
    printf("%s%s", c->before, word);
    if (meaning && *meaning) printf("\t%s", meaning);
    putchar('\n');
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static void add_models(const struct candidates *c)
{
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) candidate_add(c, models[i].desc->name, models[i].desc->title);
}

/* The catalog, without a word about what is wrong with it; NULL when something is. */
static struct catalog *quiet_catalog(void)
{
    struct diags unsaid;
    diags_init(&unsaid);
    struct catalog *c = catalog_open(&unsaid);
    diags_release(&unsaid);
    return c;
}

static void add_entries(const struct candidates *c, enum dse_kind kind)
{
    struct catalog *catalog = quiet_catalog();
    const struct dse_entry *e;
    for (size_t i = 0; catalog && (e = catalog_at(catalog, kind, i)) != NULL; i++) candidate_add(c, e->name, e->title);
    catalog_free(catalog);
}

static bool find_kind(const char *plural, enum dse_kind *ret)
{
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        *ret = (enum dse_kind)k;
        if (strcmp(plural, kind_plural(*ret)) == 0) return true;
    }
    return false;
}

static bool is_metric_before(const struct model *models, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (schema_find(&models[i].metrics, name)) return true;
    return false;
}

/* Metrics of all models, each once; parameters in place of them for --per. */
static void add_columns(const struct candidates *c, bool parameters)
{
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        const struct schema *s = parameters ? &models[m].params : &models[m].metrics;
        for (size_t i = 0; i < s->n; i++) {
            bool before = !parameters && is_metric_before(models, m, s->fields[i].name);
            for (size_t k = 0; k < m && parameters && !before; k++)
                before = schema_find(&models[k].params, s->fields[i].name) != NULL;
            if (!before) candidate_add(c, s->fields[i].name, s->fields[i].doc);
        }
    }
}

/* ---- parameters and their values --------------------------------------------------------------------------------------------- */

/* The ends of a number's range, and its default in the model. */
static void add_numbers(const struct candidates *c, const struct model *m, const struct field *f)
{
    char buf[TEXT_NUMBER_MAX];
    struct diags unsaid;
    diags_init(&unsaid);
    struct catalog *catalog = quiet_catalog();
    struct binding *b = catalog ? binding_new(m, catalog, catalog_data_dir(), &unsaid) : NULL;
    if (b) candidate_add(c, value_text(f, field_get(f, b->defaults), buf), "default");
    binding_free(b);
    catalog_free(catalog);
    diags_release(&unsaid);
    candidate_add(c, text_number(buf, f->min), "least");
    candidate_add(c, text_number(buf, f->max), "greatest");
}

static void add_values(const struct candidates *c, const struct model *m, const struct field *f)
{
    for (size_t i = 0; f->type == DSE_TYPE_ENUM && f->choices[i]; i++) candidate_add(c, f->choices[i], NULL);
    if (f->type == DSE_TYPE_REF) add_entries(c, f->kind);
    if (f->type == DSE_TYPE_F64 || f->type == DSE_TYPE_I64) add_numbers(c, m, f);
}

/* NAME=VALUE: the parameters of the model, then the values of one. */
static void add_assignment(struct candidates *c, const struct model *m)
{
    const char *equals = strchr(c->word, '=');
    if (!equals) {
        for (size_t i = 0; i < m->params.n; i++) {
            char *word = xasprintf("%s=", m->params.fields[i].name);
            candidate_add(c, word, m->params.fields[i].doc);
            free(word);
        }
        return;
    }
    char *name = xstrndup(c->word, (size_t)(equals - c->word));
    const struct field *f = schema_find(&m->params, name);
    char *before = xasprintf("%s%s=", c->before, name);
    struct candidates values = {.word = equals + 1, .before = before};
    if (f) add_values(&values, m, f);
    free(before);
    free(name);
}

/* ---- words of a table -------------------------------------------------------------------------------------------------------- */

/* "table|csv|json", as the table of options has it: lower-case words with bars between them. */
static bool add_listed(const struct candidates *c, const char *words)
{
    for (const char *p = words; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && !strchr("|-_", *p)) return false;
    if (!strchr(words, '|')) return false;
    for (const char *p = words; *p;) {
        const size_t n = strcspn(p, "|");
        char *word = xstrndup(p, n);
        candidate_add(c, word, NULL);
        free(word);
        p += n + (p[n] == '|');
    }
    return true;
}

/* An option's argument that says what it names. */
static bool add_named(struct candidates *c, const char *option, const struct model *m)
{
    static const char *const fidelities[] = {"closed-form", "event-level", NULL}, *const ideals[] = {"fifos", "refresh", "dram",
                                                                                                     "draws", "sync",    "all",
                                                                                                     NULL};
    static const char *const tables[] = {"columns", "front", "why", "rows", NULL};
    const char *const *words = strcmp(option, "fidelity") == 0 ? fidelities
                               : strcmp(option, "ideal") == 0  ? ideals
                               : strcmp(option, "show") == 0   ? tables
                                                               : NULL;
    for (size_t i = 0; words && words[i]; i++) candidate_add(c, words[i], NULL);
    if (words) return true;
    if (strcmp(option, "model") == 0)
        add_models(c);
    else if (strcmp(option, "max") == 0 || strcmp(option, "min") == 0)
        add_columns(c, false);
    else if (strcmp(option, "per") == 0)
        add_columns(c, true);
    else if (strcmp(option, "requests") == 0)
        add_entries(c, DSE_KIND_REQUESTS);
    else if ((strcmp(option, "set") == 0 || strcmp(option, "vary") == 0) && m)
        add_assignment(c, m);
    else
        return false;
    return true;
}

/* The argument of an option of that command. `operands` are those before it. */
static void complete_argument(struct candidates *c, const struct command *command, const struct option_row *o,
                              const char *const *operands, size_t n_operands)
{
    const struct model *m = n_operands && strstr(command->operands, "MODEL") ? registry_find(operands[0]) : NULL;
    const char *const *words = o->words ? o->words() : NULL;
    for (size_t i = 0; words && words[i]; i++) candidate_add(c, words[i], NULL);
    if (words || add_named(c, o->name, m) || add_listed(c, o->argument)) return;
    enum dse_kind kind;
    char *plural = xasprintf("%ss", o->name); /* --memory NAME, --gpu NAME */
    if (strcmp(o->argument, "NAME") == 0 && find_kind(strcmp(plural, "memorys") == 0 ? "memories" : plural, &kind))
        add_entries(c, kind);
    else
        c->files = !strcmp(o->argument, "N") ? false : true;
    free(plural);
}

/* "[models | llms | ...] [NAME]...": the words of the list, then names of that kind. */
static void complete_list(struct candidates *c, const char *text, const char *const *operands, size_t n_operands)
{
    enum dse_kind kind;
    if (n_operands && find_kind(operands[0], &kind)) add_entries(c, kind);
    for (const char *p = text; !n_operands && *p && *p != ']';) {
        const size_t skip = strspn(p, "[| "), n = strcspn(p + skip, "[]| ");
        char *word = xstrndup(p + skip, n);
        if (n) candidate_add(c, word, NULL);
        free(word);
        p += skip + n;
    }
}

/* Behind a model: what `dse describe` tells by itself. */
static void add_subjects(const struct candidates *c, const char *model, size_t n_operands)
{
    static const char *const words[] = {"equations", "constants", "trends", "causes"};
    const struct model *m = registry_find(model);
    if (!m || n_operands > 1) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) candidate_add(c, words[i], NULL);
    for (int g = 0; g < PARAM_GROUPS; g++) candidate_add(c, param_groups[g].name, param_groups[g].title);
    for (int g = 0; g < METRIC_GROUPS; g++)
        if (strcmp(metric_groups[g].name, param_groups[GROUP_MEMORY].name) != 0)
            candidate_add(c, metric_groups[g].name, metric_groups[g].title);
    for (size_t i = 0; i < m->params.n; i++) candidate_add(c, m->params.fields[i].name, m->params.fields[i].doc);
    for (size_t i = 0; i < m->metrics.n; i++) candidate_add(c, m->metrics.fields[i].name, m->metrics.fields[i].doc);
}

/* The next operand. */
static void complete_operand(struct candidates *c, const struct command *command, const char *const *operands, size_t n_operands)
{
    const char *text = command->operands;
    if (strncmp(text, "[models", 7) == 0)
        complete_list(c, text, operands, n_operands);
    else if (n_operands && strstr(text, "[GROUP|NAME]"))
        add_subjects(c, operands[0], n_operands);
    else if (strstr(text, "MODEL") && (n_operands == 0 || command->max_operands > 1))
        add_models(c);
    else if (strcmp(command->name, "trace") == 0 && n_operands == 0)
        complete_list(c, "info | import | generate | fit | measure | extend", operands, n_operands);
    else if (strcmp(command->name, "llm") == 0 && n_operands == 0)
        candidate_add(c, "import", NULL);
    else
        c->files = *text != '\0';
}

/* ---- the line ------------------------------------------------------------------------------------------------------------- */

/* A command line as far as it is read. */
struct line {
    const struct command *command;
    const char **operands;
    size_t n_operands;
    const struct option_row *pending; /* an option that waits for its argument */
    bool no_options;                  /* behind -- */
};

static const struct option_row *find_option(const struct command *c, const char *word, size_t n)
{
    for (const struct option_row *o = c->options; o && o->name; o++) {
        if (n == 2 && word[0] == '-' && word[1] == o->letter && o->letter) return o;
        if (n > 2 && strncmp(word, "--", 2) == 0 && strlen(o->name) == n - 2 && strncmp(o->name, word + 2, n - 2) == 0) return o;
    }
    return NULL;
}

static void read_word(struct line *l, const char *word)
{
    if (l->pending) {
        l->pending = NULL;
    } else if (!l->no_options && strcmp(word, "--") == 0) {
        l->no_options = true;
    } else if (!l->no_options && word[0] == '-' && word[1]) {
        const struct option_row *o = find_option(l->command, word, strcspn(word, "="));
        if (o && o->argument && *o->argument != '[' && !strchr(word, '=')) l->pending = o;
    } else {
        l->operands[l->n_operands++] = word;
    }
}

static void complete_option(const struct candidates *c, const struct command *command)
{
    for (const struct option_row *o = command->options;; o++) {
        const bool last = !o || !o->name;
        const struct option_row *row = last ? &option_row_help : o;
        char *word = xasprintf("--%s", row->name), *help = option_help(row);
        candidate_add(c, word, help);
        free(help);
        free(word);
        if (last) return;
    }
}

static void complete_word(struct line *l, const char *word, struct candidates *c)
{
    const char *equals = strchr(word, '=');
    const struct option_row *o =
        !l->no_options && word[0] == '-' && equals ? find_option(l->command, word, (size_t)(equals - word)) : NULL;
    if (l->pending) {
        complete_argument(c, l->command, l->pending, l->operands, l->n_operands);
    } else if (o && o->argument) {
        char *before = xstrndup(word, (size_t)(equals - word) + 1);
        c->word = equals + 1;
        c->before = before;
        complete_argument(c, l->command, o, l->operands, l->n_operands);
        free(before);
    } else if (!l->no_options && word[0] == '-') {
        complete_option(c, l->command);
    } else {
        complete_operand(c, l->command, l->operands, l->n_operands);
    }
}

static void complete_command(const struct candidates *c, const struct commands *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!all->list[i]->hidden) candidate_add(c, all->list[i]->name, all->list[i]->summary);
    candidate_add(c, "--help", "what dse is");
    candidate_add(c, "--version", "version and commit; with --verbose what it was built of");
}

static int run(const struct invocation *in)
{
    const char *word = in->n_operands ? in->operands[in->n_operands - 1] : "";
    struct candidates c = {.word = word, .before = ""};
    struct line l = {.command = in->n_operands > 1 ? command_find(in->all, in->operands[0]) : NULL};
    if (in->n_operands <= 1) {
        complete_command(&c, in->all);
    } else if (l.command) {
        l.operands = xcalloc(in->n_operands, sizeof *l.operands);
        for (size_t i = 1; i + 1 < in->n_operands; i++) read_word(&l, in->operands[i]);
        complete_word(&l, word, &c);
        if (c.files) puts(":files");
        free(l.operands);
    }
    return 0;
}

const struct command command_complete = {
    .name = "complete",
    .operands = "WORD...",
    .summary = "what may stand next on a command line, for completion in shells",
    .help =
        "The words behind \"dse\" and a --; the last one is to be completed. Each candidate is a line, with its meaning behind a "
        "tab;\n"
        "\":files\" is one where the name of a file may stand.\n",
    .hidden = true,
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
