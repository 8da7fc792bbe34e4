"""Every sentence and label that people read, shared by command line, studio and portal."""
