"""Words of column names in eight languages and what they suggest, and names and titles to recognise names of people."""

from shoal.profile.vocabulary.concept import Concept
from shoal.profile.vocabulary.first_names import FIRST_NAMES, LAST_NAMES, TITLES
from shoal.profile.vocabulary.matching import Naming, common_prefix, naming_of, words_of

__all__ = [
    "FIRST_NAMES",
    "LAST_NAMES",
    "TITLES",
    "Concept",
    "Naming",
    "common_prefix",
    "naming_of",
    "words_of",
]
