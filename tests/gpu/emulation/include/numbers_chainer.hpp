// The conversions that Chainer's sources (chainer/backends/cupy/sources) take from PTX on a GPU.
#pragma once

static float half_to_float(unsigned short bits) { return (float)emulation::same_bits<_Float16>(bits); }
static unsigned short float_to_half(float v) { return emulation::same_bits<unsigned short>((_Float16)v); }
static float bits_to_float(unsigned bits) { return emulation::same_bits<float>(bits); }
static unsigned float_to_bits(float value) { return emulation::same_bits<unsigned>(value); }
static double bits_to_double(long long bits) { return emulation::same_bits<double>(bits); }
