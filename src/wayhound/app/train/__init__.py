"""Use cases of training: from taught trails or whole sites to a model, measured on sites that it was not trained on.

Here: what a model learns from, training, trained models and their reports, held-out sites. Not here: how a model
learns (`paths`), how it is used (`forage/scorers`), comparisons on recorded sites (`app/evaluate`).
"""
