"""Words of column names in several languages and what they suggest, and first names to recognise names of people.

A word matches a whole word of the name (`age`, not `agency`); a stem may occur anywhere in it (`Geburtsdatum`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from shoal.schema import Role

__all__ = ["CONCEPTS", "FIRST_NAMES", "NOT_AN_IDENTIFIER", "Concept", "concept_of", "words_of"]


class Concept(NamedTuple):
    """What a column contains, as suggested by its name.

    Attributes:
        key: Short name of the concept.
        label: The concept in words.
        role: The role that it calls for.
        words: Words of a column name that suggest it.
        stems: Parts of a column name that suggest it.
        coded: Whether numbers in such a column are codes rather than quantities.
        personal: Whether each person has one value.
    """

    key: str
    label: str
    role: Role
    words: frozenset[str]
    stems: tuple[str, ...]
    coded: bool = False
    personal: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _concept(
    key: str, label: str, role: Role, words: str, stems: str = "", *, coded: bool = False, personal: bool = False
) -> Concept:
    return Concept(key, label, role, _words(words), tuple(stems.split()), coded, personal)


IDENTIFIERS = (
    _concept(
        "email",
        "e-mail addresses",
        Role.IDENTIFIER,
        "mail email emails courriel correo epost",
        "email mailadr",
        personal=True,
    ),
    _concept("fax", "fax numbers", Role.IDENTIFIER, "fax telefax telecopie", "faxn telefax"),
    _concept(
        "phone",
        "phone numbers",
        Role.IDENTIFIER,
        "phone phones tel telephone mobile mobil movil cell cellphone handy gsm telefoon telefonino",
        "phonen telefon telephon mobilen cellphone handynummer cellulare",
    ),
    _concept(
        "national",
        "national identity, tax or passport numbers",
        Role.IDENTIFIER,
        "ssn nino ahv avs svnr nir bsn cpf dni nie curp pesel cpr itin tin nif aadhaar insee passport hetu",
        "socialsecurity socialinsurance nationalid nationalinsurance sozialversicherung steuerid steuernummer taxid "
        "taxnumber passportn reisepass ausweis personnummer codicefiscale securitesociale identitycard idcard ahvn "
        "fodselsnummer taxpayer pasaporte passeport",
        personal=True,
    ),
    _concept(
        "record",
        "medical record or patient numbers",
        Role.IDENTIFIER,
        "mrn pid",
        "medicalrecord patientid patientnum patientno patientnr patientennum patientenid chartn casenumber casen "
        "fallnummer hospitaln nhsn recordn recordid krankenakte dossier",
        personal=True,
    ),
    _concept(
        "plan",
        "health plan or insurance numbers",
        Role.IDENTIFIER,
        "kvnr mbi hicn beneficiary policy",
        "healthplan beneficiary insurancen insuranceid policyn policyid memberid membern subscriber versichertennummer "
        "versicherungsn versichertenn medicareid medicaidid",
        personal=True,
    ),
    _concept(
        "vehicle",
        "vehicle numbers or plates",
        Role.IDENTIFIER,
        "vin plate plates kennzeichen nummernschild immatriculation matricula targa kenteken chassis",
        "licenseplate licenceplate numberplate vehicleid vehiclereg platen fahrgestell chassisn kfzkenn",
    ),
    _concept(
        "account",
        "account, card or customer numbers",
        Role.IDENTIFIER,
        "account acct iban konto compte cuenta conto rekening login username userid",
        "accountn accountid bankaccount kontonummer cardn creditcard kreditkarte customerid customern kundennummer "
        "kundenn username userid clientid",
        personal=True,
    ),
    _concept(
        "licence",
        "licence or certificate numbers",
        Role.IDENTIFIER,
        "license licence fuhrerschein permis licencia certificate npi",
        "licensen licencen driverslic driverlic certificaten lizenznummer fuhrerschein fuehrerschein approbation",
        personal=True,
    ),
    _concept(
        "device",
        "device identifiers or serial numbers",
        Role.IDENTIFIER,
        "serial imei imsi udid mac uuid guid macaddress",
        "serialn deviceid devicen deviceserial seriennummer geratenummer geraetenummer implantid implants numeroserie "
        "macaddr pacemakers",
    ),
    _concept(
        "url",
        "web addresses",
        Role.IDENTIFIER,
        "url urls website homepage webpage webseite link facebook linkedin twitter instagram",
        "profileurl websiteurl",
    ),
    _concept("ip", "IP addresses", Role.IDENTIFIER, "ip ipv4 ipv6", "ipaddr ipadresse clientip remoteaddr"),
    _concept(
        "biometric",
        "biometric identifiers",
        Role.IDENTIFIER,
        "fingerprint fingerprints iris retina voiceprint faceprint biometric biometrics fingerabdruck empreinte dna "
        "minutiae huella",
        "fingerprint biometri voiceprint faceembed facetemplate irisscan irisc retinascan fingerabdruck",
    ),
    _concept(
        "photo",
        "photos of people",
        Role.IDENTIFIER,
        "photo photos photograph picture portrait image foto bild selfie headshot avatar",
        "facephoto photofile imagefile fotodatei photograph",
    ),
    _concept(
        "name",
        "names of people",
        Role.IDENTIFIER,
        "name names surname vorname nachname nom prenom nombre apellido apellidos nome cognome naam achternaam "
        "voornaam namn efternamn fornamn imie nazwisko familienname initials nickname alias spitzname",
        "lastname firstname fullname givenname familyname middlename surname vorname nachname patientname maidenname "
        "geburtsname",
    ),
)
SENSITIVES = (
    _concept(
        "health",
        "health",
        Role.SENSITIVE,
        "disease diagnosis diagnoses diagnose icd icd10 illness condition symptom symptoms treatment therapy "
        "medication drug prescription procedure krankheit maladie enfermedad malattia diagnostic diagnostico sjukdom "
        "ziekte hiv cancer disability pregnancy pregnant comorbidity doenca",
        "disease diagnos krankheit erkrankung medikament behandlung labresult testresult causeofdeath todesursache "
        "genetic psychiatr behinderung schwanger",
    ),
    _concept(
        "money",
        "income, bills or wealth",
        Role.SENSITIVE,
        "income salary wage wages pay earnings einkommen gehalt lohn salaire revenu ingreso ingresos sueldo salario "
        "stipendio reddito inkomen inkomst renda cost costs bill charge charges amount kosten betrag montant costo "
        "coste importe balance saldo debt debts schulden loan kredit wealth vermogen price payment",
        "income salary einkommen gehalt capitalgain capitalloss creditscore creditamount kontostand networth vermogen",
    ),
    _concept(
        "belief",
        "religion, politics or trade union",
        Role.SENSITIVE,
        "religion religious konfession confession faith glaube belief politics political party partei union croyance "
        "religione godsdienst gewerkschaft",
        "religi konfession politicalaff tradeunion weltanschauung",
    ),
    _concept(
        "life",
        "sexual life, offences or verdicts",
        Role.SENSITIVE,
        "orientation crime conviction verdict sentence offence offense arrest straftat urteil vorstrafe delit",
        "sexualor sexlife criminal straftat convict",
    ),
)
QIS = (
    _concept(
        "birth",
        "birth",
        Role.QI,
        "birth dob yob born birthday geboren naissance nacimiento nascita geboorte fodelse",
        "birth geburt naissance nacimi nascita geboorte fodelse",
    ),
    _concept(
        "zip",
        "postal codes",
        Role.QI,
        "zip zipcode zip3 zip5 postcode postal plz postleitzahl npa cep",
        "zipcode postcode postalcode postleitzahl codepostal codigopostal postnummer postalzone",
        coded=True,
    ),
    _concept(
        "address",
        "addresses",
        Role.QI,
        "street address strasse adresse addresse rue calle direccion via indirizzo straat adres anschrift hausnummer",
        "streetadd homeadd addressline anschrift strasse",
    ),
    _concept(
        "place",
        "places",
        Role.QI,
        "city town county district state province region municipality village canton kanton ort stadt gemeinde "
        "bundesland kreis wohnort ville commune departement ciudad municipio citta provincia comune stad gemeente "
        "country land pays pais paese latitude longitude lat lng location neighborhood neighbourhood tract fips ward "
        "suburb residence parish precinct",
        "latitude longitude wohnort bundesland residence nativecountry birthplace municipal",
        coded=True,
    ),
    _concept(
        "age",
        "age",
        Role.QI,
        "age ages alter edad eta idade leeftijd alder wiek",
        "agegroup ageat altersgruppe ageyears",
    ),
    _concept(
        "sex",
        "sex",
        Role.QI,
        "sex gender geschlecht sexe sexo sesso geslacht kon kjonn genero plec",
        "geschlecht",
        coded=True,
    ),
    _concept(
        "origin",
        "nationality, origin or language",
        Role.QI,
        "nationality citizenship nation native race ethnicity ethnic ethnie etnia herkunft language sprache langue "
        "idioma nationalite nacionalidad nazionalita nationalitat hispanic tribe caste",
        "nationalit citizenship staatsang ethnic muttersprache",
        coded=True,
    ),
    _concept(
        "education",
        "education",
        Role.QI,
        "education bildung schooling degree abschluss schule school educacion formation istruzione utbildning "
        "opleiding qualification",
        "education ausbildung bildung schulab",
    ),
    _concept("hours", "working hours", Role.QI, "hours stunden heures horas ore", "hoursper arbeitszeit wochenstunden"),
    _concept(
        "kin",
        "size of the family",
        Role.QI,
        "children kinder dependents kids hijos enfants figli siblings",
        "familysize householdsize numberofch",
    ),
    _concept(
        "work",
        "occupation",
        Role.QI,
        "occupation job profession beruf employer workclass industry position department branche metier profesion "
        "ocupacion professione yrke beroep rank grade sector company arbeitgeber firma",
        "occupation profession workclass employ arbeitgeber",
        coded=True,
    ),
    _concept(
        "family",
        "family",
        Role.QI,
        "marital married civil familienstand relationship household haushalt spouse civilstand",
        "marital maritalst familienstand household etatcivil estadocivil statocivile",
        coded=True,
    ),
    _concept(
        "body",
        "visible traits of the body",
        Role.QI,
        "height weight bmi grosse gewicht hair eye eyes taille poids altura peso tattoo",
        "korpergrosse eyecol haircol",
    ),
    _concept(
        "time",
        "points in time",
        Role.QI,
        "date dates datum fecha admission discharge visit death died year jahr month monat timestamp time zeit",
        "datum date admission discharge timestamp",
    ),
)
CONCEPTS = (*IDENTIFIERS, *SENSITIVES, *QIS)

# Next to one of these words, a word such as account or vehicle names a property that many people share.
NOT_AN_IDENTIFIER = _words(
    "type types class category status kind flag count model brand opt typ art gruppe group level color colour make "
    "anzahl has is preferred manufacturer language size quality"
)
# The name of one of these things is not the name of a person.
THINGS = _words(
    "file product company hospital drug item project shop store school event column host domain brand model class type "
    "clinic ward course street city country county state firm medication disease"
)
FIRST_NAMES = _words(
    """
    aaron adam ahmed aisha akira alan albert alejandro alessandro alex alexander alexandra ali alice alicia alison
    amanda amelia amir amy ana anders andrea andreas andrew angela anil anita anja ann anna anne annette anthony
    antoine antonio arthur ashley astrid barbara beatrice benjamin bernard bernd betty birgit bjorn brandon brenda
    brian bruno camille carl carla carlos carmen carol caroline catherine cecilia charles charlotte chiara chloe
    christian christina christine christopher claire clara claudia claudio cynthia daniel daniela david deborah
    deepa denise dennis diana diane diego dieter dimitri dominik donald donna dorothy eduardo edward elena elisa
    elizabeth ella ellen emil emily emma eric erik erika ernst esther eva evelyn fabian fatima felix fernando
    florian francesca francesco francisco frank franz frederik gabriel gabriela george gerald gerard gerhard
    giovanni giulia giuseppe gloria gregory guillaume gunter gustav hanna hannah hans harold hassan heather heidi
    heike heinz helen helena helga henrik henry hiroshi hugo ian ibrahim ines ingrid irene isabel isabella ivan jack
    jacob jacqueline jakob james jan jane janet jason javier jean jeffrey jennifer jens jessica jesus joan johan
    johann johannes john jonas jonathan jorge jose joseph joshua juan judith julia julian julie jurgen justin karen
    karin karl katarina katherine kathleen kathrin katja kenji kenneth kevin kim klaus kristina kurt lara larry lars
    laura lauren laurent lea lena leon leonardo linda lisa louis louise luca lucas lucia lucy luigi luis lukas
    magdalena manuel marco marcus margaret maria mariana marie mario marion mark markus marta martha martin martina
    mary mateo matteo matthew matthias max maximilian mehmet melanie melissa mia michael michele michelle miguel
    mikael ming mohamed mohammed monica monika muhammad nadia nancy natalia natalie nathan nicholas nicolas nicole
    nils nina noah nora nuno olga oliver olivia omar oscar otto pablo pamela paolo patricia patrick paul paula pedro
    peter petra philip philipp philippe pierre piotr priya rachel rafael raj ralf ravi raymond rebecca renate
    ricardo richard robert roberto roger roland ronald rosa ruth ryan sabine samantha samuel sandra sanjay sara
    sarah scott sean sebastian sergio sharon simon simone sofia sophia sophie stefan stefanie stephanie stephen
    steven susan susanne sven svetlana sylvia tatiana teresa theresa thomas timothy tobias tom tomas ulrich ulrike
    ursula valentina vanessa vera veronica victor victoria viktor vincent virginia vladimir walter wei werner
    wilhelm william wolfgang yasmin yuki yusuf
    """
)


def words_of(name: str) -> list[str]:
    """Split a column name into lower-case words without accents: `PatientID_nr` gives patient, id, nr."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    plain = plain.replace("ß", "ss")
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.findall(r"[^\W_]+", plain.lower())


def concept_of(name: str, role: Role) -> Concept | None:
    """Return the first concept with this role that a column name suggests."""
    words = words_of(name)
    joined, present = "".join(words), set(words)
    for concept in CONCEPTS:
        if concept.role is role and (present & concept.words or any(stem in joined for stem in concept.stems)):
            if role is Role.IDENTIFIER and present & NOT_AN_IDENTIFIER:
                continue
            if concept.key == "name" and present & THINGS:
                continue
            return concept
    return None
