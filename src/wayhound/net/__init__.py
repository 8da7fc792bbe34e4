"""The only code that opens outgoing connections or reads and writes web archives."""
