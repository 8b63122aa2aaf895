// Windows that slide over images (images, d0, d1, d2); images is samples times channels. Those of fewer
// dimensions have sizes of one before.

struct Geometry {
  int in[3], out[3], size[3], stride[3], pad[3], dilate[3];
};

struct Point {
  int at[3];
  Index image;
};

// Splits a position in an array (images, size[0], size[1], size[2]).
__device__ __forceinline__ Point split(Index i, const int* size) {
  Point point;
  for (int axis = 2; axis >= 0; --axis) {
    point.at[axis] = i % size[axis];
    i /= size[axis];
  }
  point.image = i;
  return point;
}

__device__ __forceinline__ Index join(Index image, int a, int b, int c, const int* size) {
  return ((image * size[0] + a) * size[1] + b) * size[2] + c;
}

__device__ __forceinline__ int volume(const int* size) { return size[0] * size[1] * size[2]; }

// Those elements of a window along one axis that are inside the image.
struct Range {
  int first, last, start;
  __device__ __forceinline__ Range(const Geometry& g, int axis, int window) {
    start = window * g.stride[axis] - g.pad[axis];
    first = larger(0, -start);
    last = smaller(g.size[axis], g.in[axis] - start);
  }
};

// Those windows along one axis that reach a position of the image.
struct Windows {
  int first, last, position;
  __device__ __forceinline__ Windows(const Geometry& g, int axis, int at) {
    position = at + g.pad[axis];
    const int before = position - g.size[axis] + 1;
    first = before <= 0 ? 0 : (before + g.stride[axis] - 1) / g.stride[axis];
    last = smaller(g.out[axis] - 1, position / g.stride[axis]);
  }
};

// codes gets the row-major position of the first maximum in each window, -1 in empty ones.
extern "C" __global__ void maximum_forward(
    const T* x, T* y, int* codes, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point window = split(i, g.out);
    const Range r0(g, 0, window.at[0]), r1(g, 1, window.at[1]), r2(g, 2, window.at[2]);
    A top = -infinity();
    int code = -1;
    for (int a = r0.first; a < r0.last; ++a) {
      for (int b = r1.first; b < r1.last; ++b) {
        for (int c = r2.first; c < r2.last; ++c) {
          const A value = x[join(window.image, r0.start + a, r1.start + b, r2.start + c, g.in)];
          if (code < 0 || value > top || (value != value && top == top)) {
            top = value;
            code = (a * g.size[1] + b) * g.size[2] + c;
          }
        }
      }
    }
    y[i] = top;
    codes[i] = code;
  }
}

// Position of the first element of each window that equals y, 0 if there is none.
extern "C" __global__ void find(const T* x, const T* y, int* codes, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point window = split(i, g.out);
    const Range r0(g, 0, window.at[0]), r1(g, 1, window.at[1]), r2(g, 2, window.at[2]);
    const A wanted = y[i];
    int code = -1;
    for (int a = r0.first; a < r0.last; ++a) {
      for (int b = r1.first; b < r1.last; ++b) {
        for (int c = r2.first; c < r2.last; ++c) {
          const A value = x[join(window.image, r0.start + a, r1.start + b, r2.start + c, g.in)];
          const bool equal = value == wanted || (value != value && wanted != wanted);
          if (code < 0 && equal) code = (a * g.size[1] + b) * g.size[2] + c;
        }
      }
    }
    codes[i] = code < 0 ? 0 : code;
  }
}

// Elements at the codes; zero outside of the image.
extern "C" __global__ void gather(const T* x, const int* codes, T* y, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point window = split(i, g.out);
    int code = codes[i];
    int at[3];
    bool inside = code >= 0 && code < volume(g.size);
    for (int axis = 2; axis >= 0; --axis) {
      at[axis] = window.at[axis] * g.stride[axis] - g.pad[axis] + code % g.size[axis];
      code /= g.size[axis];
      inside = inside && at[axis] >= 0 && at[axis] < g.in[axis];
    }
    y[i] = inside ? (A)x[join(window.image, at[0], at[1], at[2], g.in)] : (A)0;
  }
}

