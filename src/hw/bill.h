/* Parts of a bill (dse/cost.h) that its price and its bound share. */
#ifndef DSE_HW_BILL_H
#define DSE_HW_BILL_H

#include <dse/cost.h>

/* C24. What each die of the bill pays of its design and masks: nothing where it is bought, or nobody pays. `units` is above 0. */
double bill_design_usd(const struct dse_bill *b, double units);
/* Stacks that find room along the two long edges of a die as long as a reticle, at the shortest edge that one takes. */
double bill_most_stacks(const struct dse_bill *b);
/* C18. Of one device that is built: dies, memory and package. NaN with more stacks than that. */
double bill_built_usd(const struct dse_bill *b, double one_die_usd);
/* Watts of a server for each watt of the devices in it, and watts besides, of one device's share. */
void bill_server_watts(const struct dse_bill *b, double *ret_factor, double *ret_besides_w);
/* C19. What one device and its share of a server cost: of a GPU's server a factor, of Chiplet Cloud's its parts. */
double bill_with_server_usd(const struct dse_bill *b, double device_usd, double peak_w);
struct dse_ownership bill_ownership(const struct dse_economics *e, double server_usd, double peak_w, double average_w);
/* C21. Grams of one device and its share of a server. */
double bill_embodied_g(const struct dse_bill *b);

#endif
