// Pooling over regions of interest: maxima and means of bins of pixels, and of samples between pixels.
// Gradients are sums in the type of the arithmetic, by atomic additions, or, in the functions of the
// deterministic kernels, by one thread for each channel of an image in the order of the regions.

// How all functions get the regions. rois: (regions, 4) of type T, y_min, x_min, y_max, x_max, and the
// images apart; or (regions, 5), image, x_min, y_min, x_max, y_max, if images is null.
#define CHAINER_REGIONS                                                                              \
  const T *rois, const int *images, long long regions, long long batch, long long channels,          \
      long long height, long long width, long long out_height, long long out_width, double scale,    \
      long long row_ratio, long long column_ratio
#define CHAINER_REGION_VALUES                                                                        \
  {rois, images, (Index)regions, (Index)batch, (Index)channels, (int)height, (int)width,             \
   (int)out_height, (int)out_width, scale, (int)row_ratio, (int)column_ratio}

struct Regions {
  const T* rois;
  const int* images;
  Index regions, batch, channels;
  int height, width, out_height, out_width;
  double scale;
  int row_ratio, column_ratio;  // number of samples in each direction of a bin; 0: one per pixel

  // Number of the image of a region; -1 if there is none.
  __device__ __forceinline__ Index image(Index region) const {
    if (images) {
      const Index number = images[region], wrapped = number < 0 ? number + batch : number;
      return wrapped >= 0 && wrapped < batch ? wrapped : -1;
    }
    const A number = rois[region * 5];
    return number > (A)-1 && number < (A)batch ? (Index)number : -1;
  }
  // Coordinates in pixels, by their order in the description above.
  __device__ __forceinline__ double edge(Index region, int number) const {
    const T* roi = images ? rois + region * 4 + number : rois + region * 5 + 1 + (number ^ 1);
    return (double)(A)*roi * scale;
  }
};

// Which element of the output one is: (regions, channels, out_height, out_width).
struct Place {
  int column, row;
  Index channel, region, image;
  __device__ __forceinline__ Place(const Regions& r, Index i) {
    column = i % r.out_width;
    row = i / r.out_width % r.out_height;
    channel = i / ((Index)r.out_width * r.out_height) % r.channels;
    region = i / ((Index)r.out_width * r.out_height) / r.channels;
    image = r.image(region);
  }
  // First element of the image and channel.
  __device__ __forceinline__ Index start(const Regions& r) const {
    return (image * r.channels + channel) * r.height * r.width;
  }
};

// First and last position (excluded) of a bin along an axis; 0 where the region is not a number.
struct Bin {
  int first, last;
  __device__ __forceinline__ Bin(double start, double length, int i, int count, int limit) {
    const double size = larger(1.0, length) / count;
    first = (int)smaller(larger(0.0, start + floor(i * size)), (double)limit);
    last = (int)smaller(larger(0.0, start + ceil((i + 1) * size)), (double)limit);
  }
};

__device__ __forceinline__ Bin row_bin(const Regions& r, const Place& p) {
  const double start = rint(r.edge(p.region, 0)), stop = rint(r.edge(p.region, 2));
  // Where the images are a column of the regions, the last row belongs to the region.
  return Bin(start, stop - start + (r.images ? 0 : 1), p.row, r.out_height, r.height);
}

__device__ __forceinline__ Bin column_bin(const Regions& r, const Place& p) {
  const double start = rint(r.edge(p.region, 1)), stop = rint(r.edge(p.region, 3));
  return Bin(start, stop - start + (r.images ? 0 : 1), p.column, r.out_width, r.width);
}

struct AtomicAddition {
  static __device__ __forceinline__ void add(A* place, A value) { atomicAdd(place, value); }
};

struct PlainAddition {
  static __device__ __forceinline__ void add(A* place, A value) { *place += value; }
};

// Defines the kernels of a gradient: one thread for each element of gy, which are n; and one thread for
// each channel of an image. gx must be zero before.
#define CHAINER_GRADIENT(name, function)                                                             \
  extern "C" __global__ void name(                                                                   \
      const T* gy, const Index* chosen, A* gx, CHAINER_REGIONS, long long n) {                         \
    const Regions r = CHAINER_REGION_VALUES;                                                         \
    CHAINER_EACH(i, n) {                                                                             \
      const Place p(r, i);                                                                           \
      if (p.image >= 0) function<AtomicAddition>(r, p, i, gy, chosen, gx + p.start(r));              \
    }                                                                                                \
  }                                                                                                  \
  extern "C" __global__ void name##_in_order(                                                        \
      const T* gy, const Index* chosen, A* gx, CHAINER_REGIONS, long long n) {                         \
    const Regions r = CHAINER_REGION_VALUES;                                                         \
    const Index size = (Index)r.out_height * r.out_width;                                            \
    CHAINER_EACH(i, n) {                                                                             \
      for (Index region = 0; region < r.regions; ++region) {                                         \
        if (r.image(region) != i / r.channels) continue;                                             \
        const Index first = (region * r.channels + i % r.channels) * size;                           \
        for (Index k = first; k < first + size; ++k) {                                               \
          const Place p(r, k);                                                                       \
          function<PlainAddition>(r, p, k, gy, chosen, gx + p.start(r));                             \
        }                                                                                            \
      }                                                                                              \
    }                                                                                                \
  }

