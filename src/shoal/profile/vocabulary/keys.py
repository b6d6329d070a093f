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
        "mail email emails courriel correo epost poczta mel emailaddress mailadresse mailadres mailadress "
        "emailadresse emailadres elektroniczna correio elettronica eletronico electronico posta_elettronica",
        "email mailadr correoelec",
    ),
    concept(
        "fax",
        "fax numbers",
        IDENTIFIER,
        5,
        "fax telefax telecopie faks faxnummer faxnr faxno telefaxnummer",
        "telefax faxn",
    ),
    concept(
        "phone",
        "phone numbers",
        IDENTIFIER,
        5,
        "phone phones tel telephone mobile mobil movil celular cell cellphone handy gsm telefoon telefonino telefono "
        "telefon telemovel telefone portable cellulare komorka fono teléfono phonen telephon mobilen handynummer "
        "telefonnummer telefonnr telnr telno telnum telnummer telefoonnummer telefoonnr mobilnummer mobielnummer "
        "mobiel mobiele telefonu komorkowy telf tfno cellnumber phoneno phonenumber phonenr contactnumber "
        "contact_number whatsapp portatile recapito landline handynr mobiltelefon rufnummer festnetz telefones "
        "telefonos msisdn",
    ),
    concept(
        "national",
        "national identity, tax or passport numbers",
        IDENTIFIER,
        5,
        "ssn nino ahv avs svnr nir bsn cpf dni nie curp pesel cpr itin tin nif aadhaar passport hetu nip rut rfc pis "
        "nis nss cns ctps nhsno nhsnumber sofi sofinummer nnss cuit cedula paszport secu rijksregisternummer rg "
        "newnhsno utente passaporto pasaporte passeport passaporte socialsecurity socialinsurance nationalid "
        "nationalinsurance sozialversicherung steuerid steuernummer taxid steueridentifikation taxnumber passportn "
        "reisepass ausweis personnummer codicefiscale securitesociale numerosecu identitycard idcard ahvn "
        "fodselsnummer taxpayer burgerservicenummer dowodosobist chi chino chinumber nhs pps ppsn tfn insz nrn natid "
        "nid nationalidnumber voterid voter_id cuil cnp egn oib emso jmbg amka nric hkid aadhar insee numsecu nirpp "
        "numss niss bsnnummer bsnnr burgerservicenr burgerservice tessera tesserasanitaria codfisc codfiscale fiscale "
        "cartaidentita identidad identidade cartaocidadao eleitor cnh dowod dowodu ausweisnummer ausweisnr "
        "personalausweis personalausweisnummer passnummer passnr passno passportno paspoort paspoortnummer paszportu "
        "sozialversicherungsnummer svnummer rvnr rentenversicherungsnummer sozialversicherungsnr steueridnr steuernr "
        "identifikationsnummer idnr steuerliche ssnr socialsecuritynumber socsec sozvers nationalinsurancenumber "
        "ninumber securite_sociale seguridad_social afiliacion_ss numafiliacion cartaoidentidade dokumentu_tozsamosci "
        "residencepermit visa_number greencard aliennumber alien_number anumber militaryid edipi",
    ),
    concept(
        "plan",
        "health plan or insurance numbers",
        IDENTIFIER,
        4,
        "kvnr mbi hicn hesid medicare_number medicareno healthcard health_card ohip versichertennr versichertenkarte "
        "gesundheitskarte egk polisnummer polisnr verzekerdenr carte_vitale vitale tarjeta_sanitaria cartao_sus "
        "cartaosus cnsnumber tsi cip sus_number",
        "versichertennummer versicherungsn versichertenn verzekerdenummer krankenversichertennummer medicareid "
        "medicaidid",
    ),
    concept(
        "vehicle",
        "vehicle numbers or plates",
        IDENTIFIER,
        4,
        "vin plate plates kennzeichen nummernschild immatriculation targa kenteken chassis medallion rejestracyjny "
        "regno vrm vrn kfz kfzkennzeichen kennz plaque immat targhe kentekennummer rejestracyjne nrrej tablica "
        "patente_vehiculo matricula_vehiculo registration_plate plateno platenumber tagnumber licenseplatenumber",
        "licenseplate licenceplate numberplate vehicleid vehiclereg platen fahrgestell chassisn kfzkenn placaveic "
        "numerorejestr nrrejestr",
    ),
    concept(
        "account",
        "bank accounts, cards or logins",
        IDENTIFIER,
        4,
        "iban rib login username userid rachunek rachunku rekeningnummer kontonummer swift kreditkarte "
        "kreditkartennummer creditcard debitcard cardno cardnum kartennummer kartennr karty bic sortcode sort_code "
        "accountnumber acctno acctnum accountno bankverbindung bankrekening ccc nib nrb screenname screen_name handle "
        "loginid loginname benutzername gebruikersnaam nomutilisateur nombreusuario nomeutente wallet paypal password "
        "passwort pin_code",
        "bankaccount kontonummer cardnumber creditcardn kreditkartenn username cuentabanc numeroconto nrkonta "
        "rekeningnum numerocompte contocorrente numerorachunku contabanc",
    ),
    concept(
        "licence",
        "licence or certificate numbers",
        IDENTIFIER,
        3,
        "license licence fuhrerschein permis licencia npi drivers licenseno licenceno licensenumber licencenumber "
        "fuhrerscheinnummer rijbewijs rijbewijsnummer dea medicallicense carteira_motorista prawo_jazdy "
        "permiso_conducir patente_guida badge badgeno badgenumber barnumber",
        "licensen licencen driverslic driverlic certificaten lizenznummer fuhrerschein approbation prawojazdy",
    ),
    concept(
        "device",
        "device identifiers or serial numbers",
        IDENTIFIER,
        4,
        "imei imsi udid mac macaddress serialnumber androidid idfa gaid adid advertisingid cookie cookieid macadres "
        "ssid bssid iccid meid hardwareid terminalid seriennr serienr nserie hostname computername devicetoken "
        "pushtoken serienummer numer_seryjny",
        "serialn deviceid devicen deviceserial seriennummer geratenummer implantid implants numeroserie macaddr "
        "pacemakers",
    ),
    concept(
        "url",
        "web addresses",
        IDENTIFIER,
        4,
        "url urls website homepage webpage webseite link facebook linkedin twitter instagram uri www blog sitioweb "
        "siteweb strona github orcid weblink hyperlink permalink tiktok youtube telegram skype",
        "profileurl websiteurl",
    ),
    concept(
        "ip",
        "IP addresses",
        IDENTIFIER,
        4,
        "ip ipv4 ipv6 ipaddress ipadres ipadresse adresseip direccionip indirizzoip enderecoip",
        "ipaddr ipadresse clientip remoteaddr",
    ),
    concept(
        "biometric",
        "biometric identifiers",
        IDENTIFIER,
        4,
        "fingerprint fingerprints iris retina voiceprint faceprint biometric biometrics fingerabdruck empreinte "
        "minutiae huella biometri faceembed facetemplate irisscan irisc retinascan faceid facial voice palmprint "
        "odcisk impronta impronte vingerafdruk huellas gait dnaprofile voiceprints fingerprintid",
    ),
    concept(
        "photo",
        "photos of people",
        IDENTIFIER,
        4,
        "photo photos photograph picture portrait foto bild selfie headshot avatar zdjecie signature unterschrift "
        "image images lichtbild passfoto imagen immagine afbeelding imagem fotografia passbild photourl handtekening "
        "firma_digital podpis assinatura mugshot video",
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
        "maidenname geburtsname nomprenom apellid patronyme patronymic rufname zuname nachnamen vornamen givennames "
        "forenames surnames voorletters voorvoegsel roepnaam geslachtsnaam meisjesnaam familienaam apelido apelidos "
        "nazwiska imienia imieninazwisko imienazwisko cognomenome nomecognome nomecompleto nombrecompleto nomcomplet "
        "nomusage nomnaissance vorundnachname namevorname signatory payee birthname preferredname displayname "
        "realname mothersname fathersname nok nextofkin next_of_kin surnam lastnam firstnam initialen iniziali "
        "iniciales iniciais inicjaly middleinitial playername studentname employeename customername clientname "
        "personname nachn vorn",
    ),
    concept(
        "address",
        "street addresses",
        IDENTIFIER,
        4,
        "street address strasse adresse addresse rue calle direccion via indirizzo straat adres anschrift hausnummer "
        "huisnummer domicilio endereco morada ulica rua logradouro addr adr straatnaam voie paon saon cabin apartment "
        "lieferadresse streetadd homeadd addressline mailingaddress strassenname wohnadresse wohnanschrift hnr hausnr "
        "housename houseno housenumber huisnr flatnumber postfach pobox postbus streetname streetno nomvoie domicile "
        "numerocasa civico numerocivico adresu ulicy zamieszkanie adreszamieszkania nrdomu nrlokalu mieszkania_nr "
        "homeaddress postaladdress mailaddress residentialaddress billingaddress shippingaddress strassennr straatnr "
        "indirizzi via_residenza adressezeile adreszeile calle_numero dom_nr lokal doorno what3words uprn gnaf",
    ),
    concept(
        "text",
        "free text",
        IDENTIFIER,
        3,
        "comment comments note notes remark remarks memo narrative bemerkung bemerkungen anmerkung freitext kommentar "
        "observations remarque commentaire observaciones observacoes comentario nota osservazioni opmerking "
        "opmerkingen toelichting uwagi opis notatka freetext osservazion observacion verbatim verbatims anamnese "
        "anamnesis epikrise befundtext arztbrief testo texto tekst notitie notities bijzonderheden komentarz "
        "komentarze feedback suggestions suggestion beschreibung beschreibungstext freetexts begrundung sachverhalt "
        "tathergang commentaires comentarios commento commenti adnotacje spostrzezenia relato",
    ),
)
KEYS = words(
    "id ids ident identifier identifiant identificador identificativo identyfikator key nr no lp lfd num number "
    "nummer numero numer nro nbr ref reference referenz pseudonym pseudonyme serial serialno matricule matricola "
    "matricula aktenzeichen sygnatura uid guid uuid pk rownum rowid lfdnr kennung kennzahl numb seqno seqn caseid "
    "recordid idno hash encr kenmerk consecutive consecutivo laufende progressivo oid objectid idx historia_clinica "
    "nummern lfdnummer laufnummer lfn folgenummer volgnummer volgnr numordre ordnungsnummer satznummer satznr "
    "belegnummer belegnr kennnummer kennnr kennziffer identnummer identnr identificatie identificatienummer idnummer "
    "identificacion identificacao identificazione folio protocollo protocolo protokollnummer sygn numerazione progr "
    "seqnr token tokenid hashed hashid encrypted anonid anon anonym pseudo pseudoid pseud pseudonymised deidentified "
    "deid rowno rownr rowname rownames rec recno recnum recnr recordno recordnum recordnumber entryid refno refnr "
    "refnum referencia riferimento referentie referencja barcode accession nrs numeros numery identyfikacyjny "
    "matrikel matrikelnummer matrikelnr matnr identity identificant idcode syskey surrogate lfdn porzadkowy ordinal "
    "correlativo prontuario sequencial secuencial sequentiel ewidencyjny legajo ine kolejny"
)
WEAK_KEYS = words("code codes cod kod cd codigo codice kode index")
PEOPLE = words(
    "estudiante estudante alunno legitymacji sujet sujeto soggetto sujeito badanego proefpersoon leistungsempfanger "
    "percettore swiadczeniobiorcy haftling haftlings detenu recluso detenuto gedetineerde preso osadzonego ospite "
    "bewoners morador mieszkanca souscripteur tomador contraente ubezpieczajacego versicherungsnehmer polishouder "
    "kind enfant nino bambino crianca emergency_contact notfallkontakt noodcontact contact_urgence "
    "contacto_emergencia contatto_emergenza contato_emergencia tutor_legal vormund tuteur tutore voogd "
    "studienteilnehmer etudiant etudiante zatrudnionego adherent adherents huurder huurders inquilino locataire "
    "najemcy najemca nutzer gebruiker gebruikers utilizador uzytkownika uzytkownik uczestnika uczestnik partecipante "
    "participante asegurado assicurato segurado ubezpieczonego ubezpieczony werknemer werknemers trabajador salarie "
    "beschaftigten beschaftigte lid lidmaat czlonka czlonek donateur donatore dawcy dawca tater infractor infrator "
    "reo dader sprawcy sprawca persoon persoons personen funcionario angeklagter prevenu acusado indagato verdachte "
    "podejrzany reu angehorige naaste ansprechpartner contact_person contactpersoon kontaktowa nominativo opiekun "
    "responsavel accused plaintiff wife_id attendee traveler traveller guest gast owner proprietario eigentumer "
    "eigenaar wlasciciel holder learner pupil child_id baby newborn mother_id caller recipient refugee asylum "
    "migrant_id soldier veteran_id cardholder insuree policyholder enrollee cohort_member twin sibling_id patient "
    "patients patienten patientin pat paciente paciënt paziente pacjent pacjenta person persons personne personnes "
    "persona persone personas pessoa osoba osoby individual individu individuo indiv ind customer cust client clients "
    "cliente clienti kunde kunden klant klient klienta employee emp mitarbeiter personal pers personeels pracownik "
    "pracownika empleado employe dipendente medewerker user utilisateur usuario subject subj participant teilnehmer "
    "deelnemer respondent resp student stud studente alumno alumna eleve schuler uczen ucznia leerling aluno citizen "
    "burger resident bewohner beneficiary bene benef beneficiaire beneficiario insured versicherten versicherter "
    "versicherte verzekerde assure assistito member membre mitglied socio donor donneur donante doador darczynca "
    "darczyncy spender offender inmate detainee prisoner victim victime suspect defendant proband probanden worker "
    "trabalhador lavoratore passenger applicant bewerber claimant athlete player rider voter tenant mieter impfling "
    "allocataire alloc auteur imputato oskarzony nip encuestado intervistato rinpersoon pid persnr subjectid borrower "
    "debtor mandant dziecka usager candidate candidato historia_clinica pac paz pcte ptnt ptid pnr clt cli cte mbr "
    "memb enrol usubj particip versuchsperson vpnr proefpersonen mitgl kdnr kndnr abonne abonnes abonnent abonado "
    "abonnee assinante abonent abonenta subscriber subscribers contribuyente contribuable contribuente contribuinte "
    "belastingplichtige podatnik podatnika steuerpflichtiger votante elector electeur elettore kiezer wyborca wahler "
    "solicitante demandeur aanvrager requerente richiedente wnioskodawca wnioskodawcy antragsteller huesped passager "
    "pasajero passeggero passagier passageiro pasazer pasazera fahrgast deudor debiteur debitore dluznik dluznika "
    "kreditnehmer kredytobiorca kredytobiorcy emprunteur prestatario mutuatario joueur jugador giocatore speler "
    "jogador gracz zawodnik zawodnika sportler apprenant allievo alumnos discente cursist leerlingen studierende "
    "studierenden testigo temoin zeuge getuige swiadek witness conductor conducteur fahrer autista bestuurder "
    "condutor kierowca kierowcy driver kunde_nr kundin patientinnen bewohnerin klientin pupils learners trainee "
    "apprentice auszubildender azubi lehrling apprenti aprendiz apprendista volunteer freiwilliger benevole "
    "voluntario volontario vrijwilliger wolontariusz wolontariusza jobseeker arbeitssuchender chomeur werkzoekende "
    "bezrobotny bezrobotnego desempleado disoccupato desempregado pensioner rentner retraite_id gepensioneerde emeryt "
    "emeryta pensionista complainant petitioner appellant litigant klager klagerin beklagter demandante demandado "
    "querellante attore convenuto eiser gedaagde powod pozwany autor_reu fluchtling asylant refugie refugiado "
    "rifugiato vluchteling uchodzca buyer kaufer acheteur comprador acquirente koper kupujacy seller_id panelist "
    "panellist paneliste survivor relative relatives kontaktperson ouder ouders elternteil rodzic rodzica "
    "encargado_legal landlord vermieter homeowner_id guest_id hirer renter shopper contributor sponsor godfather "
    "ipp nhc nuhsa sip_paciente empi upn uln msis cdic epjd numero_paziente matricola matricola_paziente nif_utente "
    "swiadczeniobiorca swiadczeniobiorcy ubezpieczony ubezpieczonego zorgvrager relatienummer client_ref favorecido "
    "segurado asegurado assicurato assegurado pensionato leistungsempfanger leistungsberechtigter hilfeempfanger "
    "nameholder consumer consumidor verbraucher albumu indeksu"
)
HOUSEHOLDS = words(
    "gezin gezins nucleo_familiare domicilios domicilio huishoud familiennummer foyer_fiscal unidade_familiar "
    "household haushalt haushalts hh hhid house houseid family famille familia familiar familie famiglia fam rodzina "
    "menage foyer hogar nucleo huishouden gospodarstwo gosp gospodarstwa dwelling vivienda vivi logement profam "
    "nquest nohouse hid couple pedigree questionario rodziny lar hhnr hhno hhnum hhold hshld househld hogares "
    "bedarfsgemeinschaft bedarfsgemeinschaften bg_nummer bgnummer bgnr hhx hhkey hhld hhn gospodarstwie hogar_id "
    "famiglie nucleofamiliare rodziny_nr agregado menages"
)
RECORDS = words(
    "processo processos ricovero internacao hospitalizacji hospitalizacja billet billete biglietto bilhete biletu "
    "datensatz rekordu rekord versicherungsschein probe proben echantillon muestra campione monster amostra probki "
    "polisy apolice sinistro szkody ligne fila riga linha rijnummer wiersza registrering rejestracji iscrizione "
    "inschrijf anmeldung buchung reservation session call message tweet document dokument certificado zertifikat "
    "licenca permit bescheid gutachten befund_nr auftrag auftrags opdracht lieferung shipment delivery_note parcel "
    "donation_no spende einsatz melding meldung zgloszenia zgloszenie sinister proces vorgang vorgangs "
    "geschaftszeichen az ref_dossier row line_no case cases cas fall falle akte akt akten dossier expediente "
    "fascicolo zaak sprawa sprawy record enregistrement registro registration claim clm schaden sinistre siniestro "
    "schade szkoda encounter visit visita wizyta wizyty visite bezoek besuch admission aufnahme sejour ingreso opname "
    "stay episode epi spell hadm event incident incidente accident acc acte order bestell bestellung commande pedido "
    "ordine bestelling zamowienie zamowienia invoice rechnung facture factura fattura faktura transaction trans trx "
    "contract vertrag vertrags contrat contrato contratto umowa umowy loan kredit pret prestamo prestito lening "
    "emprestimo kredytu policy police poliza polizza polis account acct konto compte cuenta conto rekening conta "
    "ticket booking ride trip report complaint cmplnt docket questionnaire fragebogen specimen prescription poe "
    "application wniosek wniosku antrag inscription inscricao certificate observation obs measurement occurrence "
    "ocorrencia bo boletim notification notific verbale rapporto pratica declaration declaratie uitkering swiadczenia "
    "swiadczenie rsa pde don donation appointment rendez termin cita activity caso crime offence arrest stop historia "
    "historial chart mrn icustay karte ksiegi affaire procedura procedimento bestel obito enrollment pharmacy "
    "labevent dn do zlecenie zlecenia skierowanie skierowania verordnungs uberweisung referral verwijzing examination "
    "untersuchungs laudo einweisung autopsy obduktion quittung receipt recu recibo ricevuta paragon rolnummer "
    "parketnummer expedientes nuipc inquerito querella submission interview entrevista intervista wywiad entretien "
    "befragung formular formulaire formulario formulier formularz cuestionario vragenlijst kwestionariusz ankiety "
    "ankieta casefile patientenfall encntr enc kontraktnr kundenauftrag kassenbon bonnummer consult_id consulta_id "
    "atendimento atendimentos aih prontuarios requisicao guia internamento_id episodio episodi episodios scheda "
    "schede pratiche protocolli cartella cartelle sdo praticien_acte rss rum txn zaaknummers dossiers nrsprawy "
    "nrumowy nrpolisy encuesta enquete indagine enquetenummer inquerito_id hospital_number unit_number"
)
# Keys of these belong to one person or household, like a key of people.
HOLDERS = words(
    "konta cuentas account acct konto compte cuenta conto rekening conta policy police poliza polizza polis apolice "
    "contract vertrag contrat contrato contratto umowa umowy loan kredit pret prestamo prestito lening membership "
    "subscription abo abonnement hypothek mortgage policen abonnements prestamos_id umowa_nr"
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
    "pflegende pflegender betreuende behandelnde sachbearbeitung bezugsperson careprof careprofessional keyworker "
    "pflegekraft klassenlehrer verpleegkundige enfermera enfermeiro infermiere infirmiere pielegniarka professeur "
    "professor insegnante leerkracht nauczyciel richter rechter juiz rechtsanwalt advogado adwokat gestionnaire "
    "assistente_social assistente_sociale trabajador_social pracownik_socjalny behandelaar encuestador intervistatore "
    "entrevistador ankieter medico_assistente behandelnder coach trainer supervisor manager vorgesetzter midwife "
    "hebamme dentist zahnarzt pharmacist notary notar prosecutor staatsanwalt clerk adviser advisor inspector arztin "
    "wykonawca operatore funcionaria doctor doctors physician physicians physn medecin medico medica arzt lekarz "
    "lekarza nurse officer agent agente consultant consult practitioner provider prescriber prescrittore caregiver "
    "judge juge juez giudice sedzia lawyer attorney avocat abogado abogada avvocato obronca difensore verteidiger "
    "advocaat teacher lehrer lehrkraft docente enseignant profesor mentor investigator interviewer enqueteur handler "
    "caseworker representative verbalisant lanr attending surgeon sachbearbeiter betreuer tutor counselor therapist "
    "arts huisarts zorgverlener encarregado erziehungsberechtigte guardian invnam policeman polizist respondente "
    "operator gp anesthetist anaesthetist radiologist pathologist referrer technician paramedic cashier salesperson "
    "salesman salesrep verkaufer vendedor vendeur venditore verkoper sprzedawca kassierer caissier cajero cassiere "
    "kasjer instructor instructors lecturer dozent dozentin examiner prufer correcteur assessor reviewer gutachter "
    "rater evaluator grader auditor enumerator enquetrice encuestadora policier poliziotto politieagent policial "
    "policjant funkcjonariusz funkcjonariusza beamter procureur procuratore prokurator prokuratora promotor advokat "
    "anwalt anwaltin notaire notaris notaio notariusz hausarzt hausarztin verpleger krankenschwester pfleger "
    "pflegerin infirmier enfermero infermiera enfermeira pielegniarki ostetrica matrona polozna poloznej "
    "verloskundige farmacista farmaceuta pharmacien psicologo psychologist psychologue psycholoog terapeuta therapeut "
    "fisioterapeuta kurator kuratora bewindvoerder profesora maestra maestro insegnanti docenti docent nauczyciela "
    "wychowawca wychowawcy kierownik kierownika przelozony przelozonego jefe chefe capo responsabile superviseur "
    "gerente direttore directeur dyrektor lehrerin lehrername lehrkrafte facharzt oberarzt chirurg chirurgo cirurgiao "
    "cirujano chirurgien dottore dottoressa medici medicos lekarze arzte physiotherapist socialworker "
    "probation_officer caseofficer bearbeiter mitarbeiter_kurzel bearbeitername erfasser rapporteur examinateur "
    "examinador esaminatore examinator egzaminator toetser staff signedby enteredby createdby performedby orderedby "
    "recordedby reportedby_name collectedby entered_by created_by performed_by ordered_by recorded_by collected_by "
    "signed_by treated_by interviewername intnr enqueteurs tutor_name wachtmeister kommissar commissario inspecteur "
    "inspektor ispettore magistrat magistrato magistrado"
)
# Next to one of these words, a word such as account or vehicle names a property that many people share.
ATTRIBUTES = words(
    "type types class category categoria categorie kategorie status stat kind flag count model brand opt typ tipo art "
    "soort gruppe group grp level color colour make anzahl has is preferred manufacturer language size quality desc "
    "description descr descripcion specialty speciality rodzaj ilosc liczba aantal nombre_de days day mode own grade "
    "score rate reason result outcome stato estado etat zustand toestand stan stadium"
)
COUNTS = words("num number n nb nbr no count cnt anzahl aantal liczba nro qtd qty cant anz tot total numero")
# Words without a meaning of their own, which help to split compounds.
FILLERS = words(
    "primer primero primeiro primo secondo segundo segunda numero_de gesamt haupt neben ersten zweite autre otro "
    "altro andere inny drugi anderen monats jahres tages mae pai mother father mere pere madre padre mutter vater "
    "moeder vader matki ojca mom dad mum spouse husband wife use used test tests tst yn fl ind cat grp new old main "
    "primary principal secondary total avg max min mean log per unique system full part list table unit general "
    "detail details info other ever first last current previous original originally standing text txt val mode source "
    "dest org type typ cnt amount_of sum pct percent ratio share basis base gen und des del der den die das les von "
    "van ing fin ini nat res ocor occ ent sor mod situation clase social totaal totale totaux gesamte lacznie active "
    "actual free open closed public private services servicio servizio dienst usluga special standard high low normal "
    "good bad left right upper lower before after prior next past future annual monthly weekly daily yearly jahrlich "
    "monatlich mensuel mensuelle anual mensile annuo annuale maandelijks jaarlijks miesieczny roczny initial actuel "
    "actuelle attuale huidig atual obecny aktuell neu nuevo nuovo nieuw novo nowy national nationale nazionale "
    "nacional krajowy internet online digital length callee phone_service higher manual automatic "
    "percentage voicemail dwell pages"
)
