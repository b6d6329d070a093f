"""Stems inside words that the vocabulary lacks, with a known word of the same meaning.

A stem is only looked for in a word that is neither known, nor a compound or another form of known words. It must not
occur in words for people, places or numbers: *medic* is no stem, because of *medico*.
"""

from __future__ import annotations

from functools import cache

__all__ = ["word_by_stem"]

STEMS = {
    "disease": "erkrank krankheit maladi enfermed malatt ziekte doenc chorob schorzen morbid patholog patolog syndrom "
    "dystroph skleros scleros cirrh thromb tromb infarkt infarct arthro artro osteo neuropath nephropath cardiopat "
    "kardiopat cardiomyo diabet hypert hipert ipert epilep asthm astma dement demenz alzheim parkinson leukam leukem "
    "lymphom linfom melanom karzin carcin tumor tumeur nowotw krebs kanker metasta hepatit gastrit bronchit pneumon "
    "neumon polmon tubercul tuberk gruzlic grypa influenz covid sepsis infekt infect infez zakaz allerg alerg "
    "anaem obesi obesid otylos adipos stoornis trastorn transtorn zaburz schizo psychos psicos depres depress autis "
    "suizid suicid suicyd samoboj",
    "diagnosis": "diagn rozpozn befund symptom sintom objaw anamnes",
    "treatment": "therap terap behandl behandel traitem tratam trattam leczen chirurg operativ eingriff transplant "
    "trasplant trapiant dialys dialis chemoth chimioth quimio radioth bestrahl rehab",
    "medication": "medikam medicam medicij geneesmid arzneim medikat medicat dosier dosagg dosag dosering posolog "
    "antibiot analges opioid opiat insulin statin",
    "vaccination": "impfst geimpf vaccin vacun vacin szczep immuni",
    "hospitalized": "hospitali ospedalizz beatm intensivm",
    "disability": "behinder disabil discapac niepelnos handicap invalidit inwalid pflegebed",
    "pregnancy": "schwanger zwanger embaraz gravidan gravidez grossess pregnan gestac gestaz gestat abort",
    "alcohol": "alkohol alcohol alcool",
    "smoking": "rauch smok tabac tabag tabaq tytoni nikotin nicotin",
    "injury": "verletz lesion obraz trauma fraktur fractur",
    "cholesterol": "cholest colest triglyc triglic hemoglob hamoglob emoglob kreatin creatin glucos glukos glyc glicem "
    "bilirub leukoz leucoc leukoc erythroz eritroc thromboz albumin",
    "income": "einkommen inkomen bruttol nettol gehalt salair salari reddit dochod wynagr zarobk remuner stipend",
    "debt": "schulden debt deuda dettes divida zadluz endett indebit verschuld impay impag insolut morosi inadimpl",
    "loan": "kredit kredyt darlehen mortgag hypothe hipote prestam emprest pozycz",
    "amount": "betrag bedrag montant kwot",
    "conviction": "verurt condamn condann conden convict skazan veroord strafta strafm vorstraf freiheitsstr",
    "crime": "delikt delict delito przestep verbrech crimin krimin offens offenc straftat gewalttat vergewalt",
    "recidivism": "recidiv rezidiv recydyw reincid ruckfall",
    "violence": "violenc violenz violenci przemoc",
    "religion": "religi konfess glauben godsdienst wyznan",
    "politics": "politisch politiq politiek polityczn ideolog parteip",
    "union": "gewerksch syndic sindical sindacal vakbond",
    "satisfaction": "zufried satisf soddisf tevreden zadowol",
    "evaluation": "bewert beurteil valutaz evaluac avaliac beoordel",
    "score": "puntegg puntuac pontuac punktz puntaj",
    "sexuality": "sexuali sexualo seksual sessual",
}


@cache
def _stems() -> tuple[tuple[str, str], ...]:
    """Return the stems with their words, the longest first."""
    pairs = [(stem, word) for word, stems in STEMS.items() for stem in stems.split()]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))


def word_by_stem(word: str) -> str | None:
    """Return a known word for the longest stem in a word; None if it has none."""
    return next((known for stem, known in _stems() if stem in word), None)
