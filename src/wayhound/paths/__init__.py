"""What a person showed, and what is learned from it: trail files, features, samples, the path model, questions.

Not here: recording in a browser (`app/teach`), storage (`store/trails`), foraging by the model (`forage/scorers`).
"""
