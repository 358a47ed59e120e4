from hypothesis import settings

# The first example pays for compilation; a deadline would measure the compiler.
settings.register_profile("project", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("project")
