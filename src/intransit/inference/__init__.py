"""What follows from what was seen: draws from the posterior of a model, and questions to them."""
