#include "report/report_data.h"

#include <math.h>

void json_text(struct text *t, const char *s)
{
    if (!s) {
        text_add(t, "null");
        return;
    }
    struct text json;
    text_init(&json);
    text_add_json(&json, s);
    for (const char *p = json.s; *p; p++) {
        if (*p == '<')
            text_add(t, "\\u003c"); /* would end the script that holds the data */
        else
            text_add_bytes(t, p, 1);
    }
    text_release(&json);
}

void json_number(struct text *t, double v)
{
    char buf[TEXT_NUMBER_MAX];
    text_add(t, isfinite(v) ? text_number(buf, v) : "null");
}

void json_short_number(struct text *t, double v)
{
    if (isfinite(v) && v != 0 && fabs(v) < 1e15 && fabs(v) > 1e-9) {
        double unit = pow(10, 5 - floor(log10(fabs(v)))); /* six digits */
        v = round(v * unit) / unit;
    }
    json_number(t, v);
}

void json_key(struct text *t, const char *name)
{
    if (t->n && t->s[t->n - 1] != '{') text_add(t, ",");
    json_text(t, name);
    text_add(t, ":");
}

void json_cell(struct text *t, const struct report_cell *c, bool short_numbers)
{
    if (c->type == CELL_TEXT)
        json_text(t, c->text);
    else if (c->type == CELL_NULL)
        text_add(t, "null");
    else if (short_numbers)
        json_short_number(t, c->number);
    else
        json_number(t, c->number);
}
