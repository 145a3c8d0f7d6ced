/* What a disk may hold after a power loss. */
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- luck ------------------------------------------------------------------------------------------------------------------ */

/* How a picture draws: what a kill leaves draws nothing, and all of it is there. */
struct luck {
    uint64_t state;
    bool killed;
    double written, at_end; /* the share of sectors that reach the disk at once, and of those left at the end */
    double named;           /* of names */
    double sized;           /* of sizes that do, before their contents */
    size_t sector;
    bool tears;      /* single sectors, too */
    uint8_t rubbish; /* what stands where nothing was written */
};

static uint64_t draw(struct luck *l)
{
    uint64_t z = l->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool happens(struct luck *l, double share)
{
    return (double)(draw(l) >> 11) * 0x1p-53 < share;
}

static struct luck luck_of(uint64_t luck, size_t moment)
{
    static const double shares[] = {0, 0.02, 0.1, 0.5, 0.9, 0.98, 1};
    enum { SHARES = sizeof shares / sizeof *shares };
    struct luck l = {.state = luck * 0x2545F4914F6CDD1Du + moment, .killed = luck == DISK_KILLED};
    l.written = shares[draw(&l) % SHARES];
    l.at_end = shares[draw(&l) % SHARES];
    l.named = shares[draw(&l) % SHARES];
    l.sized = shares[draw(&l) % SHARES];
    l.sector = draw(&l) % 2 ? 512 : 4096;
    l.tears = draw(&l) % 4 == 0;
    l.rubbish = draw(&l) % 2 ? 0 : 0xA5;
    return l;
}

/* ---- files ----------------------------------------------------------------------------------------------------------------- */

/* A file as programs see it and as the disk has it. Bytes [from, to) may differ. */
struct content {
    uint8_t *seen, *disk;
    size_t n_seen, n_disk, capacity;
    size_t from, to;
};

static void reserve(struct content *c, size_t n)
{
    if (n <= c->capacity) return;
    while (c->capacity < n) c->capacity = c->capacity ? 2 * c->capacity : 65536;
    c->seen = realloc(c->seen, c->capacity);
    c->disk = realloc(c->disk, c->capacity);
    if (!c->seen || !c->disk) abort();
}

/* The file on the disk becomes longer than what was written of it. */
static void lengthen(struct content *c, size_t n, uint8_t rubbish)
{
    if (c->n_disk >= n) return;
    memset(c->disk + c->n_disk, rubbish, n - c->n_disk);
    c->n_disk = n;
}

/* The sector from `at` on reaches the disk: in its order from either end, if it is torn. */
static void write_back(struct content *c, size_t at, struct luck *l)
{
    const size_t end = at + l->sector < c->n_seen ? at + l->sector : c->n_seen;
    if (at >= end) return;
    lengthen(c, end, l->rubbish);
    size_t from = at, to = end;
    if (l->tears && happens(l, 0.1)) {
        const size_t cut = at + (size_t)(draw(l) % (end - at));
        if (draw(l) % 2)
            from = cut;
        else
            to = cut;
    }
    memcpy(c->disk + from, c->seen + from, to - from);
}

static void write_back_some(struct content *c, size_t from, size_t to, double share, struct luck *l)
{
    if (share == 0) return;
    for (size_t at = from / l->sector * l->sector; at < to; at += l->sector)
        if (happens(l, share)) write_back(c, at, l);
}

static void mark(struct content *c, size_t from, size_t to)
{
    if (c->from >= c->to) c->from = from;
    if (from < c->from) c->from = from;
    if (to > c->to) c->to = to;
}

static void apply_write(struct content *c, const struct disk_event *e, struct luck *l)
{
    const size_t at = (size_t)e->at, end = at + e->n;
    reserve(c, end);
    if (c->n_seen < at) memset(c->seen + c->n_seen, 0, at - c->n_seen);
    mark(c, at < c->n_seen ? at : c->n_seen, end);
    memcpy(c->seen + at, e->bytes, e->n);
    if (c->n_seen < end) c->n_seen = end;
    if (happens(l, l->sized)) lengthen(c, c->n_seen, l->rubbish);
    write_back_some(c, at, end, l->written, l);
}

static void cut_disk(struct content *c)
{
    if (c->n_disk > c->n_seen) c->n_disk = c->n_seen;
}

static void apply_size(struct content *c, const struct disk_event *e, struct luck *l)
{
    const size_t n = (size_t)e->at;
    reserve(c, n);
    if (n > c->n_seen) {
        memset(c->seen + c->n_seen, 0, n - c->n_seen);
        mark(c, c->n_seen, n);
    }
    c->n_seen = n;
    if (happens(l, l->sized)) cut_disk(c);
}

/* All of it is on the disk. */
static void settle(struct content *c)
{
    cut_disk(c);
    const size_t to = c->to < c->n_seen ? c->to : c->n_seen;
    if (c->n_disk < c->n_seen) {
        memcpy(c->disk + c->n_disk, c->seen + c->n_disk, c->n_seen - c->n_disk);
        c->n_disk = c->n_seen;
    }
    if (c->from < to) memcpy(c->disk + c->from, c->seen + c->from, to - c->from);
    c->from = c->to = 0;
}

static void lose_power(struct content *c, struct luck *l)
{
    write_back_some(c, c->from, c->to < c->n_seen ? c->to : c->n_seen, l->at_end, l);
    if (happens(l, l->at_end)) cut_disk(c);
    if (happens(l, l->at_end)) lengthen(c, c->n_seen, l->rubbish);
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

struct names {
    struct disk_name *list; /* their texts are the log's */
    size_t n;
};

static void take_away(struct names *names, size_t folder, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->list[i].folder == folder && strcmp(names->list[i].name, name) == 0) names->list[i--] = names->list[--names->n];
}

static void put(struct names *names, size_t folder, char *name, size_t node)
{
    take_away(names, folder, name);
    names->list[names->n++] = (struct disk_name){.folder = folder, .name = name, .node = node};
}

static void apply_name(struct names *names, const struct disk_event *e)
{
    if (e->kind == DISK_REMOVE) take_away(names, e->folder, e->name);
    if (e->kind == DISK_MOVE) take_away(names, e->folder2, e->name2);
    if (e->kind != DISK_REMOVE) put(names, e->folder, e->name, e->node);
}

static bool is_of_names(const struct disk_event *e)
{
    return e->kind == DISK_ADD || e->kind == DISK_REMOVE || e->kind == DISK_MOVE;
}

/* Was the folder of the name, or one of them, synchronised after event i? */
static bool is_synced(const struct disk_log *log, size_t i, size_t moment)
{
    const struct disk_event *e = &log->events[i];
    for (size_t k = i + 1; k < moment; k++) {
        const struct disk_event *s = &log->events[k];
        if (s->kind == DISK_SYNC && (s->node == e->folder || (e->kind == DISK_MOVE && s->node == e->folder2))) return true;
    }
    return false;
}

static struct names names_left(const struct disk_log *log, size_t moment, struct luck *l)
{
    struct names names = {malloc((log->n_names + moment + 1) * sizeof *names.list), log->n_names};
    if (!names.list) abort();
    if (log->n_names) memcpy(names.list, log->names, log->n_names * sizeof *names.list);
    for (size_t i = 0; i < moment; i++) {
        if (!is_of_names(&log->events[i])) continue;
        if (l->killed || happens(l, l->named) || is_synced(log, i, moment)) apply_name(&names, &log->events[i]);
    }
    return names;
}

/* ---- the picture ----------------------------------------------------------------------------------------------------------- */

static struct content *contents_left(const struct disk_log *log, size_t moment, struct luck *l)
{
    struct content *contents = calloc(log->n_nodes, sizeof *contents);
    if (!contents) abort();
    for (size_t i = 0; i < log->n_nodes; i++) {
        struct content *c = &contents[i];
        reserve(c, log->nodes[i].n + 1);
        c->n_seen = c->n_disk = log->nodes[i].n;
        if (!c->n_seen) continue;
        memcpy(c->seen, log->nodes[i].bytes, c->n_seen);
        memcpy(c->disk, log->nodes[i].bytes, c->n_disk);
    }
    for (size_t i = 0; i < moment; i++) {
        const struct disk_event *e = &log->events[i];
        if (e->kind == DISK_WRITE) apply_write(&contents[e->node], e, l);
        if (e->kind == DISK_SIZE) apply_size(&contents[e->node], e, l);
        if (e->kind == DISK_SYNC) settle(&contents[e->node]);
    }
    for (size_t i = 0; i < log->n_nodes; i++) {
        if (l->killed)
            settle(&contents[i]);
        else
            lose_power(&contents[i], l);
    }
    return contents;
}

static void write_file(const char *path, const struct content *c)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(c->disk, 1, c->n_disk, f) != c->n_disk || fclose(f) != 0) abort();
}

static void write_folder(const struct disk_log *log, const struct names *names, const struct content *contents, size_t folder,
                         const char *path)
{
    for (size_t i = 0; i < names->n; i++) {
        const struct disk_name *name = &names->list[i];
        if (name->folder != folder) continue;
        char below[4096];
        snprintf(below, sizeof below, "%s/%s", path, name->name);
        if (!log->nodes[name->node].is_folder) {
            write_file(below, &contents[name->node]);
        } else {
            if (mkdir(below, 0777) != 0) abort();
            write_folder(log, names, contents, name->node, below);
        }
    }
}

void disk_picture(const struct disk_log *log, size_t moment, uint64_t luck, const char *to)
{
    struct luck l = luck_of(luck, moment);
    struct content *contents = contents_left(log, moment, &l);
    struct names names = names_left(log, moment, &l);
    write_folder(log, &names, contents, 0, to);
    for (size_t i = 0; i < log->n_nodes; i++) {
        free(contents[i].seen);
        free(contents[i].disk);
    }
    free(contents);
    free(names.list);
}
