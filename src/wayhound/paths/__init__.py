"""Taught trails and what is learned from them: trail files, features, samples, models, questions.

Not here: recording in a browser (`app/teach`), storage (`store/trails`), foraging by the model (`forage/scorers`).
"""
