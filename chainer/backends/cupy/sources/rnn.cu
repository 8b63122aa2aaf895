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
