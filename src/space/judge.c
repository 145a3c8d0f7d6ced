#include "space/judge.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 2 * DSE_BEYOND_MAX };

/* A text made of parts, which are strings that live longer: pointers tell them apart. */
struct made {
    const char *parts[PARTS_MAX];
    int n;
    char *text;
    struct made *next;
};

struct judge {
    const struct dse_model *model;
    int32_t quality;
    const char *unknown, *beyond[PARTS_MAX];
    int n_beyond;
    double tokens, known;
    struct made *beyonds, *refusals;
};

struct judge *judge_new(const struct dse_model *model)
{
    struct judge *j = xcalloc(1, sizeof *j);
    j->model = model;
    return j;
}

static void free_made(struct made *m)
{
    for (struct made *next; m; m = next) {
        next = m->next;
        free(m->text);
        free(m);
    }
}

void judge_free(struct judge *j)
{
    if (!j) return;
    free_made(j->beyonds);
    free_made(j->refusals);
    free(j);
}

void judge_begin(struct judge *j)
{
    j->quality = DSE_QUALITY_EXACT;
    j->unknown = NULL;
    j->n_beyond = 0;
    j->tokens = j->known = 0;
}

static void add_beyond(struct judge *j, const char *beyond)
{
    for (int i = 0; i < j->n_beyond; i++)
        if (j->beyond[i] == beyond) return;
    if (j->n_beyond < PARTS_MAX) j->beyond[j->n_beyond++] = beyond;
}

void judge_add(struct judge *j, const void *params, double tokens)
{
    if (!j->model->stand) return;
    struct dse_standing s = {0};
    j->model->stand(params, &s);
    if (s.quality > j->quality) j->quality = s.quality;
    if (!j->unknown) j->unknown = s.unknown;
    for (int i = 0; i < s.n_beyond; i++) add_beyond(j, s.beyond[i]);
    j->tokens += tokens;
    if (s.quality != DSE_QUALITY_UNKNOWN) j->known += tokens;
}

/* The text of these parts, made once; the last one that was asked for stands first. */
static const char *find(struct made **list, const char *head, const char *const *parts, int n)
{
    for (struct made **at = list; *at; at = &(*at)->next) {
        struct made *m = *at;
        if (m->n != n || memcmp(m->parts, parts, (size_t)n * sizeof *parts) != 0) continue;
        *at = m->next;
        m->next = *list;
        *list = m;
        return m->text;
    }
    struct made *m = xcalloc(1, sizeof *m);
    struct text t;
    text_init(&t);
    text_add(&t, head);
    for (int i = 0; i < n; i++) text_addf(&t, "%s%s", i ? "; " : "", parts[i]);
    *m = (struct made){.n = n, .text = text_detach(&t), .next = *list};
    memcpy(m->parts, parts, (size_t)n * sizeof *parts);
    *list = m;
    return m->text;
}

struct standing judge_end(struct judge *j)
{
    if (!j->model->stand) return (struct standing){0};
    return (struct standing){.quality = dse_quality_names[j->quality],
                             .unknown = j->unknown,
                             .beyond = j->n_beyond ? find(&j->beyonds, "", j->beyond, j->n_beyond) : NULL,
                             .known = j->tokens > 0 ? j->known / j->tokens : 0};
}

const char *judge_refusal(struct judge *j, const struct standing *s)
{
    static const char silent[] = "the model does not say what it loses";
    const char *why = s->quality ? s->unknown : silent;
    return find(&j->refusals, "constraint quality: ", &why, 1);
}
