"""The only code that speaks SQL."""
