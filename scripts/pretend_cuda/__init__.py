"""A simulated CUDA device: tensors report `cuda:0`, and the CPU computes them.

It shows, without a GPU, operations that mix devices and places where the host would wait for the
GPU. It does not show what CUDA's own kernels, streams, random numbers and NCCL do.
"""
