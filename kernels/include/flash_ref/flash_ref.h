/* flash_ref: small reference kernels for attention and rotary embedding behind a C ABI on DLPack's DLTensor.
 *
 * Every function returns a status: 0 is success, anything else one of flash_ref_status, and then
 * flash_ref_last_error() tells which argument was wrong, what was found and what is accepted. After an error
 * nothing has been written to any output.
 *
 * Tensors. The caller allocates all of them. Strides count elements; NULL strides mean compact row-major;
 * strides of dimensions of size 0 or 1 are ignored; byte_offset is added to data; a tensor without elements
 * may have NULL data. data + byte_offset must be a multiple of the element size; more alignment is not
 * needed. No two elements of an output may share memory: a step along any of its dimensions leads beyond all
 * that the dimensions with smaller steps reach. On CPU, dim of attention is 2^20 at most, of rwkv7 4096.
 *
 * Options. A trailing pointer, NULL for the defaults. A struct of zero bytes means the defaults too; to
 * change a member, zero the struct and set struct_size to its sizeof first: with struct_size 0 only the
 * members of ABI version 1 can be told to be set, which is an error. Members that this library does not know
 * must be zero.
 *
 * Devices. All tensors of a call, those in the options included, lie on one device: the CPU, or since ABI
 * version 4 one CUDA device of compute capability 8.0 or later, where the library was built with CUDA. There
 * kernels are put on options->stream of that device and the call returns: nothing is allocated, waited for
 * or read from the device, so a call can be captured in a graph. Hence workspace is required where the
 * function's _workspace says more than 0; elements of tensors (offsets, lengths, pages, decays) are not
 * checked: what they say beyond the tensors is left out, keys beyond a mask are hidden, and
 * FLASH_REF_BAD_VALUE never comes. Head dims are 256 at most, for rwkv7 128. Wherever this header says "on
 * CPU", that is all that is meant.
 *
 * Instruction sets. On CPU the fastest of the machine's instruction sets that the library was built for runs.
 * The environment variable FLASH_REF_ISA, read at the first call, forces one: scalar (what the compiler
 * assumes without flags), avx2 (with FMA and F16C), avx512 (F, BW, VL, DQ), avx512bf16 (bfloat16 dot
 * products; taken unasked on AMD only, where they are faster than FMA). Another value, or one that the
 * machine lacks, makes every call fail with FLASH_REF_BAD_OPTIONS; nothing else is run in its place; empty is
 * as if it were not set. Results differ between instruction sets by rounding, and on one
 * they are the same bits at every call, whatever the number of threads.
 *
 * This header uses DLPack's structs only, not its enumerators, so any dlpack.h works with it. It compiles as
 * C99 and C++. All functions may be called from several threads at once. */
#ifndef FLASH_REF_FLASH_REF_H_
#define FLASH_REF_FLASH_REF_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLASH_REF_API __attribute__((visibility("default")))
#else
#define FLASH_REF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function, a status or an options member is added; nothing is ever removed. */
#define FLASH_REF_ABI_VERSION 4

enum flash_ref_status {
  FLASH_REF_OK = 0,
  FLASH_REF_NULL_ARGUMENT = 1, /* a required pointer, or the data of a tensor with elements, is NULL */
  FLASH_REF_BAD_OPTIONS = 2,   /* struct_size or a member of the options is out of range, or FLASH_REF_ISA */
  FLASH_REF_BAD_DTYPE = 3,     /* an argument has a dtype that its contract does not accept */
  FLASH_REF_BAD_DEVICE = 4, /* an argument lies on a device that this build has no kernel for, that cannot be
                               used, or that is not the one of the other arguments */
  FLASH_REF_BAD_SHAPE = 5,  /* number of dimensions or sizes */
  FLASH_REF_BAD_LAYOUT = 6, /* strides, alignment, or outputs that share memory */
  FLASH_REF_BAD_WORKSPACE = 7, /* options->workspace is too small, or shares memory with a tensor */
  FLASH_REF_OUT_OF_MEMORY = 8, /* no workspace was given and none could be allocated */
  FLASH_REF_BAD_VALUE = 9,     /* since ABI version 2: an element of a tensor that says how others are read */
  FLASH_REF_DEVICE_ERROR = 10  /* since ABI version 4: a kernel could not be launched */
};

