/* What the files of this room share: settings of a point, how it is drawn, and how it is carried out. */
#ifndef DSE_AGREE_INTERNAL_H
#define DSE_AGREE_INTERNAL_H

#include "agree/agree.h"
#include "model/fidelity.h"
#include "space/point.h"

#include <gsl/gsl_rng.h>

/* Assignments of one point: the caller's, then those drawn. */
struct settings {
    char **list;     /* owned */
    size_t n, given; /* the first `given` were the caller's */
};
/* Drop all assignments after the first `kept`. */
void settings_drop(struct settings *s, size_t kept);
/* Takes the assignment; there is room for all parameters. */
void settings_add(struct settings *s, char *assignment);

struct drawing {
    const struct model *model;
    const struct catalog *catalog;
    gsl_rng *rng;
    struct settings settings;
    uint64_t number; /* of the point, from 1 */
};
/* Draw one point near the defaults. When it is feasible it is returned in *ret, otherwise it is released. */
bool draw_near(struct drawing *d, const struct design_point *defaults, struct design_point *ret);

/* The spaces of sweeps that use the model. */
struct sources {
    struct space **list; /* owned */
    size_t n;
};
/* False with errors: a sweep is wrong. */
bool sources_of(const struct model *m, const struct agree_options *o, struct sources *ret, struct diags *diags);
void sources_release(struct sources *s);
/* The same of a point of one of them, each as likely as the others, as the sweep has it but for the caller's settings. */
bool draw_of_a_sweep(struct drawing *d, const struct sources *sources, const struct design_point *defaults,
                     struct design_point *ret);

/* Carry the point out as it is and with one cause after the other taken away. Of a point that does not come to its end nothing is
 * known. Of one sweep what rankings go by is kept. */
enum run_end carry_out(struct runner *r, const struct design_point *p, const struct agree_options *o, struct agree_point *ret);
/* Keep what rankings go by; forget it, and free it. */
void rank_keep(const struct sweep_file *s, const struct design_point *p, const void *closed, const void *events,
               struct agree_point *ret);
void rank_forget(struct agree_point *p);
/* The difference of one metric from the closed form at event level as it is; NaN: there is none. */
double difference_at(struct runner *r, const struct design_point *p, int metric);
double difference_of(const struct model *m, const void *metrics, const void *closed, int which);

/* The settings of the point without which either fidelity says something else of the metrics compared. The caller frees it. */
char *settings_that_matter(const struct drawing *d, const struct design_point *defaults, struct runner *r,
                           const struct design_point *p);

#endif
