"""Type coercion: rewrite passes for values of different types that meet, in all of their digits.

What the engine would round, or read otherwise than SQL says, is compared and united exactly, or
refused. Uses `types`, `bind` and `functions`.
"""
