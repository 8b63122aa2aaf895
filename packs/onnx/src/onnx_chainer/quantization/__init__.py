"""Export of quantized models: integers of 8 bits between QuantizeLinear and DequantizeLinear."""
