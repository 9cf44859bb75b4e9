"""One module for each engine that takes part. All offer the one interface of `peer.Peer`."""