// -- Maxima of bins of pixels ---------------------------------------------------------------------

// chosen: position of the maximum in the image, -1 in empty bins.
extern "C" __global__ void roi_max_pooling_forward(
    const T* x, T* y, Index* chosen, double empty, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    A best = p.image < 0 ? (A)not_a_number() : (A)empty;
    Index index = -1;
    if (p.image >= 0) {
      const Bin rows = row_bin(r, p), columns = column_bin(r, p);
      const T* image = x + p.start(r);
      for (int row = rows.first; row < rows.last; ++row) {
        for (int column = columns.first; column < columns.last; ++column) {
          const Index place = (Index)row * r.width + column;
          const A value = image[place];
          if (index < 0 || value > best || (value != value && best == best)) {
            best = value;
            index = place;
          }
        }
      }
    }
    y[i] = best;
    chosen[i] = index;
  }
}

template <class Addition>
__device__ __forceinline__ void spread_pixel(
    const Regions& r, const Place& p, Index i, const T* gy, const Index* chosen, A* image) {
  if (chosen[i] >= 0) Addition::add(&image[chosen[i]], (A)gy[i]);
}

CHAINER_GRADIENT(roi_max_pooling_backward, spread_pixel)

extern "C" __global__ void roi_max_pooling_gather(
    const T* x, const Index* chosen, T* y, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    y[i] = p.image < 0 || chosen[i] < 0 ? (A)0 : (A)x[p.start(r) + chosen[i]];
  }
}

// -- Means of bins of pixels ----------------------------------------------------------------------

extern "C" __global__ void roi_average_pooling_forward(
    const T* x, T* y, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    if (p.image < 0) {
      y[i] = (A)not_a_number();
      continue;
    }
    const Bin rows = row_bin(r, p), columns = column_bin(r, p);
    const T* image = x + p.start(r);
    A sum = 0;
    for (int row = rows.first; row < rows.last; ++row) {
      for (int column = columns.first; column < columns.last; ++column) {
        sum += (A)image[(Index)row * r.width + column];
      }
    }
    const Index count = (Index)(rows.last - rows.first) * (columns.last - columns.first);
    y[i] = count > 0 ? sum / (A)count : (A)0;
  }
}

template <class Addition>
__device__ __forceinline__ void spread_mean(
    const Regions& r, const Place& p, Index i, const T* gy, const Index* chosen, A* image) {
  const Bin rows = row_bin(r, p), columns = column_bin(r, p);
  const A count = (A)((Index)(rows.last - rows.first) * (columns.last - columns.first));
  for (int row = rows.first; row < rows.last; ++row) {
    for (int column = columns.first; column < columns.last; ++column) {
      Addition::add(&image[(Index)row * r.width + column], (A)gy[i] / count);
    }
  }
}

CHAINER_GRADIENT(roi_average_pooling_backward, spread_mean)

// -- Samples between pixels -----------------------------------------------------------------------

// The samples of a bin along an axis.
struct Axis {
  double start, bin;
  int samples, length;
  __device__ __forceinline__ Axis(
      double low, double high, int number, int count, int ratio, int length_) {
    bin = larger(1.0, high - low) / count;
    samples = ratio > 0 ? ratio : (int)ceil(bin);
    start = low + number * bin;
    length = length_;
  }
};

__device__ __forceinline__ Axis row_axis(const Regions& r, const Place& p) {
  return Axis(r.edge(p.region, 0), r.edge(p.region, 2), p.row, r.out_height, r.row_ratio, r.height);
}

__device__ __forceinline__ Axis column_axis(const Regions& r, const Place& p) {
  return Axis(
      r.edge(p.region, 1), r.edge(p.region, 3), p.column, r.out_width, r.column_ratio, r.width);
}

// A sample along an axis: the pixels before and behind it, and their weights, which are zero more than a
// pixel outside of the image.
struct Sample {
  int low, high;
  A low_weight, high_weight;
  bool valid;
  __device__ __forceinline__ Sample(const Axis& axis, int number) {
    const double point = axis.start + (number + 0.5) * (axis.bin / axis.samples);
    valid = point >= -1 && point <= axis.length && axis.length > 0;
    const double inside = valid ? smaller(larger(0.0, point), (double)(axis.length - 1)) : 0.0;
    low = (int)inside;
    const double distance = inside - low;
    // A pixel of weight zero is not read.
    high = distance > 0 ? low + 1 : low;
    low_weight = valid ? (A)(1 - distance) : (A)0;
    high_weight = valid ? (A)distance : (A)0;
  }
};

