/* NSGA-II over a lattice: generations of points that are recombined and mutated, of which those on the better fronts stay, and of
 * one front those in the sparser places.
 *
 * Feasible points come before infeasible ones, these in the order of their violations (probe.h). Children take each axis from one
 * of their parents or, on an axis of numbers, from somewhere between and a little beyond; then axes are mutated, by small
 * steps more often than by large ones. A child that was evaluated before is mutated again; of very many points some are
 * forgotten, and few come twice. The result is the front of all points that were evaluated, not of the last generation alone.
 *
 * The result depends on the lattice, the seed, the population and the number of evaluations, not on the number of threads: every
 * random number has a place (base/random.h), and a generation is evaluated as one batch. A lattice with no more points than
 * evaluations is evaluated whole.
 *
 * Source: Deb, Pratap, Agarwal, Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans.
 * Evolutionary Computation 6(2), 2002.
 */
#ifndef DSE_SEARCH_NSGA2_H
#define DSE_SEARCH_NSGA2_H

#include "search/local.h"

/* Search with a population of at least 4. options->evaluations is at least 1. False: a bug of the model ended it (probe_error). */
bool nsga2_search(struct probe *p, size_t population, const struct search_options *options, struct search_result *ret);

#endif