typedef struct flash_ref_attention_options {
  uint32_t struct_size;   /* sizeof(flash_ref_attention_options) */
  uint32_t causal;        /* 1: query i sees key j only if j <= i + seq_k - seq_q (bottom-right aligned) */
  void* stream;           /* NULL: the device's default stream; ignored on CPU */
  void* workspace;        /* NULL: on CPU the library allocates */
  size_t workspace_bytes; /* size of workspace; flash_ref_attention_fwd_workspace() tells what is enough */
  float softmax_scale;    /* factor on q k^T, of at most 1e30; 0: 1/sqrt(dim) */
  uint32_t reserved;      /* 0 */
  /* Since ABI version 2. With p = i + seq_k - seq_q, the place of query i among the keys: */
  float softcap;                /* 1e-6 to 1e30: a score s becomes softcap * tanh(s / softcap); 0: it stays */
  uint32_t window;              /* n > 0: query i sees key j only if p - n < j < p + n; 0: all of them */
  const DLTensor* alibi_slopes; /* float32 (heads) or (batch, heads): slope * |p - j| is taken off a score,
                                   after softcap; NULL: nothing is */
  /* Since ABI version 3. */
  const DLTensor* mask; /* bool, float32 or the dtype of q; (seq_q, seq_k) or (batch, heads, seq_q, seq_k),
                           where any size but seq_k may be 1 for all; bool: only true takes part, numbers are
                           added to a score after softcap, and hide the key where that is below -2.3e38, as
                           -infinity does; NULL: none. With varlen, seq_q and seq_k are those
                           of the longest sequences or more, and i and j count from the sequence's start. */
} flash_ref_attention_options;

/* Since ABI version 3. Members that flash_ref_attention_options has too mean the same. */
typedef struct flash_ref_kvcache_options {
  uint32_t struct_size; /* sizeof(flash_ref_kvcache_options) */
  uint32_t causal;      /* 1: query i sees key j only if j <= i + length - seq_q, length with the new keys */
  void* stream;         /* NULL: the device's default stream; ignored on CPU */
  void* workspace;      /* NULL: on CPU the library allocates */
  size_t
      workspace_bytes; /* size of workspace; flash_ref_attention_kvcache_workspace() tells what is enough */
  float softmax_scale; /* factor on q k^T, of at most 1e30; 0: 1/sqrt(dim) */
  uint32_t reserved;   /* 0 */
  float softcap;       /* 1e-6 to 1e30: a score s becomes softcap * tanh(s / softcap); 0: it stays */
  uint32_t window;     /* n > 0: query i sees key j only if p - n < j < p + n, p = i + length - seq_q */
  const DLTensor* alibi_slopes; /* float32 (heads) or (batch, heads); NULL: none */
  uint32_t interleaved; /* of the rotation; 0: pairs are (i, i + rotary_dim/2); 1: pairs are (2i, 2i + 1) */
  uint32_t num_splits;  /* n > 0: keys are cut into at most n ranges where seq_q is short; 0: as pays off */
} flash_ref_kvcache_options;

typedef struct flash_ref_rotary_options {
  uint32_t struct_size;   /* sizeof(flash_ref_rotary_options) */
  uint32_t interleaved;   /* 0: pairs are (i, i + rotary_dim/2); 1: pairs are (2i, 2i + 1) */
  void* stream;           /* NULL: the device's default stream; ignored on CPU */
  void* workspace;        /* NULL; not used on CPU */
  size_t workspace_bytes; /* size of workspace */
  uint32_t conjugate;     /* 1: rotate by the opposite angle (sin negated): the inverse */
  uint32_t reserved;      /* 0 */
  /* Since ABI version 3. Row i of x in sequence b is rotated by row i + offset of cos and sin. */
  int64_t seqlen_offset;          /* the offset of all sequences, at least 0 */
  const DLTensor* seqlen_offsets; /* int32 (batch): an offset for each, at least 0; NULL: seqlen_offset */
} flash_ref_rotary_options;

typedef struct flash_ref_rwkv7_options {
  uint32_t struct_size;   /* sizeof(flash_ref_rwkv7_options) */
  float scale;            /* factor on out; 0: 1 */
  void* stream;           /* NULL: the device's default stream; ignored on CPU */
  void* workspace;        /* NULL: on CPU the library allocates */
  size_t workspace_bytes; /* size of workspace; flash_ref_rwkv7_fwd_workspace() tells what is enough */
  uint32_t reserved;      /* 0 */
  uint32_t reserved_too;  /* 0 */
} flash_ref_rwkv7_options;

