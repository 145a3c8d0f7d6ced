"$DSE" dram --pattern randm
"$DSE" dram --pattern random,sise=64,count=x,write=2,size
"$DSE" dram --pattern random,load=10,interval_ns=5
"$DSE" dram --pattern stride,arrival=poisson
"$DSE" dram --pattern lad,barriers=1
"$DSE" dram --pattern random,size=2KiB,footprint=1KiB
"$DSE" dram --pattern random,footprint=64GiB
