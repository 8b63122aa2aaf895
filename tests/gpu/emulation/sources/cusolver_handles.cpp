// Handles and parameters of cuSOLVER.
#include "cusolver.hpp"

API cusolverDnCreate(Handle** handle) {
  *handle = new Handle{kMagic, nullptr};
  return OK;
}

API cusolverDnDestroy(Handle* handle) {
  CHECK(true);
  handle->magic = 0;
  delete handle;
  return OK;
}

API cusolverDnSetStream(Handle* handle, void* stream) {
  CHECK(true);
  handle->stream = stream;
  return OK;
}

API cusolverDnGetStream(Handle* handle, void** stream) {
  CHECK(true);
  *stream = handle->stream;
  return OK;
}

API cusolverSpCreate(Handle** handle) { return cusolverDnCreate(handle); }
API cusolverSpDestroy(Handle* handle) { return cusolverDnDestroy(handle); }
API cusolverSpSetStream(Handle* handle, void* stream) { return cusolverDnSetStream(handle, stream); }
API cusolverSpGetStream(Handle* handle, void** stream) { return cusolverDnGetStream(handle, stream); }

API cusolverGetProperty(int type, int* value) {
  static const int kVersion[] = {12, 0, 4};
  if (type < 0 || type > 2) return INVALID;
  *value = kVersion[type];
  return OK;
}

// Parameters of Jacobi's methods and of the 64-bit interface; nothing is made of them.
API cusolverDnCreateSyevjInfo(void** info) {
  *info = calloc(1, 64);
  return OK;
}

API cusolverDnDestroySyevjInfo(void* info) {
  free(info);
  return OK;
}

API cusolverDnCreateGesvdjInfo(void** info) { return cusolverDnCreateSyevjInfo(info); }
API cusolverDnDestroyGesvdjInfo(void* info) { return cusolverDnDestroySyevjInfo(info); }
API cusolverDnCreateParams(void** parameters) { return cusolverDnCreateSyevjInfo(parameters); }
API cusolverDnDestroyParams(void* parameters) { return cusolverDnDestroySyevjInfo(parameters); }

#define JACOBI(NAME)                                                                 \
  API cusolverDnX##NAME##SetTolerance(void* info, double tolerance) { return OK; }   \
  API cusolverDnX##NAME##SetMaxSweeps(void* info, int sweeps) { return OK; }         \
  API cusolverDnX##NAME##SetSortEig(void* info, int sorted) { return OK; }           \
  API cusolverDnX##NAME##GetResidual(Handle* handle, void* info, double* residual) { \
    *residual = 0;                                                                   \
    return OK;                                                                       \
  }                                                                                  \
  API cusolverDnX##NAME##GetSweeps(Handle* handle, void* info, int* sweeps) {        \
    *sweeps = 1;                                                                     \
    return OK;                                                                       \
  }
JACOBI(syevj)
JACOBI(gesvdj)
