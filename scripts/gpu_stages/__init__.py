"""The stages of `gpu_check.py`: functions of a `Setup` that return their findings.

A stage raises `AssertionError` if a finding is wrong, and `Skipped` if this machine cannot run it.
"""
