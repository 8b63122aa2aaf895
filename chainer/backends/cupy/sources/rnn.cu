// Recurrent units: what is left of a step beside the products of matrices.

// LSTM units (samples, units, inner); x: (samples, units, 4, inner), the sources a, i, f, o.
extern "C" __global__ void lstm_forward(
    const T* c_prev, const T* x, T* c, T* h, long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const Index start = (i / (Index)inner * 4) * (Index)inner + i % (Index)inner;
    const A a = tanh_((A)x[start]);
    const A in = sigmoid_((A)x[start + (Index)inner]);
    const A forget = sigmoid_((A)x[start + 2 * (Index)inner]);
    const A out = sigmoid_((A)x[start + 3 * (Index)inner]);
    const A cell = a * in + forget * (A)c_prev[i];
    c[i] = cell;
    h[i] = out * tanh_(cell);
  }
}

// gc and gh: null for zeros.
extern "C" __global__ void lstm_backward(
    const T* c_prev, const T* x, const T* c, const T* gc, const T* gh, T* gc_prev, T* gx,
    long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const Index start = (i / (Index)inner * 4) * (Index)inner + i % (Index)inner;
    const A a = tanh_((A)x[start]);
    const A in = sigmoid_((A)x[start + (Index)inner]);
    const A forget = sigmoid_((A)x[start + 2 * (Index)inner]);
    const A out = sigmoid_((A)x[start + 3 * (Index)inner]);
    const A tanh_c = tanh_((A)c[i]);
    const A gradient = gh ? (A)gh[i] : (A)0;
    const A total = gradient * out * ((A)1 - tanh_c * tanh_c) + (gc ? (A)gc[i] : (A)0);
    gc_prev[i] = total * forget;
    gx[start] = total * in * ((A)1 - a * a);
    gx[start + (Index)inner] = total * a * in * ((A)1 - in);
    gx[start + 2 * (Index)inner] = total * (A)c_prev[i] * forget * ((A)1 - forget);
    gx[start + 3 * (Index)inner] = gradient * tanh_c * out * ((A)1 - out);
  }
}

// Units with two children; the places of their sources are as above.
extern "C" __global__ void s_lstm_forward(
    const T* c1, const T* c2, const T* x1, const T* x2, T* c, T* h, long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const Index start = (i / (Index)inner * 4) * (Index)inner + i % (Index)inner;
    const Index in = start + (Index)inner, forget = in + (Index)inner, out = forget + (Index)inner;
    const A cell = tanh_((A)x1[start]) * sigmoid_((A)x1[in]) +
                   tanh_((A)x2[start]) * sigmoid_((A)x2[in]) +
                   sigmoid_((A)x1[forget]) * (A)c1[i] + sigmoid_((A)x2[forget]) * (A)c2[i];
    c[i] = cell;
    h[i] = sigmoid_((A)x1[out] + (A)x2[out]) * tanh_(cell);
  }
}

__device__ __forceinline__ void s_lstm_child(
    const T* c_prev, const T* x, T* gc_prev, T* gx, A total, A g_out, Index i, Index start,
    Index inner) {
  const A a = tanh_((A)x[start]);
  const A in = sigmoid_((A)x[start + inner]), forget = sigmoid_((A)x[start + 2 * inner]);
  gc_prev[i] = total * forget;
  gx[start] = total * in * ((A)1 - a * a);
  gx[start + inner] = total * a * in * ((A)1 - in);
  gx[start + 2 * inner] = total * (A)c_prev[i] * forget * ((A)1 - forget);
  gx[start + 3 * inner] = g_out;
}

extern "C" __global__ void s_lstm_backward(
    const T* c1, const T* c2, const T* x1, const T* x2, const T* c, const T* gc, const T* gh, T* gc1,
    T* gc2, T* gx1, T* gx2, long long inner, long long n) {
  CHAINER_EACH(i, n) {
    const Index start = (i / (Index)inner * 4) * (Index)inner + i % (Index)inner;
    const Index place = start + 3 * (Index)inner;
    const A out = sigmoid_((A)x1[place] + (A)x2[place]);
    const A tanh_c = tanh_((A)c[i]);
    const A gradient = gh ? (A)gh[i] : (A)0;
    const A total = gradient * out * ((A)1 - tanh_c * tanh_c) + (gc ? (A)gc[i] : (A)0);
    const A g_out = gradient * tanh_c * out * ((A)1 - out);
    s_lstm_child(c1, x1, gc1, gx1, total, g_out, i, start, (Index)inner);
    s_lstm_child(c2, x2, gc2, gx2, total, g_out, i, start, (Index)inner);
  }
}

