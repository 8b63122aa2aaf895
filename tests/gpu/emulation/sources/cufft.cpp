// cuFFT: plans of one to three dimensions, computed in double precision.
#include <cmath>
#include <complex>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) Status

typedef int Status;
typedef std::complex<double> Complex;
typedef std::vector<long long> Shape;

enum : Status { OK = 0, INVALID_PLAN = 1, INVALID_TYPE = 3, INVALID_VALUE = 4, INVALID_SIZE = 8 };
enum Kind { COMPLEX_TO_COMPLEX, REAL_TO_COMPLEX, COMPLEX_TO_REAL };
enum { FORWARD = -1, INVERSE = 1 };
// cufftType
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };

namespace {

// How a batch of arrays lies in memory.
struct Layout {
  Shape embed;
  long long step = 1, distance = 0;
};

struct Plan {
  bool made = false, plain = true;
  Kind kind = COMPLEX_TO_COMPLEX;
  int width = 0;  // bytes of a real number
  Shape shape;
  Layout input, output;
  long long batch = 1;
};

std::mutex mutex;
std::map<int, std::shared_ptr<Plan>> plans;
int next_plan = 1;

std::shared_ptr<Plan> find(int handle) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : found->second;
}

long long product(const Shape& shape) {
  long long result = 1;
  for (long long n : shape) result *= n;
  return result;
}

Status make(int handle, int rank, const long long* n, const long long* in_embed, long long in_step,
            long long in_distance, const long long* out_embed, long long out_step, long long out_distance,
            Kind kind, int width, long long batch, size_t* work) {
  const auto plan = find(handle);
  if (!plan || plan->made) return INVALID_PLAN;
  for (int i = 0; i < rank; ++i)
    if (n[i] <= 0) return INVALID_SIZE;
  if (batch <= 0) return INVALID_SIZE;
  plan->shape.assign(n, n + rank);
  plan->kind = kind;
  plan->width = width;
  plan->batch = batch;
  plan->plain = !in_embed || !out_embed;
  if (!plan->plain) {
    if (in_step <= 0 || out_step <= 0) return INVALID_VALUE;
    plan->input = {Shape(in_embed, in_embed + rank), in_step, in_distance};
    plan->output = {Shape(out_embed, out_embed + rank), out_step, out_distance};
  }
  plan->made = true;
  if (work) *work = 512;
  return OK;
}

bool read_type(int type, Kind* kind, int* width) {
  *width = type < 0x60 ? 4 : 8;
  *kind = type == R2C || type == D2Z   ? REAL_TO_COMPLEX
          : type == C2R || type == Z2D ? COMPLEX_TO_REAL
                                       : COMPLEX_TO_COMPLEX;
  return *kind != COMPLEX_TO_COMPLEX || type == C2C || type == Z2Z;
}

// The transform of n numbers, by its least prime factor; roots are those of unity of the whole.
void transform(long long n, const Complex* in, long long step, Complex* out, const Complex* roots,
               long long root_step) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  long long factor = 2;
  while (factor * factor <= n && n % factor) ++factor;
  if (n % factor) factor = n;
  const long long part = n / factor;
  std::vector<Complex> parts(n);
  for (long long q = 0; q < factor; ++q)
    transform(part, in + q * step, step * factor, &parts[q * part], roots, root_step * factor);
  for (long long k = 0; k < n; ++k) {
    Complex sum = 0;
    for (long long q = 0; q < factor; ++q) sum += parts[q * part + k % part] * roots[q * k % n * root_step];
    out[k] = sum;
  }
}

void transform_axis(std::vector<Complex>& x, const Shape& shape, int axis, int direction) {
  const long long n = shape[axis];
  long long inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  std::vector<Complex> roots(n), in(n), out(n);
  for (long long i = 0; i < n; ++i) roots[i] = std::polar(1.0, direction * 2 * M_PI * i / n);
  for (long long start = 0; start < static_cast<long long>(x.size()); start += n * inner)
    for (long long k = start; k < start + inner; ++k) {
      for (long long i = 0; i < n; ++i) in[i] = x[k + i * inner];
      transform(n, in.data(), 1, out.data(), roots.data(), 1);
      for (long long i = 0; i < n; ++i) x[k + i * inner] = out[i];
    }
}

