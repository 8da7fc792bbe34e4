"""`python -m wayhound` is `wayhound`."""

from wayhound.cli import main

main()
