/* Machines at event level. */
#include "claims/answers.h"

#include "base/threads.h"
#include "base/xalloc.h"

#include <omp.h>
#include <stdlib.h>

void claims_set_fidelity(struct claim_set *s, enum fidelity fidelity)
{
    for (size_t i = 0; i < s->n_places; i++) {
        if (s->places[i]->pinned) continue;
        if (s->places[i]->fidelity != fidelity) place_drop(s->places[i]);
        s->places[i]->fidelity = fidelity;
    }
}

/* A point whose metrics some claim asks for. */
struct wanted {
    struct place *place;
    uint64_t index;
};

static bool asks_for_metrics_of(const struct answer *a, const struct place *p)
{
    for (size_t i = 0; i < a->n_names; i++)
        if (a->names[i]->place == p && a->names[i]->source == FROM_METRICS) return true;
    return false;
}

/* Does any claim ask for metrics of the place, which event level makes others? */
static bool is_metric_asked_of(const struct claim_set *s, const struct place *p)
{
    bool asked = false;
    for (size_t i = 0; i < s->n_claims && !asked; i++) asked = asks_for_metrics_of(&s->answers[i], p);
    for (size_t i = 0; i < s->n_contradictions && !asked; i++) asked = asks_for_metrics_of(&s->contradiction_answers[i], p);
    return asked && fidelity_at_most(p->machine->model->desc, p->fidelity) == FIDELITY_EVENT_LEVEL;
}

/* The caller frees the array. */
static struct wanted *find_wanted(const struct claim_set *s, size_t *ret_n)
{
    struct wanted *list = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < s->n_places; i++) {
        struct place *p = s->places[i];
        uint64_t n = is_metric_asked_of(s, p) ? space_count(p->space) : 0;
        list = xrealloc(list, *ret_n + n + 1, sizeof *list);
        for (uint64_t k = 0; k < n; k++) list[(*ret_n)++] = (struct wanted){p, k};
    }
    return list;
}

bool claims_simulate(struct claim_set *s, const volatile sig_atomic_t *stop,
                     void (*progress)(void *user, uint64_t done, uint64_t of), void *user)
{
    size_t n;
    struct wanted *list = find_wanted(s, &n);
    uint64_t done = 0;
    for (size_t i = 0; i < s->n_places; i++) s->places[i]->stop = stop;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < n; i++) {
        spot_metrics(list[i].place, place_spot(list[i].place, list[i].index));
#pragma omp critical(claims_progress)
        if (progress) progress(user, ++done, n);
    }
    free(list);
    return !stop || !*stop;
}