// The real number at a position of an array of numbers of some width.
double get(const void* p, long long i, int width) {
  if (width == 8) return static_cast<const double*>(p)[i];
  return width == 4 ? static_cast<const float*>(p)[i]
                    : static_cast<float>(static_cast<const _Float16*>(p)[i]);
}

void set(void* p, long long i, int width, double value) {
  if (width == 8) static_cast<double*>(p)[i] = value;
  if (width == 4) static_cast<float*>(p)[i] = value;
  if (width == 2) static_cast<_Float16*>(p)[i] = static_cast<float>(value);
}

// The position in memory of the k-th element of an array.
long long offset(long long k, const Shape& shape, const Layout& layout) {
  long long result = 0, unit = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    result += k % shape[d] * unit;
    k /= shape[d];
    unit *= layout.embed[d];
  }
  return result * layout.step;
}

// Real input gives the half of the output that is not the conjugate of the other.
std::vector<Complex> half_of(const std::vector<Complex>& x, long long n) {
  std::vector<Complex> half;
  for (size_t i = 0; i < x.size(); ++i)
    if (static_cast<long long>(i) % n < n / 2 + 1) half.push_back(x[i]);
  return half;
}

std::vector<Complex> whole_of(const std::vector<Complex>& half, long long n) {
  const long long m = n / 2 + 1, rows = half.size() / m;
  std::vector<Complex> x(rows * n);
  for (long long r = 0; r < rows; ++r)
    for (long long i = 0; i < n; ++i) {
      const Complex value = i < m ? half[r * m + i] : std::conj(half[r * m + n - i]);
      x[r * n + i] = i == 0 || 2 * i == n ? value.real() : value;
    }
  return x;
}

void compute(const Plan& plan, std::vector<Complex>& x, const Shape& half, int direction) {
  const int rank = plan.shape.size();
  if (plan.kind == COMPLEX_TO_REAL) {
    for (int d = 0; d < rank - 1; ++d) transform_axis(x, half, d, INVERSE);
    x = whole_of(x, plan.shape[rank - 1]);
    transform_axis(x, plan.shape, rank - 1, INVERSE);
    return;
  }
  for (int d = 0; d < rank; ++d)
    transform_axis(x, plan.shape, d, plan.kind == REAL_TO_COMPLEX ? FORWARD : direction);
  if (plan.kind == REAL_TO_COMPLEX) x = half_of(x, plan.shape[rank - 1]);
}

Status run(const Plan& plan, const void* in, void* out, int direction) {
  if (!in || !out) return INVALID_VALUE;
  const int last = plan.shape.size() - 1, width = plan.width;
  Shape half = plan.shape;
  half[last] = half[last] / 2 + 1;
  const Shape& from = plan.kind == COMPLEX_TO_REAL ? half : plan.shape;
  const Shape& to = plan.kind == REAL_TO_COMPLEX ? half : plan.shape;
  Layout input = plan.input, output = plan.output;
  if (plan.plain) {
    input = {from, 1, 0};
    output = {to, 1, 0};
    if (in == out && plan.kind == REAL_TO_COMPLEX) input.embed[last] = 2 * half[last];
    if (in == out && plan.kind == COMPLEX_TO_REAL) output.embed[last] = 2 * half[last];
    input.distance = product(input.embed);
    output.distance = product(output.embed);
  }
  // All is read before anything is written: the output may lie where the input is.
  std::vector<std::vector<Complex>> arrays(plan.batch);
  for (long long b = 0; b < plan.batch; ++b)
    for (long long k = 0; k < product(from); ++k) {
      const long long at = offset(k, from, input) + b * input.distance;
      arrays[b].push_back(plan.kind == REAL_TO_COMPLEX
                              ? Complex(get(in, at, width))
                              : Complex(get(in, 2 * at, width), get(in, 2 * at + 1, width)));
    }
  for (long long b = 0; b < plan.batch; ++b) {
    compute(plan, arrays[b], half, direction);
    for (long long k = 0; k < product(to); ++k) {
      const long long at = offset(k, to, output) + b * output.distance;
      const Complex value = arrays[b][k];
      if (plan.kind == COMPLEX_TO_REAL) {
        set(out, at, width, value.real());
      } else {
        set(out, 2 * at, width, value.real());
        set(out, 2 * at + 1, width, value.imag());
      }
    }
  }
  return OK;
}

