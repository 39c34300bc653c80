/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h: "colibri.kernels/0". DRAFT: host and plugin must have been built from the same version of this header
 * (COLIBRI_KERNELS_DRAFT, compared when the plugin is loaded). It becomes /1 when a GPU plugin has run through it.
 *
 * A kernel plugin offers operators. The host plans once: it asks supports(), lets the plugin choose the layout of each
 * weight, packs the weights, and creates the operator. At run time it hands out task ranges, so that it can run several
 * operators in one phase, let threads steal work, and start experts as their weights arrive. Kernels start no threads,
 * allocate nothing, and keep no mutable state in a call. Bytes of every result: docs/numerics.md. */
#ifndef COLIBRI_KERNELS_H
#define COLIBRI_KERNELS_H

#include "colibri/codec.h"
#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLIBRI_KERNELS_DRAFT 3

typedef struct colibri_tensor { /* a view; the buffer belongs to the host, or to the device interface */
  uint32_t struct_size;
  uint32_t dtype;    /* COLIBRI_CODEC_* */
  uint32_t layout;   /* COLIBRI_LAYOUT_* or a plugin's private id */
  uint32_t rank;
  int64_t shape[4];  /* elements, outermost first */
  int64_t stride[4]; /* bytes between neighbours of each dimension; [0] is the row stride. Unused for packed layouts */
  void* buffer;      /* host: base address (NULL in a description); device: buffer handle */
  uint64_t offset;   /* bytes */
} colibri_tensor;

/* Layouts. Those below 0x10000 are described: every machine can pack and read them, so they may stand in files. From
 * 0x10000 on they are a plugin's own and live in memory only. R8 is a matrix [rows, cols] as ceil(rows/8) panels of 8
 * rows, padded with zero rows, panels one after another, starting 64-byte aligned:
 *   f32, f16, bf16   [cols][8 rows]
 *   quantised        block after block along the columns, each a head and then its parts of 32 columns. A field of n bytes
 *                    a row is n bytes of row 0, n of row 1, ..., n of row 7; fields in this order:
 *                    codec    head         part                            bytes a block of 8 rows
 *                    q8_0     f16 d        8 vectors                       272
 *                    q4_0     f16 d        4 vectors                       144
 *                    q4_1     f16 d, m     4 vectors                       160
 *                    q5_0     f16 d        high 1, 4 vectors               176
 *                    q5_1     f16 d, m     high 1, 4 vectors               192
 *                    iq4_nl   f16 d        4 vectors                       144
 *                    mxfp4    u8 e         4 vectors                       136
 *                    q2_K     f16 d, m     u8 s[2], low 2                  672
 *                    q3_K     f16 d        int8 s6 - 32 [2], high 1, low 2 912
 *                    q4_K     f16 d, m     int8 scale, min, 4 vectors      1184
 *                    q5_K     f16 d, m     int8 scale, min, high 1, 4 vectors  1440
 *                    q6_K     f16 d        int8 s[2], high 2, 4 vectors    1680
 *                    iq4_xs   f16 d        int8 s6 - 32, 4 vectors         1104
 *                    d, m, ... as in codec.h, of the part's columns; [2]: of its first and second 16. A vector is 4 bytes
 *                    a row. 8 vectors: byte i of vector v is q of column 4v+i. 4 vectors: low nibble that of column 4v+i,
 *                    high nibble that of column 16+4v+i. "high 1", one vector: bit k of byte i is the one bit of column
 *                    4k+i that the nibbles (or the two bits) lack. "high 2" and "low 2", two vectors: bits 2k and 2k+1 of
 *                    byte i of vector v are those of column 16v+4k+i */
enum { COLIBRI_LAYOUT_ROWS = 0, COLIBRI_LAYOUT_R8 = 1, COLIBRI_LAYOUT_PRIVATE = 0x10000 };

/* Key and value cache of one sequence and one layer, blocks of 16 keys, 64-byte aligned. f16 or f32:
 *   K  [kv_heads][blocks][head_dim][16 keys]
 *   V  [kv_heads][blocks][ceil(head_dim/16) tiles][16 keys][16 of head_dim], the last tile padded with zeros
 * q8_0: a key or value is ceil(head_dim/32) parts of 32 numbers, the last padded with zeros, each with one scale. A part of
 * the 16 keys of a block is 544 bytes, f16 d[16 keys] and then int8 q:
 *   K  [kv_heads][blocks][parts]{d, q[8][16 keys][4]}
 *   V  [kv_heads][blocks][parts]{d, q[2][16 keys][16]}
 * The shape of a cache's tensor is [kv_heads, blocks, numbers of a key or value with their padding, 16]. The latent cache
 * of mla_attention is a K cache of one head of latent + rope_dims numbers, and no V cache. */