// Units with any number of children. x: (samples, 3 + children, row): sources a, i, o, f_1, ...; the
// cell states of children, (samples, row), and their gradients are given by address.
#define CHAINER_CHILDREN 16

struct Children {
  unsigned long long c[CHAINER_CHILDREN];
  unsigned long long gc[CHAINER_CHILDREN];
  long long count;
};

extern "C" __global__ void tree_lstm_forward(
    Children children, const T* x, T* c, T* h, long long row, long long n) {
  CHAINER_EACH(i, n) {
    const Index step = (Index)row;
    const T* sources = x + i / step * (Index)(3 + children.count) * step + i % step;
    A cell = tanh_((A)sources[0]) * sigmoid_((A)sources[step]);
    for (int k = 0; k < (int)children.count; ++k) {
      cell += sigmoid_((A)sources[(3 + k) * step]) * (A)((const T*)children.c[k])[i];
    }
    c[i] = cell;
    h[i] = sigmoid_((A)sources[2 * step]) * tanh_(cell);
  }
}

extern "C" __global__ void tree_lstm_backward(
    Children children, const T* x, const T* c, const T* gc, const T* gh, T* gx, long long row,
    long long n) {
  CHAINER_EACH(i, n) {
    const Index step = (Index)row;
    const Index start = i / step * (Index)(3 + children.count) * step + i % step;
    const T* sources = x + start;
    T* gradients = gx + start;
    const A a = tanh_((A)sources[0]), in = sigmoid_((A)sources[step]);
    const A out = sigmoid_((A)sources[2 * step]), tanh_c = tanh_((A)c[i]);
    const A gradient = gh ? (A)gh[i] : (A)0;
    const A total = gradient * out * ((A)1 - tanh_c * tanh_c) + (gc ? (A)gc[i] : (A)0);
    gradients[0] = total * in * ((A)1 - a * a);
    gradients[step] = total * a * in * ((A)1 - in);
    gradients[2 * step] = gradient * tanh_c * out * ((A)1 - out);
    for (int k = 0; k < (int)children.count; ++k) {
      const A forget = sigmoid_((A)sources[(3 + k) * step]);
      const A child = ((const T*)children.c[k])[i];
      gradients[(3 + k) * step] = total * child * forget * ((A)1 - forget);
      ((T*)children.gc[k])[i] = total * forget;
    }
  }
}

// One step of a layer. gates: (samples, 4, units), sources in the order i, f, a, o, replaced by the
// gates; product: what the state adds to them. c and h are the states, replaced; before: the cell states
// from before, kept for the gradient, and before_h likewise; y: the output.
extern "C" __global__ void lstm_step(
    T* gates, const T* product, T* c, T* h, T* before, T* before_h, T* cells, T* y, long long units,
    long long n) {
  CHAINER_EACH(i, n) {
    const Index start = i / (Index)units * 4 * (Index)units + i % (Index)units;
    const Index f_ = start + (Index)units, a_ = f_ + (Index)units, o_ = a_ + (Index)units;
    const A in = sigmoid_((A)gates[start] + (A)product[start]);
    const A forget = sigmoid_((A)gates[f_] + (A)product[f_]);
    const A a = tanh_((A)gates[a_] + (A)product[a_]);
    const A out = sigmoid_((A)gates[o_] + (A)product[o_]);
    const A previous = c[i];
    const A cell = forget * previous + in * a;
    const A state = out * tanh_(cell);
    before[i] = previous;
    before_h[i] = h[i];
    gates[start] = in;
    gates[f_] = forget;
    gates[a_] = a;
    gates[o_] = out;
    cells[i] = cell;
    c[i] = cell;
    h[i] = state;
    y[i] = state;
  }
}

