"""The compiled loops: arrays in, arrays out. Each module is one `.pyx` file; import the one that is needed."""