enum { COLIBRI_KV_BLOCK = 16 };

enum { /* operators; in brackets the weights of their description */
  COLIBRI_OP_EMBED = 1,          /* [table] */
  COLIBRI_OP_NORM = 2,           /* [weight] */
  COLIBRI_OP_QUANTIZE_ROWS = 3,  /* [] */
  COLIBRI_OP_GROUPED_MATMUL = 4, /* [weight] or, for the gated epilogue, [gate, up] */
  COLIBRI_OP_ROPE = 5,           /* [] */
  COLIBRI_OP_KV_WRITE = 6,       /* [] */
  COLIBRI_OP_ATTENTION = 7,      /* [] */
  COLIBRI_OP_ROUTER = 8,         /* [weight], or with attribute experts [] */
  COLIBRI_OP_COMBINE = 9,        /* [] */
  COLIBRI_OP_MLA_ATTENTION = 10, /* [] */
  COLIBRI_OP_COUNT = 11
};

enum { /* numerics classes */
  COLIBRI_NUMERICS_IDENTICAL = 1,     /* bytes equal the scalar reference in cpu_generic */
  COLIBRI_NUMERICS_DETERMINISTIC = 2, /* its own bytes, the same for any batch and chunking on this device */
  COLIBRI_NUMERICS_APPROXIMATE = 3
};

/* ---- attributes, one struct per operator; fixed when the operator is created. Zero means "not": an attribute that is
 * zero changes nothing. ---- */

typedef struct colibri_embed_attributes {
  uint32_t struct_size;
  float scale; /* output = scale * row of the table */
} colibri_embed_attributes;

enum { COLIBRI_NORM_RMS = 1 };
typedef struct colibri_norm_attributes {
  uint32_t struct_size;
  uint32_t kind;         /* COLIBRI_NORM_* */
  float eps;
  uint32_t output_dtype; /* F32, or Q8_32: the normalised row is also the next product's prepared input */
  float clamp;           /* > 0: output = min(max(output, -clamp), clamp) */
} colibri_norm_attributes;

typedef struct colibri_quantize_rows_attributes {
  uint32_t struct_size;
  uint32_t output_dtype; /* Q8_32 */
} colibri_quantize_rows_attributes;

enum { COLIBRI_EPILOGUE_NONE = 0, COLIBRI_EPILOGUE_GATED = 1 /* act(gate) * up */ };
enum { COLIBRI_ACTIVATION_NONE = 0, COLIBRI_ACTIVATION_SILU = 1, COLIBRI_ACTIVATION_SIGMOID = 2 };
typedef struct colibri_grouped_matmul_attributes {
  uint32_t struct_size;
  uint32_t epilogue;
  uint32_t activation;   /* gated: silu; no epilogue: none or sigmoid */
  uint32_t input_dtype;  /* F32, or Q8_32 for weights that have an integer product (docs/numerics.md) */
  uint32_t output_dtype; /* F32, or Q8_32 with the gated epilogue (rows a multiple of 32) */
  uint32_t bias;         /* 1 = the arguments' bias is added to each product before the epilogue */
  float clamp;           /* > 0, after the bias: up, or without an epilogue the product, = min(max(., -clamp), clamp);
                            gate = min(gate, clamp) */
  float alpha;           /* gated, > 0: act(x) = x * sigmoid(alpha * x); 0 is the same as 1 */
  float up_offset;       /* gated: act(gate) * (up + up_offset) */
} colibri_grouped_matmul_attributes;

enum { COLIBRI_ROPE_HALF = 1, COLIBRI_ROPE_INTERLEAVED = 2 };
typedef struct colibri_rope_attributes {
  uint32_t struct_size;
  uint32_t style;          /* half: pairs (i, i + dims/2); interleaved: pairs (2i, 2i + 1) */
  int64_t heads, head_dim;
  int64_t dims;            /* rotated elements of each head, even; the rest is left as it is */
  int64_t first;           /* the first of them; first + dims <= head_dim */
} colibri_rope_attributes;

