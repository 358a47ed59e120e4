"""Newton's method on a joint problem that is cut into shards, here or on several machines."""
