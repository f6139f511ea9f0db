"""The catalogue of models, GPUs and machines, and the lookup of one by name or path."""
