"""What all our servers share: safe headers, templates, static files, caching, limits and error pages."""
