"""The server of the web app: who may talk to it, what its answers allow a browser to do, and how it runs."""
