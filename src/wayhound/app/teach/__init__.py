"""Recording of what a person shows in a browser: pages, clicks and marks, and the trails they make."""
