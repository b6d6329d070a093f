"""Which runs are searched section by section where the table is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.methods.base import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.registry import DEFAULT
from shoal.methods.suppression.all_groups import IN_SECTIONS, judge_sections
from shoal.release.counted_tables.searcher import PopulationCounter, RegionCounter, Searcher, UnitSearcher
from shoal.release.counted_tables.sections.mondrian import MondrianSections
from shoal.release.counted_tables.sections.plan import Sectioning
from shoal.release.counted_tables.sections.shoaling import ShoalingSections
from shoal.release.counted_tables.sections.single_dimensional import SingleSections
from shoal.schema import Role, Schema

if TYPE_CHECKING:
    from shoal.release.job import Job

__all__ = ["heeds_own_k", "is_in_reach", "leaves_groups", "sectioning_of"]


def sectioning_of(method: Method) -> type[Sectioning] | None:
    """Return what cuts a table into sections for a method; None if sections need the rows of others."""
    kinds: tuple[type[Sectioning], ...] = (ShoalingSections, MondrianSections, SingleSections)
    return next((each for each in kinds if each.suits(method)), None)


def leaves_groups(method: Method, *, is_limited: bool) -> bool:
    """Say whether a method suppresses rows that cost their group much."""
    if isinstance(method, Mondrian):
        return method.cuts_parts and not is_limited and not method.domains
    return True


def heeds_own_k(method: Method, *, is_limited: bool) -> bool:
    """Say whether a method suppresses rows whose personal k is too large."""
    return not isinstance(method, Mondrian) or (not is_limited and not method.domains)


def is_in_reach(source: Searcher, schema: Schema, job: Job) -> bool:
    """Say whether a section can be searched without the rows of the others."""
    method, request, run = job.method, job.request, job.run
    sectioning = sectioning_of(method)
    if sectioning is None:
        return False
    is_limited = any(any(column.limits) for column in schema.qi)
    is_ours = method.name == DEFAULT
    if schema.names(Role.PERSON) and not getattr(method, "counts_people", True):
        return False
    if is_limited and getattr(method, "non_overlapping", False):  # refused
        return False
    if not _judges_sections(job, is_limited=is_limited):
        return False
    if sectioning is SingleSections and not isinstance(source, RegionCounter):  # each cut asks for all regions
        return False
    by_population = job.settings.population is not None
    if by_population and not isinstance(source, PopulationCounter):
        return False
    if by_population and is_limited and not is_ours:  # their models refuse limits of other methods
        return False
    if request.bound:
        return False
    tells_apart = job.models or schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K)
    beyond_tuples = tells_apart or is_limited or run.rules or run.derive_weights
    return isinstance(source, UnitSearcher) or not beyond_tuples


def _judges_sections(job: Job, *, is_limited: bool) -> bool:
    """Say whether the groups of a section can be judged without those of the others."""
    together = [model for model in job.models if model.basis not in IN_SECTIONS]
    if together and is_limited and job.method.name != DEFAULT:  # refused
        return False
    k = max([job.request.k, *(model.minimum_size for model in job.models)])
    return judge_sections(job.models, k)
