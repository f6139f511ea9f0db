"""What a machine is: GPUs, memory totals, links."""
