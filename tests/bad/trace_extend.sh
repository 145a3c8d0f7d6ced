. ./lib
head='method,context,ratio,settings,metric,mean,se,sd,p10,p50,p90,heads,kind'
printf '%s\nh2o,512,0.5,,retained_mass,0.9,,,,,,4,measured\n' "$head" >a.csv
"$DSE" trace extend a.csv none.csv -o b.csv
"$DSE" trace extend a.csv -o b.csv
printf 'method,context\nh2o,512\n' >c.csv; "$DSE" trace extend a.csv c.csv -o b.csv
printf '%s\nh2o,long,0.5,,retained_mass,0.9,,,,,,4,measured\n' "$head" >c.csv; "$DSE" trace extend a.csv c.csv -o b.csv
printf '%s\nh2o,512,0.5,,retained_mass,0.9,,,,,,4,extended\n' "$head" >c.csv; "$DSE" trace extend c.csv a.csv -o b.csv
"$DSE" trace extend a.csv a.csv --contexts 4096,1024 -o b.csv
