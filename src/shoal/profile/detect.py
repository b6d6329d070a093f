"""Proposal of a role and a kind for a column, with the reason; longer than others: its rules are one list, in order.

A proposal comes from the shape of the values, then from the name. What identifies people is never released; what
others may know is recoded. What neither name nor values tell is left to the user, and dropped until then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from shoal.errors import counted
from shoal.profile.columns import COMMA_NUMBERS, ColumnFacts, is_constant
from shoal.profile.forms import (
    CLOCK,
    DIGIT,
    EARLIEST_YEAR,
    MOSTLY_DIFFERENT,
    NEARLY_UNIQUE,
    can_be_key,
    can_be_phone,
    date_precision,
    fits_time,
    has_digits,
    holds_disease_codes,
    holds_visit_labels,
    is_code,
    is_name,
    is_numbered,
    is_one_by_one,
    is_opaque,
    looks_like_counts,
    looks_like_keys,
    share_of,
    why_not_sensitive,
)
from shoal.profile.shapes import identifying_shape, is_postal, looks_like_names, mentions_names
from shoal.profile.vocabulary import Concept, Naming, naming_of, words_of
from shoal.profile.vocabulary.hints import (
    CALLED,
    COORDINATES,
    DURATIONS,
    EVENTS,
    HOUSE_NUMBERS,
    LOOSE,
    SAMPLING_WORDS,
    SUBSCRIBERS,
    SURVEY_WORDS,
    UNITS,
    WEIGHT_WORDS,
)
from shoal.profile.vocabulary.keys import COUNTS, KEYS
from shoal.schema import ISO, Kind, Role
from shoal.tables.values import Marks, parse_numbers

__all__ = ["Proposal", "is_weight", "propose", "undecided"]

MOST_ANSWERS = 5  # values of a question that is answered by yes, no or unknown
MANY_WORDS = 5.0
LONG_TEXT = 60
SHORTEST_NATIONAL = 6
SAMPLING = re.compile(
    r"wgt|wght|wt|gew|pond|coef|weig|weeg|peso|poids|waga|fex|factor|faktor|fator|fattor|hochr|calib|extrap"
)
LARGEST_CODE = 53  # larger integers are no weeks
DECIMALS = re.compile(r"[0-9]*\.[0-9]{3,}")
NUMBER_OF = {
    "person": "a number or key of a person",
    "household": "a number or key of a household or family",
    "holder": "a number or key of a contract or account, which belongs to a person",
    "record": "a number or key of a case or record",
    "staff": "a name, number or key of a member of staff",
    "": "a number or key",
}


@dataclass(frozen=True)
class Proposal:
    """A proposal for a column.

    Attributes:
        role: The role.
        kind: The kind.
        reason: Why, in words.
        key_of: What the values number, if they are keys: "person", "household", "holder" (a contract), "record",
            "contact" (a phone number or account), "staff", or "key" if the name does not tell; otherwise empty.
        decide: Whether neither name nor values tell the role, so that the user must decide.
        concept: The concept of the vocabulary that decided, by its key.
    """

    role: Role
    kind: Kind
    reason: str
    key_of: str = ""
    decide: bool = False
    concept: str = ""


def propose(facts: ColumnFacts, prefix: str = "") -> Proposal:
    """Return the proposal for one column by itself; `roles.propose_roles` compares the columns of a table.

    Args:
        facts: The facts about the column.
        prefix: A prefix that most columns of the table share.
    """
    naming = naming_of(facts.name, prefix)
    for rule in (_by_shape, _by_weight, _by_text, _by_identifying_name, _by_key, _by_staff, _by_date, _constant):
        proposal = rule(facts, naming)
        if proposal is not None:
            return proposal
    return _by_topic(facts, naming) or _by_values(facts, naming) or _unknown(facts, naming)


def undecided(facts: ColumnFacts, reason: str) -> Proposal:
    """Return a proposal that leaves the decision to the user, and drops the column until then."""
    return Proposal(Role.IDENTIFIER, facts.kind, reason, decide=True)


def _unknown(facts: ColumnFacts, naming: Naming) -> Proposal:
    if "staff" in naming.groups and not naming.groups & {"attribute", "record"} and facts.kind is not Kind.BOOLEAN:
        reason = "the column name suggests staff, who are people too, although they are not the subject"
        return replace(undecided(facts, reason), key_of="staff")
    if phone := next((concept for concept in naming.concepts if concept.key in ("phone", "fax")), None):
        return undecided(facts, f"the column name suggests {phone.label}, but the values are too short")
    own = {concept.key for concept in naming.concepts}
    if "text" in own:
        return undecided(facts, "the column name suggests free text, which may contain names")
    if "name" in own and facts.kind is Kind.CATEGORICAL:
        return undecided(facts, "the column name suggests names, of people or of something else")
    values = counted(facts.distinct, "value") if facts.distinct <= 100 else "many values"
    return undecided(facts, f"neither its name nor its values ({values}) tell what it holds")


def _identifier(facts: ColumnFacts, reason: str, *, key_of: str = "") -> Proposal:
    return Proposal(Role.IDENTIFIER, facts.kind, reason, key_of)


def _by_shape(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    if facts.kind is Kind.DATE or not facts.sample:
        return None
    shape = identifying_shape(facts.sample, facts.distinct_share)
    if shape is None:
        if facts.kind is Kind.CATEGORICAL and not is_code(facts) and looks_like_names(facts.sample):
            return replace(_identifier(facts, "the values look like names of people"), concept="name")
        return None
    others = {c.key for c in naming.concepts if c.role is Role.QI}
    if not shape.personal and naming.groups & {"organisation", "thing"} and not naming.groups & {"person", "record"}:
        return None  # the UUID of a hospital
    if others & {"place", "zip", "time"} and ("phone" in shape.label or "plate" in shape.label):
        return None  # codes of districts, times
    named = next((c for c in naming.concepts if c.key in ("fax", "phone")), None)
    if (
        ("phone" in shape.label or "plate" in shape.label)
        and named is None
        and (naming.entity in ("record", "holder", "household") or ("key" in naming.groups and looks_like_keys(facts)))
    ):
        return None  # numbers of cases and policies
    label = named.label if named is not None and "phone" in shape.label else shape.label
    key_of = naming.entity or ("contact" if shape.personal else "key")
    return _identifier(facts, f"the values are {label}", key_of=_whose(facts, naming, key_of))


def _whose(facts: ColumnFacts, naming: Naming, key_of: str) -> str:
    """Return what an identifying value numbers: staff, or nobody of the table if it is that of the other end."""
    if "staff" in naming.groups or "npi" in naming.words:
        return "staff"
    return "" if key_of == "contact" and CALLED & set(words_of(facts.name)) else key_of


def is_weight(facts: ColumnFacts) -> bool:
    """Tell whether a column holds sampling weights."""
    return _by_weight(facts, naming_of(facts.name)) is not None


def _by_weight(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise sampling weights, which are nearly unique for each person, unlike body weights."""
    if facts.kind is not Kind.NUMERIC or facts.distinct < 20:
        return None
    own = set(naming.words)
    joined = "".join(naming.words)
    precise = sum(map(bool, map(DECIMALS.fullmatch, facts.sample))) > len(facts.sample) / 2
    sure = (
        own & SAMPLING_WORDS
        or (precise and SAMPLING.search(joined))
        or any(joined.startswith(word) for word in SAMPLING_WORDS if len(word) > 4)
    )
    if not sure:
        if not own & WEIGHT_WORDS:
            return None
        large = max(parse_numbers(facts.sample, Marks(*facts.marks))[0]) > 7_000
        if not (own & SURVEY_WORDS or precise or (large and facts.unique_share > 0.25)):
            return None
    share = f"{facts.unique_share:.0%} of the rows have a unique one"
    return _identifier(facts, f"a sampling weight: {share}, so it can identify people")


