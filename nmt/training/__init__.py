"""Learning the weights: batches, loss, schedules, checkpoints, the loop."""
