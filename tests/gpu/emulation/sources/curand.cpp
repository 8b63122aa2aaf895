// cuRAND: numbers are a hash of the seed and their position in the sequence.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#define API extern "C" __attribute__((visibility("default"))) Status

typedef int Status;
enum : Status {
  OK = 0,
  NOT_INITIALIZED = 101,
  TYPE_ERROR = 103,
  OUT_OF_RANGE = 104,
  LENGTH_NOT_MULTIPLE = 105
};

// curandRngType_t
enum { PSEUDO_DEFAULT = 100, XORWOW = 101, MTGP32 = 141, MT19937 = 142, QUASI_DEFAULT = 200, SOBOL32 = 201 };
enum { SOBOL64 = 203, SCRAMBLED_SOBOL64 = 204 };

struct Generator {
  uint64_t magic;
  int type;
  uint64_t seed, offset, position;
};

namespace {

constexpr uint64_t kMagic = 0x637572616e644641, kStep = 0x9e3779b97f4a7c15;

// The last part of SplitMix64.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t bits(const Generator* g, uint64_t i) {
  return mix(mix(g->seed * kStep + g->type + 1) + (g->position + i + 1) * kStep);
}

// In (0, 1].
double uniform(uint64_t bits) { return ((bits >> 11) + 1) * 0x1p-53; }
float uniform(uint32_t bits) { return ((bits >> 8) + 1) * 0x1p-24f; }

bool is_quasi(const Generator* g) { return g->type >= QUASI_DEFAULT; }
bool has_64_bits(const Generator* g) { return g->type == SOBOL64 || g->type == SCRAMBLED_SOBOL64; }

// Two normal numbers from two uniform ones (Box and Muller).
std::pair<double, double> normal_pair(uint64_t a, uint64_t b) {
  const double radius = std::sqrt(-2 * std::log(uniform(a))), angle = 2 * M_PI * uniform(b);
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

template <class T>
Status normal(Generator* g, T* out, size_t n, double mean, double deviation, bool logarithmic) {
  if (n % 2 && !is_quasi(g)) return LENGTH_NOT_MULTIPLE;
  if (!(deviation >= 0)) return OUT_OF_RANGE;
  for (size_t i = 0; i < n; i += 2) {
    const auto [a, b] = normal_pair(bits(g, i), bits(g, i + 1));
    const double x = mean + deviation * a, y = mean + deviation * b;
    out[i] = logarithmic ? std::exp(x) : x;
    if (i + 1 < n) out[i + 1] = logarithmic ? std::exp(y) : y;
  }
  g->position += n;
  return OK;
}

// Sums of numbers of small means, since products of many uniform numbers vanish; large means are normal.
uint32_t poisson(uint64_t state, double mean) {
  auto next = [&state] { return uniform(mix(state += kStep)); };
  if (mean > 1e5) {
    const uint64_t a = mix(state += kStep), b = mix(state += kStep);
    return std::fmax(0, mean + std::sqrt(mean) * normal_pair(a, b).first + 0.5);
  }
  uint32_t total = 0;
  for (double left = mean; left > 0; left -= 30) {
    const double limit = std::exp(-std::fmin(left, 30));
    for (double product = next(); product > limit; product *= next()) ++total;
  }
  return total;
}

}  // namespace

#define CHECK(g) \
  if (!g || g->magic != kMagic) return NOT_INITIALIZED

API curandCreateGenerator(Generator** g, int type) {
  const bool known = (type >= PSEUDO_DEFAULT && type <= XORWOW) || type == 121 || type == MTGP32 ||
                     type == MT19937 || type == 161 || (type >= QUASI_DEFAULT && type <= SCRAMBLED_SOBOL64);
  if (!g || !known) return TYPE_ERROR;
  if (type == PSEUDO_DEFAULT || type == QUASI_DEFAULT) ++type;
  *g = new Generator{kMagic, type, 0, 0, 0};
  return OK;
}

API curandDestroyGenerator(Generator* g) {
  CHECK(g);
  g->magic = 0;
  delete g;
  return OK;
}

API curandGetVersion(int* version) {
  *version = 10400;
  return OK;
}

API curandSetStream(Generator* g, void* stream) {
  CHECK(g);
  return OK;
}

API curandSetPseudoRandomGeneratorSeed(Generator* g, unsigned long long seed) {
  CHECK(g);
  if (is_quasi(g)) return TYPE_ERROR;
  g->seed = seed;
  g->position = g->offset;
  return OK;
}

API curandSetGeneratorOffset(Generator* g, unsigned long long offset) {
  CHECK(g);
  if (g->type == MTGP32 || g->type == MT19937) return TYPE_ERROR;
  g->offset = g->position = offset;
  return OK;
}

API curandSetGeneratorOrdering(Generator* g, int order) {
  CHECK(g);
  return (is_quasi(g) ? order == 201 : order >= 100 && order <= 104) ? OK : OUT_OF_RANGE;
}

API curandGenerate(Generator* g, uint32_t* out, size_t n) {
  CHECK(g);
  if (has_64_bits(g)) return TYPE_ERROR;
  for (size_t i = 0; i < n; ++i) out[i] = bits(g, i) >> 32;
  g->position += n;
  return OK;
}

API curandGenerateLongLong(Generator* g, uint64_t* out, size_t n) {
  CHECK(g);
  if (!has_64_bits(g)) return TYPE_ERROR;
  for (size_t i = 0; i < n; ++i) out[i] = bits(g, i);
  g->position += n;
  return OK;
}

API curandGenerateUniform(Generator* g, float* out, size_t n) {
  CHECK(g);
  for (size_t i = 0; i < n; ++i) out[i] = uniform(static_cast<uint32_t>(bits(g, i) >> 32));
  g->position += n;
  return OK;
}

API curandGenerateUniformDouble(Generator* g, double* out, size_t n) {
  CHECK(g);
  for (size_t i = 0; i < n; ++i) out[i] = uniform(bits(g, i));
  g->position += n;
  return OK;
}

API curandGenerateNormal(Generator* g, float* out, size_t n, float mean, float deviation) {
  CHECK(g);
  return normal(g, out, n, mean, deviation, false);
}

API curandGenerateNormalDouble(Generator* g, double* out, size_t n, double mean, double deviation) {
  CHECK(g);
  return normal(g, out, n, mean, deviation, false);
}

API curandGenerateLogNormal(Generator* g, float* out, size_t n, float mean, float deviation) {
  CHECK(g);
  return normal(g, out, n, mean, deviation, true);
}

API curandGenerateLogNormalDouble(Generator* g, double* out, size_t n, double mean, double deviation) {
  CHECK(g);
  return normal(g, out, n, mean, deviation, true);
}

API curandGeneratePoisson(Generator* g, uint32_t* out, size_t n, double mean) {
  CHECK(g);
  if (!(mean > 0)) return OUT_OF_RANGE;
  for (size_t i = 0; i < n; ++i) out[i] = poisson(bits(g, i), mean);
  g->position += n;
  return OK;
}
