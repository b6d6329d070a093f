"""Words of column names for what others may know of people, and for facts of the data collection.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept
from shoal.schema import Role

__all__ = ["QIS", "TECHNICALS"]

QI = Role.QI
# In the order in which others plausibly know them: a table gets at most the first twelve.
QIS = (
    concept(
        "birth",
        "birth",
        QI,
        5,
        "birth dob yob born birthday bdate birthdate birthyear birthyr brth gebdat geboren geb gebjahr gebjaar "
        "naissance naiss nais nai nacimiento nac nacido nascita nasc nascimento dtnasc anasc nascido geboorte "
        "geboortejaar fodelse urodzenia urodzenie ur urodz ybirth nascim mbirth geburt nacimi brthdt",
    ),
    concept(
        "age",
        "age",
        QI,
        4,
        "age ages aged agep agegroup agegrp alter edad eta idade leeftijd alder wiek wieku ageyears agey ageyr age_yrs "
        "altersgruppe agecat agestart ageadmit agerelease agev xage hgage faixaetaria ageentry midage highage studage "
        "agemth chldage onsetage faixa etaria lage senior minor idademae agege agegr ageat altersgr",
    ),
    concept(
        "sex",
        "sex",
        QI,
        4,
        "gndr gendr mujer hombre uomo donna mann frau kobieta mezczyzna sex gender geschlecht geschl sexe sexo sesso "
        "geslacht kon kjonn genero plec plci male female males sexvar anrede salutation genre sexecod femme homme "
        "women men maennlich weiblich sexopess",
        coded=True,
    ),
    concept(
        "zip",
        "postal codes",
        QI,
        5,
        "zip zipcode zip3 zip5 postcode postcode4 postal plz postleitzahl npa cep cod_post post_code code_post codpost "
        "codepostal cpostal pocztowy postnr pc4 pc6 cap codpostal cdpostal postalcode codigopostal postnummer "
        "postalzone kodpocztowy",
        coded=True,
    ),
    concept(
        "place",
        "places",
        QI,
        4,
        "city town county cnty district state province provincia prov region regione region_ municipality munic mun "
        "municipio muni gemeindegrosse municip village canton kanton cant ort stadt gemeinde bundesland kreis "
        "landkreis wohnort land_ ville commune comuna departement dept_ dep depart dpt dpto depto comune citta ciudad "
        "cidade municipality_code stad gemeente gemeentecode woonplaats plaats miasto miejscowosc miejscowosci gmina "
        "powiat woj wojewodztwo dzielnica country cntry land pays pais paese kraj latitude longitude lat latitud "
        "longitud latitudine longitudine lng lon latlng gps coordinate coordinates location locality neighborhood "
        "neighbourhood barrio bairro quartier wijk tract fips lsoa msoa oa msa ward suburb residence resid residenza "
        "residencia residenc residential parish precinct boro borough locale postal_area teryt concelho freguesia "
        "distrito ccaa uf regmf ireg regio imd stratum_geo urban rural urbanrural metro sted community_area lieu luogo "
        "lugar distance_home entidad municip_res sector_censal seccion codmun codmunres locnasc lococor address_area "
        "domain_geo dominio census easting northing linrefx linrefy crossstreet zamieszkania kod_teryt venue "
        "birthplace naturalidade naturalita nativecountry wojewodz miejscow coordinat neighbo cell_id cell_tower "
        "cell_site cell_name cell_sector cell_lac lac tower tower_id base_station antenna antenna_id funkzelle "
        "funkzellen id_cellule cellule_id id_celda celda_id id_cella cella_id zellen_id zell_id police_beat",
        coded=True,
    ),
    concept(
        "place",
        "places",
        QI,
        1,
        "home from area long km st com reg block east west north south station stations place natural comm cross geo "
        "beat",
        coded=True,
    ),
    concept(
        "origin",
        "nationality, origin or language",
        QI,
        4,
        "etnische etniczna etniczny ethnische ojczysty materna maternelle moedertaal tongue born_country racethx immig "
        "langn nationality nat natio citizenship citizen_status cit nation native race races racial racecode racacor "
        "raca cor etn raza ethnicity ethnic ethn eth ethnos ethnicgroup ethnie etnia etniciteit descent herkunft "
        "herkomst language lang langue sprache muttersprache idioma lengua lingua taal jezyk hispanic tribe caste "
        "nationalite nacionalidad nacionalidade nazionalita nationalitat nationaliteit staatsangehorigkeit staatsang "
        "cittadinanza cittadino obywatelstwo narodowosc foreign foreigner auslander black white asian hispanic_origin "
        "indigenous indig immigrant immigration imm migrant migration migrationshintergrund aboriginal minority "
        "ancestry german natural_de origine origin nfr hawaiian nonwhite nationalit etnic cittadin obywatel hispan",
        coded=True,
    ),
    concept(
        "family",
        "family status",
        QI,
        4,
        "marry marsts mar_stat marital_cat marital married marriage marstat marit mar civil civilstatus familienstand "
        "relationship relation spouse civilstand mstat marsta mrcurr matri etatcivil conjugal conjoint couple "
        "estadocivil estciv statocivile staciv stciv burgerlijke burgstat cywilny cywilnego divorced widowed partner "
        "pstatus situation_familiale single parent parents parentesco parentela guardian kinship pokrewienstwo "
        "leefvorm evermarried cohabiting maried personal_status maritalst stancyw situationfamil parentes",
        coded=True,
    ),
    concept(
        "education",
        "education",
        QI,
        4,
        "eduyrs educyr educat schooljahre lata_nauki jahre_bildung education educ educa edu educd bildung schooling "
        "schl abschluss schulabschluss schulbildung educacion formation diplome dipl dip istruzione istr titolo "
        "utbildning opleiding opleidingsniveau oplmet qualification qualifications qual studies estudios "
        "nivel_estudios studio etudes instruction instrucao instruccion instru grau escolaridade esc escol escolaridad "
        "scolarite wyksztalcenie wykszt scol isced hgc edhigh edhigh1 escmae medu fedu highschool college ausbildung "
        "yearsofschool yschool educdec school_years schooltype major klasse klasa klas classe turma grade_level "
        "homeroom gradelevel kollege diploma credential lesen_schreiben literacy schulab escolarid wyksztalc istruzion "
        "instruc educac",
    ),
    concept(
        "work",
        "work",
        QI,
        3,
        "division mansione arbeitsort arbeitsplatz werkplek workplace beschaeftigung beschaftigung staz staz_pracy "
        "hisei isei mnactic betriebs betrieb laboral arbeidssituatie arbeid situacao_profissional profissional "
        "professionelle zatrudnionego situacion_laboral beroepsgroep functieniveau stelle dienststellung "
        "besoldungsgruppe trade career arbeitszeitmodell wirtschaftszweig branche_code occupation occup occp occ ocup "
        "job jobs profession beruf employer workclass industry ind position poste department dept branche metier "
        "profesion ocupacion ocupacao profissao professione yrke beroep rank sector company arbeitgeber isco isco08 "
        "soc nace naics sic taetigkeit tatigkeit stellung funktion functie funzione fonction function stanowisko zawod "
        "cargo emploi empleo employment employed employ employ1 emplst empl unemployed wrkstat work working lfstat "
        "laborforce lfp labour labor esr erwerb erwerbsstatus erwerbstatig situacao_trabalho trabajo trabalho "
        "trabalhou lavoro condizione praca pracy zatrudnienie zatrudnienia zatrudnienia_data acteu pcs csp csp_parent "
        "categorie_pro naf pkd cnae cbo situ belbezig dienstverband contractsoort soortbaan afdeling abteilung dzial "
        "kostenstelle title jobrole joblevel role team bluecol selfemp self esdtl lavorativa qualifica livello "
        "categoria_profesional veteran military hobby hobbies tenure experience exper exp seniority eintritt "
        "assunzione embauche contrato_fecha anciennete noemp settore attivita ateco businesstravel overtime farm "
        "status_zawodowy statuszawodowy mjob fjob centro_trabajo employee_type organization_type socprof zatrudn "
        "ocupac beschaftig emp_length emp_len employment_length length_of_service length_of_employment years_employed",
        coded=True,
    ),
    concept("degree", "education", QI, 1, "degree grade grades"),
    concept(
        "kin",
        "household and children",
        QI,
        4,
        "hhmmb familiengrosse geschwister alleinerziehend nucleo_familiare hhmembers persons_in_household children "
        "child childs kinder kids hijos enfants enf figli filhos dzieci kinderen dependents dependants siblings sibsp "
        "parch sibs nsibs nchild numkids nbenf nbenfants famsize hhsize hhsiz householdsize household haushalt "
        "haushaltsgrosse hushold aantalhh aantalki rodzenstwa rodzenstwo komp ncomp nadults size_family lfam "
        "fam_members hhtype typmen typmen7 positie parity_children kinderfreibetrag_anzahl family_size childnum hh "
        "family familysize relationship_hoh numberofch anzahlkind haushaltsgr kinderzahl rodzenst",
    ),
    concept(
        "housing",
        "housing, vehicles or travel",
        QI,
        2,
        "wohnform moradia mieszkania woningtype huisvesting housing home_ownership homeownership homeown dwelling "
        "tenancy owned ownrent ownership occupancy wohneigentum wohnflache wohnung logement lodging vivienda casa "
        "abitazione woning woonvorm mieszkanie habitacao rooms property proprietaire room zimmer own own_car car cars "
        "fahrzeug realty building living_area car_make vehicle_make vehicle_model vehicle_color pclass cabin_class "
        "embarked ticketclass travel traveltime commute transport trans_work wohneigen homeowner householdten",
    ),
    concept(
        "body",
        "visible traits of the body",
        QI,
        3,
        "koerpergroesse korpergrosse altezza lichaamslengte poids_corporel bmi height weight lwt bwt birthweight "
        "bweight grosse gewicht hair eye eyes taille poids altura estatura peso waga_ciala wzrost lengte gewicht_kg "
        "tattoo talla statura handedness hand hnd childheight midparentheight father mother bodyweight wt ht weightkg "
        "heightcm korpergr eyecol haircol bodyheight masaciala body_length birth_length",
    ),
    concept(
        "hours",
        "working hours",
        QI,
        4,
        "hours hrs hrs1 stunden wochenstunden arbeitszeit heures horas uren ore godziny hhc basisuren tatzeit "
        "weekhours hoursper wochenstund",
    ),
    concept(
        "organisation",
        "places where a person is seen",
        QI,
        2,
        "ospedale swiadczeniodawca swiadczeniodawcy hospital hosp klinik krankenhaus clinic ward wardid careunit "
        "center centre centro site siteid facility institution institut inst instelling etablissement etab estab "
        "school schid schule ecole escuela scuola szkola escola university practice praktijk gpprac procode caresite "
        "location_id ziekenhuis szpital tribunal tribunale court gericht sad juzgado rechtbank bank agency filing "
        "employer_id store prvdr org organization farmacia codestab unittype orgtype office circuit asl sede reparto "
        "dipartimento depttype department_name impfort hospitaln",
        coded=True,
    ),
    concept(
        "time",
        "points in time",
        QI,
        2,
        "date dates dat datum data fecha fec dt dtc day jour dia giorno dag dzien admission admit admidate admyr visit "
        "death died dod dth_date deces decesso obito def_ year years yr jahr jaar rok annee ano anyo anno month monat "
        "mois mes mese maand miesiac timestamp time zeit uhrzeit hora ora heure tijd uur godzina hour tm start "
        "starttime stop endtime end begin since seit desde depuis dal sinds weekday wochentag semana week death_date "
        "date_of_death onset diagyr dxyr entry exit arrival departure started ended pickup dropoff issue approval "
        "filed datetime",
    ),
)
TECHNICALS = (
    concept(
        "technical",
        "a fact of the data collection",
        Role.INSENSITIVE,
        2,
        "wave welle vague oleada onda golf fala version ver unit units uom valueuom einheit unidade unidad unita "
        "jednostka eenheid seq seqnum seqno_ sequence position line lineno domain studyid study operator warning error "
        "storetime created updated modified export exportid load loaded source source_type flagmissing ref_range range "
        "rangelow rangehigh range_low range_high priority batch lot segment segment_no reportedby fallswithin "
        "record_status context period periode periodo round runde kwartal quarter quartal trimestre trim trimester "
        "vendor rate_code sms survey sample_year survyr psu strata stratum level_of item itemno trial trials visitnum "
        "visit_number campaign pdays poutcome contact previous wetter weather meteo meteorologia licht lighting "
        "surface chaussee fondo intersezione intersection road gewicht_typ qty quantity quantita quantidade menge "
        "quantite hoeveelheid ilosc stockcode description_product artikel article product productid movie movieid gear "
        "materia asignatura disciplina przedmiot vak fach subject_taught course module codemodule presentation "
        "paperless contract_type internetservice phoneservice retoure article_id",
        coded=True,
    ),
)
