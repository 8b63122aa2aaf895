// NVRTC, of which CuPy asks nothing but the version: programs.py compiles.
#define API extern "C" __attribute__((visibility("default")))

API int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

API const char* nvrtcGetErrorString(int) { return "NVRTC is not emulated"; }
