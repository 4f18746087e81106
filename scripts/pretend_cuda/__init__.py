"""A simulated CUDA device: tensors report `cuda:0`, and the CPU computes them.

It detects, without a GPU, operations that mix devices, and places where the host would wait for the
GPU, and it records and replays graphs. It does not simulate CUDA's kernels, streams, memory and
random numbers, or NCCL.
"""
