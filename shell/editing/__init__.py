"""What a person types: tokens, colours, completion, history, scripts cut into parts.

No statement is run here. Uses nothing else of the shell.
"""
