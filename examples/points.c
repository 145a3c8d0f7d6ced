/* How many tiles does LAD want at 4096 positions? Through libdse:
 *
 *     cc points.c $(pkg-config --cflags --libs dse) -o points && ./points 4096
 */
#include <dse/dse.h>
#include <stdio.h>

enum { POINTS = 16 };

static int fail(struct dse_problems *problems)
{
    fputs(dse_problems_text(problems), stderr);
    return 1;
}

int main(int argc, char **argv)
{
    struct dse_problems *problems = dse_problems_new();
    struct dse *d = dse_open(NULL, problems);
    struct dse_points *points = d ? dse_points_new(d, "lad", problems) : NULL;
    if (!points || !dse_points_set(points, "context", argc > 1 ? argv[1] : "2048", problems)) return fail(problems);

    double tiles[POINTS], speed[POINTS], area[POINTS];
    const char *status[POINTS], *reason[POINTS];
    for (int i = 0; i < POINTS; i++) tiles[i] = i + 1;
    const struct dse_input inputs[] = {{.name = "tiles", .numbers = tiles}};
    const struct dse_output outputs[] = {{.name = "tokens_per_s", .numbers = speed},
                                         {.name = "area_mm2", .numbers = area},
                                         {.name = "status", .texts = status},
                                         {.name = "reason", .texts = reason}};
    if (!dse_points_evaluate(points, POINTS, inputs, 1, outputs, 4, problems)) return fail(problems);

    const struct dse_column *column = dse_column_find(d, "lad", "area_mm2");
    printf("tiles,tokens_per_s,%s,status,reason\n", column->name);
    for (int i = 0; i < POINTS; i++)
        printf("%g,%.17g,%.17g,%s,%s\n", tiles[i], speed[i], area[i], status[i], reason[i] ? reason[i] : "");
    dse_points_free(points);
    dse_close(d);
    dse_problems_free(problems);
    return 0;
}
