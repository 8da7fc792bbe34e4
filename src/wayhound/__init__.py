"""Wayhound: show it the way on a few websites; it finds the rest."""

__version__ = "0.1.0"
