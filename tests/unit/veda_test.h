/* What the cmocka programs of VEDA share: its defaults, and points near them. */
#ifndef DSE_TESTS_VEDA_TEST_H
#define DSE_TESTS_VEDA_TEST_H

#include "by_name.h"

/* The point as published with the settings given ("llm=llama3-8b", "batch=2"); a NULL ends them. Power and area are as the paper
 * counts them, which is what it prints: test_chip.c has the rest. */
static inline struct point point_with(const char *setting, ...)
{
    struct text all;
    text_init(&all);
    text_add(&all, VEDA_AS_PUBLISHED "power=constant area=core");
    va_list list;
    va_start(list, setting);
    for (const char *s = setting; s; s = va_arg(list, const char *)) text_addf(&all, " %s", s);
    va_end(list);
    const struct point p = point_of("veda", all.s);
    text_release(&all);
    return p;
}
#define DEFAULTS point_with(NULL)

/* E38: of n streams, in microseconds. A step has four in each of 32 layers and the output head; each layer's attention is one. */
static inline double starts_us(const struct point *p, int n)
{
    return n * equation(p, "start_us");
}
enum { LINEAR_STREAMS = 4 * 32 + 1, ATTENTIONS = 32, STREAMS = LINEAR_STREAMS + ATTENTIONS };

static inline void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fmax(fabs(a), fabs(b))) return;
    fail_msg("%.17g is not %.17g", a, b);
}

#endif
