"""What an answer means: transitivity, cycles, changes, ranking, strength, the verdict."""
