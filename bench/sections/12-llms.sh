# closed forms on LLMs of today, on one chip and on several
title "closed forms on LLMs of today (to reach: 1500 ns of DeepSeek-V3)"
bench llms
