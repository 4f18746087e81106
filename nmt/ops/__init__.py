"""Operations that PyTorch lacks or that are slow on a CPU."""
