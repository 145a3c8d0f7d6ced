"$DSE" figures lad_sram_paretto
