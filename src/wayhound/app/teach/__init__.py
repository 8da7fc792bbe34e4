"""Teaching: record what a person shows in a browser (pages, clicks, marks) and keep it as trails.

`teaching` is the use case, `recorder` drives a browser, `session` is the state, `saver` writes it down.
The browser itself is in `net`, trails as learning material in `paths`.
"""
