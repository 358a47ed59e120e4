"""What the site needs beyond Sphinx and its usual extensions."""