/* out = softmax(softmax_scale * q k^T) v for each batch and head; lse = natural log of the denominator.
 *
 * Shapes:       q, out (batch, seq_q, heads, dim); k, v (batch, seq_k, kv_heads, dim);
 *               lse (batch, heads, seq_q). heads is a multiple of kv_heads; query head h reads kv head
 *               h / (heads / kv_heads).
 * Strides:      any, for every tensor.
 * Dtypes:       q in {float16, bfloat16}; k = q; v = q; out = q; lse in {float32}, optional.
 * Accumulation: float32 throughout (scores, softmax, probabilities times v); rounded once, to out.
 *               With avx512bf16, probabilities of bfloat16 tensors are rounded to bfloat16 before
 *               they meet v, and bfloat16 subnormals count as 0.
 * Aliasing:     q, k, v may share memory; out and lse share memory with no other argument.
 * Rows:         a query that sees no key (causal, window, mask, seq_k = 0) gets zeros, and
 *               -infinity in lse.
 * Errors:       every status of flash_ref_status. lse may be NULL.
 * Source:       Milakov and Gimelshein, Online normalizer calculation for softmax (2018); Dao,
 *               FlashAttention-2 (2023), algorithm 1. */
FLASH_REF_API int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                          DLTensor* out, DLTensor* lse,
                                          const flash_ref_attention_options* options);

/* Stores in *bytes the workspace with which flash_ref_attention_fwd runs at full speed on such arguments,
 * which are checked as there except that data may be NULL. Less is accepted, down to what one thread needs:
 * a tile, or with few queries the rows that ranges of keys leave unfinished, 16 MiB or those of one sequence;
 * the message of FLASH_REF_BAD_WORKSPACE names that minimum. */
FLASH_REF_API int flash_ref_attention_fwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                    const flash_ref_attention_options* options,
                                                    size_t* bytes);

/* The gradients of q, k and v, given dout, the gradient of out. q, k, v and options are those of a call of
 * flash_ref_attention_fwd, and out and lse what it stored. With P the probabilities of a head,
 *     dP = dout v^T        dS = P o (dP - rowsum(dout o out))        (times 1 - tanh^2 with softcap)
 *     dq = softmax_scale * dS k        dk = softmax_scale * dS^T q        dv = P^T dout
 * and dk and dv are sums over the query heads that share a kv head. mask and alibi_slopes get no gradient.
 *
 * Shapes:       q, out, dout, dq (batch, seq_q, heads, dim); k, v, dk, dv (batch, seq_k, kv_heads, dim);
 *               lse (batch, heads, seq_q).
 * Strides:      any, for every tensor.
 * Dtypes:       q in {float16, bfloat16}; k = q; v = q; out = q; lse in {float32}; dout = q; dq = q; dk = q;
 *               dv = q.
 * Accumulation: float32 throughout; rounded once, to dq, dk and dv. With avx512bf16, P and dS of
 *               bfloat16 tensors are rounded to bfloat16 before they meet dout, q and k. The order
 *               of all sums is fixed.
 * Aliasing:     inputs may share memory; dq, dk and dv share memory with no other argument.
 * Rows:         a query that sees no key gets zeros in dq, a key that no query sees zeros in dk and dv.
 *               Where all scores of a query are beyond 1e6 (a finite mask on all of its keys, say), the
 *               float32 lse cannot tell how many keys share the weight, and each gets all of it: hide such
 *               a query instead.
 * Errors:       every status of flash_ref_status.
 * Source:       Dao, FlashAttention-2 (2023), algorithm 2. */
FLASH_REF_API int flash_ref_attention_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                          const DLTensor* out, const DLTensor* lse, const DLTensor* dout,
                                          DLTensor* dq, DLTensor* dk, DLTensor* dv,
                                          const flash_ref_attention_options* options);

/* Stores in *bytes the workspace with which flash_ref_attention_bwd runs at full speed on such arguments, as
 * flash_ref_attention_fwd_workspace does. It holds a float32 copy of dq. */
FLASH_REF_API int flash_ref_attention_bwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                    const flash_ref_attention_options* options,
                                                    size_t* bytes);

