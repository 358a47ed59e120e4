"""Answers as text and pictures; nothing is computed here that a library call does not return."""
