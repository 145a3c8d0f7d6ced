#include "sim/gantt.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char *group, *name;
};

struct gantt {
    dse_ps from, to; /* what is kept; `to` comes down to where memory ended */
    bool cut;        /* it did */
    struct sim_span *span;
    size_t n, capacity;
    struct row *row; /* a resource each */
    uint32_t n_rows;
    struct sim_recorder recorder;
};

/* ---- recording -------------------------------------------------------------------------------------------------------------- */

static void see_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    (void)resource; /* they count from 0 */
    struct gantt *g = object;
    if ((g->n_rows & (g->n_rows - 1)) == 0) g->row = xrealloc(g->row, g->n_rows ? 2 * g->n_rows : 1, sizeof *g->row);
    g->row[g->n_rows++] = (struct row){.group = xstrdup(group), .name = xstrdup(name)};
}

/* When the memory is full, the chart ends where the span ends that filled it; later spans are kept as far as they began before. */
static void see_span(void *object, const struct sim_span *span)
{
    struct gantt *g = object;
    struct sim_span s = *span;
    if (s.from < g->from) s.from = g->from;
    if (s.to > g->to) s.to = g->to;
    if (s.to <= s.from) return;
    if (g->n == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 256;
        g->span = xrealloc(g->span, g->capacity, sizeof *g->span);
    }
    g->span[g->n++] = s;
    if (g->n != GANTT_SPANS) return;
    g->to = s.to;
    g->cut = true;
}

struct gantt *gantt_new(dse_ps from, dse_ps to)
{
    struct gantt *g = xcalloc(1, sizeof *g);
    g->from = from;
    g->to = to > 0 ? to : SIM_TIME_MAX;
    g->recorder = (struct sim_recorder){.resource = see_resource, .span = see_span, .object = g};
    return g;
}

void gantt_free(struct gantt *g)
{
    if (!g) return;
    for (uint32_t i = 0; i < g->n_rows; i++) {
        free(g->row[i].group);
        free(g->row[i].name);
    }
    free(g->row);
    free(g->span);
    free(g);
}

const struct sim_recorder *gantt_recorder(struct gantt *g)
{
    return &g->recorder;
}

/* ---- a line of cells -------------------------------------------------------------------------------------------------------- */

struct cell {
    uint8_t state;
    char mark[5]; /* a character of a label; "" is the state's glyph */
};

struct drawing {
    const struct gantt *g;
    struct gantt_style style;
    dse_ps from, to;
    unsigned names, cells;        /* columns */
    const struct sim_span **span; /* by resource: those of i are span[first[i]] .. span[first[i + 1]] */
    size_t *first;
    struct cell *cell;
    struct text out;
};

/* Time at which cell c begins. */
static dse_ps cell_start(const struct drawing *d, unsigned c)
{
    return d->from + (dse_ps)((__int128)(d->to - d->from) * c / d->cells);
}

/* The cell that a time is in; d->cells from the end on. */
static unsigned cell_of(const struct drawing *d, dse_ps t)
{
    if (t >= d->to) return d->cells;
    unsigned c = (unsigned)((__int128)(t - d->from) * d->cells / (d->to - d->from));
    while (c < d->cells && cell_start(d, c + 1) <= t) c++;
    return c;
}

/* The state that fills most of a cell; of two that fill as much, work before waiting before nothing. */
static enum dse_state fullest(const dse_ps time[DSE_STATES])
{
    static const enum dse_state order[] = {DSE_BUSY, DSE_STALL_OUTPUT, DSE_STALL_INPUT, DSE_IDLE};
    enum dse_state best = DSE_BUSY;
    for (int i = 1; i < DSE_STATES; i++)
        if (time[order[i]] > time[best]) best = order[i];
    return best;
}

