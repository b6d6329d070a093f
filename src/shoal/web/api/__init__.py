"""The JSON API of the web app."""
