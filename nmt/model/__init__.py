"""The Transformer: ids and masks in, logits out."""
