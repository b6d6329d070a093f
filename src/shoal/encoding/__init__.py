"""Text to integer codes and back, and what a method returns: the partition."""
