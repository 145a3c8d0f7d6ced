# KV eviction: policies and ratios for a layer
title "eviction: a sweep over policies and ratios for a layer (to reach: under 10 s)"
bench eviction
