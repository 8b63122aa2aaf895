// cuSPARSE: handles only, so that CuPy's sparse matrices can be imported; what computes is a stub.
#define API extern "C" __attribute__((visibility("default")))

struct Handle {
  void* stream;
};

struct Description {
  int type, fill, diagonal, base;
};

API int cusparseCreate(Handle** handle) {
  *handle = new Handle();
  return 0;
}

API int cusparseDestroy(Handle* handle) {
  delete handle;
  return 0;
}

API int cusparseGetVersion(Handle*, int* version) {
  *version = 12600;
  return 0;
}

API int cusparseSetStream(Handle* handle, void* stream) {
  handle->stream = stream;
  return 0;
}

API int cusparseGetStream(Handle* handle, void** stream) {
  *stream = handle->stream;
  return 0;
}

API int cusparseSetPointerMode(Handle*, int) { return 0; }

API int cusparseCreateMatDescr(Description** description) {
  *description = new Description();
  return 0;
}

API int cusparseDestroyMatDescr(Description* description) {
  delete description;
  return 0;
}

API int cusparseSetMatType(Description* description, int value) {
  description->type = value;
  return 0;
}

API int cusparseSetMatFillMode(Description* description, int value) {
  description->fill = value;
  return 0;
}

API int cusparseSetMatDiagType(Description* description, int value) {
  description->diagonal = value;
  return 0;
}

API int cusparseSetMatIndexBase(Description* description, int value) {
  description->base = value;
  return 0;
}

API const char* cusparseGetErrorName(int) { return "CUSPARSE_STATUS_NOT_SUPPORTED"; }
API const char* cusparseGetErrorString(int) { return "cuSPARSE is not emulated"; }