typedef struct colibri_kv_write_attributes {
  uint32_t struct_size;
  uint32_t cache_dtype; /* F32, F16 (rounded to nearest even) or Q8_0 */
  int64_t kv_heads, head_dim;
  uint32_t keys_only;   /* 1 = a latent cache: there are no values */
} colibri_kv_write_attributes;

typedef struct colibri_attention_attributes {
  uint32_t struct_size;
  uint32_t cache_dtype;
  int64_t heads, kv_heads, head_dim; /* query head h reads kv head h / (heads / kv_heads) */
  int64_t window;                    /* a query at position p sees keys p - window < k <= p; 0 = all k <= p */
  float scale;                       /* on the dot product of query and key */
  uint32_t sinks;                    /* 1 = each head's softmax counts one more logit, the arguments' sink, without a value */
} colibri_attention_attributes;

/* Multi-head latent attention with the key and value projections absorbed into the query and the output: all heads share one
 * key per token, [latent | rope], and the latent part is the value too. */
typedef struct colibri_mla_attention_attributes {
  uint32_t struct_size;
  uint32_t cache_dtype;
  int64_t heads, latent, rope_dims;
  float scale;          /* on the dot product of query and key */
} colibri_mla_attention_attributes;

enum { COLIBRI_SCORE_SOFTMAX = 1, COLIBRI_SCORE_SIGMOID = 2 };
enum { COLIBRI_GROUP_RULE_MAX = 1, COLIBRI_GROUP_RULE_TOP2_SUM = 2 };
enum { COLIBRI_GROUP_MASK_NEGATIVE_INFINITY = 1, COLIBRI_GROUP_MASK_ZERO = 2 };
/* score(weight * x + bias); the top_k with the largest score + select_bias are chosen, ties by ascending expert; their
 * weights are their scores, without select_bias, renormalised, then scaled. With groups, the experts in `groups` equal runs:
 * a group counts by the largest, or by the sum of the two largest, score + select_bias in it; in the groups that are not
 * among the keep_groups best (ties by ascending group) that sum is replaced by the mask before the choice. */
typedef struct colibri_router_attributes {
  uint32_t struct_size;
  uint32_t score;       /* COLIBRI_SCORE_* */
  uint32_t top_k;
  uint32_t renormalize; /* 1 = the chosen weights are divided by their sum */
  uint32_t bias;        /* 1 = the arguments' bias is added to the logits */
  uint32_t select_bias; /* 1 = the arguments' select_bias takes part in the choice */
  uint32_t groups, keep_groups; /* 0 = no groups */
  uint32_t group_rule;  /* COLIBRI_GROUP_RULE_*, with groups */
  uint32_t group_mask;  /* COLIBRI_GROUP_MASK_*, with groups */
  float scale;          /* on the chosen weights; 0 is the same as 1 */
  uint32_t experts;     /* > 0: there is no weight, and the input is the product with it: the logits of so many experts */
} colibri_router_attributes;

typedef struct colibri_combine_attributes {
  uint32_t struct_size;
  uint32_t slots;  /* rows added to each residual row */
  float scale;     /* on each added row, e.g. Granite's residual multiplier; 1 = none */
} colibri_combine_attributes;

/* sizeof of each operator's attributes for whoever includes this header: colibri_kernels_0.attribute_size of a plugin. */
static const uint32_t colibri_attribute_size[COLIBRI_OP_COUNT] = {
    0, /* no operator has the number 0 */
    sizeof(colibri_embed_attributes),
    sizeof(colibri_norm_attributes),
    sizeof(colibri_quantize_rows_attributes),
    sizeof(colibri_grouped_matmul_attributes),
    sizeof(colibri_rope_attributes),
    sizeof(colibri_kv_write_attributes),
    sizeof(colibri_attention_attributes),
    sizeof(colibri_router_attributes),
    sizeof(colibri_combine_attributes),
    sizeof(colibri_mla_attention_attributes),
};

/* ---- planning ---- */

