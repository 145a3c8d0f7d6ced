# What is wrong with a table of the user's is told at its line and column.
cat >c.toml <<'TOML'
profiles.p   = "p.csv"
retentions.r = "r.csv"
requests.q   = "q.csv"
TOML
head=context,centers,large,active,updates,hit_ratio
table() { # PROFILE-ROWS RETENTION-ROWS REQUEST-ROWS
    printf "# source: a test\n$head\n$1" >p.csv
    printf "# source: a test\npolicy,context,ratio,retained_mass,retained_mass_sd,attention_error,attention_error_sd\n$2" >r.csv
    printf "prompt,generate\n$3" >q.csv
    "$DSE" list profiles -c c.toml >/dev/null
}
good='128,1,1,1,1,0.5\n256,1,1,1,1,0.5\n512,1,1,1,1,0.5\n'
table "128,1,1,1,1,0.5\n64,1,1,1,1,0.5\n512,1,1,1,1,0.5\n" 'h2o,64,0.5,1.5,0,0,0\n' '10,0.5\n'
table "$good" 'h2o,64,0.25,0.5,0,0.5,0\nh2o,64,0.5,0.5,0,-1,0\n' '100,3\n0.5,4\n'
table "128,1,900,1,1,0.5\n$good" 'h2o,64,0.25,0.5,0,0.5,0\n,64,0.5,0.5,0,1,0\n' '10,20,30\n'
table '128,1,1,1,1,0.5\n' 'h2o,64,0.25,0.5,0,0.5,0\n' ''
table '128,1,1,1,1,1"x"\n' 'h2o,64,"0.25\n' '"10" ,1\n'
head=$head,attention_error
table '128,1,1,1,1,0.5,0\n' '' '1,2\n'
head=$head,false_negative,false_positive
table '' 'a\000b' '1,2\n'
