"""Measured figures of a boot, as the [observed] table of a launch file."""
