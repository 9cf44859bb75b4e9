"""F0, the vocabulary: types, schemas, keys, partitions, predicates, time. Touches no file."""
