"""The styles of the sample sites, one module each: the layout, URLs and oddities of one kind of website.

Their contents come from `samples.department` and `samples.company`, their traps from `samples.traps`.
"""

from __future__ import annotations

from collections.abc import Mapping

from wayhound.samples.sites.base import CompanyStyle, DepartmentStyle
from wayhound.samples.sites.biology import Biology
from wayhound.samples.sites.coast import Coast
from wayhound.samples.sites.cs import ComputerScience
from wayhound.samples.sites.history import History
from wayhound.samples.sites.informatik import Informatik
from wayhound.samples.sites.lanterns import Lanterns
from wayhound.samples.sites.linguistique import Linguistique
from wayhound.samples.sites.mapworks import Mapworks
from wayhound.samples.sites.math import Mathematics
from wayhound.samples.sites.orchard import Orchard
from wayhound.samples.sites.physics import Physics
from wayhound.samples.sites.pumpen import Pumpen
from wayhound.samples.sites.teahouse import Teahouse
from wayhound.samples.sites.velas import Velas

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
