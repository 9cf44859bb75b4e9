"""The vocabulary: types, schemas, keys, partitions, predicates, time. Touches no file."""
