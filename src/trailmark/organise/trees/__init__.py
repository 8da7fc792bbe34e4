"""The topic trees that come with Trailmark, as `.topics` files."""
