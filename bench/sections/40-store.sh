# ways into SQLite, against a bare loop of INSERTs
title "ways into SQLite, a million synthetic rows"
bench store
