"""The sample web: small deterministic sites for the demo, the tests and the documentation."""
