"""Operations that PyTorch lacks or does slowly on a CPU: each file has the plain form first."""
