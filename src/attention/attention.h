/* Measuring attention: what traces of it, and heads that are made, show of a technique. The room's manual.
 *
 * - Heads (head.h) come from traces (trace.h; trace_import.h makes them of arrays, array.h, and tables) or from a generator
 *   (generator.h). A generator is fitted to statistics (generator_fit.h; anchors_file.h), kinds of heads to a trace (head_kinds.h,
 *   head_mixture.h; kinds_file.h).
 * - A technique is carried out on heads: LAD's locality (locality.h), KV eviction (eviction.h; a policy is a row of
 *   eviction_policies.c), keys and values in few bits (kv_format.h), softmax in fixed ranges (softmax_range.h, softmax_partial.h)
 *   and in one pass (single_pass.h), sets that another program kept (kept_sets.h).
 * - Over many heads these are the rows of profiles (measure.h) and of quality surfaces (surface.h), also for heads that are made
 *   (made_surface.h), and for contexts beyond (action_extend.c).
 * - `dse profile` (profile_kinds.h: a kind is a row) and `dse trace` (action.h: an action is a row) are the commands.
 */
#ifndef DSE_ATTENTION_ATTENTION_H
#define DSE_ATTENTION_ATTENTION_H

#include "command/command.h"

extern const struct command command_trace, command_profile;

#endif
