"""What a person sees: tables, values, exports, escapes, the terminal.

Pure functions and one stream. Uses the shell's settings.
"""
