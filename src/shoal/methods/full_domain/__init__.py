"""Full-domain methods: one generalisation level per quasi-identifier for the whole table."""
