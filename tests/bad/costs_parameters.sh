. ./lib
"$DSE" eval lad --set life_years=0 --set busy_share=-0.5 --set electricity_usd_kwh=0 --set pue=0.9 --set price_year=1999 --set costs=publik --set prices=mean --set yield_model=bose
