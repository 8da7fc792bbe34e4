"""Puts documents into a tree of topics that a person has drawn, from a few keywords a topic."""
