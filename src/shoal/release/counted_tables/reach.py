"""Which runs are searched section by section where the table is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.methods.mondrian import Mondrian
from shoal.methods.registry import DEFAULT
from shoal.methods.shoaling.search import Shoaling
from shoal.methods.shoaling.unsteered import UNSTEERED, judge_sections
from shoal.models import PopulationUniqueness
from shoal.release.counted_tables.searcher import PopulationCounter, Searcher, UnitSearcher
from shoal.release.counted_tables.sections.mondrian import MondrianSections
from shoal.release.counted_tables.sections.plan import Sectioning
from shoal.release.counted_tables.sections.shoaling import ShoalingSections
from shoal.schema import Role, Schema

if TYPE_CHECKING:
    from shoal.release.job import Job

__all__ = ["SECTIONINGS", "is_in_reach"]

SECTIONINGS: dict[str, type[Sectioning]] = {Shoaling.name: ShoalingSections, Mondrian.name: MondrianSections}


def is_in_reach(source: Searcher, schema: Schema, job: Job) -> bool:
    """Say whether a section can be searched without the rows of the others."""
    method, request, run = job.method, job.request, job.run
    if method.name not in SECTIONINGS or not SECTIONINGS[method.name].suits(method):
        return False
    is_limited = any(any(column.limits) for column in schema.qi)
    is_ours = method.name == DEFAULT
    if schema.names(Role.PERSON) and not getattr(method, "counts_people", True):
        return False
    if is_limited and getattr(method, "non_overlapping", False):  # refused
        return False
    if not _judges_sections(job, by_person=bool(schema.names(Role.PERSON))):
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


def _judges_sections(job: Job, *, by_person: bool) -> bool:
    """Say whether the groups of a section can be judged without those of the others."""
    together = [model for model in job.models if model.basis in UNSTEERED]
    # People of the release are fewer than those of its sections together.
    if by_person and any(isinstance(model, PopulationUniqueness) for model in together):
        return False
    k = max([job.request.k, *(model.minimum_size for model in job.models)])
    return judge_sections(job.models, k) and (not together or job.method.name == DEFAULT)