/* flash_ref_attention_fwd for sequences of different lengths that lie one after the other: sequence b has the
 * rows cu_seqlens_q[b] to cu_seqlens_q[b + 1] - 1 of q and out, and likewise of k and v. Masks count from the
 * ends of each sequence.
 *
 * Shapes:       q, out (total_q, heads, dim); k, v (total_k, kv_heads, dim); cu_seqlens_q, cu_seqlens_k
 *               (batch + 1): they start with 0, never fall and end with total_q and total_k;
 *               lse (heads, total_q).
 * Strides:      any, for every tensor.
 * Dtypes:       q in {float16, bfloat16}; k = q; v = q; cu_seqlens_q in {int32}; cu_seqlens_k in {int32};
 *               out = q; lse in {float32}, optional.
 * Accumulation: as flash_ref_attention_fwd.
 * Aliasing:     as flash_ref_attention_fwd.
 * Rows:         as flash_ref_attention_fwd.
 * Errors:       every status of flash_ref_status. lse may be NULL.
 * Source:       as flash_ref_attention_fwd. */
FLASH_REF_API int flash_ref_attention_varlen_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                 const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k,
                                                 DLTensor* out, DLTensor* lse,
                                                 const flash_ref_attention_options* options);

/* Stores in *bytes the workspace for flash_ref_attention_varlen_fwd, as flash_ref_attention_fwd_workspace
 * does; the data of cu_seqlens_q and cu_seqlens_k are read and may not be NULL. */
FLASH_REF_API int flash_ref_attention_varlen_fwd_workspace(const DLTensor* q, const DLTensor* k,
                                                           const DLTensor* v, const DLTensor* cu_seqlens_q,
                                                           const DLTensor* cu_seqlens_k,
                                                           const flash_ref_attention_options* options,
                                                           size_t* bytes);

/* flash_ref_attention_bwd for such sequences; the arguments are those of flash_ref_attention_varlen_fwd, then
 * dout and the gradients.
 *
 * Shapes:       q, out, dout, dq (total_q, heads, dim); k, v, dk, dv (total_k, kv_heads, dim); cu_seqlens_q,
 *               cu_seqlens_k (batch + 1); lse (heads, total_q).
 * Strides:      any, for every tensor.
 * Dtypes:       q in {float16, bfloat16}; k = q; v = q; cu_seqlens_q in {int32}; cu_seqlens_k in {int32};
 *               out = q; lse in {float32}; dout = q; dq = q; dk = q; dv = q.
 * Accumulation: as flash_ref_attention_bwd.
 * Aliasing:     as flash_ref_attention_bwd.
 * Rows:         as flash_ref_attention_bwd.
 * Errors:       every status of flash_ref_status.
 * Source:       as flash_ref_attention_bwd. */
FLASH_REF_API int flash_ref_attention_varlen_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                 const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k,
                                                 const DLTensor* out, const DLTensor* lse,
                                                 const DLTensor* dout, DLTensor* dq, DLTensor* dk,
                                                 DLTensor* dv, const flash_ref_attention_options* options);

/* Stores in *bytes the workspace for flash_ref_attention_varlen_bwd, as
 * flash_ref_attention_varlen_fwd_workspace and flash_ref_attention_bwd_workspace do. */
FLASH_REF_API int flash_ref_attention_varlen_bwd_workspace(const DLTensor* q, const DLTensor* k,
                                                           const DLTensor* v, const DLTensor* cu_seqlens_q,
                                                           const DLTensor* cu_seqlens_k,
                                                           const flash_ref_attention_options* options,
                                                           size_t* bytes);

/* Decoding and chunked prefill: stores the new keys k and values v in the cache behind those that it holds,
 * then attends from q to all of them. Sequence b holds seqlens_k[b] keys before the call (flash-attn calls
 * that cache_seqlens) and length = seqlens_k[b] + seq_new after it; its queries are its last ones, query i at
 * place i + length - seq_q. With cos and sin, new key i is rotated as position seqlens_k[b] + i before it is
 * stored; query i is rotated as position seqlens_k[b] + i where causal or window is set, else every query as
 * position seqlens_k[b]. Keys that the cache held are not touched. Rotated queries and keys are rounded to
 * their dtype.
 *
 * Shapes:       q, out (batch, seq_q, heads, dim); k_cache, v_cache (cache_batch, capacity, kv_heads, dim),
 *               or with block_table (pages, page_size, kv_heads, dim); k, v (batch, seq_new, kv_heads, dim);
 *               cos, sin (positions, rotary_dim / 2) with rotary_dim <= dim; seqlens_k (batch);
 *               cache_batch_idx (batch), the place of each sequence in the cache; block_table (batch,
 *               pages_of_sequence): key j is slot j % page_size of page block_table[b, j / page_size];
 *               lse (batch, heads, seq_q). heads is a multiple of kv_heads.
 * Strides:      any, for every tensor.
 * Dtypes:       q in {float16, bfloat16}; k_cache = q; v_cache = q; k = q; v = q; cos = q; sin = q;
 *               seqlens_k in {int32}, optional; cache_batch_idx in {int32}, optional;
 *               block_table in {int32}, optional; out = q; lse in {float32}, optional.
 * Accumulation: as flash_ref_attention_fwd; ranges of keys are joined in float32.
 * Aliasing:     inputs may share memory; out, lse, and with k the caches, share memory with no other
 *               argument.
 * Values:       0 <= seqlens_k[b], length <= capacity or pages_of_sequence * page_size; cos has a row
 *               for every position that is rotated; the entries of block_table that cover length, and
 *               cache_batch_idx, are in range, and where new keys go no other sequence reads or
 *               writes.
 * Errors:       every status of flash_ref_status; then nothing has been written to the caches either.
 *               NULL is accepted for: k and v together; cos and sin together, and only together with
 *               k they may be given; seqlens_k without k (all of the cache is used);
 *               cache_batch_idx; block_table; lse. cache_batch_idx and block_table exclude each other.
 * Source:       flash_attn_with_kvcache of flash-attn 2. */
