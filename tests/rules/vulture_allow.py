"""Names in src/ that vulture takes for unused, and who uses them. It reads no Cython, no templates and no libraries."""

# Python itself: lazy imports of a package; the display of a release in a notebook; the signature that inspect shows.
_.__getattr__
_.__dir__
_._repr_html_
_.__signature__

# Commands, registered by name in cli/main.py.
convert
demo
describe
init
keygen

# Libraries read these attributes or call these methods: decimal, expat, psycopg, pydantic, scikit-learn, tomlkit,
# zipfile.
_.prec
_.buffer_text
_.StartElementHandler
_.EndElementHandler
_.CharacterDataHandler
_.StartDoctypeDeclHandler
_.CommentHandler
_.ProcessingInstructionHandler
_.external_attr
_.isolation_level
_.itersize
_.model_config
_.transform
_.get_feature_names_out
input_features
_.allow_nan
_.feature_names_in_
_.n_features_in_
_.indent

# Fields of frozen values, read by templates, by JSON or by comparing two values, never by name in Python.
_.caption
_.marginal
_.sampling_fraction
_.inode
_.who
_.purpose
_.legal_basis
_.reviewer
_.WEIGHT
_.values_after
_.sd_before
_.sd_after

# Fields of PriceForms, which kernels receive as a tuple.
_.node_starts
_.leaf_starts

# Public, for learners of the user's own.
_.to_numeric

# sqlite3 reads it.
_.text_factory

# typer calls it.
_.format_help

# A measure that JSON shows by its name.
sse

# The workbench of the web app: scripts and tests wait for a worker.
_.wait_loaded
_.use_hierarchy

# FastAPI calls routes and error handlers, and reads the forms.
_.model_config
_.openapi_version
list_projects
import_zip
delete_data
export
load_builtin
load_url
reload
rows
profile
uniques
settings
patch
roles
undo
redo
hierarchy
list_runs
cancel
events
report
repeat
download
forecast
open_session
close_session
new_link
refuse
explain
tell
description
documentation

_._instantiatedSession  # of pyspark, reset when a session of ours ends
_._jvm