/* Give each cell its state. Returns the time that the resource was busy. */
static dse_ps fill_states(const struct drawing *d, uint32_t resource)
{
    dse_ps busy = 0;
    size_t i = d->first[resource];
    const size_t end = d->first[resource + 1];
    for (unsigned c = 0; c < d->cells; c++) {
        const dse_ps from = cell_start(d, c), to = cell_start(d, c + 1);
        dse_ps time[DSE_STATES] = {[DSE_IDLE] = to - from};
        for (; i < end && d->span[i]->from < to; i++) {
            const struct sim_span *s = d->span[i];
            const dse_ps a = s->from > from ? s->from : from, b = s->to < to ? s->to : to;
            if (b > a) {
                time[s->state] += b - a;
                time[DSE_IDLE] -= b - a;
            }
            if (s->to > to) break; /* goes on in the next cell */
        }
        busy += time[DSE_BUSY];
        d->cell[c] = (struct cell){.state = (uint8_t)fullest(time)};
    }
    return busy;
}

static unsigned columns_of(const char *s)
{
    unsigned n = 0;
    for (; *s; s++) n += (*s & 0xC0) != 0x80;
    return n;
}

/* Write a text over cells, a character each. */
static void mark(const struct drawing *d, unsigned c, const char *s)
{
    for (size_t n; *s; s += n, c++) {
        n = text_utf8_length(s, 4);
        if (n == 0 || (n > 1 && !d->style.utf8)) {
            d->cell[c].mark[0] = '?';
            n = n ? n : 1;
        } else
            memcpy(d->cell[c].mark, s, n);
    }
}

/* Write label and id of a bar at its beginning, or one of them, as it fits: with a cell of the bar to spare, so that neighbours
 * stay apart, or as a single character. */
static void mark_span(const struct drawing *d, const struct sim_span *s, const char *name)
{
    unsigned c = cell_of(d, s->from), end = cell_of(d, s->to);
    if (end < d->cells && cell_start(d, end) < s->to && d->cell[end].state == DSE_BUSY &&
        s->to - cell_start(d, end) > cell_start(d, end + 1) - s->to)
        end++;
    while (c < end && (d->cell[c].state != DSE_BUSY || d->cell[c].mark[0])) c++;
    if (c >= end) return;
    const char *label = s->label && strcmp(s->label, name) != 0 ? s->label : "";
    char number[24] = "";
    if (s->id >= 0) snprintf(number, sizeof number, "%" PRId64, s->id);
    char *both = xasprintf("%s%s%s", label, *label && *number ? " " : "", number);
    const char *const candidates[] = {both, number, label};
    for (size_t i = 0; i < 3; i++) {
        const unsigned n = columns_of(candidates[i]);
        if (n == 0 || (n >= end - c && !(n == 1 && end - c == 1))) continue;
        mark(d, c, candidates[i]);
        break;
    }
    free(both);
}

/* ---- output ----------------------------------------------------------------------------------------------------------------- */

static const char *const glyphs[2][DSE_STATES] = {
    {[DSE_IDLE] = ".", [DSE_BUSY] = "#", [DSE_STALL_INPUT] = "-", [DSE_STALL_OUTPUT] = "="},
    {[DSE_IDLE] = "·", [DSE_BUSY] = "█", [DSE_STALL_INPUT] = "░", [DSE_STALL_OUTPUT] = "▒"},
};
/* The colours of a glyph and of a label on it. */
static const char *const colours[2][DSE_STATES] = {
    {[DSE_IDLE] = "\033[2m", [DSE_BUSY] = "\033[32m", [DSE_STALL_INPUT] = "\033[33m", [DSE_STALL_OUTPUT] = "\033[31m"},
    {[DSE_IDLE] = "\033[2m", [DSE_BUSY] = "\033[30;42m", [DSE_STALL_INPUT] = "\033[30;43m", [DSE_STALL_OUTPUT] = "\033[30;41m"},
};

static void add_colour(struct drawing *d, const char *before, const char *now)
{
    if (!d->style.colour || before == now) return;
    if (before) text_add(&d->out, "\033[0m");
    if (now) text_add(&d->out, now);
}

