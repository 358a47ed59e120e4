"""What can be promised, and what cannot be beaten: guarantees of the paper, and the limit."""

from intransit.theory.guarantees import (
    PROOF_C1,
    ErrorBound,
    degrees_of_freedom,
    error_bound,
    incoherence,
    largest_entry,
    sample_complexity,
    success_probability,
)
from intransit.theory.limit import Limit, dynamic_limit, static_limit

__all__ = [
    "PROOF_C1",
    "ErrorBound",
    "Limit",
    "degrees_of_freedom",
    "dynamic_limit",
    "error_bound",
    "incoherence",
    "largest_entry",
    "sample_complexity",
    "static_limit",
    "success_probability",
]
