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
  CHAINER_EACH(i, n) gx[i] = (A)sign[i] >= (A)0 ? (A)gy[i] : (A)slope * (A)gy[i];
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
    gx[i] = source >= (A)0 ? gradient : gradient * (value + (A)alpha);
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