FLASH_REF_API int flash_ref_attention_kvcache(const DLTensor* q, DLTensor* k_cache, DLTensor* v_cache,
                                              const DLTensor* k, const DLTensor* v, const DLTensor* cos,
                                              const DLTensor* sin, const DLTensor* seqlens_k,
                                              const DLTensor* cache_batch_idx, const DLTensor* block_table,
                                              DLTensor* out, DLTensor* lse,
                                              const flash_ref_kvcache_options* options);

/* Stores in *bytes the workspace with which flash_ref_attention_kvcache runs at full speed on tensors of
 * these shapes whatever seqlens_k and block_table hold; data may be NULL. */
FLASH_REF_API int flash_ref_attention_kvcache_workspace(
    const DLTensor* q, const DLTensor* k_cache, const DLTensor* v_cache, const DLTensor* k, const DLTensor* v,
    const DLTensor* cos, const DLTensor* sin, const DLTensor* seqlens_k, const DLTensor* cache_batch_idx,
    const DLTensor* block_table, const flash_ref_kvcache_options* options, size_t* bytes);

/* Rotates pairs (a, b) of the first rotary_dim = 2 * cos.shape[1] elements of each head at each position:
 * a' = a cos - b sin, b' = b cos + a sin. The elements from rotary_dim on are copied bit for bit. The
 * gradient of x is the gradient of out rotated with options.conjugate, in place if wanted.
 *
 * Shapes:       x, out (batch, seq, heads, dim); cos, sin (positions, rotary_dim / 2) with rotary_dim <= dim
 *               and a row for every position: seq and the offset of the options at least.
 * Strides:      any, for every tensor.
 * Dtypes:       x in {float16, float32, bfloat16}; cos = x; sin = x; out = x.
 * Accumulation: float32; rounded once, to out.
 * Aliasing:     out may be x itself (same data, same strides); else out shares memory with no argument.
 * Errors:       every status of flash_ref_status but those on workspaces.
 * Source:       Su et al., RoFormer (2021), equation 34. */
FLASH_REF_API int flash_ref_rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin, DLTensor* out,
                                   const flash_ref_rotary_options* options);

/* Stores in *bytes the workspace that flash_ref_rotary needs on such arguments: 0 on CPU. */
FLASH_REF_API int flash_ref_rotary_workspace(const DLTensor* x, const DLTensor* cos, const DLTensor* sin,
                                             const flash_ref_rotary_options* options, size_t* bytes);

/* The recurrence of RWKV-7 (delta rule), for each batch and head, with a state S of values by keys:
 *     S := S diag(exp(w)) + (S a) b^T + v k^T        out := scale * S r        at each position in turn.
 * In the model a is -kk and b is kk times the in-context learning rate, kk being the normalised removal key.
 * w is the natural logarithm of the decay, as in flash-linear-attention: at most 0. Where a model gives the
 * activation x before that, w is -exp(-0.5) * sigmoid(x).
 *
 * Shapes:       r, w, k, v, a, b, out (batch, seq, heads, dim); initial_state, final_state
 *               (batch, heads, dim, dim), rows are values, columns keys; dim is 4096 at most.
 * Strides:      any, for every tensor.
 * Dtypes:       r in {float16, float32, bfloat16}; w = r; k = r; v = r; a = r; b = r;
 *               initial_state in {float32}, optional; out = r; final_state in {float32}, optional.
 * Accumulation: float32 throughout, the state included; rounded once, to out.
 * Aliasing:     final_state may be initial_state itself; else outputs share memory with no other argument.
 * Errors:       every status of flash_ref_status; FLASH_REF_BAD_VALUE for a positive element of w.
 *               initial_state may be NULL, which means zeros, and final_state may be NULL.
 * Source:       Peng et al., RWKV-7 "Goose" (2025), the state update with its in-context learning rate. */
