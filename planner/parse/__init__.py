"""Text to sqlglot's tree, and the tokens of the statements that we parse ourselves.

Guards against what is too long or too deep come first. Uses `token_rewrites`.
"""
