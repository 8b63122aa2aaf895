"""The log of a training: its file, its entries in snapshots, curves and pictures."""
