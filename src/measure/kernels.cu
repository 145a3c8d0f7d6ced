// What the GPU runs for `dse measure`, compiled by NVRTC for the GPU at hand: no header of CUDA is needed. fp16 numbers are moved
// as 16-bit patterns. Host side: cuda_launch.c, which has the same sizes.

typedef unsigned int u32;
typedef unsigned long long u64;

// ---- memory ------------------------------------------------------------------------------------------------------------------

// Random numbers of magnitude 0.5 to 2, two to a word: power depends on what bits change. bf16: else fp16.
extern "C" __global__ void fill(u32 *to, u64 words, u32 seed, int bf16)
{
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < words; i += (u64)gridDim.x * blockDim.x) {
        u32 h = (u32)i * 0x9e3779b9u + (u32)(i >> 32) * 0x85ebca6bu + seed;
        h ^= h >> 16, h *= 0x7feb352du, h ^= h >> 15, h *= 0x846ca68bu, h ^= h >> 16;
        // Sign and mantissa are random, the exponent is one of two.
        to[i] = bf16 ? (h & 0x80ff80ffu) | 0x3f003f00u : (h & 0x87ff87ffu) | 0x38003800u;
    }
}

enum { UNROLL = 4 };

extern "C" __global__ void read(const uint4 *from, u64 n, u32 *sink)
{
    const u64 step = (u64)gridDim.x * blockDim.x;
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    u32 all = 0;
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) v[k] = from[i + k * step];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) all ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < n; i += step) all ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (all == 0xdeadbeefu) *sink = all; // it depends on what was read, so that all of it must be
}

extern "C" __global__ void write(uint4 *to, u64 n, u32 value)
{
    const u64 step = (u64)gridDim.x * blockDim.x;
    const uint4 v = make_uint4(value, value, value, value);
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += step) to[i] = v;
}

extern "C" __global__ void copy(uint4 *to, const uint4 *from, u64 n)
{
    const u64 step = (u64)gridDim.x * blockDim.x;
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) v[k] = from[i + k * step];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) to[i + k * step] = v[k];
    }
    for (; i < n; i += step) to[i] = from[i];
}

extern "C" __global__ void nothing() {}

// ---- attention of a decode step ------------------------------------------------------------------------------------------------
//
// Split-KV ("flash-decoding"): a block has one sequence, one KV head with its query heads (at most 8), a share of the positions;
// its four warps take 16 positions each in turn, keep a running maximum and sum, and are merged in shared memory; merge() joins the
// shares. Products are by tensor cores (mma m16n8k16, from compute capability 8.0 on), K and V go from DRAM into registers without 
// stop: which number of the depth a fragment's slot has is free as long as both operands agree, so that a thread's 16 contiguous
// bytes of a row are four of its slots. Of the 16 rows of Q 8 are zero.

#if __CUDA_ARCH__ >= 800

#define LEAST __int_as_float(0xff800000) // minus infinity
enum { DIM = 128, GROUP = 8, WARPS = 4, TILE = 16, THREADS = 32 * WARPS };

static __device__ __forceinline__ uint4 load16(const unsigned short *p)
{
    return *reinterpret_cast<const uint4 *>(p);
}

// c[0..2) of rows 0 to 7 += a x b; rows 8 to 15 are zero.
static __device__ __forceinline__ void mma(float *c, u32 a0, u32 a2, u32 b0, u32 b1)
{
    asm("{ .reg .f32 c2, c3;"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, c2, c3}, {%2, %3, %4, %3}, {%5, %6}, {%0, %1, %7, %7}; }"
        : "+f"(c[0]), "+f"(c[1])
        : "r"(a0), "r"(0u), "r"(a2), "r"(b0), "r"(b1), "f"(0.f));
}

static __device__ __forceinline__ u32 pack(float low, float high)
{
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

// 2^x, with 2^-inf = 0.
static __device__ __forceinline__ float power_of_two(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// Of the four lanes that share a row.
static __device__ __forceinline__ float row_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

static __device__ __forceinline__ float row_sum(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

// What a warp knows: its query heads are rows, lane / 4; a lane has 32 of a row's numbers, dims 64 h + 16 (lane % 4) + 0..15.
struct state {
    float out[2][8][2]; // [h][i][0]: dim 64 h + 16 t + i; [1]: 8 more
    float top, sum;     // of scores in powers of two; sum: of this lane alone
};

static __device__ __forceinline__ void scores(float s[2][2], const uint4 q[4], const unsigned short *k, u64 row, int first, int end,
                                              int g, int t)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const unsigned short *at = k + row * min(first + 8 * j + g, end - 1) + 8 * t;
        uint4 v[4];
#pragma unroll
        for (int c = 0; c < 4; c++) v[c] = load16(at + 32 * c);
        s[j][0] = s[j][1] = 0;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            mma(s[j], q[c].x, q[c].y, v[c].x, v[c].y);
            mma(s[j], q[c].z, q[c].w, v[c].z, v[c].w);
        }
    }
}

