"""The engines that run a model: PyTorch for everything, CTranslate2 for speed."""
