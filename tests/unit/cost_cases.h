/* For test_cost.c: the rows of worked.csv, and what stands in their inputs.
 *
 * Inputs are "key=value;key=value", or words with numbers between them ("12 x 74.632 M / 96.3"). */
#ifndef DSE_TESTS_COST_CASES_H
#define DSE_TESTS_COST_CASES_H

#include "base/text.h"
#include "base/xalloc.h"
#include "rows.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cost_case {
    char *group, *name, *kind, *inputs, *quantity, *unit, *published, *rel_tol, *source, *note;
    double value, tolerance; /* tolerance NaN: cannot be reproduced */
};

struct cost_cases {
    char *text;
    struct cost_case *list;
    size_t n;
};

/* The next cell of a line, without its quotes; it ends in NUL afterwards. */
static inline char *cases_cell(char **line)
{
    char *start = *line, *to = start, *p = start;
    bool quoted = *p == '"';
    if (quoted) p++;
    for (; *p && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && p[1] != '"') {
            quoted = false;
            continue;
        }
        if (quoted && *p == '"') p++;
        *to++ = *p;
    }
    *line = *p ? p + 1 : p;
    *to = '\0';
    return start;
}

/* "the rest as above" are the inputs of the row before, "otherwise GA100" those of the row whose name ends so. */
static inline char *cases_inputs(const struct cost_cases *cases, const char *own)
{
    if (strstr(own, "the rest as above")) return xasprintf("%s;%s", own, cases->list[cases->n - 1].inputs);
    for (size_t i = 0; strstr(own, "otherwise GA100") && i < cases->n; i++)
        if (strcmp(cases->list[i].name, "llmcompass_area_ga100") == 0) return xasprintf("%s;%s", own, cases->list[i].inputs);
    return xstrdup(own);
}

static inline void cases_read(struct cost_cases *cases, const char *path)
{
    *cases = (struct cost_cases){.text = rows_text(path)};
    char *save = NULL, *line = strtok_r(cases->text, "\n", &save);
    while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
        cases->list = xrealloc(cases->list, cases->n + 1, sizeof *cases->list);
        struct cost_case *c = &cases->list[cases->n];
        char **const cells[] = {&c->group, &c->name,      &c->kind,    &c->inputs, &c->quantity,
                                &c->unit,  &c->published, &c->rel_tol, &c->source, &c->note};
        for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) *cells[i] = cases_cell(&line);
        c->inputs = cases_inputs(cases, c->inputs);
        c->value = strtod(c->published, NULL);
        c->tolerance = *c->rel_tol ? strtod(c->rel_tol, NULL) : (double)NAN;
        cases->n++;
    }
}

static inline void cases_release(struct cost_cases *cases)
{
    for (size_t i = 0; i < cases->n; i++) free(cases->list[i].inputs);
    free(cases->list);
    free(cases->text);
}

/* What stands behind "key=", of the first of several; NULL without. */
static inline const char *case_word(const struct cost_case *c, const char *key)
{
    const size_t n = strlen(key);
    for (const char *p = c->inputs; *p; p += strcspn(p, ";"), p += *p == ';') {
        p += strspn(p, " ");
        if (strncmp(p, key, n) == 0 && p[n] == '=') return p + n + 1;
    }
    return NULL;
}

static inline double case_number(const struct cost_case *c, const char *key)
{
    const char *word = case_word(c, key);
    return word ? strtod(word, NULL) : (double)NAN;
}

/* The i-th number that stands in the words, counting from 0: digits with a point and an exponent, not those within a word. */
static inline double case_at(const struct cost_case *c, int i)
{
    for (const char *p = c->inputs; *p; p++) {
        if (!isdigit((unsigned char)*p)) continue;
        const bool own = p == c->inputs || !(isalpha((unsigned char)p[-1]) || p[-1] == '-' || p[-1] == '_');
        char *end;
        const double v = strtod(p, &end);
        if (own && i-- == 0) return *end == 'k' ? v * 1e3 : v;
        p = end - 1;
        while (isalnum((unsigned char)p[1])) p++;
    }
    return (double)NAN;
}

static inline bool case_has(const struct cost_case *c, const char *words)
{
    return strstr(c->inputs, words) != NULL;
}

static inline bool case_begins(const struct cost_case *c, const char *prefix)
{
    return strncmp(c->name, prefix, strlen(prefix)) == 0;
}

#endif
