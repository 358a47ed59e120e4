"""The commands: arguments in, a table for people or data for machines out; one module each."""