static __device__ __forceinline__ u32 word(const uint4 &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

static __device__ __forceinline__ void values(state &st, const uint4 v[2][4], u32 p0, u32 p2)
{
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const u32 pick = i % 2 ? 0x7632 : 0x5410;
            mma(st.out[h][i], p0, p2, __byte_perm(word(v[h][0], i / 2), word(v[h][1], i / 2), pick),
                __byte_perm(word(v[h][2], i / 2), word(v[h][3], i / 2), pick));
        }
}

static __device__ __forceinline__ void tile(state &st, const uint4 q[4], const unsigned short *k, const unsigned short *v, u64 row,
                                            int first, int end, float scale, int g, int t)
{
    uint4 rows[2][4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const unsigned short *at = v + row * min(first + 2 * t + (r & 1) + 8 * (r >> 1), end - 1) + 8 * g;
        rows[0][r] = load16(at);
        rows[1][r] = load16(at + 64);
    }
    float s[2][2];
    scores(s, q, k, row, first, end, g, t);
    float top = st.top;
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            s[j][i] = first + 8 * j + 2 * t + i < end ? s[j][i] * scale : LEAST;
            top = fmaxf(top, s[j][i]);
        }
    top = row_max(top); // finite: a tile has a position at least
    const float shrink = power_of_two(st.top - top);
    st.top = top;
    st.sum *= shrink;
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) st.sum += s[j][i] = power_of_two(s[j][i] - top);
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int i = 0; i < 8; i++) st.out[h][i][0] *= shrink, st.out[h][i][1] *= shrink;
    values(st, rows, pack(s[0][0], s[0][1]), pack(s[1][0], s[1][1]));
}

// q, out: [batch][heads][DIM]; k, v: [batch][context][kv_heads][DIM]. Grid: splits x kv_heads x batch. With more than one split,
// parts: [batch][heads][splits][DIM], and tops: [batch][heads][splits][2] their maxima and sums.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    decode(const unsigned short *q, const unsigned short *k, const unsigned short *v, unsigned short *out, float *parts,
           float *tops, int context, int group, int per_split, float scale)
{
    __shared__ float sums[WARPS][GROUP][DIM], top[WARPS][GROUP], sum[WARPS][GROUP];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int split = blockIdx.x, splits = gridDim.x, kv_head = blockIdx.y, kv_heads = gridDim.y, b = blockIdx.z;
    const u64 row = (u64)kv_heads * DIM, begin = ((u64)b * context * kv_heads + kv_head) * DIM;
    const int first = split * per_split, end = min(first + per_split, context), head = kv_head * group;
    const u64 heads = (u64)kv_heads * group;
    uint4 query[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        query[c] = g < group ? load16(q + (b * heads + head + g) * DIM + 32 * c + 8 * t) : make_uint4(0, 0, 0, 0);
    state st = {};
    st.top = LEAST;
    for (int i = first + warp * TILE; i < end; i += WARPS * TILE) tile(st, query, k + begin, v + begin, row, i, end, scale, g, t);
    st.sum = row_sum(st.sum);
    if (t == 0) top[warp][g] = st.top, sum[warp][g] = st.sum;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sums[warp][g][64 * h + 16 * t + i] = st.out[h][i][0];
            sums[warp][g][64 * h + 16 * t + 8 + i] = st.out[h][i][1];
        }
    __syncthreads();
    const int dim = threadIdx.x; // THREADS == DIM
    for (int r = 0; r < group; r++) {
        float most = top[0][r], total = 0, weighted = 0;
        for (int w = 1; w < WARPS; w++) most = fmaxf(most, top[w][r]);
        for (int w = 0; w < WARPS; w++) {
            const float share = power_of_two(top[w][r] - most); // 0 of a warp without a tile
            total += share * sum[w][r];
            weighted += share * sums[w][r][dim];
        }
        const u64 at = b * heads + head + r;
        if (splits == 1) {
            out[at * DIM + dim] = (unsigned short)pack(weighted / total, 0);
        } else {
            parts[(at * splits + split) * DIM + dim] = weighted;
            if (dim == 0) tops[2 * (at * splits + split)] = most, tops[2 * (at * splits + split) + 1] = total;
        }
    }
}

// A block for each query head of each sequence.
extern "C" __global__ void __launch_bounds__(DIM) merge(const float *parts, const float *tops, unsigned short *out, int splits)
{
    const u64 at = blockIdx.x;
    const float *top = tops + 2 * at * splits;
    float most = LEAST, total = 0, weighted = 0;
    for (int s = 0; s < splits; s++) most = fmaxf(most, top[2 * s]);
    for (int s = 0; s < splits; s++) {
        const float share = power_of_two(top[2 * s] - most);
        total += share * top[2 * s + 1];
        weighted += share * parts[(at * splits + s) * DIM + threadIdx.x];
    }
    out[at * DIM + threadIdx.x] = (unsigned short)pack(weighted / total, 0);
}

#endif