Status run(int handle, Kind kind, int width, const void* in, void* out, int direction) {
  const auto plan = find(handle);
  if (!plan || !plan->made) return INVALID_PLAN;
  if (plan->kind != kind || plan->width != width) return INVALID_TYPE;
  return direction == FORWARD || direction == INVERSE ? run(*plan, in, out, direction) : INVALID_VALUE;
}

}  // namespace

API cufftCreate(int* handle) {
  std::lock_guard<std::mutex> lock(mutex);
  *handle = next_plan++;
  plans[*handle] = std::make_shared<Plan>();
  return OK;
}

API cufftDestroy(int handle) {
  std::lock_guard<std::mutex> lock(mutex);
  return plans.erase(handle) ? OK : INVALID_PLAN;
}

API cufftGetVersion(int* version) {
  *version = 12000;
  return OK;
}

API cufftSetStream(int handle, void* stream) { return find(handle) ? OK : INVALID_PLAN; }
API cufftSetWorkArea(int handle, void* work) { return find(handle) ? OK : INVALID_PLAN; }
API cufftSetAutoAllocation(int handle, int automatic) { return find(handle) ? OK : INVALID_PLAN; }

API cufftMakePlan1d(int handle, int n, int type, int batch, size_t* work) {
  Kind kind;
  int width;
  if (!read_type(type, &kind, &width)) return INVALID_TYPE;
  const long long size = n;
  return make(handle, 1, &size, nullptr, 1, 0, nullptr, 1, 0, kind, width, batch, work);
}

API cufftMakePlanMany(int handle, int rank, int* n, int* in_embed, int in_step, int in_distance,
                      int* out_embed, int out_step, int out_distance, int type, int batch, size_t* work) {
  Kind kind;
  int width;
  if (!read_type(type, &kind, &width)) return INVALID_TYPE;
  if (rank < 1 || rank > 3 || !n) return INVALID_VALUE;
  const Shape shape(n, n + rank);
  const Shape in = in_embed ? Shape(in_embed, in_embed + rank) : Shape();
  const Shape out = out_embed ? Shape(out_embed, out_embed + rank) : Shape();
  return make(handle, rank, shape.data(), in_embed ? in.data() : nullptr, in_step, in_distance,
              out_embed ? out.data() : nullptr, out_step, out_distance, kind, width, batch, work);
}

API cufftXtMakePlanMany(int handle, int rank, long long* n, long long* in_embed, long long in_step,
                        long long in_distance, int in_type, long long* out_embed, long long out_step,
                        long long out_distance, int out_type, long long batch, size_t* work, int type) {
  // cudaDataType_t: real numbers of 4, 8 and 2 bytes are 0, 1 and 2, complex ones 4 more.
  static const int kWidths[] = {4, 8, 2};
  if (rank < 1 || rank > 3 || !n) return INVALID_VALUE;
  for (int t : {in_type, out_type, type})
    if (t < 0 || t > 6 || t == 3 || t % 4 != type % 4) return INVALID_TYPE;
  if (type < 4 || (in_type < 4 && out_type < 4)) return INVALID_TYPE;
  const Kind kind = in_type < 4 ? REAL_TO_COMPLEX : out_type < 4 ? COMPLEX_TO_REAL : COMPLEX_TO_COMPLEX;
  return make(handle, rank, n, in_embed, in_step, in_distance, out_embed, out_step, out_distance, kind,
              kWidths[type % 4], batch, work);
}

API cufftExecC2C(int handle, void* in, void* out, int direction) {
  return run(handle, COMPLEX_TO_COMPLEX, 4, in, out, direction);
}

API cufftExecZ2Z(int handle, void* in, void* out, int direction) {
  return run(handle, COMPLEX_TO_COMPLEX, 8, in, out, direction);
}

API cufftExecR2C(int handle, void* in, void* out) {
  return run(handle, REAL_TO_COMPLEX, 4, in, out, FORWARD);
}
API cufftExecD2Z(int handle, void* in, void* out) {
  return run(handle, REAL_TO_COMPLEX, 8, in, out, FORWARD);
}
API cufftExecC2R(int handle, void* in, void* out) {
  return run(handle, COMPLEX_TO_REAL, 4, in, out, INVERSE);
}
API cufftExecZ2D(int handle, void* in, void* out) {
  return run(handle, COMPLEX_TO_REAL, 8, in, out, INVERSE);
}

API cufftXtExec(int handle, void* in, void* out, int direction) {
  const auto plan = find(handle);
  if (!plan || !plan->made) return INVALID_PLAN;
  return run(*plan, in, out, direction);
}
