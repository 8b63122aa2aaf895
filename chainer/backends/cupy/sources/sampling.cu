// Reading and writing at positions that are data: embeddings, sampling of images.
// L is the type of row numbers. Sums are made in the type of the arithmetic, by atomic additions, or, in the
// functions of the deterministic kernels, by one thread for each sum in a fixed order.

// Number of the row; -1 if there is none.
__device__ __forceinline__ long long row_number(L label, long long rows) {
  const long long number = (long long)label;
  const long long wrapped = number < 0 ? number + rows : number;
  return wrapped < rows ? wrapped : -1;
}

// y: (count, width). Rows out of range are not a number.
extern "C" __global__ void embedding_forward(
    const L* x, const T* W, T* y, long long rows, long long width, bool ignores, long long ignored,
    long long n) {
  CHAINER_EACH(i, n) {
    const L label = x[i / (Index)width];
    const long long row = row_number(label, rows);
    if (ignores && (long long)label == ignored) {
      y[i] = (A)0;
    } else {
      y[i] = row < 0 ? (A)not_a_number() : (A)W[(Index)row * (Index)width + i % (Index)width];
    }
  }
}

extern "C" __global__ void embedding_backward(
    const L* x, const T* gy, A* gW, long long rows, long long width, bool ignores, long long ignored,
    long long n) {
  CHAINER_EACH(i, n) {
    const L label = x[i / (Index)width];
    const long long row = row_number(label, rows);
    if (row >= 0 && !(ignores && (long long)label == ignored)) {
      atomicAdd(&gW[(Index)row * (Index)width + i % (Index)width], (A)gy[i]);
    }
  }
}

// First place in a sorted list whose number is not less.
__device__ __forceinline__ Index lower_bound(const long long* sorted, Index count, long long number) {
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (sorted[middle] < number) low = middle + 1; else high = middle;
  }
  return low;
}

// keys: the row number, or the number of rows where there is none.
extern "C" __global__ void embedding_keys(
    const L* x, long long* keys, long long rows, bool ignores, long long ignored, long long n) {
  CHAINER_EACH(i, n) {
    const long long row = row_number(x[i], rows);
    keys[i] = row < 0 || (ignores && (long long)x[i] == ignored) ? rows : row;
  }
}

// sorted: sorted keys; order: where each of them was.
extern "C" __global__ void embedding_sums(
    const long long* sorted, const long long* order, const T* gy, T* gW, long long width,
    long long count, long long n) {
  CHAINER_EACH(i, n) {
    const long long row = i / (Index)width;
    A sum = 0;
    for (Index k = lower_bound(sorted, (Index)count, row); k < (Index)count && sorted[k] == row; ++k) {
      sum += (A)gy[(Index)order[k] * (Index)width + i % (Index)width];
    }
    gW[i] = sum;
  }
}

// Pixel before a coordinate (-1 for the border of zeros) and distance from it. Coordinates outside of the
// border are moved onto it, and the position does not change with them.
struct Coordinate {
  int before;
  A distance;
  bool moves;
  __device__ __forceinline__ Coordinate(A coordinate, long long length) {
    const A half = (A)(length - 1) / 2;
    const A position = coordinate * half + (half + (A)1);
    moves = position >= (A)0 && position <= (A)(length + 1);
    // What is not a number is at no pixel.
    const A inside = smaller(larger(position, (A)0), (A)(length + 1));
    const A whole = inside == inside ? floor_(inside) : (A)0;
    before = (int)whole - 1;
    distance = inside - whole;
  }
};

__device__ __forceinline__ A pixel(const T* image, int row, int column, int height, int width) {
  const bool inside = row >= 0 && row < height && column >= 0 && column < width;
  return inside ? (A)image[row * (Index)width + column] : (A)0;
}

// x: (N, C, height, width), grid: (N, 2, points), y: (N, C, points).
extern "C" __global__ void sampler_forward(
    const T* x, const T* grid, T* y, long long channels, long long height, long long width,
    long long points, long long n) {
  CHAINER_EACH(i, n) {
    const Index point = i % (Index)points, sample = i / (Index)(points * channels);
    const T* place = grid + sample * 2 * (Index)points + point;
    const Coordinate u((A)place[0], width), v((A)place[points], height);
    const T* image = x + i / (Index)points * (Index)(height * width);
    const int h = (int)height, w = (int)width;
    const A a = pixel(image, v.before, u.before, h, w);
    const A b = pixel(image, v.before, u.before + 1, h, w);
    const A c = pixel(image, v.before + 1, u.before, h, w);
    const A d = pixel(image, v.before + 1, u.before + 1, h, w);
    const A top = a + (b - a) * u.distance, bottom = c + (d - c) * u.distance;
    y[i] = top + (bottom - top) * v.distance;
  }
}

