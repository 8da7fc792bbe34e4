"""Web pages over a workspace: the public portal, and what every server of ours has in common."""
