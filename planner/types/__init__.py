"""The types of expressions: the engine's names of types, what functions return, and the derivation.

Every type that planning asks for comes from here. It knows bound trees, and asks the engine for
what no rule derives; it rewrites nothing.
"""