__device__ __forceinline__ A interpolated(
    const T* image, const Sample& row, const Sample& column, int width) {
  const T *upper = image + (Index)row.low * width, *lower = image + (Index)row.high * width;
  const A top = (A)upper[column.low] * column.low_weight + (A)upper[column.high] * column.high_weight;
  const A bottom = (A)lower[column.low] * column.low_weight + (A)lower[column.high] * column.high_weight;
  return top * row.low_weight + bottom * row.high_weight;
}

template <class Addition>
__device__ __forceinline__ void spread_value(
    A* image, const Sample& row, const Sample& column, int width, A value) {
  A *upper = image + (Index)row.low * width, *lower = image + (Index)row.high * width;
  Addition::add(&upper[column.low], value * row.low_weight * column.low_weight);
  Addition::add(&upper[column.high], value * row.low_weight * column.high_weight);
  Addition::add(&lower[column.low], value * row.high_weight * column.low_weight);
  Addition::add(&lower[column.high], value * row.high_weight * column.high_weight);
}

extern "C" __global__ void roi_average_align_forward(const T* x, T* y, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    if (p.image < 0) {
      y[i] = (A)not_a_number();
      continue;
    }
    const Axis rows = row_axis(r, p), columns = column_axis(r, p);
    A sum = 0;
    for (int a = 0; a < rows.samples; ++a) {
      const Sample row(rows, a);
      for (int b = 0; b < columns.samples; ++b) {
        const Sample column(columns, b);
        if (row.valid && column.valid) sum += interpolated(x + p.start(r), row, column, r.width);
      }
    }
    y[i] = sum / (A)((Index)rows.samples * columns.samples);
  }
}

template <class Addition>
__device__ __forceinline__ void spread_samples(
    const Regions& r, const Place& p, Index i, const T* gy, const Index* chosen, A* image) {
  const Axis rows = row_axis(r, p), columns = column_axis(r, p);
  const A value = (A)gy[i] / (A)((Index)rows.samples * columns.samples);
  for (int a = 0; a < rows.samples; ++a) {
    const Sample row(rows, a);
    for (int b = 0; b < columns.samples; ++b) {
      const Sample column(columns, b);
      if (row.valid && column.valid) spread_value<Addition>(image, row, column, r.width, value);
    }
  }
}

CHAINER_GRADIENT(roi_average_align_backward, spread_samples)

// chosen: number of the sample in the bin, -1 in bins without samples.
extern "C" __global__ void roi_max_align_forward(
    const T* x, T* y, Index* chosen, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    A best = p.image < 0 ? (A)not_a_number() : (A)-infinity();
    Index index = -1;
    if (p.image >= 0) {
      const Axis rows = row_axis(r, p), columns = column_axis(r, p);
      for (int a = 0; a < rows.samples; ++a) {
        const Sample row(rows, a);
        for (int b = 0; b < columns.samples; ++b) {
          const Sample column(columns, b);
          if (!row.valid || !column.valid) continue;
          const A value = interpolated(x + p.start(r), row, column, r.width);
          if (value > best || (value != value && best == best)) {
            best = value;
            index = (Index)a * columns.samples + b;
          }
        }
      }
    }
    y[i] = best;
    chosen[i] = index;
  }
}

template <class Addition>
__device__ __forceinline__ void spread_sample(
    const Regions& r, const Place& p, Index i, const T* gy, const Index* chosen, A* image) {
  if (chosen[i] < 0) return;
  const Axis rows = row_axis(r, p), columns = column_axis(r, p);
  const Sample row(rows, chosen[i] / columns.samples), column(columns, chosen[i] % columns.samples);
  spread_value<Addition>(image, row, column, r.width, (A)gy[i]);
}

CHAINER_GRADIENT(roi_max_align_backward, spread_sample)

extern "C" __global__ void roi_max_align_gather(
    const T* x, const Index* chosen, T* y, CHAINER_REGIONS, long long n) {
  const Regions r = CHAINER_REGION_VALUES;
  CHAINER_EACH(i, n) {
    const Place p(r, i);
    if (p.image < 0 || chosen[i] < 0) {
      y[i] = (A)0;
      continue;
    }
    const Axis rows = row_axis(r, p), columns = column_axis(r, p);
    const Sample row(rows, chosen[i] / columns.samples), column(columns, chosen[i] % columns.samples);
    y[i] = interpolated(x + p.start(r), row, column, r.width);
  }
}
