"""Estimators: arrays in, arrays out; no files, no pages, no network."""
