// Activation functions and their gradients, and other functions of single elements.

extern "C" __global__ void relu_forward(const T* x, T* y, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? (A)0 : value;
  }
}

extern "C" __global__ void relu_backward(const T* y, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) gx[i] = (A)y[i] > (A)0 ? (A)gy[i] : (A)0;
}

extern "C" __global__ void leaky_relu_forward(const T* x, T* y, double slope, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? (A)slope * value : value;
  }
}

// sign: has the sign of the input.
extern "C" __global__ void leaky_relu_backward(
    const T* sign, const T* gy, T* gx, double slope, long long n) {
  CHAINER_EACH(i, n) gx[i] = (A)sign[i] > (A)0 ? (A)gy[i] : (A)slope * (A)gy[i];
}

extern "C" __global__ void sigmoid_forward(const T* x, T* y, long long n) {
  CHAINER_EACH(i, n) y[i] = (A)1 / ((A)1 + exp_(-(A)x[i]));
}

extern "C" __global__ void sigmoid_backward(const T* y, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) {
    const A value = y[i];
    gx[i] = (A)gy[i] * value * ((A)1 - value);
  }
}

extern "C" __global__ void elu_forward(const T* x, T* y, double alpha, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? (A)alpha * expm1_(value) : value;
  }
}

// x may be null: then y has its sign.
extern "C" __global__ void elu_backward(
    const T* x, const T* y, const T* gy, T* gx, double alpha, long long n) {
  CHAINER_EACH(i, n) {
    const A value = y[i], gradient = gy[i];
    const A source = x ? (A)x[i] : value;
    gx[i] = source > (A)0 ? gradient : gradient * (value + (A)alpha);
  }
}

extern "C" __global__ void tanh_backward(const T* y, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) {
    const A value = y[i];
    gx[i] = (A)gy[i] * ((A)1 - value * value);
  }
}

extern "C" __global__ void softplus_forward(const T* x, T* y, double beta, long long n) {
  CHAINER_EACH(i, n) {
    const A scaled = (A)x[i] * (A)beta;
    const A size = scaled < (A)0 ? -scaled : scaled;
    y[i] = (log1p_(exp_(-size)) + larger(scaled, (A)0)) / (A)beta;
  }
}

extern "C" __global__ void softplus_backward(
    const T* x, const T* gy, T* gx, double beta, long long n) {
  CHAINER_EACH(i, n) gx[i] = (A)gy[i] * sigmoid_((A)x[i] * (A)beta);
}

// The cap is compared as it is in y, rounded.
extern "C" __global__ void clipped_relu_forward(
    const T* x, T* y, bool* inside, double cap, long long n) {
  const A limit = T((A)cap);
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? (A)0 : value > limit ? limit : value;
    inside[i] = value > (A)0 && value < limit;
  }
}

extern "C" __global__ void clipped_relu_backward(
    const bool* inside, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) gx[i] = inside[i] ? gy[i] : T((A)0);
}

extern "C" __global__ void hard_sigmoid_forward(const T* x, T* y, long long n) {
  CHAINER_EACH(i, n) {
    const A value = (A)x[i] * (A)0.2 + (A)0.5;
    y[i] = value < (A)0 ? (A)0 : value > (A)1 ? (A)1 : value;
  }
}

extern "C" __global__ void hard_sigmoid_backward(const T* x, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    gx[i] = value > (A)-2.5 && value < (A)2.5 ? (A)gy[i] * (A)0.2 : (A)0;
  }
}

extern "C" __global__ void rrelu_forward(const T* x, const T* r, T* y, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? value * (A)r[i] : value;
  }
}

extern "C" __global__ void rrelu_backward(
    const T* x, const T* r, const T* gy, T* gx, long long n) {
  CHAINER_EACH(i, n) gx[i] = (A)x[i] >= (A)0 ? (A)gy[i] : (A)gy[i] * (A)r[i];
}

// Functions with a parameter for each of some axes: element i has the parameter number
// i / inner % size. products: what is to be summed up to the gradients of the parameters, or null.
extern "C" __global__ void prelu_forward(
    const T* x, const T* w, T* y, long long size, long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value < (A)0 ? value * (A)w[i / (Index)inner % (Index)size] : value;
  }
}

extern "C" __global__ void prelu_backward(
    const T* x, const T* w, const T* gy, T* gx, A* products, long long size, long long inner,
    long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i], gradient = gy[i];
    const bool below = value < (A)0;
    gx[i] = below ? gradient * (A)w[i / (Index)inner % (Index)size] : gradient;
    if (products) products[i] = below ? value * gradient : (A)0;
  }
}

extern "C" __global__ void swish_forward(
    const T* x, const T* beta, T* y, long long size, long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    y[i] = value * sigmoid_(value * (A)beta[i / (Index)inner % (Index)size]);
  }
}

extern "C" __global__ void swish_backward(
    const T* x, const T* beta, const T* gy, T* gx, A* products, long long size, long long inner,
    long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i], gradient = gy[i];
    const A b = beta[i / (Index)inner % (Index)size];
    const A s = sigmoid_(value * b);
    const A slope = value * s * ((A)1 - s);
    gx[i] = gradient * (s + b * slope);
    if (products) products[i] = gradient * slope * value;
  }
}

// x: (outer, row), y: (outer, 2, row).
extern "C" __global__ void crelu_forward(const T* x, T* y, long long row, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    const Index start = i / (Index)row * (Index)row + i;
    y[start] = value < (A)0 ? (A)0 : value;
    y[start + (Index)row] = value > (A)0 ? (A)0 : -value;
  }
}

extern "C" __global__ void crelu_backward(
    const T* x, const T* gy, T* gx, long long row, long long n) {
  CHAINER_EACH(i, n) {
    const A value = x[i];
    const Index start = i / (Index)row * (Index)row + i;
    gx[i] = value > (A)0 ? (A)gy[start] : value < (A)0 ? -(A)gy[start + (Index)row] : (A)0;
  }
}

extern "C" __global__ void erf_forward(const T* x, T* y, long long n) {
  CHAINER_EACH(i, n) y[i] = erf_((A)x[i]);
}

extern "C" __global__ void erfc_forward(const T* x, T* y, long long n) {
  CHAINER_EACH(i, n) y[i] = erfc_((A)x[i]);
}

// random: numbers in [0, 1).
extern "C" __global__ void dropout_forward(
    const T* x, const float* random, T* y, T* mask, double ratio, double scale, long long n) {
  CHAINER_EACH(i, n) {
    const T factor = random[i] < (float)ratio ? (A)0 : (A)scale;
    mask[i] = factor;
    y[i] = (A)x[i] * (A)factor;
  }
}