static void add_cells(struct drawing *d)
{
    const char *before = NULL;
    for (unsigned i = 0; i < d->cells; i++) {
        const struct cell *c = &d->cell[i];
        const char *now = colours[c->mark[0] != 0][c->state];
        add_colour(d, before, now);
        text_add(&d->out, c->mark[0] ? c->mark : glyphs[d->style.utf8][c->state]);
        before = now;
    }
    add_colour(d, before, NULL);
}

/* At most `columns` of a name; what is not ASCII only where it can be shown. */
static void add_name(struct drawing *d, const char *s, unsigned columns)
{
    unsigned n = 0;
    for (size_t length; *s && n < columns; s += length, n++) {
        length = text_utf8_length(s, 4);
        if (length == 0 || (length > 1 && !d->style.utf8))
            text_add(&d->out, "?");
        else
            text_add_bytes(&d->out, s, length);
        length = length ? length : 1;
    }
    for (; n < columns; n++) text_add(&d->out, " ");
}

static void add_row(struct drawing *d, uint32_t resource)
{
    const struct row *r = &d->g->row[resource];
    const dse_ps busy = fill_states(d, resource);
    for (size_t i = d->first[resource]; i < d->first[resource + 1]; i++)
        if (d->span[i]->state == DSE_BUSY) mark_span(d, d->span[i], r->name);
    const unsigned indent = r->group[0] ? 2 : 0;
    text_addf(&d->out, "%*s", (int)indent, "");
    add_name(d, r->name, d->names - indent);
    text_add(&d->out, " ");
    add_cells(d);
    text_addf(&d->out, " %3.0f%%\n", 100 * (double)busy / (double)(d->to - d->from));
}

/* The rows, group after group, as many as are wanted. Returns how many are left out. */
static uint32_t add_rows(struct drawing *d)
{
    const struct gantt *g = d->g;
    const uint32_t most = d->style.lines && d->style.lines < g->n_rows ? d->style.lines : g->n_rows;
    bool *done = xcalloc(g->n_rows, sizeof *done);
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < g->n_rows && drawn < most; i++) {
        if (done[i]) continue;
        if (g->row[i].group[0]) {
            add_name(d, g->row[i].group, columns_of(g->row[i].group));
            text_add(&d->out, "\n");
        }
        for (uint32_t j = i; j < g->n_rows && drawn < most; j++) {
            if (done[j] || strcmp(g->row[j].group, g->row[i].group) != 0) continue;
            done[j] = true;
            add_row(d, j);
            drawn++;
        }
    }
    free(done);
    return g->n_rows - drawn;
}

/* ---- time axis -------------------------------------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    double ps;
};

static struct unit unit_of(dse_ps longest)
{
    static const struct unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    size_t i = 0;
    while (i < 4 && (double)longest >= 10 * units[i + 1].ps) i++;
    return units[i];
}

/* 1, 2 or 5 times a power of ten of picoseconds, at least `least`. */
static dse_ps round_step(dse_ps least)
{
    dse_ps power = 1;
    while (power <= least / 10) power *= 10;
    return power >= least ? power : 2 * power >= least ? 2 * power : 5 * power >= least ? 5 * power : 10 * power;
}

/* Ticks, and below them their times, the last with the unit. */
static void add_axis(struct drawing *d)
{
    enum { APART = 10 };
    const struct unit unit = unit_of(d->to);
    const dse_ps step = round_step((dse_ps)(((__int128)(d->to - d->from) * APART + d->cells - 1) / d->cells));
    const unsigned margin = d->names + 1;
    struct text ticks, times;
    text_init(&ticks);
    text_init(&times);
    const dse_ps first = (d->from + step - 1) / step * step;
    for (dse_ps t = first; t < d->to; t += step) {
        const unsigned c = cell_of(d, t);
        char number[TEXT_NUMBER_MAX];
        text_number(number, (double)t / unit.ps);
        while (columns_of(ticks.s) < c) text_add(&ticks, " ");
        while (times.n < c) text_add(&times, " ");
        text_add(&ticks, d->style.utf8 ? "╵" : "'");
        text_addf(&times, "%s%s%s", number, t + step >= d->to ? " " : "", t + step >= d->to ? unit.name : "");
    }
    text_addf(&d->out, "%*s%s\n%*s%s\n", (int)margin, "", ticks.s, (int)margin, "", times.s);
    text_release(&times);
    text_release(&ticks);
}

