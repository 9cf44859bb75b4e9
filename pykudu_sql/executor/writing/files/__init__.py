"""COPY: the rows of files into a table, and rows of a table or a query into files.

Loads of files take their rows from here, too. Formats are read and written in `pykudu_sql.files`.
"""
