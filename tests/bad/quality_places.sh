# What is wrong with a quality file is told at its line and column.
printf 'quality.q = "q.csv"\n' >c.toml
good='h2o,128,0.25,,retained_mass,0.8,,,,,,4,measured\nh2o,128,0.5,,retained_mass,0.9,,,,,,4,measured\nh2o,256,0.25,,retained_mass,0.8,,,,,,4,measured\nh2o,256,0.5,,retained_mass,0.9,,,,,,4,measured\n'
columns=method,context,ratio,settings,metric,mean,se,sd,p10,p50,p90,heads,kind
table() { # ROWS
    printf "# source: a test\n$rule$columns\n$1" >q.csv
    "$DSE" list quality q -c c.toml >/dev/null
}
table "$good" # nothing is
table "${good}h2o,128,0.5,,retained_mass,0.9,,,,,,4,measured\n"
table "${good}h2o,128,0.125,,retained_mass,0.7,,,,,,4,measured\nh2o,512,0.125,,retained_mass,0.7,,,,,,4,measured\n"
table "${good}h2o,128,0.75,,retained_mass,1.7,,,,,,4,measured\n"
table "${good}h2o,128,0.75,,attention_error,0.1,,,,,,4,measured\n"
table "${good}h2o,128,0.75,recent_shar=1,retained_mas,0.9,x,,,,,1.5,guessed\n"
table "${good}h2o,128,0.75,boundary=round,retained_mass,0.9,,,0.9,0.8,,4,measured\n"
table "${good}h2o,128,0.75\n"
rule='# rule: h2o retained_mass value=log ratio=square\n'
table "$good"
rule='# rule: voting retained_mass value=log\n'
table "$good"
rule=
columns=policy,context
table "$good"
