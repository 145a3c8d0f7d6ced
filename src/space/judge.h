/* What a row says beside its numbers: how well its quality is known, and where its costs go beyond what was measured
 * (dse_model.stand). */
#ifndef DSE_SPACE_JUDGE_H
#define DSE_SPACE_JUDGE_H

#include "model/registry.h"

struct standing {
    const char *quality; /* of dse_quality_names; NULL: the model does not say */
    const char *unknown; /* why the quality is unknown; NULL when it is known */
    const char *beyond;  /* "profile mine has data for 512 to 4096 positions; ..."; or NULL */
    double known;        /* share of the tokens whose quality is known */
};

/* What one thread judges points with. It keeps the texts that it has made. A point may be the mean over several requests: its
 * quality is the worst of theirs. */
struct judge;
struct judge *judge_new(const struct dse_model *model);
void judge_free(struct judge *j);

/* Begin a point. */
void judge_begin(struct judge *j);
/* Add one of the requests of the point, with resolved parameters that check() accepts, and its tokens; without requests, add the
 * point itself. */
void judge_add(struct judge *j, const void *params, double tokens);
/* The strings live as long as the judge. Allocates only when a text comes for the first time. */
struct standing judge_end(struct judge *j);
/* The reason of a point whose quality must be known and is not: "constraint quality: UNKNOWN". It lives as long as the judge. */
const char *judge_refusal(struct judge *j, const struct standing *s);

#endif
