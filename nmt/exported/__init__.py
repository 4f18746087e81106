"""What an export carries beside the model: programs and texts for people without nmt."""
