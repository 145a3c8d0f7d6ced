/* For tests of the flashdecoding model: points by name, as a user sets them, and their metrics. */
#ifndef DSE_TESTS_FLASHDECODING_TEST_H
#define DSE_TESTS_FLASHDECODING_TEST_H

#include "flashdecoding/flashdecoding.h"
#include "model_points.h"

#include <dse/units.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct dse_model dse_model_flashdecoding;

enum { SETTINGS_MAX = 16 };

/* The parameters of the defaults with settings "NAME=VALUE", separated by blanks; wrong settings fail the test. Boards have no
 * limit that slows their kernels, unless `settings` say what power is. */
static inline struct fd_params point(const char *settings)
{
    struct one o;
    struct fd_params p;
    char *text = xasprintf("%s%s", settings, strstr(settings, "power=") ? "" : " power=constant"), *list[SETTINGS_MAX],
         *save = NULL;
    size_t n = 0;
    for (char *s = strtok_r(text, " ", &save); s && n < SETTINGS_MAX; s = strtok_r(NULL, " ", &save)) list[n++] = s;
    bool ok = one_init(&o, registry_find("flashdecoding"), list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    memcpy(&p, space_fixed(o.space), sizeof p);
    one_release(&o);
    free(text);
    return p;
}

static inline const char *refusal(const struct fd_params *p)
{
    return dse_model_flashdecoding.check(p);
}

static inline struct fd_metrics estimate(const struct fd_params *p)
{
    struct fd_metrics m;
    const char *why = refusal(p);
    if (why) fail_msg("infeasible: %s", why);
    dse_model_flashdecoding.estimate(p, &m, NULL);
    return m;
}

static inline struct fd_equations equate(const struct fd_params *p)
{
    struct fd_equations e;
    dse_model_flashdecoding.equate(p, &e);
    return e;
}

static inline struct fd_machine machine(const struct fd_params *p)
{
    struct fd_machine m;
    fd_machine_init(&m, p);
    return m;
}

static inline void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b))) fail_msg("%.12g is not %.12g", a, b);
}

#endif