def _by_text(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise free text, which may contain names and cannot be recoded."""
    if facts.kind is not Kind.CATEGORICAL:
        return None
    is_called_text = any(concept.key == "text" for concept in naming.concepts)
    if (is_called_text or facts.words >= MANY_WORDS) and mentions_names(facts.sample, 0.0 if is_called_text else 0.1):
        return _identifier(facts, "free text, some of it with first names of people in it")
    if facts.distinct_share < 0.3:
        return None
    if facts.words >= MANY_WORDS or (facts.longest >= LONG_TEXT and facts.words >= 3 and facts.unique_share > 0.5):
        return _identifier(facts, f"free text of {facts.words:.0f} words on average, which may contain names")
    if is_called_text and facts.words >= 2:
        return _identifier(facts, "name and values suggest free text, which may contain names")
    return None


def _by_identifying_name(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise contact data, names and identity numbers by the column name."""
    if facts.distinct == 0 or facts.kind is Kind.DATE:
        return None
    for concept in naming.concepts:
        if concept.role is not Role.IDENTIFIER or concept.key == "text":
            continue
        if concept.key == "address":
            return _address(facts, naming, concept)
        if concept.key in ("phone", "fax") and not can_be_phone(facts):
            continue  # the cell of a network
        if naming.groups & {"attribute"} and concept.key not in ("email", "national"):
            continue
        if concept.key == "name" and not is_name(facts, naming):
            continue
        if concept.key not in ("name", "email", "national") and is_code(facts):
            continue  # an answer such as yes and no
        key_of = "" if concept.key in ("name", "phone", "fax") and not _is_subscriber(naming) else "contact"
        key_of = "person" if concept.key in ("national", "plan", "licence") else key_of
        if concept.key not in ("name", "phone", "email", "fax") and not can_be_key(facts):
            continue
        if concept.key == "national" and facts.longest < SHORTEST_NATIONAL:
            continue  # dni is an identity number in Spain, and days in Poland
        named = _identifier(facts, f"the column name suggests {concept.label}", key_of=_whose(facts, naming, key_of))
        return replace(named, concept=concept.key)
    return None


def _is_subscriber(naming: Naming) -> bool:
    """Tell whether a phone number is that of the person of the row, as in records of calls."""
    return bool(set(naming.words) & SUBSCRIBERS)


def _address(facts: ColumnFacts, naming: Naming, concept: Concept) -> Proposal | None:
    if set(naming.words) & HOUSE_NUMBERS and not is_code(facts):
        return _identifier(facts, "the column name suggests house numbers, a part of the address")
    if naming.groups & {"attribute"} or is_code(facts):
        return None
    if facts.kind is Kind.CATEGORICAL and facts.distinct_share > MOSTLY_DIFFERENT:
        return _identifier(facts, f"the column name suggests {concept.label}")
    if facts.kind is Kind.CATEGORICAL and any(map(DIGIT.search, facts.sample)):
        return _identifier(facts, f"the column name suggests {concept.label}")
    return Proposal(Role.QI, facts.kind, "the column name suggests places, which others may know", concept="place")


def _topic(facts: ColumnFacts, naming: Naming) -> Concept | None:
    """Return the strongest topic of a name that fits the values."""
    own = set(naming.words)
    fitting = [
        concept
        for concept in naming.concepts
        if concept.role is not Role.IDENTIFIER
        and concept.kind in (None, facts.kind)
        and (concept.key != "time" or (fits_time(facts) and not _is_code_or_count(facts, naming, own & concept.words)))
        and (concept.key != "vital" or facts.kind is Kind.NUMERIC or is_code(facts) or has_digits(facts))
        and (not concept.coded or facts.kind is not Kind.NUMERIC or facts.whole or _is_coordinate(concept, naming))
        and (concept.key != "organisation" or facts.distinct > MOST_ANSWERS)
        and not (concept.key == "place" and own & concept.words == own & UNITS and _ends_in_unit(facts))
    ]
    if facts.whole and any(c.key == "time" for c in fitting) and min(map(int, facts.sample)) >= EARLIEST_YEAR:
        return next(c for c in fitting if c.key in ("birth", "time"))  # the year of a diagnosis is a year
    phrased = [c for c in fitting if c.role is Role.SENSITIVE and c.key in naming.phrased]
    if phrased and not any(c.key in naming.phrased for c in fitting if c.role is Role.QI):
        return phrased[0]
    strongest = max((c.strength for c in fitting if c.role is Role.SENSITIVE), default=0)
    if strongest:
        fitting = [c for c in fitting if c.role is not Role.QI or not _is_beside_the_point(c, own, strongest)]
    order = {Role.SENSITIVE: 0, Role.QI: 1, Role.INSENSITIVE: 2}
    return min(fitting, key=lambda concept: (-concept.strength, order[concept.role]), default=None)


def _ends_in_unit(facts: ColumnFacts) -> bool:
    """Tell whether a name of several words ends in a unit: length_km is a length, km is a place on a road."""
    words = words_of(facts.name)
    return len(words) > 1 and words[-1] in UNITS


def _is_code_or_count(facts: ColumnFacts, naming: Naming, found: set[str]) -> bool:
    """Tell whether small integers are no times: codes of an event, such as an admission, or a count of days."""
    if not facts.whole or max(map(int, facts.sample)) > LARGEST_CODE:
        return False
    return found <= EVENTS or naming.words[-1] in ("cnt", "count", "counts")


def _is_beside_the_point(concept: Concept, own: set[str], strongest: int) -> bool:
    """Tell whether a topic only qualifies a sensitive one: the expenses of a household, the location of a tumour."""
    if concept.key == "time":
        return bool(own & DURATIONS)
    found = own & concept.words
    return strongest > 1 and (concept.key in ("kin", "family", "hours") or (bool(found) and found <= LOOSE))


def _is_coordinate(concept: Concept, naming: Naming) -> bool:
    return concept.key == "place" and bool(set(naming.words) & COORDINATES)


def _by_key(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise numbers and keys of people, households and records."""
    if not can_be_key(facts) or facts.kind is Kind.DATE:
        return None
    entity = naming.entity
    is_key = "key" in naming.groups
    topic = _topic(facts, naming)
    if "attribute" in naming.groups and not (is_key and entity and looks_like_keys(facts)):
        return None
    if "staff" in naming.groups:
        return None
    if is_key and entity:
        if naming.words[0] in COUNTS and looks_like_counts(facts):
            unsure = "the name suggests counts or keys, and the values can be either"
            return replace(undecided(facts, unsure), key_of=entity)
        return _key(facts, entity)
    if is_key and set(naming.words) <= KEYS:
        return _key(facts, "key")
    if is_key and facts.unique_share > NEARLY_UNIQUE and looks_like_keys(facts):
        return _key(facts, "key")
    if naming.groups & {"organisation", "thing"} or (topic is not None and topic.strength > 1 and not is_opaque(facts)):
        return None
    if is_key and (looks_like_keys(facts) or facts.unique_share > NEARLY_UNIQUE):
        return _key(facts, "key")
    if entity and topic is None and looks_like_keys(facts):
        return _key(facts, entity)
    if "code" in naming.groups and entity == "person" and looks_like_keys(facts):
        return _key(facts, entity)
    return None


def _key(facts: ColumnFacts, entity: str) -> Proposal:
    return _identifier(facts, f"name and values suggest {NUMBER_OF.get(entity, NUMBER_OF[''])}", key_of=entity)


def _by_staff(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise names and numbers of doctors, officers, teachers and other staff."""
    if "staff" not in naming.groups or naming.groups & {"attribute"} or not can_be_key(facts):
        return None
    if facts.whole and "key" not in naming.groups and "record" in naming.groups:
        return None  # visits to a doctor
    topic = _topic(facts, naming)
    if topic is not None and topic.strength > 2:
        return None
    return _identifier(facts, "the column name suggests names or numbers of staff, who are people too", key_of="staff")


def _by_date(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    if facts.kind is not Kind.DATE:
        return None
    is_birth = any(concept.key == "birth" for concept in naming.concepts)
    what, key = ("dates of birth", "birth") if is_birth else ("dates", "time")
    if not re.search("%[YymdbB]", facts.date_format or ISO):
        what = "times of day"
    return Proposal(Role.QI, Kind.DATE, f"{what}, which others may know to the {date_precision(facts)}", concept=key)


def _constant(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    if not is_constant(facts):
        return None
    same = "every row has the same value, so it distinguishes nobody"
    reason = "every cell is missing" if facts.distinct == 0 else same
    return Proposal(Role.INSENSITIVE, facts.kind, reason)


REASONS = {Role.SENSITIVE: "which nobody should learn", Role.QI: "which others may know"}


def _by_topic(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    if holds_visit_labels(facts, naming):
        reason = "labels of visits, a fact of the data collection"
        return Proposal(Role.INSENSITIVE, facts.kind, reason, concept="technical")
    topic = _topic(facts, naming)
    if topic is None:
        return None
    if topic.role is Role.INSENSITIVE:
        if facts.unique_share > MOSTLY_DIFFERENT:
            return None
        return Proposal(topic.role, facts.kind, f"the column name suggests {topic.label}", concept=topic.key)
    if is_one_by_one(facts) and topic.key not in ("zip", "birth"):
        reason = f"the column name suggests {topic.label}, but {facts.unique_share:.0%} of the rows have a unique text"
        return undecided(facts, reason)
    doubt = why_not_sensitive(facts, naming) if topic.role is Role.SENSITIVE else ""
    if doubt:
        return undecided(facts, f"the column name suggests {topic.label}, but {doubt}")
    coded = topic.coded and not any(concept.key == "time" for concept in naming.concepts)  # not years at a company
    kind = Kind.CATEGORICAL if coded and facts.kind is Kind.NUMERIC and facts.whole else facts.kind
    return Proposal(
        topic.role, kind, f"the column name suggests {topic.label}, {REASONS[topic.role]}", concept=topic.key
    )


def _by_values(facts: ColumnFacts, naming: Naming) -> Proposal | None:
    """Recognise postal codes, times, codes of diseases and numbers of rows without a telling column name."""
    if is_postal(facts.sample) and facts.unique_share <= NEARLY_UNIQUE:
        reason = "the values look like postal codes, which others may know"
        return Proposal(Role.QI, Kind.CATEGORICAL, reason, concept="zip")
    if facts.sample and facts.kind is Kind.CATEGORICAL and share_of(facts.sample, CLOCK) > NEARLY_UNIQUE:
        return Proposal(Role.QI, facts.kind, "times of day, which others may know", concept="time")
    if holds_disease_codes(facts):
        reason = "the values look like codes of diseases (ICD), which nobody should learn"
        return Proposal(Role.SENSITIVE, facts.kind, reason, concept="health")
    from shoal.profile.answers import sensitive_values  # many words, which few columns need

    found = sensitive_values(facts)
    if found is not None:
        return Proposal(Role.SENSITIVE, facts.kind, f"the values look like {found[0]}", concept=found[1])
    if facts.slips_kind == COMMA_NUMBERS:
        cure = 'if the comma marks the decimals, set decimal = "," under [file] and give the column a role'
        return undecided(facts, f"the values look like numbers with a comma; {cure}")
    unique_rows = f"{facts.unique_share:.0%} of the rows have a unique value"
    if facts.unique_share > NEARLY_UNIQUE and facts.distinct >= 20:
        if facts.whole and is_numbered(facts):
            return _identifier(facts, f"{unique_rows}: a number that may be found in other sources", key_of="key")
        if facts.kind is Kind.CATEGORICAL:
            return _identifier(facts, f"{unique_rows}: a text that may be found in other sources", key_of="key")
    if facts.kind is Kind.CATEGORICAL and facts.distinct_share > MOSTLY_DIFFERENT and facts.distinct > 20:
        return _identifier(facts, f"mostly different texts ({unique_rows}), which recoding cannot keep useful")
    return None
