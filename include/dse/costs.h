/* The book of constants: what a wafer, a gigabyte, a kilowatt-hour, a multiplication cost, each with its range, year and source.
 *
 * A book (struct dse_costs) is an entry of the catalog, chosen by the parameter `costs`. The one that ships, "public", is
 * catalog/costs.toml: a table a constant, several where a constant has a price for several years. A user's own is
 * [costs.NAME] with `like = "public"` and the constants that differ (docs/explanation/cost.md).
 *
 * The constants are those of DSE_CONSTANTS; the same words name them in C (DSE_C_wafer_usd_7nm), in files and in `dse list costs`.
 * A book may lack one that no source gives (a wafer of 65 nm): NaN then, and what needs it is unknown (NULL with a reason).
 * Families by node, by memory and by grid have their members in the order of DSE_NODES, DSE_MEMORY_KINDS and dse_grid_names:
 * `DSE_C_wafer_usd_65nm + node` is the wafer of a node. */
#ifndef DSE_COSTS_H
#define DSE_COSTS_H

#include <dse/catalog.h>
#include <dse/desc.h>
#include <math.h>
#include <stdbool.h>

/* Nodes [nm] that constants are known for. */
#define DSE_NODES(X) X(65) X(45) X(40) X(32) X(28) X(22) X(20) X(16) X(14) X(12) X(10) X(8) X(7) X(6) X(5) X(4) X(3) X(2)
enum {
#define DSE_NODE_ENTRY(nm) DSE_NODE_##nm##NM,
    DSE_NODES(DSE_NODE_ENTRY)
#undef DSE_NODE_ENTRY
        DSE_NODE_COUNT
};
extern const double dse_node_nm[DSE_NODE_COUNT];
#define DSE_BY_NODE(X, id, unit, zero, doc) \
    X(id##_65nm, unit, zero, doc ", 65 nm") \
    X(id##_45nm, unit, zero, doc ", 45 nm") \
    X(id##_40nm, unit, zero, doc ", 40 nm") \
    X(id##_32nm, unit, zero, doc ", 32 nm") \
    X(id##_28nm, unit, zero, doc ", 28 nm") \
    X(id##_22nm, unit, zero, doc ", 22 nm") \
    X(id##_20nm, unit, zero, doc ", 20 nm") \
    X(id##_16nm, unit, zero, doc ", 16 nm") \
    X(id##_14nm, unit, zero, doc ", 14 nm") \
    X(id##_12nm, unit, zero, doc ", 12 nm") \
    X(id##_10nm, unit, zero, doc ", 10 nm") \
    X(id##_8nm, unit, zero, doc ", 8 nm") \
    X(id##_7nm, unit, zero, doc ", 7 nm") \
    X(id##_6nm, unit, zero, doc ", 6 nm") \
    X(id##_5nm, unit, zero, doc ", 5 nm") \
    X(id##_4nm, unit, zero, doc ", 4 nm") \
    X(id##_3nm, unit, zero, doc ", 3 nm") \
    X(id##_2nm, unit, zero, doc ", 2 nm")

/* By enum dse_memory_kind (catalog.h) behind DSE_MEMORY_OTHER. A unit is a stack of HBM, four channels of LPDDR6, and a channel of
 * 64 bits of all else. */
#define DSE_BY_KIND(X, id, unit, zero, doc) \
    X(id##_hbm2, unit, zero, doc ", hbm2") \
    X(id##_hbm2e, unit, zero, doc ", hbm2e") \
    X(id##_hbm3, unit, zero, doc ", hbm3") \
    X(id##_hbm3e, unit, zero, doc ", hbm3e") \
    X(id##_hbm4, unit, zero, doc ", hbm4") \
    X(id##_ddr4, unit, zero, doc ", ddr4") \
    X(id##_ddr5, unit, zero, doc ", ddr5") \
    X(id##_lpddr4, unit, zero, doc ", lpddr4") \
    X(id##_lpddr5, unit, zero, doc ", lpddr5") \
    X(id##_lpddr6, unit, zero, doc ", lpddr6") \
    X(id##_gddr5, unit, zero, doc ", gddr5") \
    X(id##_gddr6, unit, zero, doc ", gddr6") \
    X(id##_gddr6x, unit, zero, doc ", gddr6x") \
    X(id##_gddr7, unit, zero, doc ", gddr7")

/* X(id, unit, least, doc). Values of the unit "share" are at most 1; prices have units that begin with "usd". */
enum dse_constant_least { DSE_ABOVE_ZERO, DSE_MAY_BE_ZERO };
// clang-format off
#define DSE_CONSTANTS(X) \
    /* Wafers and dies. */ \
    DSE_BY_NODE(X, wafer_usd, "usd", DSE_ABOVE_ZERO, "processed wafer of 300 mm") \
    DSE_BY_NODE(X, defect_density, "per cm2", DSE_ABOVE_ZERO, "random defects D0") \
    DSE_BY_NODE(X, density, "MTr/mm2", DSE_ABOVE_ZERO, "logic density") \
    DSE_BY_NODE(X, design_usd, "usd", DSE_ABOVE_ZERO, "design cost of a chip of 300 mm2, first mask set included") \
    DSE_BY_NODE(X, mask_set_usd, "usd", DSE_ABOVE_ZERO, "mask set") \
    X(design_area_share, "share", DSE_MAY_BE_ZERO, "share of the design cost that grows with chip area") \
    X(yield_alpha, "1", DSE_ABOVE_ZERO, "clustering of defects: alpha of the negative binomial, logic") \
    X(reticle_mm2, "mm2", DSE_ABOVE_ZERO, "largest die that a scanner exposes") \
    X(reticle_long_mm, "mm", DSE_ABOVE_ZERO, "long side of the largest die") \
    X(reticle_short_mm, "mm", DSE_ABOVE_ZERO, "short side of the largest die") \
    X(wafer_mm, "mm", DSE_ABOVE_ZERO, "diameter of a wafer") \
    X(wafer_rim_mm, "mm", DSE_MAY_BE_ZERO, "rim of a wafer that no die may touch") \
    X(scribe_mm, "mm", DSE_MAY_BE_ZERO, "saw street between dies") \
    X(die_test_share, "share", DSE_MAY_BE_ZERO, "cost of testing a die over its cost") \
    X(die_watts_per_mm2, "W/mm2", DSE_ABOVE_ZERO, "power that cooling can remove from a die") \
    X(package_watts_per_mm2, "W/mm2", DSE_ABOVE_ZERO, "power that cooling can remove from a package, by footprint") \
    /* Areas. */ \
    X(sram_mm2_mb_scratchpad, "mm2/MB", DSE_ABOVE_ZERO, "SRAM macros of a scratchpad, 7 nm") \
    X(sram_mm2_mb_cache, "mm2/MB", DSE_ABOVE_ZERO, "a cache with tags and wiring, 7 nm") \
    X(mac_mm2_tflops, "mm2 per Tflop/s", DSE_ABOVE_ZERO, "matrix unit, bf16, 7 nm, at 1 GHz") \
    X(core_area_ratio, "share", DSE_ABOVE_ZERO, "share of a die that is neither pad ring nor white space") \
    X(noncore_share, "share", DSE_ABOVE_ZERO, "share of a GPU die outside the cores") \
    X(noc_area_share, "share", DSE_ABOVE_ZERO, "share of a die that is the on-chip network") \
    X(fp64_unit_mtr, "MTr", DSE_ABOVE_ZERO, "64-bit multiply-add; others scale with the square of the mantissa") \
    X(int32_unit_mtr, "MTr", DSE_ABOVE_ZERO, "multiply-add of 32-bit integers") \
    X(lane_control_mtr, "MTr", DSE_ABOVE_ZERO, "control of a vector lane of a GPU core") \
    X(core_crossbar_mtr, "MTr", DSE_ABOVE_ZERO, "crossbar of a GPU core") \
    DSE_BY_NODE(X, sram_bit_um2, "um2", DSE_ABOVE_ZERO, "a bit of SRAM, cells and wiring") \
    X(cache_efficiency_4kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 4 KiB") \
    X(cache_efficiency_8kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 8 KiB") \
    X(cache_efficiency_16kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 16 KiB") \
    X(cache_efficiency_32kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 32 KiB") \
    X(cache_efficiency_64kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 64 KiB") \
    X(cache_efficiency_128kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 128 KiB") \
    X(cache_efficiency_256kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 256 KiB") \
    X(cache_efficiency_512kib, "share", DSE_ABOVE_ZERO, "cells of a cache over its area, 512 KiB") \
    X(pad_ring_mm, "mm", DSE_MAY_BE_ZERO, "pad ring of a die, both sides together") \
    /* Packages. */ \
    X(substrate_usd_mm2, "usd/mm2", DSE_ABOVE_ZERO, "organic substrate, a layer step of 1") \
    X(substrate_area_factor, "1", DSE_ABOVE_ZERO, "substrate area over silicon area") \
    X(c4_usd_mm2, "usd/mm2", DSE_ABOVE_ZERO, "C4 bumps") \
    X(microbump_usd_mm2, "usd/mm2", DSE_ABOVE_ZERO, "microbumps") \
    X(interposer_wafer_usd, "usd", DSE_ABOVE_ZERO, "wafer of silicon interposers, 55/65 nm") \
    X(interposer_defect_density, "per cm2", DSE_ABOVE_ZERO, "defects of a silicon interposer") \
    X(interposer_alpha, "1", DSE_ABOVE_ZERO, "clustering of defects of a silicon interposer") \
    X(interposer_area_factor, "1", DSE_ABOVE_ZERO, "interposer area over silicon area") \
    X(interposer_bond_yield, "share", DSE_ABOVE_ZERO, "yield of bonding a die to a silicon interposer") \
    X(fanout_wafer_usd, "usd", DSE_ABOVE_ZERO, "wafer of redistribution layers, fan-out") \
    X(fanout_defect_density, "per cm2", DSE_ABOVE_ZERO, "defects of redistribution layers") \
    X(fanout_alpha, "1", DSE_ABOVE_ZERO, "clustering of defects of redistribution layers") \
    X(fanout_area_factor, "1", DSE_ABOVE_ZERO, "area of redistribution layers over silicon area") \
    X(fanout_bond_yield, "share", DSE_ABOVE_ZERO, "yield of bonding a die to redistribution layers") \
    X(substrate_bond_yield, "share", DSE_ABOVE_ZERO, "yield of bonding to an organic substrate") \
    X(cowos_wafer_usd, "usd", DSE_ABOVE_ZERO, "CoWoS-S wafer as billed, about 28 packages of an H100") \
    X(cowos_package_usd, "usd", DSE_ABOVE_ZERO, "CoWoS-S package of an H100") \
    /* Memory, by kind: a unit is a stack of HBM, a channel of 64 bit else. */ \
    DSE_BY_KIND(X, phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of a unit on the logic die") \
    DSE_BY_KIND(X, controller_mtr, "MTr", DSE_MAY_BE_ZERO, "controller of a unit") \
    DSE_BY_KIND(X, stack_mm2, "mm2", DSE_ABOVE_ZERO, "outline of a stack beside the die") \
    X(hbm_channel_mm2, "mm2", DSE_ABOVE_ZERO, "PHY and controller of a 128-bit channel of HBM2 as Chiplet Cloud counts") \
    DSE_BY_KIND(X, edge_mm, "mm", DSE_ABOVE_ZERO, "die edge that a unit takes") \
    X(stacks_per_edge, "1", DSE_ABOVE_ZERO, "stacks of HBM along a 33 mm edge") \
    DSE_BY_KIND(X, unit_gbs, "GB/s", DSE_ABOVE_ZERO, "bandwidth of a unit") \
    DSE_BY_KIND(X, unit_gb, "GB", DSE_ABOVE_ZERO, "capacity of a unit") \
    DSE_BY_KIND(X, dram_pj, "pJ/bit", DSE_ABOVE_ZERO, "energy of the DRAM device") \
    DSE_BY_KIND(X, phy_pj, "pJ/bit", DSE_ABOVE_ZERO, "energy of the interface on the logic die") \
    DSE_BY_KIND(X, memory_usd_gb, "usd/GB", DSE_ABOVE_ZERO, "price of memory") \
    DSE_BY_KIND(X, memory_g_gb, "gCO2e/GB", DSE_ABOVE_ZERO, "embodied carbon of memory, before yield") \
    /* Links between dies and boards. */ \
    X(pcie4_phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of a PCIe 4 lane") \
    X(pcie4_controller_mtr, "MTr", DSE_ABOVE_ZERO, "controller of a PCIe 4 lane") \
    X(pcie5_phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of a PCIe 5 lane") \
    X(pcie5_controller_mtr, "MTr", DSE_ABOVE_ZERO, "controller of a PCIe 5 lane") \
    X(nvlink3_phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of an NVLink 3 link") \
    X(nvlink3_controller_mtr, "MTr", DSE_ABOVE_ZERO, "controller of an NVLink 3 link") \
    X(nvlink4_phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of an NVLink 4 link") \
    X(nvlink4_controller_mtr, "MTr", DSE_ABOVE_ZERO, "controller of an NVLink 4 link") \
    X(infinity_fabric_phy_mm2, "mm2", DSE_ABOVE_ZERO, "PHY of an Infinity Fabric link") \
    X(infinity_fabric_controller_mtr, "MTr", DSE_ABOVE_ZERO, "controller of an Infinity Fabric link") \
    X(serdes_lane_mm2, "mm2", DSE_ABOVE_ZERO, "SerDes of a lane of 112 Gb/s across boards") \
    X(xsr_lane_mm2, "mm2", DSE_ABOVE_ZERO, "SerDes of a lane of 113 Gb/s within a package") \
    X(ucie_module_mm2, "mm2", DSE_ABOVE_ZERO, "UCIe module, standard package, 1024 Gb/s") \
    X(ucie_gbs_mm, "GB/s/mm", DSE_ABOVE_ZERO, "bandwidth along a die edge, UCIe, standard package") \
    X(ucie_advanced_gbs_mm, "GB/s/mm", DSE_ABOVE_ZERO, "bandwidth along a die edge, UCIe, advanced package") \
    X(ucie_pj, "pJ/bit", DSE_ABOVE_ZERO, "UCIe") \
    X(grs_pj, "pJ/bit", DSE_ABOVE_ZERO, "ground-referenced signalling across a package") \
    /* Servers and data centres. */ \
    X(electricity_usd_kwh, "usd/kWh", DSE_ABOVE_ZERO, "electricity") \
    X(pue, "1", DSE_ABOVE_ZERO, "building power over server power") \
    X(interest, "share", DSE_ABOVE_ZERO, "interest per year") \
    X(building_usd_w, "usd/W", DSE_ABOVE_ZERO, "building, per watt of servers") \
    X(building_years, "years", DSE_ABOVE_ZERO, "life of the building") \
    X(upkeep_usd_w_month, "usd/W", DSE_ABOVE_ZERO, "upkeep of the building, per watt and month") \
    X(server_years, "years", DSE_ABOVE_ZERO, "life of a server") \
    X(server_upkeep_share, "share", DSE_ABOVE_ZERO, "lifetime upkeep of a server over its price") \
    X(supply_efficiency, "share", DSE_ABOVE_ZERO, "efficiency of the power supply") \
    X(regulator_efficiency, "share", DSE_ABOVE_ZERO, "efficiency of the voltage regulator") \
    X(server_board_usd, "usd", DSE_ABOVE_ZERO, "board of a server") \
    X(server_parts_usd, "usd", DSE_ABOVE_ZERO, "parts on the board of a server") \
    X(server_chassis_usd, "usd", DSE_ABOVE_ZERO, "chassis") \
    X(server_network_usd, "usd", DSE_ABOVE_ZERO, "network interface of 100 Gb/s") \
    X(server_cpu_usd, "usd", DSE_ABOVE_ZERO, "processor and DRAM of a server") \
    X(server_cpu_w, "W", DSE_ABOVE_ZERO, "power of a server's processor and DRAM") \
    X(server_fan_usd, "usd", DSE_ABOVE_ZERO, "fan") \
    X(server_fan_w, "W", DSE_ABOVE_ZERO, "power of a fan") \
    X(supply_usd_w, "usd/W", DSE_ABOVE_ZERO, "power supply") \
    X(regulator_usd_a, "usd/A", DSE_ABOVE_ZERO, "voltage regulator") \
    X(gpu_server_power, "1", DSE_ABOVE_ZERO, "power of a GPU server over the power of its GPUs") \
    X(busy_share, "share", DSE_ABOVE_ZERO, "share of its life that a machine works") \
    X(gpu_server_usd, "1", DSE_ABOVE_ZERO, "price of a GPU server over the price of its GPUs") \
    X(apple_computer_usd, "usd", DSE_ABOVE_ZERO, "computer with an M1 Pro and 32 GB, for the model ane") \
    X(apple_die_mm2, "mm2", DSE_ABOVE_ZERO, "die of the M1 Pro, 5 nm") \
    X(hours_per_month, "1", DSE_ABOVE_ZERO, "hours of electricity per month: 30 days") \
    /* Carbon. */ \
    DSE_BY_NODE(X, fab_kwh_cm2, "kWh/cm2", DSE_ABOVE_ZERO, "energy of the fab") \
    DSE_BY_NODE(X, gas_95_g_cm2, "gCO2e/cm2", DSE_ABOVE_ZERO, "gases of the fab, 95 % abated") \
    DSE_BY_NODE(X, gas_97_g_cm2, "gCO2e/cm2", DSE_ABOVE_ZERO, "gases of the fab, 97 % abated (the mean of 95 and 99)") \
    DSE_BY_NODE(X, gas_99_g_cm2, "gCO2e/cm2", DSE_ABOVE_ZERO, "gases of the fab, 99 % abated") \
    X(materials_g_cm2, "gCO2e/cm2", DSE_ABOVE_ZERO, "raw materials of a chip") \
    X(package_g, "gCO2e", DSE_ABOVE_ZERO, "a package") \
    X(carbon_yield, "share", DSE_ABOVE_ZERO, "fab yield where no yield model is used") \
    X(server_kg, "kgCO2e", DSE_ABOVE_ZERO, "server without its chips") \
    X(dram_g_gb_ddr3_50nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, ddr3 50nm") \
    X(dram_g_gb_ddr3_40nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, ddr3 40nm") \
    X(dram_g_gb_ddr3_30nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, ddr3 30nm") \
    X(dram_g_gb_lpddr3_30nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, lpddr3 30nm") \
    X(dram_g_gb_lpddr3_20nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, lpddr3 20nm") \
    X(dram_g_gb_lpddr2_20nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, lpddr2 20nm") \
    X(dram_g_gb_lpddr4, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, lpddr4") \
    X(dram_g_gb_ddr4_10nm, "gCO2e/GB", DSE_ABOVE_ZERO, "DRAM as ACT names it, before yield, ddr4 10nm") \
    X(ssd_g_gb_nand_30nm, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, nand 30nm") \
    X(ssd_g_gb_nand_20nm, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, nand 20nm") \
    X(ssd_g_gb_nand_10nm, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, nand 10nm") \
    X(ssd_g_gb_nand_tlc_1z, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, nand tlc 1z") \
    X(ssd_g_gb_nand_tlc_v3, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, nand tlc v3") \
    X(ssd_g_gb_wd_2016, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, wd 2016") \
    X(ssd_g_gb_wd_2017, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, wd 2017") \
    X(ssd_g_gb_wd_2018, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, wd 2018") \
    X(ssd_g_gb_wd_2019, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, wd 2019") \
    X(ssd_g_gb_seagate_nytro_3530, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, seagate nytro 3530") \
    X(ssd_g_gb_seagate_nytro_1551, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, seagate nytro 1551") \
    X(ssd_g_gb_seagate_nytro_3331, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, seagate nytro 3331") \
    X(ssd_g_gb_greensku, "gCO2e/GB", DSE_ABOVE_ZERO, "SSD as ACT names it, before yield, greensku") \
    X(grid_g_world, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, world") \
    X(grid_g_india, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, india") \
    X(grid_g_australia, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, australia") \
    X(grid_g_taiwan, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, taiwan") \
    X(grid_g_singapore, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, singapore") \
    X(grid_g_usa, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, usa") \
    X(grid_g_europe, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, europe") \
    X(grid_g_brazil, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, brazil") \
    X(grid_g_iceland, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, iceland") \
    X(grid_g_japan, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, japan") \
    X(grid_g_korea, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity of the grid, korea") \
    X(source_g_coal, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, coal") \
    X(source_g_gas, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, gas") \
    X(source_g_biomass, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, biomass") \
    X(source_g_solar, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, solar") \
    X(source_g_geothermal, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, geothermal") \
    X(source_g_hydropower, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, hydropower") \
    X(source_g_nuclear, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, nuclear") \
    X(source_g_wind, "gCO2e/kWh", DSE_ABOVE_ZERO, "electricity by source, wind") \
    /* Energy of operations. */ \
    X(add_int8_pj_45nm, "pJ", DSE_ABOVE_ZERO, "an addition, int8, 45 nm") \
    X(add_int8_pj_7nm, "pJ", DSE_ABOVE_ZERO, "an addition, int8, 7 nm") \
    X(add_int32_pj_45nm, "pJ", DSE_ABOVE_ZERO, "an addition, int32, 45 nm") \
    X(add_int32_pj_7nm, "pJ", DSE_ABOVE_ZERO, "an addition, int32, 7 nm") \
    X(add_bf16_pj_7nm, "pJ", DSE_ABOVE_ZERO, "an addition, bf16, 7 nm") \
    X(add_fp16_pj_45nm, "pJ", DSE_ABOVE_ZERO, "an addition, fp16, 45 nm") \
    X(add_fp16_pj_7nm, "pJ", DSE_ABOVE_ZERO, "an addition, fp16, 7 nm") \
    X(add_fp32_pj_45nm, "pJ", DSE_ABOVE_ZERO, "an addition, fp32, 45 nm") \
    X(add_fp32_pj_7nm, "pJ", DSE_ABOVE_ZERO, "an addition, fp32, 7 nm") \
    X(mul_int8_pj_45nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, int8, 45 nm") \
    X(mul_int8_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, int8, 7 nm") \
    X(mul_int32_pj_45nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, int32, 45 nm") \
    X(mul_int32_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, int32, 7 nm") \
    X(mul_bf16_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, bf16, 7 nm") \
    X(mul_fp16_pj_45nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, fp16, 45 nm") \
    X(mul_fp16_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, fp16, 7 nm") \
    X(mul_fp32_pj_45nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, fp32, 45 nm") \
    X(mul_fp32_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiplication, fp32, 7 nm") \
    X(fma_fp16_pj_7nm, "pJ", DSE_ABOVE_ZERO, "a multiply-add with its operands at hand, fp16 or bf16, 7 nm") \
    X(simba_op_pj_16nm, "pJ", DSE_ABOVE_ZERO, "an int8 operation of a chip, 16 nm, at its lowest voltage") \
    X(sram_8kib_pj_45nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 8 KiB, 45 nm") \
    X(sram_8kib_pj_7nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 8 KiB, 7 nm") \
    X(sram_32kib_pj_45nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 32 KiB, 45 nm") \
    X(sram_32kib_pj_7nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 32 KiB, 7 nm") \
    X(sram_1mib_pj_45nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 1 MiB, 45 nm") \
    X(sram_1mib_pj_7nm, "pJ", DSE_ABOVE_ZERO, "64 bit of an SRAM of 1 MiB, 7 nm") \
    X(sram_large_pj_byte, "pJ/B", DSE_ABOVE_ZERO, "reading a large SRAM, 7 nm") \
    X(register_pj_bit, "pJ/bit", DSE_ABOVE_ZERO, "register access, 40 nm") \
    X(wire_fj_bit_mm_40nm, "fJ/bit/mm", DSE_ABOVE_ZERO, "on-chip wire, 40 nm, 0.9 V") \
    X(wire_fj_bit_mm_14nm, "fJ/bit/mm", DSE_ABOVE_ZERO, "on-chip wire, 14 nm") \
    X(wire_fj_bit_mm_16nm, "fJ/bit/mm", DSE_ABOVE_ZERO, "on-chip wire, 16 nm") \
    X(wire_fj_bit_mm_10nm, "fJ/bit/mm", DSE_ABOVE_ZERO, "on-chip wire, 10 nm, 0.7 V, a projection") \
    X(noc_pj_byte_hop_12nm, "pJ/B", DSE_ABOVE_ZERO, "a hop of an on-chip network, 12 nm") \
    X(noc_pj_byte_hop_7nm, "pJ/B", DSE_ABOVE_ZERO, "a hop of a 7 nm mesh at 0.485 V, 3.72 mm") \
    /* Leakage, clock and idle power. */ \
    DSE_BY_NODE(X, leakage_share, "share", DSE_ABOVE_ZERO, "leakage over the power of a busy chip") \
    X(clock_share, "share", DSE_ABOVE_ZERO, "clock network over dynamic power, without fine gating") \
    X(idle_w_h200, "W", DSE_ABOVE_ZERO, "board without work, H200 SXM") \
    X(idle_w_a100, "W", DSE_ABOVE_ZERO, "board without work, A100 SXM") \
    X(decode_w_h200, "W", DSE_ABOVE_ZERO, "board in memory-bound decode, H200") \
    X(serve_share_h100, "share", DSE_ABOVE_ZERO, "power of a serving board over its limit, H100 under vLLM") \
    X(serve_share_b200, "share", DSE_ABOVE_ZERO, "power of a serving board over its limit, B200 under vLLM") \
    X(decode_w_a100, "W", DSE_ABOVE_ZERO, "board decoding 7-13B at batch 1, eager, A100") \
    /* Voltage: f ~ (V - Vt)^alpha / V, fits to high-performance (hp) and low-power (lp) libraries. */ \
    DSE_BY_NODE(X, vt_hp_v, "V", DSE_ABOVE_ZERO, "threshold, hp") \
    DSE_BY_NODE(X, alpha_hp, "1", DSE_ABOVE_ZERO, "exponent of the frequency, hp") \
    DSE_BY_NODE(X, v_low_hp_v, "V", DSE_ABOVE_ZERO, "lowest voltage of the fit, hp") \
    DSE_BY_NODE(X, v_high_hp_v, "V", DSE_ABOVE_ZERO, "highest voltage of the fit, hp") \
    DSE_BY_NODE(X, energy_exponent_hp, "1", DSE_ABOVE_ZERO, "energy over voltage, hp") \
    DSE_BY_NODE(X, vt_lp_v, "V", DSE_ABOVE_ZERO, "threshold, lp") \
    DSE_BY_NODE(X, alpha_lp, "1", DSE_ABOVE_ZERO, "exponent of the frequency, lp") \
    DSE_BY_NODE(X, v_low_lp_v, "V", DSE_ABOVE_ZERO, "lowest voltage of the fit, lp") \
    DSE_BY_NODE(X, v_high_lp_v, "V", DSE_ABOVE_ZERO, "highest voltage of the fit, lp") \
    DSE_BY_NODE(X, energy_exponent_lp, "1", DSE_ABOVE_ZERO, "energy over voltage, lp") \
    DSE_BY_NODE(X, v_nominal_v, "V", DSE_ABOVE_ZERO, "nominal supply")
// clang-format on

enum dse_constant_id {
#define DSE_CONSTANT_ID(id, unit, least, doc) DSE_C_##id,
    DSE_CONSTANTS(DSE_CONSTANT_ID)
#undef DSE_CONSTANT_ID
        DSE_CONSTANT_COUNT
};

/* What is known of a constant apart from its values. */
struct dse_constant_row {
    const char *name, *unit, *doc;
    enum dse_constant_least least;
};
extern const struct dse_constant_row dse_constant_rows[DSE_CONSTANT_COUNT];

enum dse_band { DSE_LOW, DSE_TYPICAL, DSE_HIGH, DSE_BANDS };
extern const char *const dse_band_names[]; /* "low", "typical", "high", NULL */

/* A value of a book: a plausible range, no confidence interval. */
struct dse_constant {
    double value[DSE_BANDS];
    int year;             /* that it is of; 0: of all */
    const char *evidence; /* "A" read in the source, "B" in one that names it, "D" derived, "R" recalled, "own" the user's */
    const char *source;
};

enum { DSE_PRICE_YEAR_FIRST = 2020, DSE_PRICE_YEAR_LAST = 2030, DSE_PRICE_YEARS = DSE_PRICE_YEAR_LAST - DSE_PRICE_YEAR_FIRST + 1 };

/* A book. rows[0] is of constants that it lacks (NaN); at[id][y] is the row of a constant for the year DSE_PRICE_YEAR_FIRST + y:
 * the newest that is not newer, else the oldest. The arrays below hold what a look-up gives. */
struct dse_costs {
    struct dse_entry entry;
    int n_rows;
    struct dse_constant *rows;
    int16_t at[DSE_CONSTANT_COUNT][DSE_PRICE_YEARS];
    double value[DSE_BANDS][DSE_PRICE_YEARS][DSE_CONSTANT_COUNT]; /* dse_constant */
    double fab_g_cm2[DSE_NODE_COUNT]; /* of silicon, before its package: dse_fab_of, dse_fab_g_cm2 (cost.h) */
    double building_interest;         /* on a dollar over the life of a building: dse_interest (cost.h) */
};

/* The constant of a year of prices; NaN where the book has none. An index, for any year in range. */
static inline double dse_constant(const struct dse_costs *book, int id, int band, int64_t year)
{
    return book->value[band][year - DSE_PRICE_YEAR_FIRST][id];
}
/* What is no price: the typical value, the newest there is. */
static inline double dse_physical(const struct dse_costs *book, int id)
{
    return book->value[DSE_TYPICAL][DSE_PRICE_YEARS - 1][id];
}

/* The index of a node in DSE_NODES; -1: constants are not known for it. */
int dse_node_of(double node_nm);
/* The member of a family (its first: DSE_C_wafer_usd_65nm, DSE_C_phy_mm2_hbm2) for a node or kind; NaN where there is none. */
double dse_by_node(const struct dse_costs *book, int first, double node_nm);
double dse_by_kind(const struct dse_costs *book, int first, int32_t memory_kind);

/* ---- what a design is priced by ---------------------------------------------------------------------------------------- */

enum dse_yield_model { DSE_NEGATIVE_BINOMIAL, DSE_POISSON, DSE_MURPHY, DSE_SEEDS };
extern const char *const dse_yield_names[]; /* "negative-binomial", "poisson", "murphy", "seeds", NULL */
enum dse_wafer_fit { DSE_FIT_SCRIBED, DSE_FIT_AREA, DSE_FIT_SQUARES };
extern const char *const dse_wafer_fit_names[]; /* "scribed", "area", "squares", NULL */
enum dse_packaging { DSE_PACKAGE_AUTO, DSE_ORGANIC, DSE_INTERPOSER, DSE_FANOUT };
extern const char *const dse_packaging_names[]; /* "auto", "organic", "interposer", "fanout", NULL */
extern const char *const dse_grid_names[];      /* in the order of the constants grid_g_*: "world", "india", ... */

enum dse_tenure { DSE_OWNED, DSE_RENTED };
extern const char *const dse_tenure_names[]; /* "owned", "rented", NULL */

/* Every model embeds it:
 *     DSE_EMBED(struct lad_params, economics, struct dse_economics, dse_economics_params)
 * What is "auto" is the book's; dse_economics_resolve fills it in. */
struct dse_economics {
    const struct dse_costs *costs;
    int32_t prices;     /* enum dse_band: of every price, and of nothing else */
    int64_t price_year; /* of every price */
    int32_t yield_model;
    int32_t wafer_fit;
    int32_t packaging;
    int32_t tenure; /* owned: for its life; rented: by the hour, where it can be */
    double life_years;
    double busy_share; /* of its life that the machine works */
    double pue;
    double electricity_usd_kwh;
    int32_t grid;               /* dse_grid_names: where it works */
    int64_t devices_per_server; /* that share a server */
    int64_t units;              /* chips that are made of a design, which pay for it; 0: nobody pays for it */
    int64_t mask_sets;          /* that it took */
};
extern const struct dse_param dse_economics_params[];
void dse_economics_resolve(struct dse_economics *e);
/* A price of the book, by the band and year of the point. */
static inline double dse_price(const struct dse_economics *e, int id)
{
    return dse_constant(e->costs, id, e->prices, e->price_year);
}

#endif