static void add_legend(struct drawing *d, dse_ps end, uint32_t left_out)
{
    static const enum dse_state order[] = {DSE_BUSY, DSE_STALL_INPUT, DSE_STALL_OUTPUT, DSE_IDLE};
    for (int i = 0; i < DSE_STATES; i++) {
        const enum dse_state s = order[i];
        text_add(&d->out, i ? "  " : "");
        add_colour(d, NULL, colours[0][s]);
        text_add(&d->out, glyphs[d->style.utf8][s]);
        add_colour(d, colours[0][s], NULL);
        text_addf(&d->out, " %s", sim_state_names[s]);
    }
    text_add(&d->out, "; %: busy\n");
    if (left_out) text_addf(&d->out, "%" PRIu32 " more resource%s not drawn\n", left_out, left_out == 1 ? " is" : "s are");
    if (d->from == 0 && d->to >= end) return;
    char from[TEXT_NUMBER_MAX], to[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX];
    text_addf(&d->out, "from %s to %s us of %s us%s\n", text_short_number(from, (double)d->from * 1e-6),
              text_short_number(to, (double)d->to * 1e-6), text_short_number(all, (double)end * 1e-6),
              d->g->cut ? ": as many bars as a chart can hold" : "");
}

/* ---- drawing ---------------------------------------------------------------------------------------------------------------- */

/* Put the spans that are drawn in order of their resource; each resource's are in order of time already. */
static void sort_spans(struct drawing *d)
{
    const struct gantt *g = d->g;
    d->first = xcalloc((size_t)g->n_rows + 2, sizeof *d->first);
    d->span = xmalloc((g->n + 1) * sizeof *d->span);
    for (size_t i = 0; i < g->n; i++)
        if (g->span[i].from < d->to) d->first[g->span[i].resource + 2]++;
    for (uint32_t i = 0; i < g->n_rows; i++) d->first[i + 2] += d->first[i + 1];
    for (size_t i = 0; i < g->n; i++)
        if (g->span[i].from < d->to) d->span[d->first[g->span[i].resource + 1]++] = &g->span[i];
}

/* Columns of the names with their indentation, at most a third of the width. */
static unsigned names_width(const struct gantt *g, unsigned width)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_rows; i++) {
        const unsigned columns = columns_of(g->row[i].name) + (g->row[i].group[0] ? 2 : 0);
        if (columns > n) n = columns;
    }
    return n < width / 3 ? n : width / 3;
}

char *gantt_draw(const struct gantt *g, dse_ps end, const struct gantt_style *style)
{
    struct drawing d = {.g = g, .style = *style, .from = g->from, .to = g->to < end ? g->to : end};
    if (g->n_rows == 0) return xstrdup("no chart: the model has no resources\n");
    if (d.to <= d.from) return xstrdup("no chart: the run ends before it begins\n");
    const unsigned percent = 5, width = style->width > GANTT_WIDTH_MIN ? style->width : GANTT_WIDTH_MIN;
    d.names = names_width(g, width);
    d.cells = width - d.names - 1 - percent;
    d.cell = xcalloc(d.cells, sizeof *d.cell);
    text_init(&d.out);
    sort_spans(&d);
    const uint32_t left_out = add_rows(&d);
    add_axis(&d);
    add_legend(&d, end, left_out);
    free(d.span);
    free(d.first);
    free(d.cell);
    return text_detach(&d.out);
}
