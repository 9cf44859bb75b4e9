"""How the values of one block become bytes and come back: Kudu's encodings over numpy buffers."""
