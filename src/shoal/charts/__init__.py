"""Self-contained SVG charts and HTML pages."""
