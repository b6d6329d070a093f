"""The examination of a released table of any tool."""
