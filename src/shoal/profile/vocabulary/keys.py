"""Words of column names that identify people: contact data, names, numbers, and the parts of a key.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept, words
from shoal.schema import Role

__all__ = [
    "ATTRIBUTES",
    "COUNTS",
    "DIRECT",
    "FILLERS",
    "HOLDERS",
    "HOUSEHOLDS",
    "KEYS",
    "ORGANISATIONS",
    "PEOPLE",
    "RECORDS",
    "STAFF",
    "THINGS",
    "WEAK_KEYS",
]

IDENTIFIER = Role.IDENTIFIER
# Contact data, names and numbers that identify a person by themselves.
DIRECT = (
    concept(
        "email",
        "e-mail addresses",
        IDENTIFIER,
        5,
        "mail email emails courriel correo epost poczta mel",
        "email mailadr correoelec",
    ),
    concept("fax", "fax numbers", IDENTIFIER, 5, "fax telefax telecopie faks", "telefax faxn"),
    concept(
        "phone",
        "phone numbers",
        IDENTIFIER,
        5,
        "phone phones tel telephone mobile mobil movil celular cell cellphone handy gsm telefoon telefonino "
        "telefono telefon telemovel telefone portable cellulare komorka fono teléfono phonen telephon mobilen "
        "handynummer",
    ),
    concept(
        "national",
        "national identity, tax or passport numbers",
        IDENTIFIER,
        5,
        "ssn nino ahv avs svnr nir bsn cpf dni nie curp pesel cpr itin tin nif aadhaar passport hetu nip rut rfc "
        "pis nis nss cns ctps nhsno nhsnumber sofi sofinummer nnss cuit cedula paszport secu rijksregisternummer rg "
        "newnhsno utente passaporto pasaporte passeport passaporte socialsecurity socialinsurance nationalid "
        "nationalinsurance sozialversicherung steuerid steuernummer taxid steueridentifikation taxnumber passportn "
        "reisepass ausweis personnummer codicefiscale securitesociale numerosecu identitycard idcard ahvn "
        "fodselsnummer taxpayer burgerservicenummer dowodosobist",
    ),
    concept(
        "plan",
        "health plan or insurance numbers",
        IDENTIFIER,
        4,
        "kvnr mbi hicn hesid",
        "versichertennummer versicherungsn versichertenn verzekerdenummer krankenversichertennummer medicareid "
        "medicaidid",
    ),
    concept(
        "vehicle",
        "vehicle numbers or plates",
        IDENTIFIER,
        4,
        "vin plate plates kennzeichen nummernschild immatriculation targa kenteken chassis medallion rejestracyjny",
        "licenseplate licenceplate numberplate vehicleid vehiclereg platen fahrgestell chassisn kfzkenn placaveic "
        "numerorejestr nrrejestr",
    ),
    concept(
        "account",
        "bank accounts, cards or logins",
        IDENTIFIER,
        4,
        "iban rib login username userid rachunek rachunku rekeningnummer kontonummer swift",
        "bankaccount kontonummer cardnumber creditcardn kreditkartenn username cuentabanc numeroconto nrkonta "
        "rekeningnum numerocompte contocorrente numerorachunku contabanc",
    ),
    concept(
        "licence",
        "licence or certificate numbers",
        IDENTIFIER,
        3,
        "license licence fuhrerschein permis licencia npi drivers",
        "licensen licencen driverslic driverlic certificaten lizenznummer fuhrerschein approbation prawojazdy",
    ),
    concept(
        "device",
        "device identifiers or serial numbers",
        IDENTIFIER,
        4,
        "imei imsi udid mac macaddress serialnumber",
        "serialn deviceid devicen deviceserial seriennummer geratenummer implantid implants numeroserie macaddr "
        "pacemakers",
    ),
    concept(
        "url",
        "web addresses",
        IDENTIFIER,
        4,
        "url urls website homepage webpage webseite link facebook linkedin twitter instagram",
        "profileurl websiteurl",
    ),
    concept("ip", "IP addresses", IDENTIFIER, 4, "ip ipv4 ipv6", "ipaddr ipadresse clientip remoteaddr"),
    concept(
        "biometric",
        "biometric identifiers",
        IDENTIFIER,
        4,
        "fingerprint fingerprints iris retina voiceprint faceprint biometric biometrics fingerabdruck empreinte "
        "minutiae huella biometri faceembed facetemplate irisscan irisc retinascan",
    ),
    concept(
        "photo",
        "photos of people",
        IDENTIFIER,
        4,
        "photo photos photograph picture portrait foto bild selfie headshot avatar zdjecie signature unterschrift",
        "facephoto photofile imagefile fotodatei photograph",
    ),
    concept(
        "name",
        "names of people",
        IDENTIFIER,
        4,
        "name names surname vorname nachname nom prenom prenoms nombre nombres apellido apellidos nome cognome naam "
        "achternaam voornaam namn efternamn fornamn imie imiona nazwisko familienname initials nickname alias "
        "spitzname first last middle maiden lname fname forename sobrenome tussenvoegsel nm nam handzeichen "
        "intestatario titular inhaber firstname lastname fullname givenname familyname middlename patientname "
        "maidenname geburtsname nomprenom apellid",
    ),
    concept(
        "address",
        "street addresses",
        IDENTIFIER,
        4,
        "street address strasse adresse addresse rue calle direccion via indirizzo straat adres anschrift "
        "hausnummer huisnummer domicilio endereco morada ulica rua logradouro addr adr straatnaam voie paon saon "
        "cabin apartment lieferadresse streetadd homeadd addressline mailingaddress",
    ),
    concept(
        "text",
        "free text",
        IDENTIFIER,
        3,
        "comment comments note notes remark remarks memo narrative bemerkung bemerkungen anmerkung freitext "
        "kommentar observations remarque commentaire observaciones observacoes comentario nota osservazioni "
        "opmerking opmerkingen toelichting uwagi opis notatka freetext osservazion observacion",
    ),
)
KEYS = words(
    "id ids ident identifier identifiant identificador identificativo identyfikator key nr no lp lfd num number "
    "nummer numero numer nro nbr ref reference referenz pseudonym pseudonyme serial serialno matricule matricola "
    "matricula aktenzeichen sygnatura uid guid uuid pk rownum rowid lfdnr kennung kennzahl numb seqno seqn caseid "
    "recordid idno hash encr kenmerk consecutive consecutivo laufende progressivo oid objectid idx historia_clinica"
)
WEAK_KEYS = words("code codes cod kod cd codigo codice kode index")
PEOPLE = words(
    "estudiante estudante alunno legitymacji sujet sujeto soggetto sujeito badanego proefpersoon leistungsempfanger "
    "percettore swiadczeniobiorcy haftling haftlings detenu recluso detenuto gedetineerde preso osadzonego ospite "
    "bewoners morador mieszkanca souscripteur tomador contraente ubezpieczajacego versicherungsnehmer polishouder "
    "kind enfant nino bambino crianca emergency_contact notfallkontakt noodcontact contact_urgence "
    "contacto_emergencia contatto_emergenza contato_emergencia tutor_legal vormund tuteur tutore voogd "
    "studienteilnehmer etudiant etudiante zatrudnionego adherent adherents huurder huurders inquilino locataire "
    "najemcy najemca nutzer gebruiker gebruikers utilizador uzytkownika uzytkownik uczestnika uczestnik "
    "partecipante participante asegurado assicurato segurado ubezpieczonego ubezpieczony werknemer werknemers "
    "trabajador salarie beschaftigten beschaftigte lid lidmaat czlonka czlonek donateur donatore dawcy dawca tater "
    "infractor infrator reo dader sprawcy sprawca persoon persoons personen funcionario angeklagter prevenu acusado "
    "indagato verdachte podejrzany reu angehorige naaste ansprechpartner contact_person contactpersoon kontaktowa "
    "nominativo opiekun responsavel accused plaintiff wife_id attendee traveler traveller guest gast owner "
    "proprietario eigentumer eigenaar wlasciciel holder learner pupil child_id baby newborn mother_id caller "
    "recipient refugee asylum migrant_id soldier veteran_id cardholder insuree policyholder enrollee cohort_member "
    "twin sibling_id patient patients patienten patientin pat paciente paciënt paziente pacjent pacjenta person "
    "persons personne personnes persona persone personas pessoa osoba osoby individual individu individuo indiv ind "
    "customer cust client clients cliente clienti kunde kunden klant klient klienta employee emp mitarbeiter "
    "personal pers personeels pracownik pracownika empleado employe dipendente medewerker user utilisateur usuario "
    "subject subj participant teilnehmer deelnemer respondent resp student stud studente alumno alumna eleve "
    "schuler uczen ucznia leerling aluno citizen burger resident bewohner beneficiary bene benef beneficiaire "
    "beneficiario insured versicherten versicherter versicherte verzekerde assure assistito member membre mitglied "
    "socio donor donneur donante doador darczynca darczyncy spender offender inmate detainee prisoner victim "
    "victime suspect defendant proband probanden worker trabalhador lavoratore passenger applicant bewerber "
    "claimant athlete player rider voter tenant mieter impfling allocataire alloc auteur imputato oskarzony nip "
    "encuestado intervistato rinpersoon pid persnr subjectid borrower debtor mandant dziecka usager candidate "
    "candidato historia_clinica"
)
HOUSEHOLDS = words(
    "gezin gezins nucleo_familiare domicilios domicilio huishoud haushaltsnummer familiennummer foyer_fiscal "
    "unidade_familiar household haushalt haushalts hh hhid house houseid family famille familia familiar familie "
    "famiglia fam rodzina menage foyer hogar nucleo huishouden gospodarstwo gosp gospodarstwa dwelling vivienda "
    "vivi logement profam nquest nohouse hid couple pedigree questionario rodziny lar"
)
RECORDS = words(
    "processo processos ricovero internacao hospitalizacji hospitalizacja billet billete biglietto bilhete biletu "
    "datensatz rekordu rekord versicherungsschein probe proben echantillon muestra campione monster amostra probki "
    "polisy apolice sinistro szkody ticketnummer ligne fila riga linha rijnummer wiersza registrering rejestracji "
    "iscrizione inschrijf anmeldung buchung reservation session call message tweet document dokument certificado "
    "zertifikat licenca permit bescheid gutachten befund_nr labornummer auftrag auftrags opdracht lieferung "
    "shipment delivery_note parcel donation_no spende einsatz melding meldung zgloszenia zgloszenie sinister proces "
    "vorgang vorgangs geschaftszeichen az ref_dossier row line_no case cases cas fall falle akte akt akten dossier "
    "expediente fascicolo zaak sprawa sprawy record enregistrement registro registration claim clm schaden sinistre "
    "siniestro schade szkoda encounter visit visita wizyta wizyty visite bezoek besuch admission aufnahme sejour "
    "ingreso opname stay episode epi spell hadm event incident incidente accident acc acte order bestell bestellung "
    "commande pedido ordine bestelling zamowienie zamowienia invoice rechnung facture factura fattura faktura "
    "transaction trans trx contract vertrag vertrags contrat contrato contratto umowa umowy loan kredit pret "
    "prestamo prestito lening emprestimo kredytu policy police poliza polizza polis account acct konto compte "
    "cuenta conto rekening conta ticket booking ride trip report complaint cmplnt docket questionnaire fragebogen "
    "specimen prescription poe application wniosek wniosku antrag inscription inscricao certificate observation obs "
    "measurement occurrence ocorrencia bo boletim notification notific verbale rapporto pratica declaration "
    "declaratie uitkering swiadczenia swiadczenie rsa pde don donation appointment rendez termin cita activity caso "
    "crime offence arrest stop historia historial chart mrn icustay karte ksiegi affaire procedura procedimento "
    "bestel obito enrollment pharmacy labevent dn do"
)
# Keys of these belong to one person or household, like a key of people.
HOLDERS = words(
    "kontonr rekeningnr konta cuentas account acct konto compte cuenta conto rekening conta policy police poliza "
    "polizza polis apolice contract vertrag contrat contrato contratto umowa umowy loan kredit pret prestamo "
    "prestito lening membership subscription abo abonnement hypothek mortgage"
)
# Keys of these are shared by many people.
ORGANISATIONS = words(
    "hospital hospitals hosp klinik krankenhaus krankenhauses clinic clinica ward center centre centro site "
    "facility station institution instelling instituut inst establishment etablissement etab estab ecole org "
    "organization organisation school schools schule schul escuela scuola szkola escola universidade university "
    "practice praktijk praxis gpprac store shop company firma employer entreprise empresa azienda agency department "
    "abteilung afdeling istituto ziekenhuis szpital szpitala tribunal tribunale court gericht sad juzgado rechtbank "
    "unit location project area beat farmacia apotheke oddzial bank caresite"
)
# Keys and names of these are not keys and names of people.
THINGS = words(
    "file product prod item items column host domain brand model make type class event evento eve drug medication "
    "disease project course module movie film song article artikel stock assessment vaccine concept version sensor "
    "device gear field test variable layer payer batch lot street city country county state district region "
    "municipality province nation gmina comuna commune municipio gemeente borough ward station hospital clinic "
    "facility school company firm bank department store shop agency organisation organization employer locality "
    "town place area charge statute offence offense diagnosis procedure service servico specialty contract"
)
STAFF = words(
    "pflegekraft klassenlehrer verpleegkundige enfermera enfermeiro infermiere infirmiere pielegniarka professeur "
    "professor insegnante leerkracht nauczyciel richter rechter juiz rechtsanwalt advogado adwokat gestionnaire "
    "assistente_social assistente_sociale trabajador_social pracownik_socjalny behandelaar encuestador "
    "intervistatore entrevistador ankieter medico_assistente behandelnder coach trainer supervisor manager "
    "vorgesetzter midwife hebamme dentist zahnarzt pharmacist notary notar prosecutor staatsanwalt clerk adviser "
    "advisor inspector arztin wykonawca operatore funcionaria doctor doctors physician physicians physn medecin "
    "medico medica arzt lekarz lekarza nurse officer agent agente consultant consult practitioner provider "
    "prescriber prescrittore caregiver judge juge juez giudice sedzia lawyer attorney avocat abogado abogada "
    "avvocato obronca difensore verteidiger advocaat teacher lehrer lehrkraft docente enseignant profesor mentor "
    "investigator interviewer enqueteur handler caseworker representative verbalisant arztnummer lanr attending "
    "surgeon sachbearbeiter betreuer tutor counselor therapist arts huisarts zorgverlener encarregado "
    "erziehungsberechtigte guardian invnam policeman polizist respondente operator"
)
# Next to one of these words, a word such as account or vehicle names a property that many people share.
ATTRIBUTES = words(
    "type types class category categoria categorie kategorie status stat kind flag count model brand opt typ tipo "
    "art soort gruppe group grp level color colour make anzahl has is preferred manufacturer language size quality "
    "desc description descr descripcion specialty speciality rodzaj ilosc liczba aantal nombre_de days day mode own "
    "grade score rate reason result outcome"
)
COUNTS = words("num number n nb nbr no count cnt anzahl aantal liczba nro qtd qty cant anz tot total numero")
# Words without a meaning of their own, which help to split compounds.
FILLERS = words(
    "primer primero primeiro primo secondo segundo segunda numero_de gesamt haupt neben ersten zweite autre otro "
    "altro andere inny drugi anderen monats jahres tages mae pai mother father mere pere madre padre mutter vater "
    "moeder vader matki ojca mom dad mum spouse husband wife use used test tests tst yn fl ind cat grp new old main "
    "primary principal secondary total avg max min mean log per unique system full part list table unit general "
    "detail details info other ever first last current previous original originally standing text txt val mode "
    "source dest org type typ cnt amount_of sum pct percent ratio share basis base gen und des del der den die das "
    "les von van ing fin ini nat res ocor occ ent sor mod"
)
