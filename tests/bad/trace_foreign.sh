. ./lib
echo "layer,head" >a.trace; : >b.trace; "$DSE" trace info a.trace b.trace nowhere.trace . /dev/null
