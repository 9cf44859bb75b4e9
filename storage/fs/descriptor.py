"""Descriptors that are given back with the object that holds them."""

import os
import weakref


def close_with(owner: object, descriptor: int) -> "weakref.finalize[[int], object]":
    """Close a descriptor when its holder is gone, or by the call returned; never twice.

    At the end of the process the system closes it. Python's finalizers would do so before the
    database, which still has to write, is closed itself.
    """
    finalizer = weakref.finalize(owner, os.close, descriptor)
    finalizer.atexit = False
    return finalizer
