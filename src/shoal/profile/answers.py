"""Sensitive values that speak for themselves: answers on a scale, results of tests, diseases, offences, amounts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.profile.columns import ColumnFacts
from shoal.profile.vocabulary import words_of
from shoal.profile.vocabulary.concept import words
from shoal.schema import Kind
from shoal.tables.values import Marks, parse_numbers

__all__ = ["sensitive_values"]

MOST_ANSWERS = 15  # a scale has 11 points at most, and some ways to give no answer
MOSTLY = 0.6
AMOUNT = re.compile(r"-?[0-9]+[.,][0-9]{2}")
LEAST_AMOUNTS = 30
LEAST_LARGE = 100
SKEWED = 1.2  # the mean of amounts exceeds their median by this factor
SCALE = re.compile(
    r"\b(strongly|somewhat|completely|totally|fully|slightly|mostly|very|quite|not at all|rather|extremely|neither|"
    r"neutral|undecided|dont know|(dis)?agree|(dis|un)?satisfied|(un)?likely|(un)?important|never|rarely|seldom|"
    r"sometimes|often|always|excellent|poor|"
    r"stimme|stimmt|trifft|voll und ganz|eher|uberhaupt nicht|teils|weder|(un)?zufrieden|weiss nicht|nie|selten|"
    r"manchmal|oft|immer|sehr gut|sehr schlecht|"
    r"tout a fait|plutot|pas du tout|pas d ?accord|d ?accord|(in)?satisfait|ni l un|sans opinion|jamais|rarement|"
    r"parfois|souvent|toujours|"
    r"muy|bastante|nada|(en des)?acuerdo|de acuerdo|en desacuerdo|(in)?satisfecho|nunca|raramente|a veces|"
    r"frecuentemente|siempre|no sabe|"
    r"molto|abbastanza|poco|per niente|d ?accordo|in disaccordo|(in)?soddisfatto|mai|qualche volta|spesso|sempre|"
    r"helemaal|mee (on)?eens|(on)?eens|(on)?tevreden|nooit|zelden|soms|vaak|altijd|"
    r"totalmente|concordo|discordo|concorda|discorda|(in)?satisfeito|as vezes|frequentemente|sempre|"
    r"zdecydowanie|raczej|zgadzam|(nie)?zadowolony|trudno powiedziec|nigdy|rzadko|czasami|czesto|zawsze)\b"
)
RESULTS = words(
    "positive negative pos neg indeterminate inconclusive equivocal borderline reactive nonreactive detected "
    "undetected undetectable abnormal benign malignant positiv negativ auffallig unauffallig pathologisch positif "
    "negatif positivo negativo indeterminado indeterminato positief negatief dodatni ujemny pozytywny negatywny"
)
HEALTH = re.compile(
    r"(itis|emia|aemia|amie|emie|pathy|pathie|patia|carcinoma|karzinom|sarcoma|melanoma|myeloma|lymphoma|lymphom|"
    r"plegia|algia|algie|sclerosis|sklerose|fibrosis|cirrhosis|zirrhose|ectomy|ektomie|plasty|oscopy|oskopie)$|"
    r"^(diabet|hypert|hipert|ipert|hypot|cancer|krebs|tumo|neoplas|nowotw|infar|stroke|schlaganfall|asthm|astma|asma|"
    r"copd|pneumon|neumon|polmonit|lungenentz|bronch|infect|infekt|infez|influenz|grippe|covid|hepatit|epilep|"
    r"depress|depresj|anxiety|angststor|ansiedad|schizophr|bipolar|dement|demenz|alzheim|parkin|fractur|fraktur|"
    r"fratt|zlaman|anaem|anem|obes|adipos|allerg|alerg|migra|arthr|artros|sepsis|syndrom|disease|disorder|injur|"
    r"krankheit|erkrank|storung|maladie|enfermedad|malattia|ziekte|doenca|chorob|chemother|chimioth|radiother|dialy|"
    r"surgery|chirurg|therap|insulin|metform|ibupro|paracet|aspirin|amoxic|statin|placebo|seizure|pain|schmerz|"
    r"douleur|fever|fieber|fievre|cough|husten)"
)
OFFENCES = re.compile(
    r"^(theft|larcen|burgl|robber|assault|batter|homicid|murder|manslaugh|rape|kidnap|arson|fraud|forger|narcot|"
    r"vandal|trespass|stalk|prostit|weapon|dui|dwi|felon|misdem|diebst|raub|betrug|korperverletz|einbruch|totschlag|"
    r"mord|sachbeschad|notig|erpress|unterschlag|vols?$|violences?|escroq|cambriol|agress|meurtre|viol$|robo|hurto|"
    r"homicidio|estafa|lesiones|agresion|furto|rapina|omicid|truffa|lesioni|diefstal|inbraak|mishandel|oplicht|moord|"
    r"geweld|roubo|latrocin|estelionat|estupro|kradziez|rozboj|zabojs|oszust|wlaman|pobicie)"
)
BELIEFS = re.compile(
    r"^(cathol|kathol|catol|cattol|protest|evangel|luther|calvin|anglic|baptist|methodist|orthodox|muslim|islam|"
    r"musulm|jew|jewish|judisch|juif|judio|ebre|hindu|buddh|budd|atheis|ateo|agnost|konfessionslos|democrat|"
    r"republican|conservative|socialist|communist|heterosex|homosex|bisex|gay|lesb|queer|asexual)"
)
WORDED = (
    (HEALTH, "diseases or treatments", "health"),
    (OFFENCES, "offences", "crime"),
    (BELIEFS, "religions, parties or sexual orientations", "belief"),
)


def sensitive_values(facts: ColumnFacts) -> tuple[str, str] | None:
    """Return what the values are and their topic, if they tell that nobody should learn them; None otherwise.

    Args:
        facts: A column whose name tells nothing.
    """
    if not facts.sample:
        return None
    if facts.kind is Kind.CATEGORICAL:
        return _texts(facts)
    if facts.kind is Kind.NUMERIC and _are_amounts(facts):
        return "amounts of money: two decimals, and a few far above the others", "money"
    return None


def _texts(facts: ColumnFacts) -> tuple[str, str] | None:
    plain = [" ".join(words_of(text)) for text in facts.sample]
    if facts.distinct <= MOST_ANSWERS:
        if facts.distinct > 2 and _share(plain, SCALE) >= MOSTLY:
            return "answers on a scale", "mark"
        if facts.distinct > 1 and sum(bool(RESULTS & set(text.split())) for text in plain) >= MOSTLY * len(plain):
            return "results of tests", "health"
    if facts.distinct < 4:
        return None
    for pattern, label, topic in WORDED:
        if sum(any(pattern.search(word) for word in text.split()) for text in plain) >= MOSTLY * len(plain):
            return label, topic
    return None


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.search(text) is not None for text in texts) / len(texts)


def _are_amounts(facts: ColumnFacts) -> bool:
    """Tell whether numbers are amounts of money: two decimals each, and skewed to the right."""
    if facts.distinct < LEAST_AMOUNTS or sum(map(bool, map(AMOUNT.fullmatch, facts.sample))) < len(facts.sample):
        return False
    numbers = sorted(parse_numbers(facts.sample, Marks(*facts.marks))[0])
    median = numbers[len(numbers) // 2]
    return bool(median > 0 and sum(numbers) / len(numbers) > SKEWED * median and numbers[-1] >= LEAST_LARGE)
