"""Is a given k within reach? Simulation over an urn of attribute values, and the exact probability for small cases."""
