/* The machine that runs models in TOML, against muParser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "toml_model/machine.h"

#include <math.h>
#include <muParserDLL.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 4, TO = 3 };

static double least(double a, double b)
{
    return b < a ? b : a;
}

static double most(double a, double b)
{
    return b > a ? b : a;
}

static muParserHandle_t parser_of(const char *text, double *v)
{
    muParserHandle_t p = mupCreate(muBASETYPE_FLOAT);
    mupDefineFun2(p, "mn", least, 1);
    mupDefineFun2(p, "mx", most, 1);
    mupDefineFun1(p, "ceil", ceil, 1);
    mupDefineFun1(p, "floor", floor, 1);
    mupDefineConst(p, "inf", (double)INFINITY);
    for (int i = 0; i < SLOTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        mupDefineVar(p, name, &v[i]);
    }
    mupSetExpr(p, text);
    return p;
}

static void machine__gives_what_muparser_gives(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "v3=v0",
        "v3=2.5",
        "v3=((v0+v1)*(v2-(v0/v1)))",
        "v3=(-v0)",
        "v3=((v0<v1)?(v2*v0):((v1<=v2)?(v1-v2):v0))",
        "v3=(((v0>v1)&&(v1>=v2))||(v0==v2))",
        "v3=(v0!=v1)",
        "v3=mn(v0,mx(v1,v2))",
        "v3=(ceil((v0/v1))*floor(v2))",
        "v3=(rint(v0)+abs(v1))",
        "v3=(sqrt(abs(v0))+(ln(abs(v1))*log2((1+abs(v2)))))",
        "v3=(exp((v0/100))+log10((1+abs(v1))))",
        "v3=((v0^2)/(v1^3))",
        "v3=mn(v0,inf)",
        "v3=(v0*v1),v0=(v3+1),v3=(v0-v2)",
        "v3=(v0/0)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double theirs[SLOTS] = {0};
        struct machine_room room = {.n_slots = SLOTS};
        struct machine_code code;
        assert_true(machine_compile(texts[i], &room, &code));
        machine_place(&code, &room);
        double *ours = machine_numbers(&room);
        muParserHandle_t p = parser_of(texts[i], theirs);
        for (int trial = 0; trial < 200; trial++) {
            for (int k = 0; k < TO; k++) ours[k] = theirs[k] = (drand48() - 0.3) * 20;
            machine_run(&code, ours, &(struct shared){0});
            mupEval(p);
            assert_false(mupError(p));
            if (!(fabs(ours[TO] - theirs[TO]) <= 1e-15 * fabs(theirs[TO])) && !(isnan(ours[TO]) && isnan(theirs[TO])) &&
                ours[TO] != theirs[TO])
                fail_msg("%s is %.17g, and %.17g by muParser", texts[i], ours[TO], theirs[TO]);
        }
        mupRelease(p);
        free(ours);
        free(room.constants);
        free(code.list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(machine__gives_what_muparser_gives)};
    return cmocka_run_group_tests_name("toml_machine", tests, NULL, NULL);
}
