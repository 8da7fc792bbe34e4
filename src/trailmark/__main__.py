"""`python -m trailmark` is `trailmark`."""

from trailmark.cli import main

main()
