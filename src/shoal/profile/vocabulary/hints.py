"""Words that decide between two readings of a column name: a weight of a body or of a sample, a count or a key."""

from __future__ import annotations

from shoal.profile.vocabulary.concept import words

__all__ = [
    "CALLED",
    "COORDINATES",
    "DURATIONS",
    "EVENTS",
    "HOUSE_NUMBERS",
    "KEY_COUNTS",
    "LOOSE",
    "NAMED_THINGS",
    "NAME_PARTS",
    "NAME_WORDS",
    "SAMPLING_WORDS",
    "SUBSCRIBERS",
    "SURVEY_WORDS",
    "UNITS",
    "WEIGHT_WORDS",
]

SAMPLING_WORDS = words(
    "fnlwgt wgt wght pweight pwgt wgtp pwgtp perwt hhwt llcpwt wtss wtssall weighting gewichtung hochrechnungsfaktor "
    "weegfactor hrf ponderation pond coef coeff ponderacion factor expansion expansao fator riporto weging wgthh "
    "weegfaktor gewichtungsfaktor hochrechnung hochrechnungsgewicht kalibrierung calibration calibrated fex facex "
    "fexp facexp factorexp fattore pondera ponderador ponderacao pesomuestral pesoamostral pondpers poidspers "
    "wagaosoby repwt repwgt svywt svyweight surveyweight sampweight sampwt personweight hhweight perwgt indwgt "
    "finalweight"
)
WEIGHT_WORDS = frozenset({"weight", "weights", "wt", "gewicht", "poids", "peso", "waga", "pesos"})
SURVEY_WORDS = frozenset(
    {"sample", "sampling", "survey", "final", "design", "expansion", "person", "household", "osoby", "int", "mec"}
)
COORDINATES = words(
    "lat lon lng long latitude longitude gps latlng coordinate coordinates easting northing x y xgcswgs linrefx "
    "linrefy km latitud longitud latitudine longitudine breitengrad langengrad szerokosc dlugosc wsp gcswgs"
)
# Units of length, which also stand for a place on a road.
UNITS = frozenset({"km", "mi"})
NAME_PARTS = frozenset({"first", "last", "middle"})
NAME_WORDS = frozenset({"name", "names", "nm", "nam", "initial", "initials", "legal", "provider", "patient", "person"})
# What has a name and is no person: the name of a plan, a ship or a worksheet.
NAMED_THINGS = words(
    "plan plans scheme tariff tarif tarifa tariffa taryfa package paket policy contract programme program campaign "
    "kampagne vessel ship boat schiff boot bateau navire barco nave statek vehicle table sheet worksheet dataset "
    "database folder directory species specimen club verein team merchant vendor trade route stop line network site "
    "tool task job step category group layer brand produkt produit producto prodotto produto datei fichier archivo "
    "arquivo plik bestand"
)
DURATIONS = words(
    "days months weeks years hours minutes tage monate wochen jahre stunden jours annees semaines heures dias meses "
    "anos semanas horas giorni mesi anni settimane ore dagen maanden jaren weken uren dni miesiace lata tygodnie"
)
# Words that tell a place, an origin or the like by themselves, but not next to a disease or an assessment.
LOOSE = words(
    "major state white black native natural site location lieu luogo lugar birth births language lang origin "
    "rank position function home area"
)
# Words that stand for a point in time only if the values do.
EVENTS = words(
    "admission admit visit death died deces decesso obito def_ onset entry exit arrival departure started ended issue "
    "approval filed start stop end begin pickup dropoff"
)
HOUSE_NUMBERS = words(
    "hausnummer hausnr hnr huisnummer huisnr paon saon cabin housenumber houseno flatnumber doorno nrdomu nrlokalu "
    "numerocasa civico numerocivico"
)
# Words that count at the beginning of a name, and number at its end.
KEY_COUNTS = frozenset({"no", "nro", "number", "numero"})
# Phone numbers of the person whose call, message or contract the row is about.
SUBSCRIBERS = words(
    "msisdn caller calling subscriber anumber a_number anrufer abonne abonnent abonado abonnee assinante abonent "
    "appelant llamante chiamante beller dzwoniacy"
)
# The other end of a call, message or payment, who is not the person whose row it is.
CALLED = words(
    "callee called dialed dialled recipient receiver beneficiary counterparty bnumber b_number dest destination "
    "contacted angerufener angerufene empfanger appele destinataire destinatario llamado chiamato gebelde ontvanger "
    "chamado odbiorca odbiorcy"
)
