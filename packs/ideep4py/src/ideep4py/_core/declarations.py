"""C declarations of the part of oneDNN 3.x that this package calls, for cffi's ABI mode.

All enumerations are plain ``int`` here: their values live in :mod:`ideep4py._core.constants`.
"""

from __future__ import annotations

# Only C code looks into the objects, so that pointers to incomplete structures suffice. A function
# that makes an object writes its handle to a box: ffi.new("attr_t *").
_TYPES = """
typedef int64_t dim_t;
typedef struct dnnl_engine *engine_t;
typedef struct dnnl_stream *stream_t;
typedef struct dnnl_memory_desc *md_t;
typedef struct dnnl_memory *memory_t;
typedef struct dnnl_primitive_desc *pd_t;
typedef struct dnnl_primitive *primitive_t;
typedef struct dnnl_primitive_attr *attr_t;
typedef struct dnnl_post_ops *post_ops_t;
typedef struct { int arg; memory_t memory; } exec_arg_t;
typedef struct {
    int major; int minor; int patch; const char *hash; unsigned cpu_runtime; unsigned gpu_runtime;
} version_t;
"""

# The functions of OpenMP are in libgomp, which libdnnl depends on: a symbol of a dependency is
# found by the same handle. In ABI mode cffi looks a symbol up when it is first used, so that a
# build with another OpenMP runtime can be loaded, too.
_RUNTIME = """
const version_t *dnnl_version(void);
int dnnl_engine_create(engine_t *, int kind, size_t index);
int dnnl_engine_destroy(engine_t);
int dnnl_stream_create(stream_t *, engine_t, unsigned flags);
int dnnl_stream_destroy(stream_t);
int dnnl_get_effective_cpu_isa(void);
int dnnl_set_primitive_cache_capacity(int);
int dnnl_get_primitive_cache_capacity(int *);

void omp_set_num_threads(int);
int omp_get_max_threads(void);
int omp_pause_resource_all(int);
"""

# The type of the result depends on the query, so that dnnl_memory_desc_query takes a void *.
_MEMORY = """
int dnnl_memory_desc_create_with_strides(
    md_t *, int ndims, const dim_t *dims, int data_type, const dim_t *strides);
int dnnl_memory_desc_create_with_tag(md_t *, int ndims, const dim_t *dims, int data_type, int tag);
int dnnl_memory_desc_create_submemory(md_t *, md_t parent, const dim_t *dims, const dim_t *offsets);
int dnnl_memory_desc_clone(md_t *, md_t);
int dnnl_memory_desc_destroy(md_t);
int dnnl_memory_desc_query(md_t, int what, void *result);
int dnnl_memory_desc_equal(md_t, md_t);
size_t dnnl_memory_desc_get_size(md_t);
int dnnl_memory_create(memory_t *, md_t, engine_t, void *handle);
int dnnl_memory_set_data_handle(memory_t, void *handle);
int dnnl_memory_destroy(memory_t);
"""

_PRIMITIVE = """
int dnnl_primitive_desc_destroy(pd_t);
md_t dnnl_primitive_desc_query_md(pd_t, int what, int index);
int dnnl_primitive_desc_query(pd_t, int what, int index, void *result);
int dnnl_primitive_create(primitive_t *, pd_t);
int dnnl_primitive_execute(primitive_t, stream_t, int nargs, const exec_arg_t *args);
int dnnl_primitive_destroy(primitive_t);
int dnnl_set_default_fpmath_mode(int mode);
int dnnl_get_default_fpmath_mode(int *mode);
int dnnl_primitive_attr_create(attr_t *);
int dnnl_primitive_attr_destroy(attr_t);
int dnnl_primitive_attr_set_scratchpad_mode(attr_t, int mode);
int dnnl_primitive_attr_set_fpmath_mode(attr_t, int mode);
int dnnl_primitive_attr_set_scales_mask(attr_t, int arg, int mask);
int dnnl_primitive_attr_set_post_ops(attr_t, post_ops_t);
int dnnl_post_ops_create(post_ops_t *);
int dnnl_post_ops_destroy(post_ops_t);
int dnnl_post_ops_append_eltwise(post_ops_t, int alg, float alpha, float beta);
int dnnl_post_ops_append_sum(post_ops_t, float scale, int32_t zero_point, int data_type);
int dnnl_post_ops_append_binary(post_ops_t, int alg, md_t src1);
"""

# The signatures of convolution and deconvolution are the same, apart from the name.
_CONVOLUTION = "".join(
    f"""
int dnnl_{kind}_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int alg, md_t src, md_t weights, md_t bias, md_t dst,
    const dim_t *strides, const dim_t *dilates, const dim_t *padding_l, const dim_t *padding_r,
    attr_t);
int dnnl_{kind}_backward_data_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t diff_src, md_t weights, md_t diff_dst,
    const dim_t *strides, const dim_t *dilates, const dim_t *padding_l, const dim_t *padding_r,
    pd_t hint, attr_t);
int dnnl_{kind}_backward_weights_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t src, md_t diff_weights, md_t diff_bias, md_t diff_dst,
    const dim_t *strides, const dim_t *dilates, const dim_t *padding_l, const dim_t *padding_r,
    pd_t hint, attr_t);
"""
    for kind in ("convolution", "deconvolution")
)

