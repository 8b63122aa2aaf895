"""Searches that users of PyTorch, Keras, JAX and Chainer 4 to 7 type, and the page that each means.

They are phrases as people write them, not a copy of the aliases: titles, text and aliases of the
pages together must lead to them. ``python -m scripts.site.queries site`` types them.
"""

from __future__ import annotations

#: Words -> page of the guide, or name whose page of the reference is meant.
TYPED: dict[str, str] = {
    # PyTorch
    "label smoothing": "chainer.functions.label_smoothed_cross_entropy",
    "flash attention": "chainer.functions.scaled_dot_product_attention",
    "multi head attention": "chainer.links.MultiHeadAttention",
    "pack_padded_sequence": "chainer.functions.pad_sequence",
    "rotary embedding": "chainer.functions.rotary_embedding",
    "stochastic depth": "chainer.functions.drop_path",
    "focal loss": "chainer.functions.focal_loss",
    "torch.einsum": "chainer.functions.einsum",
    "RandomHorizontalFlip": "chainer.datasets.transforms.RandomFlip",
    "torchvision.transforms": "chainer.datasets.transforms.Compose",
    "gradcheck": "chainer.gradient_check.check_backward",
    "torchviz": "chainer.computational_graph.build_computational_graph",
    "register_forward_hook": "chainer.LinkHook",
    "AveragedModel": "chainer.training.extensions.ExponentialMovingAverage",
    "swa": "chainer.training.extensions.StochasticWeightAveraging",
    "spectral normalization": "chainer.link_hooks.SpectralNormalization",
    "detect_anomaly": "recipes/nan",
    "cuda graphs": "guide/captured-steps",
    "torch.profiler": "recipes/profiling",
    "torchrun": "recipes/clusters",
    "gradient accumulation": "recipes/gradient-accumulation",
    "safetensors load": "chainer.serializers.load_safetensors",
    "class weights": "recipes/class-imbalance",
    "lora": "guide/lora",
    "semantic segmentation": "recipes/segmentation",
    "object detection": "recipes/detection",
    # Keras
    "model.fit": "guide/training",
    "model.summary": "chainer.summary",
    "count parameters": "chainer.summary",
    "plot_model": "chainer.computational_graph.build_computational_graph",
    "custom callback": "add-an-extension",
    "custom optimizer": "add-an-optimizer",
    "h5 file": "chainer.serializers.save_hdf5",
    "linear warmup": "chainer.training.extensions.WarmupShift",
    "tf.function": "guide/captured-steps",
    "tabular data": "recipes/csv",
    "forecasting": "recipes/time-series",
    "variational autoencoder": "recipes/vae",
    "tensorboard writer": "chainer.training.extensions.TensorBoardWriter",
    "wandb logger": "chainer.training.extensions.WandbLogger",
    "jupyter": "recipes/notebook",
    "k-fold cross validation": "chainer.datasets.get_cross_validation_datasets",
    # JAX
    "jax.grad": "chainer.grad",
    "value_and_grad": "chainer.grad",
    "jax.jit": "guide/captured-steps",
    "vmap": "chainer.vmap",
    "jacobian": "chainer.jacrev",
    "hessian vector product": "chainer.hvp",
    "per sample gradients": "chainer.per_sample_grad",
    "stop_gradient": "guide/variables",
    "device_put": "guide/devices",
    "optax": "guide/optimizers",
    "higher order gradients": "guide/any-order",
    "pinn": "recipes/physics",
    # Chainer 4 to 7
    "to_gpu": "chainer.backends.cuda.to_gpu",
    "volatile": "guide/coming-from-chainer",
    "zerograds": "chainer.Link",
    "cupy": "gpu",
    "chainercv": "clients",
    "chainerrl": "recipes/chainerrl",
    "create_communicator": "chainermn.create_communicator",
    "print report": "chainer.training.extensions.PrintReport",
    "old chainer code": "guide/coming-from-chainer",
}
