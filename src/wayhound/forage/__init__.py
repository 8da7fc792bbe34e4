"""Deciding: which link next, when to wait, when to stop. Nothing here fetches, sleeps or reads a clock."""
