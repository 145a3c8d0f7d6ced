#include "cli/eval_quality.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "command/terminal.h"
#include "config/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the output's norm: what a point may lose before `dse eval` says so. */
static const double most_error = BUDGET_DEFAULT_ERROR;

static bool is_unknown(const struct standing *s)
{
    return strcmp(s->quality, dse_quality_names[DSE_QUALITY_UNKNOWN]) == 0;
}

static bool is_exact(const struct standing *s)
{
    return s->quality && (strcmp(s->quality, dse_quality_names[DSE_QUALITY_EXACT]) == 0 ||
                          strcmp(s->quality, dse_quality_names[DSE_QUALITY_ROUNDED]) == 0);
}

/* Is the point's attention exact with this assignment in the place of what was assigned to the parameter? */
static bool makes_exact(const struct eval_answer *a, const struct field *f, const char *assignment, const char *const *given,
                        size_t n)
{
    struct design_point p;
    struct diags quiet; /* what may not be combined is no remedy */
    const char **all = xcalloc(n + 1, sizeof *all);
    const size_t length = strlen(f->name);
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(given[i], f->name, length) != 0 || given[i][length] != '=') all[to++] = given[i];
    all[to++] = assignment;
    diags_init(&quiet);
    const bool exact = design_point_init(&p, a->point.model, a->catalog, all, to, &quiet) && !p.reason && is_exact(&p.standing);
    design_point_release(&p);
    diags_release(&quiet);
    free(all);
    return exact;
}

/* The first choice of a parameter that makes attention exact, "eviction=none"; or NULL. Another phase is another question. The
 * caller frees it. */
static char *find_exact(const struct eval_answer *a, const char *const *given, size_t n)
{
    const struct schema *params = &a->point.model->params;
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        if (f->type != DSE_TYPE_ENUM || strcmp(f->name, "phase") == 0) continue;
        for (int k = 0; f->choices[k]; k++) {
            char *assignment = xasprintf("%s=%s", f->name, f->choices[k]);
            if (makes_exact(a, f, assignment, given, n)) return assignment;
            free(assignment);
        }
    }
    return NULL;
}

void eval_say_quality(const struct eval_answer *a, const char *const *assignments, size_t n)
{
    const struct design_point *p = &a->point;
    const struct field *f = schema_find(space_metrics(p->space), "attention_error");
    if (p->reason || !p->standing.quality || !f) return;
    const double error = field_number(f, p->metrics);
    const bool unknown = is_unknown(&p->standing);
    if (!unknown && !(error > most_error)) return;
    char *exact = find_exact(a, assignments, n), number[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX];
    const char *with = exact ? "; attention is exact with " : "";
    if (unknown)
        terminal_say(stderr, "note: attention error unknown: %s; do not compare this point with others%s%s", p->standing.unknown,
                     with, exact ? exact : "");
    else
        terminal_say(stderr, "note: attention error %s is above %g: the output of attention is off by %s %% of its norm%s%s",
                     text_short_number(number, error), most_error, text_short_number(percent, 100 * error), with,
                     exact ? exact : "");
    free(exact);
}