# "hint" of a gradient is the descriptor of its forward pass. dnnl_sgemm reads its matrices by rows,
# unlike the function of this name in BLAS libraries.
_OPERATIONS = """
int dnnl_reorder_primitive_desc_create(pd_t *, md_t src, engine_t, md_t dst, engine_t, attr_t);
int dnnl_concat_primitive_desc_create(
    pd_t *, engine_t, md_t dst, int n, int axis, const md_t *srcs, attr_t);
int dnnl_sum_primitive_desc_create(
    pd_t *, engine_t, md_t dst, int n, const float *scales, const md_t *srcs, attr_t);
int dnnl_binary_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t src0, md_t src1, md_t dst, attr_t);
int dnnl_eltwise_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int alg, md_t src, md_t dst, float alpha, float beta, attr_t);
int dnnl_eltwise_backward_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t diff_src, md_t diff_dst, md_t data, float alpha, float beta,
    pd_t hint, attr_t);
int dnnl_softmax_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int alg, md_t src, md_t dst, int axis, attr_t);
int dnnl_softmax_backward_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t diff_src, md_t diff_dst, md_t dst, int axis, pd_t hint, attr_t);
int dnnl_pooling_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int alg, md_t src, md_t dst, const dim_t *strides,
    const dim_t *kernel, const dim_t *dilation, const dim_t *padding_l, const dim_t *padding_r,
    attr_t);
int dnnl_pooling_backward_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t diff_src, md_t diff_dst, const dim_t *strides,
    const dim_t *kernel, const dim_t *dilation, const dim_t *padding_l, const dim_t *padding_r,
    pd_t hint, attr_t);
int dnnl_lrn_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int alg, md_t src, md_t dst, dim_t size, float alpha, float beta,
    float k, attr_t);
int dnnl_lrn_backward_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t diff_src, md_t diff_dst, md_t src, dim_t size, float alpha,
    float beta, float k, pd_t hint, attr_t);
int dnnl_batch_normalization_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, md_t src, md_t dst, float epsilon, unsigned flags, attr_t);
int dnnl_batch_normalization_backward_primitive_desc_create(
    pd_t *, engine_t, int prop, md_t diff_src, md_t diff_dst, md_t src, float epsilon,
    unsigned flags, pd_t hint, attr_t);
int dnnl_layer_normalization_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, md_t src, md_t dst, md_t stat, float epsilon, unsigned flags,
    attr_t);
int dnnl_layer_normalization_backward_primitive_desc_create(
    pd_t *, engine_t, int prop, md_t diff_src, md_t diff_dst, md_t src, md_t stat, float epsilon,
    unsigned flags, pd_t hint, attr_t);
int dnnl_inner_product_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, md_t src, md_t weights, md_t bias, md_t dst, attr_t);
int dnnl_inner_product_backward_data_primitive_desc_create(
    pd_t *, engine_t, md_t diff_src, md_t weights, md_t diff_dst, pd_t hint, attr_t);
int dnnl_inner_product_backward_weights_primitive_desc_create(
    pd_t *, engine_t, md_t src, md_t diff_weights, md_t diff_bias, md_t diff_dst, pd_t hint,
    attr_t);
int dnnl_matmul_primitive_desc_create(
    pd_t *, engine_t, md_t src, md_t weights, md_t bias, md_t dst, attr_t);
int dnnl_reduction_primitive_desc_create(
    pd_t *, engine_t, int alg, md_t src, md_t dst, float p, float eps, attr_t);
int dnnl_sgemm(
    char transa, char transb, dim_t m, dim_t n, dim_t k, float alpha, const void *a, dim_t lda,
    const void *b, dim_t ldb, float beta, void *c, dim_t ldc);
"""

# Only LSTM has states of cells, peepholes and projections; the arguments of both kinds of GRU are
# the same.
_RNN = """
int dnnl_lstm_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int direction, md_t src_layer, md_t src_iter, md_t src_iter_c,
    md_t weights_layer, md_t weights_iter, md_t weights_peephole, md_t weights_projection,
    md_t bias, md_t dst_layer, md_t dst_iter, md_t dst_iter_c, unsigned flags, attr_t);
int dnnl_lstm_backward_primitive_desc_create(
    pd_t *, engine_t, int prop, int direction, md_t src_layer, md_t src_iter, md_t src_iter_c,
    md_t weights_layer, md_t weights_iter, md_t weights_peephole, md_t weights_projection,
    md_t bias, md_t dst_layer, md_t dst_iter, md_t dst_iter_c, md_t diff_src_layer,
    md_t diff_src_iter, md_t diff_src_iter_c, md_t diff_weights_layer, md_t diff_weights_iter,
    md_t diff_weights_peephole, md_t diff_weights_projection, md_t diff_bias, md_t diff_dst_layer,
    md_t diff_dst_iter, md_t diff_dst_iter_c, unsigned flags, pd_t hint, attr_t);
""" + "".join(
    f"""
int dnnl_{kind}_forward_primitive_desc_create(
    pd_t *, engine_t, int prop, int direction, md_t src_layer, md_t src_iter, md_t weights_layer,
    md_t weights_iter, md_t bias, md_t dst_layer, md_t dst_iter, unsigned flags, attr_t);
int dnnl_{kind}_backward_primitive_desc_create(
    pd_t *, engine_t, int prop, int direction, md_t src_layer, md_t src_iter, md_t weights_layer,
    md_t weights_iter, md_t bias, md_t dst_layer, md_t dst_iter, md_t diff_src_layer,
    md_t diff_src_iter, md_t diff_weights_layer, md_t diff_weights_iter, md_t diff_bias,
    md_t diff_dst_layer, md_t diff_dst_iter, unsigned flags, pd_t hint, attr_t);
"""
    for kind in ("gru", "lbr_gru")
)

# libdnnl depends on the C library, too, so that no second library is opened for these.
_LIBC = """
int posix_memalign(void **, size_t alignment, size_t size);
void free(void *);
int madvise(void *, size_t, int);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
"""

CDEF = _TYPES + _RUNTIME + _MEMORY + _PRIMITIVE + _CONVOLUTION + _OPERATIONS + _RNN + _LIBC
