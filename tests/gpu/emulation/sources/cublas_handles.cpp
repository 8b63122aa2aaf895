// Handles of cuBLAS and their settings.
#include "cublas.hpp"

API cublasCreate_v2(Handle** handle) {
  if (!handle) return INVALID;
  *handle = new Handle{kMagic, nullptr, 0, 0};
  return OK;
}

API cublasDestroy_v2(Handle* handle) {
  CHECK(true);
  handle->magic = 0;
  delete handle;
  return OK;
}

API cublasSetStream_v2(Handle* handle, void* stream) {
  CHECK(true);
  handle->stream = stream;
  return OK;
}

API cublasGetStream_v2(Handle* handle, void** stream) {
  CHECK(stream);
  *stream = handle->stream;
  return OK;
}

API cublasSetPointerMode_v2(Handle* handle, int mode) {
  CHECK(is_flag(mode));
  handle->pointer_mode = mode;
  return OK;
}

API cublasGetPointerMode_v2(Handle* handle, int* mode) {
  CHECK(mode);
  *mode = handle->pointer_mode;
  return OK;
}

API cublasSetMathMode(Handle* handle, int mode) {
  CHECK((mode & 15) <= 4 && !(mode & ~31));
  handle->math_mode = mode;
  return OK;
}

API cublasGetMathMode(Handle* handle, int* mode) {
  CHECK(mode);
  *mode = handle->math_mode;
  return OK;
}

API cublasGetVersion_v2(Handle* handle, int* version) {
  if (!version) return INVALID;
  *version = 130000;
  return OK;
}
