"$DSE" query :memory: "select tiles from lad where sram_mib between 1 and 2"
