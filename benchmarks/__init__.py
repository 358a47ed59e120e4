"""Accuracy and speed, measured; every figure that the documents quote comes from here."""
