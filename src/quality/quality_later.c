/* The life of an entry. Some are read when something of them is asked for the first time: the files that ship have tens of
 * thousands of rows, and most commands ask nothing of them. */
#include "quality/quality_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct quality_later {
    quality_reader *read;
    void *user;
    pthread_mutex_t lock;
    _Atomic(struct dse_quality *) whole; /* NULL before */
};

struct dse_quality *quality_later(const char *name, const char *source, quality_reader *read, void *user)
{
    struct dse_quality *q = xcalloc(1, sizeof *q);
    q->entry.name = q->name = xstrdup(name);
    q->entry.source = q->source = xstrdup(source);
    q->later = xcalloc(1, sizeof *q->later);
    q->later->read = read;
    q->later->user = user;
    pthread_mutex_init(&q->later->lock, NULL);
    return q;
}

/* In place of a file that cannot be read: without any method, and says why. */
static struct dse_quality *unread(const struct dse_quality *q, char *why)
{
    struct dse_quality *ret = xcalloc(1, sizeof *ret);
    char *no_why;
    ret->entry.name = ret->name = xstrdup(q->name);
    ret->entry.source = ret->source = xstrdup(q->source);
    ret->measured = measured_new(NULL, &no_why);
    ret->no_method = xasprintf("quality %s cannot be read: %s", q->name, why ? why : "no reason is known");
    free(why);
    return ret;
}

const struct dse_quality *quality_whole(const struct dse_quality *q)
{
    struct quality_later *l = q->later;
    if (!l) return q;
    struct dse_quality *whole = atomic_load_explicit(&l->whole, memory_order_acquire);
    if (whole) return whole;
    pthread_mutex_lock(&l->lock);
    whole = atomic_load_explicit(&l->whole, memory_order_relaxed);
    if (!whole) {
        char *why = NULL;
        whole = l->read(l->user, &why);
        if (!whole) whole = unread(q, why);
        atomic_store_explicit(&l->whole, whole, memory_order_release);
    }
    pthread_mutex_unlock(&l->lock);
    return whole;
}

static void free_sheet(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->n; i++) {
        struct curve *c = &sheet->curves[i];
        for (size_t k = 0; k < SCALES; k++) free(c->along[k]);
        free(c->ratio);
        free(c->value);
        free(c->y);
        free(c->slope);
    }
    free(sheet->curves);
}

static void free_later(struct quality_later *l)
{
    if (!l) return;
    quality_free(atomic_load(&l->whole));
    pthread_mutex_destroy(&l->lock);
    free(l->user);
    free(l);
}

void quality_free(struct dse_quality *q)
{
    if (!q) return;
    for (size_t i = 0; i < q->n; i++) {
        struct dse_quality_surface *s = &q->surfaces[i];
        for (size_t k = 0; k < s->n; k++) free_sheet(&s->sheets[k]);
        for (size_t k = 0; k < s->n_axes; k++) {
            free(s->axes[k].value);
            free(s->axes[k].at);
        }
        for (size_t k = 0; k < DSE_SETTINGS; k++) free(s->unlike[k]);
        free(s->no_context);
        free(s->no_ratio);
        free(s->no_mix);
        free(s->sheets);
        free(s->grid);
        free(s->method);
    }
    free(q->surfaces);
    free(q->no_method);
    free_later(q->later);
    measured_free(q->measured);
    free(q->name);
    free(q->source);
    free(q);
}
