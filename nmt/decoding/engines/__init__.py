"""What runs the model: PyTorch, for everything, and the library CTranslate2, for speed."""
