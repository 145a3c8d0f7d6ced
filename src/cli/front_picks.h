/* Rows of a stored front that tell most of it where there is room for few: analysis/front_pick.h. */
#ifndef DSE_CLI_FRONT_PICKS_H
#define DSE_CLI_FRONT_PICKS_H

#include "store/query.h"
#include "sweep/design.h"
#include "sweep/goal.h"

struct front_picks {
    struct front_row {
        size_t model; /* of the list */
        int64_t point;
        char *shows; /* "knee", "most tokens_per_s, least energy_mj"; "" */
    } * rows;
    size_t n;
    size_t points, fronts; /* of which they are */
};

/* At most `room` rows of the front of the run, over these models. Release *ret whatever comes back. */
bool front_picks_read(struct reader *r, int64_t run, const struct name_list *models, const struct goal *g, size_t room,
                      struct front_picks *ret, struct diags *diags);
void front_picks_release(struct front_picks *p);

#endif
