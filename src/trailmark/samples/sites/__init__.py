"""The styles of the sample sites, one module each."""

from __future__ import annotations

from collections.abc import Mapping

from trailmark.samples.sites.base import CompanyStyle, DepartmentStyle
from trailmark.samples.sites.biology import Biology
from trailmark.samples.sites.coast import Coast
from trailmark.samples.sites.cs import ComputerScience
from trailmark.samples.sites.history import History
from trailmark.samples.sites.informatik import Informatik
from trailmark.samples.sites.lanterns import Lanterns
from trailmark.samples.sites.linguistique import Linguistique
from trailmark.samples.sites.mapworks import Mapworks
from trailmark.samples.sites.math import Mathematics
from trailmark.samples.sites.orchard import Orchard
from trailmark.samples.sites.physics import Physics
from trailmark.samples.sites.pumpen import Pumpen
from trailmark.samples.sites.teahouse import Teahouse
from trailmark.samples.sites.velas import Velas

DEPARTMENT_STYLES: Mapping[str, type[DepartmentStyle]] = {
    "physics": Physics,
    "cs": ComputerScience,
    "math": Mathematics,
    "informatik": Informatik,
    "linguistique": Linguistique,
    "biology": Biology,
    "history": History,
    "coast": Coast,
}
COMPANY_STYLES: Mapping[str, type[CompanyStyle]] = {
    "lanterns": Lanterns,
    "pumpen": Pumpen,
    "velas": Velas,
    "orchard": Orchard,
    "mapworks": Mapworks,
    "teahouse": Teahouse,
}
