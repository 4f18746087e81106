"""The stages of `gpu_check.py`: functions of a `Setup` that return their findings.

A stage raises `AssertionError` where a finding is wrong, and `Skipped` where it cannot run here.
"""