FLASH_REF_API int flash_ref_rwkv7_fwd(const DLTensor* r, const DLTensor* w, const DLTensor* k,
                                      const DLTensor* v, const DLTensor* a, const DLTensor* b,
                                      const DLTensor* initial_state, DLTensor* out, DLTensor* final_state,
                                      const flash_ref_rwkv7_options* options);

/* Stores in *bytes the workspace with which flash_ref_rwkv7_fwd runs at full speed on such arguments, whose
 * data may be NULL. */
FLASH_REF_API int flash_ref_rwkv7_fwd_workspace(const DLTensor* r, const DLTensor* w, const DLTensor* k,
                                                const DLTensor* v, const DLTensor* a, const DLTensor* b,
                                                const flash_ref_rwkv7_options* options, size_t* bytes);

/* The gradients of the inputs of flash_ref_rwkv7_fwd, given dout, the gradient of out, and dfinal_state, that
 * of final_state. With D the gradient of the state after a position, S the state before it and u = S a,
 *     D := D + scale * dout r^T        dr = scale * S'^T dout, S' being the state after it
 *     dk = D^T v        dv = D k        db = D^T u        da = S^T (D b)
 *     dw = exp(w) o colsum(D o S)        D := D diag(exp(w)) + (D b) a^T
 * at each position from the last. The states come from the recurrence run again, forward from kept ones,
 * never from dividing by a decay.
 *
 * Shapes:       r, w, k, v, a, b, dout, dr, dw, dk, dv, da, db (batch, seq, heads, dim); initial_state,
 *               dfinal_state, dinitial_state (batch, heads, dim, dim), rows are values, columns keys; dim is
 *               4096 at most.
 * Strides:      any, for every tensor.
 * Dtypes:       r in {float16, float32, bfloat16}; w = r; k = r; v = r; a = r; b = r;
 *               initial_state in {float32}, optional; dout = r; dfinal_state in {float32}, optional; dr = r;
 *               dw = r; dk = r; dv = r; da = r; db = r; dinitial_state in {float32}, optional.
 * Accumulation: float32 throughout, the states included; rounded once, to each gradient.
 * Aliasing:     dinitial_state may be dfinal_state itself; else outputs share memory with no other argument.
 * Errors:       every status of flash_ref_status; FLASH_REF_BAD_VALUE for a positive element of w.
 *               initial_state and dfinal_state may be NULL, which means zeros, and dinitial_state
 *               may be NULL.
 * Source:       the derivative of flash_ref_rwkv7_fwd's recurrence, position by position. */
FLASH_REF_API int flash_ref_rwkv7_bwd(const DLTensor* r, const DLTensor* w, const DLTensor* k,
                                      const DLTensor* v, const DLTensor* a, const DLTensor* b,
                                      const DLTensor* initial_state, const DLTensor* dout,
                                      const DLTensor* dfinal_state, DLTensor* dr, DLTensor* dw, DLTensor* dk,
                                      DLTensor* dv, DLTensor* da, DLTensor* db, DLTensor* dinitial_state,
                                      const flash_ref_rwkv7_options* options);

/* Stores in *bytes the workspace with which flash_ref_rwkv7_bwd runs at full speed on such arguments, whose
 * data may be NULL. */
FLASH_REF_API int flash_ref_rwkv7_bwd_workspace(const DLTensor* r, const DLTensor* w, const DLTensor* k,
                                                const DLTensor* v, const DLTensor* a, const DLTensor* b,
                                                const flash_ref_rwkv7_options* options, size_t* bytes);

/* What was wrong with this thread's latest call that returns a status: one sentence without a newline, "" if
 * that call succeeded, unless an observer made calls of its own in it. Valid until this thread's next such
 * call; never NULL. */
FLASH_REF_API const char* flash_ref_last_error(void);

/* FLASH_REF_ABI_VERSION of the library that is loaded. */
FLASH_REF_API uint32_t flash_ref_abi_version(void);

#ifdef __cplusplus
}
#endif

#endif /* FLASH_REF_FLASH_REF_H_ */
