"""Operations on rows and their results. Uses `types`."""
