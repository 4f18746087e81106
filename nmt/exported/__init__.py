"""Files of an export besides the model: a program and a README for users without nmt."""
