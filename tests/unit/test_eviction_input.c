/* Eviction on heads: what is refused, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "complaints.h"
#include "eviction_test.h"

#include <math.h>

static void refuse(const struct head *h, size_t heads, struct eviction_options o, size_t first, const char *why)
{
    struct diags diags;
    struct eviction_result r[2] = {{.retained_mass = -1}, {.retained_mass = -1}};
    diags_init(&diags);
    assert_false(eviction_run_many(h, heads, &o, 1, first, r, &diags));
    assert_true(r[0].retained_mass == -1);
    expect_complaint(&diags, 0, 0, why);
}

static void bad_input__is_refused_with_a_reason(void **state)
{
    (void)state;
    struct head h[2];
    random_heads(h, 2, N, D, 1);
    struct eviction_options ratio = options("voting", 0), o;
    const double bad_ratios[] = {0, -0.5, 1.01, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < 5; i++) {
        ratio.ratio = bad_ratios[i];
        refuse(h, 1, ratio, 0, "outside of (0, 1]");
    }
    ratio.ratio = 0.001;
    refuse(h, 1, ratio, 0, "ratio 0.001 of 60 positions rounds to none");
    refuse(h, 1, options("voting", 10), N, "the first measured step 60 is beyond the last, 59");
    refuse(h, 0, options("voting", 10), 0, "no heads");
    o = options("voting", 10);
    o.reserved_length = 11;
    refuse(h, 1, o, 0, "reserved length 11 is longer than the cache of 10");
    o.reserve_positions = o.below_reserved = true;
    refuse(h, 1, o, 0, "11 reserved positions leave no room in a cache of 10");
    o = options("voting", 10);
    o.threshold_b = (double)NAN;
    refuse(h, 1, o, 0, "is not finite");
    o = options("window", 10);
    o.sinks = 10;
    refuse(h, 1, o, 0, "10 sinks leave no room in a cache of 10");
    o = options("h2o", 10);
    o.recent_share = 1.5;
    refuse(h, 1, o, 0, "recent share 1.5");
    refuse(h, 1, options("snapkv", 10), 0, "snapkv selects when a prompt ends");
    o = options("snapkv", 10);
    o.prompt = 30;
    o.evict_in_prompt = true;
    refuse(h, 1, o, 0, "keeps a prompt whole until it ends");
    o.evict_in_prompt = false;
    o.pool = 4;
    refuse(h, 1, o, 0, "a pool of 4; it must be odd");
    o.pool = 3;
    o.observed = 10;
    refuse(h, 1, o, 0, "10 observed positions leave no room in a cache of 10");
    o.observed = 31;
    refuse(h, 1, o, 0, "31 observed steps; 1 to the 30 of the prompt");
    o = options("pyramidkv", 10);
    o.prompt = 30;
    o.layers = 0;
    refuse(h, 1, o, 0, "how many layers has the model?");
    o.layers = 2;
    o.beta = 0.5;
    refuse(h, 1, o, 0, "beta 0.5 is below 1");
    o.beta = 20;
    h[0].layer = 2;
    refuse(h, 1, o, 0, "pyramidkv: layer 2 of a model of 2");
    h[0].layer = 0;
    o = options("quest", 10);
    o.page = 11;
    refuse(h, 1, o, 0, "a cache of 10 has no room for a page of 11");
    o.page = 0;
    refuse(h, 1, o, 0, "a page of 0");
    o = options("h2o", 10);
    o.prompt = N;
    refuse(h, 1, o, 0, "a prompt of 60 leaves no step of 60");
    refuse(h, 1, options("none", 10), 0, "no policy is given");
    h[1].n = 50;
    refuse(h, 2, options("h2o", 10), 0, "head 1 of the layer is 50 x 7, the first 60 x 7");
    h[0].n = 0;
    refuse(h, 1, options("h2o", 10), 0, "a head of 0 positions");
    release_heads(h, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input__is_refused_with_a_reason),
    };
    return cmocka_run_group_tests_name("eviction_input", tests, NULL, NULL);
}