typedef struct colibri_layout { /* how a weight is packed; the plugin fills it in pack_layout */
  uint32_t struct_size;
  uint32_t id;    /* COLIBRI_LAYOUT_* or private; a vector (the weight of a norm) is f32, ROWS */
  uint32_t codec;
  uint32_t rows;  /* rows interleaved */
  uint32_t group; /* consecutive columns of one row that stay together */
  uint32_t scale_place; /* 0 none, 1 beside the block */
} colibri_layout;

typedef struct colibri_op_desc {
  uint32_t struct_size;
  uint32_t op;                     /* COLIBRI_OP_* */
  const void* attributes;          /* struct of this operator, begins with struct_size */
  const colibri_tensor* weights;   /* dtype, layout and shape [rows, cols] (or [n] for norm) only */
  uint32_t weight_count;
  int64_t max_rows;                /* most rows of one call */
} colibri_op_desc;

typedef struct colibri_op_info {
  uint32_t struct_size;
  uint64_t state_bytes;   /* of the created operator */
  uint64_t scratch_bytes; /* per worker, 64-byte aligned */
} colibri_op_info;

/* ---- arguments, one struct per operator; all tensors with buffers. The numbers of an f32 row are contiguous; stride[0]
 * leads to the next row, so a part of each row is a tensor too. Rows of Q8_32: stride[0] = their bytes, rounded up to 64 */

typedef struct colibri_embed_args {
  uint32_t struct_size;
  colibri_tensor table;  /* [vocabulary, hidden] */
  colibri_tensor ids;    /* i32 [rows] */
  colibri_tensor output; /* f32 [rows, hidden] */
} colibri_embed_args;

typedef struct colibri_norm_args {
  uint32_t struct_size;
  colibri_tensor weight; /* f32 [hidden] */
  colibri_tensor input;  /* f32 [rows, hidden] */
  colibri_tensor output; /* f32 or q8_32 [rows, hidden]; f32: may be the input itself */
} colibri_norm_args;

typedef struct colibri_quantize_rows_args {
  uint32_t struct_size;
  colibri_tensor input;  /* f32 [rows, cols], cols a multiple of 32 */
  colibri_tensor output; /* q8_32 [rows, cols] */
} colibri_quantize_rows_args;

typedef struct colibri_grouped_matmul_args {
  uint32_t struct_size;
  uint32_t weights_per_group;    /* 1, or 2 for the gated epilogue: gate, up */
  int64_t groups;
  const int64_t* group_begin;    /* [groups + 1] prefix sums of product rows; group_begin[0] need not be 0 */
  const int32_t* row_index;      /* input row of each product row; NULL = the same index */
  const colibri_tensor* weight;  /* [groups * weights_per_group], each [rows, cols] */
  colibri_tensor input;          /* f32 or q8_32 [*, cols] */
  colibri_tensor output;         /* [*, weight rows]: row i is product row i, never accumulated across groups */
  const colibri_tensor* bias;    /* with attribute bias, else NULL: [groups * weights_per_group], each f32 [rows] */
  const int32_t* output_index;   /* f32 output: its row for each product row, all different; NULL = the same index */
} colibri_grouped_matmul_args;

typedef struct colibri_rope_args {
  uint32_t struct_size;
  colibri_tensor x;         /* f32 [rows, heads * head_dim], changed in place */
  const int32_t* position;  /* [rows] */
  const float* cosine;      /* [positions, dims / 2], from the host's tables */
  const float* sine;
} colibri_rope_args;

typedef struct colibri_kv_write_args {
  uint32_t struct_size;
  colibri_tensor k, v;            /* f32 [rows, kv_heads * head_dim] */
  const int32_t* position;        /* [rows] key position of each row */
  const int32_t* sequence;        /* [rows] index into the caches; NULL = all 0 */
  const colibri_tensor* k_cache;  /* [sequences], each [kv_heads, blocks, key width, 16] */
  const colibri_tensor* v_cache;  /* [sequences], each [kv_heads, blocks, value width, 16]; keys_only: v and it are unused */
} colibri_kv_write_args;

typedef struct colibri_attention_args {
  uint32_t struct_size;
  colibri_tensor q;               /* f32 [rows, heads * head_dim] */
  colibri_tensor output;          /* f32 [rows, heads * head_dim] */
  const int32_t* position;        /* [rows]; keys up to it are in the cache */
  const int32_t* sequence;        /* [rows]; NULL = all 0 */
  const colibri_tensor* k_cache;
  const colibri_tensor* v_cache;
  const float* sink;              /* with attribute sinks, else NULL: [heads], a logit as it is, not scaled */
} colibri_attention_args;

