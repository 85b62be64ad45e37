"""Locks that are held by more than one level of the same thread's calls."""

import time


def leave(lock, seconds):
    """Lets others have the lock for a while: gives up all levels of it, pauses, and takes as many again."""
    held = lock._release_save()
    try:
        time.sleep(seconds)
    finally:
        lock._acquire_restore(held)
