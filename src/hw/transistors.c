/* Areas by transistors (C13 to C17): LLMCompass (Zhang et al., ISCA 2024), whose logic shrinks with the node, and whose PHYs do
 * not. */
#include <dse/cost.h>

double dse_logic_mm2(const struct dse_costs *book, double mtr, double node_nm)
{
    return mtr / dse_by_node(book, DSE_C_density_65nm, node_nm);
}

double dse_cache_mm2(const struct dse_costs *book, double bytes, double node_nm)
{
    enum { LEAST_LOG2 = 12, UNIT_LOG2 = 19 }; /* 4 and 512 KiB */
    const double unit_bytes = ldexp(1, UNIT_LOG2), units = bytes > unit_bytes ? ceil(bytes / unit_bytes) : 1;
    const double unit = fmin(fmax(bytes, ldexp(1, LEAST_LOG2)), unit_bytes), um2_per_mm2 = 1e6, bits_per_byte = 8;
    const int size = (int)ceil(log2(unit)) - LEAST_LOG2;
    const double bit_mm2 = dse_by_node(book, DSE_C_sram_bit_um2_65nm, node_nm) / um2_per_mm2;
    return units * unit * bits_per_byte * bit_mm2 / dse_physical(book, DSE_C_cache_efficiency_4kib + size);
}

double dse_registers_mm2(const struct dse_costs *book, double words, double bits, double ports, double node_nm)
{
    const double density_90nm = 1.6, um2_per_mm2 = 1e6; /* million transistors a mm2: ttm-cas */
    const double um2 = 3.29e4 - 1.09e3 * words - 8.83e2 * bits - 5.55e3 * ports + 53.5 * words * bits + 1.5e-2 * words * words +
                       1.08e-2 * bits * bits + 0.586 * ports * ports + 142 * words * ports + 368 * bits * ports;
    return um2 / um2_per_mm2 * density_90nm / dse_by_node(book, DSE_C_density_65nm, node_nm);
}

static double unit_mtr(const struct dse_costs *book, double mantissa_bits)
{
    const double of_double = 52;
    return dse_physical(book, DSE_C_fp64_unit_mtr) * (mantissa_bits / of_double) * (mantissa_bits / of_double);
}

double dse_core_mm2(const struct dse_costs *book, const struct dse_core_plan *c, double node_nm)
{
    const double mtr = c->vector_width * dse_physical(book, DSE_C_lane_control_mtr) +
                       c->int32_units * dse_physical(book, DSE_C_int32_unit_mtr) + c->fp16_units * unit_mtr(book, 10) +
                       c->fp32_units * unit_mtr(book, 23) + c->fp64_units * unit_mtr(book, 52) +
                       c->array_rows * c->array_columns * unit_mtr(book, c->array_mantissa);
    const double registers =
        c->register_files * dse_registers_mm2(book, c->registers, c->register_bits, c->register_ports, node_nm);
    return c->sublanes * (dse_logic_mm2(book, mtr, node_nm) + registers) + dse_cache_mm2(book, c->sram_bytes, node_nm);
}

double dse_crossbar_mm2(const struct dse_costs *book, double cores, double node_nm)
{
    return dse_logic_mm2(book, cores * dse_physical(book, DSE_C_core_crossbar_mtr), node_nm);
}

double dse_die_around(double content_mm2, double core_share, double pad_ring_mm)
{
    const double side = sqrt(content_mm2 / core_share) + pad_ring_mm;
    return side * side;
}
