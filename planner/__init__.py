"""SQL text to plan: the only room that knows sqlglot; it reads the Catalog, never a Tablet."""
