/* What the rows of a point say of LAD's decoding: dse/local.h. */
#include <dse/local.h>

void dse_local_stand(const struct dse_local_of *o, const char *unmeasured, struct dse_standing *ret)
{
    const char *which[DSE_BEYOND_MAX], *why = dse_local_unknown(o);
    ret->statistics = dse_local_entry(o);
    if (o->local->draws == DSE_DRAWS_PROFILE)
        dse_standing_add(ret, dse_profile_beyond(o->local->profile, (double)o->workload->context));
    const int n = dse_local_unlikes(o, which);
    for (int i = 0; i < n; i++) dse_standing_add(ret, which[i]);
    if (!why) why = unmeasured;
    if (why)
        dse_standing_unknown(ret, why);
    else
        dse_standing_measured(ret, dse_local_own(o), dse_local_extended(o));
    dse_standing_narrow(ret, o->workload);
}
