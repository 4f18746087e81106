"""Training: batches, loss, schedules, checkpoints, and the training loop."""
