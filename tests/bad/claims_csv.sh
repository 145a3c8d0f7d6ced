. ./lib
toy_claims '2s/2.0/2,0/; 3s/yes/yep/; 4s/calibrate/train/; 5s/500/fast/; 6s/,us,/,us,op:=>;/; 7s/op:~/op:!/; 9s/1,4/4,1/; 10s/toy.speedup/toy.share/' claims.csv
"$DSE_TOY" validate toy
