#include "sim/timeline.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_BYTES = 1 << 16 };

/* A group is a process: ids count from 1 in the order in which groups appear. */
struct timeline {
    struct file *file;
    struct text buffer;
    char *title;
    char **group;
    uint32_t n_groups;
    uint32_t *process; /* of each resource */
    uint32_t n_resources;
    bool any; /* events so far */
    struct sim_recorder recorder;
};

/* ---- the file --------------------------------------------------------------------------------------------------------------- */

static void flush(struct timeline *t)
{
    file_put(t->file, t->buffer.s, t->buffer.n);
    t->buffer.n = 0; /* keeps its memory */
}

static void release(struct timeline *t)
{
    for (uint32_t i = 0; i < t->n_groups; i++) free(t->group[i]);
    free(t->group);
    free(t->process);
    free(t->title);
    text_release(&t->buffer);
    free(t);
}

/* ---- events ----------------------------------------------------------------------------------------------------------------- */

static void begin_event(struct timeline *t)
{
    text_add(&t->buffer, t->any ? ",\n" : "\n");
    t->any = true;
}

/* A name that the viewer shows: of a process, or of a thread in it (thread > 0). */
static void add_name(struct timeline *t, uint32_t process, uint32_t thread, const char *name)
{
    const char *kind = thread ? "thread" : "process";
    const uint32_t order = thread ? thread : process;
    begin_event(t);
    text_addf(&t->buffer, "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"name\":", kind,
              process, thread);
    text_add_json(&t->buffer, name);
    text_addf(&t->buffer,
              "}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
              ",\"args\":{\"sort_index\":%" PRIu32 "}}",
              kind, process, thread, order);
}

static uint32_t process_of(struct timeline *t, const char *group)
{
    uint32_t i = 0;
    while (i < t->n_groups && strcmp(t->group[i], group) != 0) i++;
    if (i < t->n_groups) return i + 1;
    t->group = xrealloc(t->group, i + 1, sizeof *t->group);
    t->group[t->n_groups++] = xstrdup(group);
    add_name(t, i + 1, 0, *group ? group : t->title);
    return i + 1;
}

static void see_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    struct timeline *t = object;
    const uint32_t process = process_of(t, group);
    if ((t->n_resources & (t->n_resources - 1)) == 0)
        t->process = xrealloc(t->process, t->n_resources ? 2 * t->n_resources : 1, sizeof *t->process);
    t->process[t->n_resources++] = process;
    add_name(t, process, resource + 1, name);
}

/* "keys 3", or for a wait "stalled on input: keys". */
static void add_label(struct text *out, const struct sim_span *s)
{
    struct text name;
    text_init(&name);
    if (s->state != DSE_BUSY) text_addf(&name, "%s%s", sim_state_names[s->state], s->label ? ": " : "");
    text_add(&name, s->label ? s->label : s->state == DSE_BUSY ? "busy" : "");
    if (s->id >= 0) text_addf(&name, " %" PRId64, s->id);
    text_add_json(out, name.s);
    text_release(&name);
}

static void see_span(void *object, const struct sim_span *s)
{
    struct timeline *t = object;
    const dse_ps us = 1000000, length = s->to - s->from;
    begin_event(t);
    text_add(&t->buffer, "{\"ph\":\"X\",\"name\":");
    add_label(&t->buffer, s);
    text_addf(&t->buffer,
              ",\"cat\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%06d,\"dur\":%" PRId64 ".%06d}",
              sim_state_names[s->state], t->process[s->resource], s->resource + 1, s->from / us, (int)(s->from % us), length / us,
              (int)(length % us));
    if (t->buffer.n > FLUSH_BYTES) flush(t);
}

/* ---- life cycle ------------------------------------------------------------------------------------------------------------- */

struct timeline *timeline_open(const char *path, const char *title, struct diags *diags)
{
    struct file *file = file_begin(path, diags);
    if (!file) return NULL;
    struct timeline *t = xcalloc(1, sizeof *t);
    *t = (struct timeline){.file = file, .title = xstrdup(title)};
    t->recorder = (struct sim_recorder){.resource = see_resource, .span = see_span, .object = t};
    text_init(&t->buffer);
    text_add(&t->buffer, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"dse " DSE_VERSION "\"},\"traceEvents\":[");
    return t;
}

const struct sim_recorder *timeline_recorder(struct timeline *t)
{
    return &t->recorder;
}

bool timeline_close(struct timeline *t, struct diags *diags)
{
    text_add(&t->buffer, "\n]}\n");
    flush(t);
    const bool ok = file_commit(t->file, diags);
    release(t);
    return ok;
}

void timeline_abandon(struct timeline *t)
{
    if (!t) return;
    file_abandon(t->file);
    release(t);
}
