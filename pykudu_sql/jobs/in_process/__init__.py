"""The same jobs in this process, by the readers and writers of COPY. Without pyspark."""
