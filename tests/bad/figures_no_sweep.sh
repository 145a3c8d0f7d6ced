printf "[figure]\nkind = %slines%s\nsweep = %snothing%s\nsql = %sselect 1 as x%s\nx = %sx%s\ny = %sx%s\n" \" \" \" \" \" \" \" \" \" \" >f.toml
"$DSE" plot f.toml
