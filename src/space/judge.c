#include "space/judge.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "desc/schema.h"

#include <dse/catalog.h>

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 2 * DSE_BEYOND_MAX, LLMS_MAX = 4 };

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
    size_t llms[LLMS_MAX]; /* where the parameters have LLMs: the one that is run, and one that drafts */
    int n_llms;
    const char *unknown, *beyond[PARTS_MAX];
    int n_beyond;
    double tokens, known;
    struct made *beyonds, *refusals;
};

static void find_llms(struct judge *j)
{
    struct schema params;
    schema_init_params(&params, j->model->params);
    for (size_t i = 0; i < params.n && j->n_llms < LLMS_MAX; i++)
        if (params.fields[i].type == DSE_TYPE_REF && params.fields[i].kind == DSE_KIND_LLM)
            j->llms[j->n_llms++] = params.fields[i].offset;
    schema_release(&params);
}

struct judge *judge_new(const struct dse_model *model)
{
    struct judge *j = xcalloc(1, sizeof *j);
    j->model = model;
    find_llms(j);
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

static void add_approximate(struct judge *j, const void *params)
{
    static const char said[] = "keys of the LLM's config.json that may change its counts were not read (llm import --approximate)";
    for (int i = 0; i < j->n_llms; i++) {
        const struct dse_llm *llm;
        memcpy(&llm, (const char *)params + j->llms[i], sizeof llm);
        if (llm && llm->details.approximate) add_beyond(j, said);
    }
}

void judge_add(struct judge *j, const void *params, double tokens)
{
    add_approximate(j, params);
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
    const char *beyond = j->n_beyond ? find(&j->beyonds, "", j->beyond, j->n_beyond) : NULL;
    if (!j->model->stand) return (struct standing){.beyond = beyond};
    return (struct standing){.quality = dse_quality_names[j->quality],
                             .unknown = j->unknown,
                             .beyond = beyond,
                             .known = j->tokens > 0 ? j->known / j->tokens : 0};
}

const char *judge_refusal(struct judge *j, const struct standing *s)
{
    static const char silent[] = "the model does not state its loss";
    const char *why = s->quality ? s->unknown : silent;
    return find(&j->refusals, "constraint quality: ", &why, 1);
}
