# reading a profile, beside the splines in it
title "reading a profile (to reach: 1, the splines in it each by itself)"
bench profiles
