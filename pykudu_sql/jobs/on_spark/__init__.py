"""The same jobs on Spark. The only rooms of the jobs with pyspark."""
