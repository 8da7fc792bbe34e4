"""The public face of a workspace: search, browse and cite what was found."""
