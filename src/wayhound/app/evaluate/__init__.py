"""Evaluation of strategies on recorded sites, where every page and its label are known.

Here: closed worlds, the strategies to compare, measures, plots. Not here: foraging itself, which is the same code
as on the live web (`forage/`).
"""