// gy: gradient of the output, rows a distance of gy_step apart, or null. gh: gradient of the state, gc:
// that of the cell state, replaced by that of the one before. g: gradient of the sources.
extern "C" __global__ void lstm_step_backward(
    const T* gates, const T* cells, const T* before, const T* gy, const T* gh, T* gc, T* g,
    long long units, long long gy_step, long long n) {
  CHAINER_EACH(i, n) {
    const Index row = i / (Index)units, unit = i % (Index)units;
    const Index start = row * 4 * (Index)units + unit;
    const Index f_ = start + (Index)units, a_ = f_ + (Index)units, o_ = a_ + (Index)units;
    const A in = gates[start], forget = gates[f_], a = gates[a_], out = gates[o_];
    const A tanh_c = tanh_((A)cells[i]);
    const A gradient = (A)gh[i] + (gy ? (A)gy[row * (Index)gy_step + unit] : (A)0);
    const A total = (A)gc[i] + gradient * out * ((A)1 - tanh_c * tanh_c);
    gc[i] = total * forget;
    g[start] = total * a * in * ((A)1 - in);
    g[f_] = total * (A)before[i] * forget * ((A)1 - forget);
    g[a_] = total * in * ((A)1 - a * a);
    g[o_] = gradient * tanh_c * out * ((A)1 - out);
  }
}

// Gates r, z and the candidate. inner gets what r is multiplied with; bias: of the candidate's state.
extern "C" __global__ void gru_step(
    T* gates, const T* product, const T* bias, T* inner, T* h, T* before_h, T* y, long long units,
    long long n) {
  CHAINER_EACH(i, n) {
    const Index unit = i % (Index)units;
    const Index start = i / (Index)units * 3 * (Index)units + unit;
    const Index z_ = start + (Index)units, c_ = z_ + (Index)units;
    const A r = sigmoid_((A)gates[start] + (A)product[start]);
    const A z = sigmoid_((A)gates[z_] + (A)product[z_]);
    const A through = (A)product[c_] + (A)bias[unit];
    const A candidate = tanh_((A)gates[c_] + r * through);
    const A previous = h[i];
    const A state = ((A)1 - z) * candidate + z * previous;
    gates[start] = r;
    gates[z_] = z;
    gates[c_] = candidate;
    inner[i] = through;
    before_h[i] = previous;
    h[i] = state;
    y[i] = state;
  }
}

// g: gradient of the sources from the input, g_h: of those from the state; gh is replaced by the part of
// its predecessor that does not pass through the gates.
extern "C" __global__ void gru_step_backward(
    const T* gates, const T* inner, const T* before_h, const T* gy, T* gh, T* g, T* g_h,
    long long units, long long gy_step, long long n) {
  CHAINER_EACH(i, n) {
    const Index row = i / (Index)units, unit = i % (Index)units;
    const Index start = row * 3 * (Index)units + unit;
    const Index z_ = start + (Index)units, c_ = z_ + (Index)units;
    const A r = gates[start], z = gates[z_], candidate = gates[c_];
    const A gradient = (A)gh[i] + (gy ? (A)gy[row * (Index)gy_step + unit] : (A)0);
    const A through = gradient * ((A)1 - z) * ((A)1 - candidate * candidate);
    const A gr = through * (A)inner[i] * r * ((A)1 - r);
    const A gz = gradient * ((A)before_h[i] - candidate) * z * ((A)1 - z);
    gh[i] = gradient * z;
    g[start] = gr;
    g[z_] = gz;
    g[c_] = through;
    g_h[start] = gr;
    g_h[z_] = gz;
    g_h[c_] = through * r;
  }
}

// One activation of the sum of y and product, tanh or relu.
extern "C" __global__ void simple_step(
    T* y, const T* product, T* h, T* before_h, bool is_tanh, long long n) {
  CHAINER_EACH(i, n) {
    const A sum = (A)y[i] + (A)product[i];
    const A state = is_tanh ? tanh_(sum) : sum < (A)0 ? (A)0 : sum;
    before_h[i] = h[i];
    y[i] = state;
    h[i] = state;
  }
}

extern "C" __global__ void simple_step_backward(
    const T* y, const T* gy, const T* gh, T* g, bool is_tanh, long long units, long long gy_step,
    long long n) {
  CHAINER_EACH(i, n) {
    const Index row = i / (Index)units, unit = i % (Index)units;
    const A value = y[i];
    const A gradient = (A)gh[i] + (gy ? (A)gy[row * (Index)gy_step + unit] : (A)0);
    g[i] = gradient * (is_tanh ? (A)1 - value * value : value > (A)0 ? (A)1 : (A)0);
  }
}
