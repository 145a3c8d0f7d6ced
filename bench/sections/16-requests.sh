# rows that are means over requests, beside plain rows
title "a row that is the mean over requests, for each of them, beside a plain row (to reach: under 1.2)"
bench requests
