. ./lib
printf 'recordings.mine = "r.csv"\n' >c.toml
replay() { # CONTEXT, after writing r.csv of the lines given
    context=$1
    shift
    printf '%s\n' "$@" >r.csv
    "$DSE" eval lad --catalog c.toml -s draws=replay -s recording=mine -s context="$context"
}
columns=context,head,step,centers,large,active,updates,hits
replay 64 context,head,step,centers
replay 64 $columns
replay 64 $columns 64,0,63,8,4,20,1,15 64,0,64,8,4,20,1,many
replay 64 $columns 64,0,63,8,4,20,1,15 64,0,64,8,4,20,21,15
replay 64 $columns 64,0,63,8,4,20,1,15 64,0,64,8,4,20,1,15 64,1,62,8,4,20,1,15 64,1,63,8,4,20,1,15
replay 64 $columns 64,0,64,8,4,20,1,15 32,0,32,8,4,20,1,15
replay 64 $columns 64,0,64,8,4,20,1,15 64,1,64,8,4,20,1,15 128,0,128,8,4,20,1,15
replay 65 $columns 64,0,64,8,4,20,1,15
"$DSE" eval lad --catalog c.toml -s recording=mime
"$DSE" eval lad -s draws=replays
