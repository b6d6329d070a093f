"""The web app: a workbench of projects, the JSON API and the pages that show it. `shoal serve` starts it.

`workbench` and `projects` are plain Python and know nothing of the web; the API and the pages call them and nothing
else. They compute nothing: profiles, runs and reports come from the same code as on the command line, in worker
processes.
"""
