#include "cli/progress.h"

#include "base/text.h"
#include "base/wrap.h"
#include "command/terminal.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30, BAR_MIN = 5, PLAIN_LINE_SECONDS = 10 };

void progress_init(struct progress *p, FILE *out, const char *label)
{
    *p = (struct progress){.out = out, .terminal = isatty(fileno(out)) != 0, .label = label};
}

char *progress_duration(char buf[32], double seconds)
{
    long long s = (long long)(seconds + 0.5);
    if (seconds < 10)
        snprintf(buf, 32, "%.1f s", seconds);
    else if (s < 60)
        snprintf(buf, 32, "%lld s", s);
    else if (s < 3600)
        snprintf(buf, 32, "%lld min %lld s", s / 60, s % 60);
    else
        snprintf(buf, 32, "%lld h %lld min", s / 3600, s / 60 % 60);
    return buf;
}

static void describe(const struct sweep_progress *s, char *buf, size_t n)
{
    char done[TEXT_NUMBER_MAX], planned[TEXT_NUMBER_MAX], rate_text[TEXT_NUMBER_MAX], left[32];
    double rate = s->seconds > 0 ? (double)s->this_time / s->seconds : 0;
    text_count(done, s->done);
    text_count(planned, s->planned);
    if (rate < 10)
        snprintf(rate_text, sizeof rate_text, "%.1f", rate); /* runs at event level can take a second each */
    else
        text_count(rate_text, (uint64_t)rate);
    if (s->planned == 0) { /* it ends when it finds nothing more */
        snprintf(buf, n, "%s points, %s a second", done, rate_text);
        return;
    }
    if (rate > 0)
        progress_duration(left, (double)(s->planned > s->done ? s->planned - s->done : 0) / rate);
    else
        strcpy(left, "?");
    snprintf(buf, n, "%s of %s points, %s a second, %s left", done, planned, rate_text, left);
}

/* The bar gives way first, then the end of the text: a line that wraps could not be drawn over. */
static void draw(struct progress *p, const char *label, double share, const char *text)
{
    const size_t columns = terminal_columns(p->out), others = wrap_width(label) + wrap_width(text) + strlen(" [] 100%   ");
    const size_t room = columns > others ? columns - others : 0, bar = room < BAR ? room : BAR;
    struct text line;
    text_init(&line);
    text_add(&line, label);
    if (bar >= BAR_MIN) {
        text_add(&line, " [");
        for (size_t i = 0; i < bar; i++) text_add(&line, i < (size_t)(share * (double)bar) ? "#" : ".");
        text_add(&line, "]");
    }
    text_addf(&line, " %3d%%  %s", (int)(share * 100), text);
    fprintf(p->out, "\r\033[K%.*s", (int)wrap_bytes(line.s, columns ? columns - 1 : 0), line.s);
    p->drawn = true;
    fflush(p->out);
    text_release(&line);
}

static void show(struct progress *p, const char *label, double share, const char *text, double seconds)
{
    if (p->terminal) {
        draw(p, label, share, text);
    } else if (seconds - p->last_line >= PLAIN_LINE_SECONDS) {
        p->last_line = seconds;
        fprintf(p->out, "%s: %d%%, %s\n", label, (int)(share * 100), text);
        fflush(p->out);
    }
}

void progress_show(struct progress *p, double share, const char *text, double seconds)
{
    show(p, p->label, share, text, seconds);
}

void progress_update(void *user, const struct sweep_progress *s)
{
    struct progress *p = user;
    char text[160], label[160];
    describe(s, text, sizeof text);
    snprintf(label, sizeof label, "%s%s%s", p->label, *s->phase ? ": " : "", s->phase);
    show(p, label, s->planned ? (double)s->done / (double)s->planned : 1, text, s->total_seconds);
}

void progress_clear(struct progress *p)
{
    if (p->drawn) fprintf(p->out, "\r\033[K");
    p->drawn = false;
}

/* ---- counting ------------------------------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void counting_init(struct counting *c, const char *label, const char *phase)
{
    *c = (struct counting){.started = now()};
    progress_init(&c->bar, stderr, label);
    snprintf(c->state.phase, sizeof c->state.phase, "%s", phase);
}

void counting_update(void *user, uint64_t done, uint64_t of)
{
    struct counting *c = user;
    double t = now();
    c->state.done = c->state.this_time = done;
    c->state.planned = of;
    if (t - c->shown < 0.1) return;
    c->shown = t;
    c->state.seconds = c->state.total_seconds = t - c->started;
    progress_update(&c->bar, &c->state);
}