__device__ __forceinline__ void add_to_pixel(
    A* image, int row, int column, int height, int width, A value) {
  if (row >= 0 && row < height && column >= 0 && column < width) {
    atomicAdd(&image[row * (Index)width + column], value);
  }
}

// One thread for each point; gx must be zero before, or null to leave it out.
extern "C" __global__ void sampler_backward(
    const T* x, const T* grid, const T* gy, A* gx, T* ggrid, long long channels, long long height,
    long long width, long long points, long long n) {
  CHAINER_EACH(i, n) {
    const Index point = i % (Index)points, sample = i / (Index)points;
    const Index first = sample * 2 * (Index)points + point, second = first + (Index)points;
    const Coordinate u((A)grid[first], width), v((A)grid[second], height);
    const int h = (int)height, w = (int)width;
    const int row = v.before, column = u.before;
    A gu = 0, gv = 0;
    for (Index channel = 0; channel < (Index)channels; ++channel) {
      const Index number = sample * (Index)channels + channel;
      const T* image = x + number * (Index)(height * width);
      const A gradient = gy[number * (Index)points + point];
      const A a = pixel(image, row, column, h, w), b = pixel(image, row, column + 1, h, w);
      const A c = pixel(image, row + 1, column, h, w), d = pixel(image, row + 1, column + 1, h, w);
      gu += gradient * ((b - a) * ((A)1 - v.distance) + (d - c) * v.distance);
      gv += gradient * ((c - a) * ((A)1 - u.distance) + (d - b) * u.distance);
      if (!gx) continue;
      A* gradient_image = gx + number * (Index)(height * width);
      const A upper = gradient * ((A)1 - v.distance), lower = gradient * v.distance;
      add_to_pixel(gradient_image, row, column, h, w, upper * ((A)1 - u.distance));
      add_to_pixel(gradient_image, row, column + 1, h, w, upper * u.distance);
      add_to_pixel(gradient_image, row + 1, column, h, w, lower * ((A)1 - u.distance));
      add_to_pixel(gradient_image, row + 1, column + 1, h, w, lower * u.distance);
    }
    ggrid[first] = u.moves ? gu * (A)(width - 1) / 2 : (A)0;
    ggrid[second] = v.moves ? gv * (A)(height - 1) / 2 : (A)0;
  }
}

// Number of the cell between four pixels that contains the point.
extern "C" __global__ void sampler_keys(
    const T* grid, long long* keys, long long height, long long width, long long points, long long n) {
  CHAINER_EACH(i, n) {
    const Index point = i % (Index)points, sample = i / (Index)points;
    const T* place = grid + sample * 2 * (Index)points + point;
    const Coordinate u((A)place[0], width), v((A)place[points], height);
    keys[i] = (sample * (height + 2) + v.before + 1) * (width + 2) + u.before + 1;
  }
}

// One thread for each pixel. sorted: sorted keys; order: where each of them was; count: their number.
extern "C" __global__ void sampler_sums(
    const long long* sorted, const long long* order, const T* grid, const T* gy, T* gx,
    long long channels, long long height, long long width, long long points, long long count,
    long long n) {
  CHAINER_EACH(i, n) {
    const Index column = i % (Index)width, row = i / (Index)width % (Index)height;
    const Index image = i / (Index)(height * width), sample = image / (Index)channels;
    A sum = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const bool right = corner % 2, below = corner / 2;
      const long long key = ((long long)sample * (height + 2) + row + (below ? 0 : 1)) * (width + 2) +
                            column + (right ? 0 : 1);
      for (Index k = lower_bound(sorted, (Index)count, key); k < (Index)count && sorted[k] == key; ++k) {
        const Index point = (Index)order[k] % (Index)points;
        const T* place = grid + sample * 2 * (Index)points + point;
        const Coordinate u((A)place[0], width), v((A)place[points], height);
        const A weight = (right ? u.distance : (A)1 - u.distance) *
                         (below ? v.distance : (A)1 - v.distance);
        sum += weight * (A)gy[image * (Index)points + point];
      }
    }
    gx[i] = sum;
  }
}
