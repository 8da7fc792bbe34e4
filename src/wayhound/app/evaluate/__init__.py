"""How good a strategy is: forages of recorded sites, where every page and its label are known."""
