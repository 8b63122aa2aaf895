"""Configuration: settings of the process and of the thread, debug mode, the default dtype."""