typedef struct colibri_mla_attention_args {
  uint32_t struct_size;
  colibri_tensor q_latent;       /* f32 [rows * heads, latent], head after head of each row */
  colibri_tensor q_rope;         /* f32 [rows * heads, rope_dims] */
  colibri_tensor output;         /* f32 [rows * heads, latent] */
  const int32_t* position;       /* [rows]; keys up to it are in the cache */
  const int32_t* sequence;       /* [rows]; NULL = all 0 */
  const colibri_tensor* cache;   /* [sequences], each [1, blocks, key width of latent + rope_dims, 16] */
} colibri_mla_attention_args;

typedef struct colibri_router_args {
  uint32_t struct_size;
  colibri_tensor weight; /* [experts, hidden]; unused with attribute experts */
  colibri_tensor input;  /* f32 [rows, hidden], with attribute experts [rows, experts] */
  colibri_tensor expert; /* i32 [rows, top_k], by descending score, ties by ascending expert */
  colibri_tensor score;  /* f32 [rows, top_k] */
  const float* bias;        /* with attribute bias, else NULL: [experts] */
  const float* select_bias; /* with attribute select_bias, else NULL: [experts] */
} colibri_router_args;

typedef struct colibri_combine_args {
  uint32_t struct_size;
  colibri_tensor residual;  /* f32 [rows, hidden]; may be the output itself */
  colibri_tensor row;       /* f32 [*, hidden] */
  const int32_t* row_index; /* [rows * slots] row of each (row, slot); NULL = row * slots + slot */
  const float* weight;      /* [rows * slots]; NULL = all 1 */
  colibri_tensor output;    /* f32 [rows, hidden]: residual, then fma(weight * scale, row, .) slot by slot in order */
} colibri_combine_args;

/* ---- the table ---- */

typedef struct colibri_kernels_0 {
  uint32_t struct_size;
  uint32_t draft;    /* COLIBRI_KERNELS_DRAFT */
  uint32_t numerics; /* COLIBRI_NUMERICS_* */
  /* 1 if this operator, with these attributes, codecs, layouts and shapes, is offered; else 0 and a reason. A weight whose
   * layout is not ROWS is offered in that layout only. [setup] */
  int32_t (*supports)(const colibri_op_desc* desc, char why_not[128]);
  /* The layout this plugin wants for weight `index` of the operator and the bytes it takes. [setup] */
  colibri_status (*pack_layout)(const colibri_op_desc* desc, uint32_t index, colibri_layout* wanted, uint64_t* bytes,
                                colibri_error* error);
  /* Packs source rows into a matrix of this layout, converting to its codec (quantising, if the source is a float codec).
   * from holds the row-major rows [row_begin, row_begin + from->shape[0]) of the matrix and nothing else, so that a weight
   * is never in memory twice; to is the start of the whole packed matrix. row_begin is a multiple of layout->rows; if the
   * number of rows is not, these are the last ones and the rest of their panel becomes zero rows. Source codecs: every
   * float codec, and the layout's own codec. [worker] */
  colibri_status (*pack)(const colibri_layout* layout, const colibri_tensor* from, void* to, int64_t row_begin);
  /* state = NULL asks for the sizes. The state (64-byte aligned) is plain memory: nothing to free. desc->weights carry the
   * packed layout. [setup] */
  colibri_status (*op_create)(const colibri_op_desc* desc, const colibri_host* host, void* state, colibri_op_info* info,
                              colibri_error* error);
  /* Independent tasks of a call with these arguments. [any] */
  int64_t (*op_tasks)(const void* state, const void* arguments);
  /* Runs tasks [task_begin, task_end). Results do not depend on how tasks are grouped or ordered. [worker] */
  colibri_status (*op_run)(const void* state, const void* arguments, int64_t task_begin, int64_t task_end, void* scratch);
  /* [COLIBRI_OP_COUNT] bytes of each operator's attributes that this plugin knows (colibri_attribute_size above); 0 = not
   * the operator. The host asks no supports() about an attribute beyond them that is not zero. */
  const uint32_t* attribute_size;
} colibri_kernels_0;

#ifdef __cplusplus
}
#endif
#endif
