/* No event is pending: who still waits, and for whom. */
#include "sim/sim_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

/* ---- one stage -------------------------------------------------------------------------------------------------------------- */

static const struct dse_fifo *missing_input(const struct dse_stage *s)
{
    for (unsigned i = 0; i < s->inputs; i++)
        if (s->spec.in[i]->size == 0) return s->spec.in[i];
    return NULL;
}

/* It holds items, or has some inputs and not all. */
static bool is_stuck(const struct dse_stage *s)
{
    if (s->count > 0) return true;
    for (unsigned i = 0; i < s->inputs; i++)
        if (s->spec.in[i]->size > 0) return true;
    return false;
}

static void add_name(struct text *t, const struct dse_stage *s)
{
    if (s->spec.group) text_addf(t, "%s/", s->spec.group);
    text_add(t, s->spec.name);
}

/* The one to look at next: a stage that is stuck rather than one that is idle. */
static const struct dse_stage *pick(const struct sim_port *list)
{
    for (const struct sim_port *p = list; p; p = p->next)
        if (is_stuck(p->stage)) return p->stage;
    return list ? list->stage : NULL;
}

/* ---- the chain -------------------------------------------------------------------------------------------------------------- */

static const struct dse_stage *add_wait_room(struct text *t, const struct dse_fifo *f)
{
    text_addf(t, "waits for room in fifo `%s` (%u of %u), ", f->name, f->size, f->capacity);
    text_add(t, f->takers ? "taken by " : "which no stage takes from");
    return pick(f->takers);
}

static const struct dse_stage *add_wait_item(struct text *t, const struct dse_fifo *f)
{
    text_addf(t, "waits for an item in `%s` (empty), ", f->name);
    text_add(t, f->putters ? "put by " : "which no stage puts into");
    return pick(f->putters);
}

/* What the stage waits for; the stage that it waits for, or NULL at the chain's end. */
static const struct dse_stage *add_wait(struct text *t, const struct dse_stage *s)
{
    if (s->count > 0 && stage_head(s)->ready == SIM_NEVER) {
        text_add(t, "waits to be told that its item is done");
        return NULL;
    }
    if (s->count > 0) return add_wait_room(t, s->spec.out[__builtin_ctz(stage_head(s)->ports)]);
    const struct dse_fifo *f = missing_input(s);
    if (f) return add_wait_item(t, f);
    text_add(t, "has all that it needs");
    return NULL;
}

static bool was_seen(const struct dse_stage *const *seen, size_t n, const struct dse_stage *s)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i] == s) return true;
    return false;
}

/* Go on from a stage, whose name comes next, until somebody waits for nobody or a name comes again. */
static void add_chain(struct text *t, const struct dse_stage *s, bool first)
{
    enum { CHAIN_MAX = 64 };
    const struct dse_stage *seen[CHAIN_MAX];
    for (size_t n = 0; s; n++) {
        add_name(t, s);
        if (was_seen(seen, n, s)) {
            text_add(t, ": a cycle");
            return;
        }
        if (!is_stuck(s)) {
            text_add(t, ", which is idle");
            return;
        }
        if (n == CHAIN_MAX) {
            text_add(t, ", and so on");
            return;
        }
        seen[n] = s;
        text_add(t, first && n == 0 ? " " : ", which ");
        s = add_wait(t, s);
    }
}

/* ---- who waits -------------------------------------------------------------------------------------------------------------- */

static void add_actor(struct text *t, const struct dse_sim *sim, uint32_t actor)
{
    if (sim->actor[actor].name)
        text_add(t, sim->actor[actor].name);
    else
        text_addf(t, "actor %u", actor);
    text_add(t, " ");
}

/* Count the stages that wait, and describe the first of them in `t`. */
static size_t add_stages(struct text *t, const struct dse_sim *sim)
{
    size_t n = 0;
    for (const struct dse_stage *s = sim->stages; s; s = s->next)
        if (is_stuck(s) && n++ == 0) add_chain(t, s, true);
    return n;
}

static size_t add_calls(struct text *t, const struct dse_sim *sim, size_t n)
{
    for (const struct dse_fifo *f = sim->fifos; f; f = f->next) {
        for (uint32_t i = 0; i < f->wait_room.n; i++) {
            if (n++ > 0) continue;
            add_actor(t, sim, f->wait_room.list[i].actor);
            add_chain(t, add_wait_room(t, f), false);
        }
        for (uint32_t i = 0; i < f->wait_item.n; i++) {
            if (n++ > 0) continue;
            add_actor(t, sim, f->wait_item.list[i].actor);
            add_chain(t, add_wait_item(t, f), false);
        }
    }
    return n;
}

static size_t add_barriers(struct text *t, const struct dse_sim *sim, size_t n)
{
    for (const struct dse_barrier *b = sim->barriers; b; b = b->next) {
        if (b->arrived.n > 0 && n == 0) {
            add_actor(t, sim, b->arrived.list[0].actor);
            text_addf(t, "waits at barrier `%s` (%u of %u are there)", b->name, b->arrived.n, b->n);
        }
        n += b->arrived.n;
    }
    return n;
}

char *deadlock_find(const struct dse_sim *sim)
{
    char at[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    const size_t n = add_barriers(&t, sim, add_calls(&t, sim, add_stages(&t, sim)));
    char *ret = NULL;
    if (n > 0) {
        text_number(at, (double)sim->now * 1e-6);
        ret =
            n > 1 ? xasprintf("deadlock at %s us: %s; %zu more wait", at, t.s, n - 1) : xasprintf("deadlock at %s us: %s", at, t.s);
    }
    text_release(&t);
    return ret;
}