// The adjoint of gather, one thread for each position of the image.
extern "C" __global__ void scatter(const T* y, const int* codes, T* x, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point point = split(i, g.in);
    const Windows w0(g, 0, point.at[0]), w1(g, 1, point.at[1]), w2(g, 2, point.at[2]);
    A sum = 0;
    for (int a = w0.first; a <= w0.last; ++a) {
      for (int b = w1.first; b <= w1.last; ++b) {
        for (int c = w2.first; c <= w2.last; ++c) {
          const Index window = join(point.image, a, b, c, g.out);
          const int code = ((w0.position - a * g.stride[0]) * g.size[1] +
                            (w1.position - b * g.stride[1])) * g.size[2] +
                           (w2.position - c * g.stride[2]);
          if (codes[window] == code) sum += (A)y[window];
        }
      }
    }
    x[i] = sum;
  }
}

// What the sum over a window is multiplied with: 1 (kind 0), the reciprocal of the size of the window
// (kind 1) or of the number of its elements inside the image (kind 2).
__device__ __forceinline__ A weight(const Geometry& g, int kind, int a, int b, int c) {
  if (kind == 0) return 1;
  if (kind == 1) return (A)1 / (A)volume(g.size);
  const Range r0(g, 0, a), r1(g, 1, b), r2(g, 2, c);
  return (A)1 / ((A)larger(r0.last - r0.first, 1) * (A)larger(r1.last - r1.first, 1) *
                 (A)larger(r2.last - r2.first, 1));
}

extern "C" __global__ void sum_windows(
    const T* x, T* y, Geometry g, long long kind, long long n) {
  CHAINER_EACH(i, n) {
    const Point window = split(i, g.out);
    const Range r0(g, 0, window.at[0]), r1(g, 1, window.at[1]), r2(g, 2, window.at[2]);
    A sum = 0;
    for (int a = r0.first; a < r0.last; ++a) {
      for (int b = r1.first; b < r1.last; ++b) {
        for (int c = r2.first; c < r2.last; ++c) {
          sum += (A)x[join(window.image, r0.start + a, r1.start + b, r2.start + c, g.in)];
        }
      }
    }
    y[i] = sum * weight(g, (int)kind, window.at[0], window.at[1], window.at[2]);
  }
}

// The adjoint of sum_windows.
extern "C" __global__ void spread_windows(
    const T* y, T* x, Geometry g, long long kind, long long n) {
  CHAINER_EACH(i, n) {
    const Point point = split(i, g.in);
    const Windows w0(g, 0, point.at[0]), w1(g, 1, point.at[1]), w2(g, 2, point.at[2]);
    A sum = 0;
    for (int a = w0.first; a <= w0.last; ++a) {
      for (int b = w1.first; b <= w1.last; ++b) {
        for (int c = w2.first; c <= w2.last; ++c) {
          sum += (A)y[join(point.image, a, b, c, g.out)] * weight(g, (int)kind, a, b, c);
        }
      }
    }
    x[i] = sum;
  }
}

// patches: (images, size, out), zero outside of the images.
extern "C" __global__ void copy_patches(const T* x, T* patches, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point window = split(i, g.out);
    const Point element = split(window.image, g.size);
    int at[3];
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] = window.at[axis] * g.stride[axis] - g.pad[axis] + element.at[axis] * g.dilate[axis];
      inside = inside && at[axis] >= 0 && at[axis] < g.in[axis];
    }
    patches[i] = inside ? (A)x[join(element.image, at[0], at[1], at[2], g.in)] : (A)0;
  }
}

// Window whose element at a distance from its start lies at a position; -1 if there is none.
__device__ __forceinline__ int window_at(const Geometry& g, int axis, int at, int element) {
  const int distance = at + g.pad[axis] - element * g.dilate[axis];
  if (distance < 0 || distance % g.stride[axis] != 0) return -1;
  const int window = distance / g.stride[axis];
  return window < g.out[axis] ? window : -1;
}

// The adjoint of copy_patches. P is the type of the patches.
extern "C" __global__ void add_patches(const P* patches, T* x, Geometry g, long long n) {
  CHAINER_EACH(i, n) {
    const Point point = split(i, g.in);
    A sum = 0;
    for (int a = 0; a < g.size[0]; ++a) {
      const int w0 = window_at(g, 0, point.at[0], a);
      if (w0 < 0) continue;
      for (int b = 0; b < g.size[1]; ++b) {
        const int w1 = window_at(g, 1, point.at[1], b);
        if (w1 < 0) continue;
        for (int c = 0; c < g.size[2]; ++c) {
          const int w2 = window_at(g, 2, point.at[2], c);
          if (w2 < 0) continue;
          const Index element = join(point.image, a, b, c, g.size);
          sum += (A)patches[join(element, w0, w1, w2, g.out)];
        }
      }
    }
    x[i] = sum;
  }
}
