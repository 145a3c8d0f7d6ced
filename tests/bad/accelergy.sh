. ./lib
printf 'ERT:\n  tables:\n  - name: chip.buffer[1..4]\n    actions:\n    - name: read\n      energy: 20.5\n' >ert.yaml
printf 'nothing: here\n' >none.yaml
printf 'energy: 1\n' >stray.yaml
printf 'tables:\n  - name: a\n    area: -1\n' >area.yaml
"$DSE" accelergy none.yaml
"$DSE" accelergy stray.yaml
"$DSE" accelergy area.yaml
"$DSE" accelergy ert.yaml --component bufer
"$DSE" accelergy ert.yaml --component buffer
"$DSE" accelergy ert.yaml --component buffer --node-nm x --capacity-mib 1 --word-bits 8 -o x.csv
"$DSE" accelergy ert.yaml --component buffer --like hbm2-5cube --name a/b --word-bits 8
"$DSE" accelergy missing.yaml
