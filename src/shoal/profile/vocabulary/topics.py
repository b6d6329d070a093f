"""Words of column names for what is sensitive about people.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept
from shoal.schema import Kind, Role

__all__ = ["SENSITIVES"]

SENSITIVE = Role.SENSITIVE
HEALTH = "health or care"
MONEY = "income, payments or wealth"
CRIME = "offences, sentences or victims"
SENSITIVES = (
    concept(
        "health",
        HEALTH,
        SENSITIVE,
        3,
        "behandelgroep leczenia leczen dosierung dosaggio dosagem complaint complaints beschwerden dolencia "
        "disturbo disturbi queixa queixas dolegliwosc dolegliwosci sanguigno sanguineo bloedgroep krwi vih "
        "dependance dependencia abhangigkeit zorgzwaarte opieki herido drogenkonsum konsum drogues droghe drugs_use "
        "drugsgebruik narkotyki uso_drogas consumo stationar ambulant ricoverato ricoverati ziekenhuisopname "
        "internado hospitalizado hospitalise hospitalizowany szczepionka laboratoryjny laboratorio labo labwaarde "
        "intensiv reanimation reanimacion oiom intensivtage terapii mediche medicas mediques arztbesuche "
        "doktersbezoeken lekarskie psychische psichica mentale mental_health psychiczne krankheitsbild pflegebedarf "
        "erkrankt convalescence wizyty_lekarskie therapieform narkose schmerzmittel antibiotic antibiotics "
        "analgesic opioid psychotropic operacja operacion operatie operacao opname site_of_tumor stage_group ajcc "
        "laterality histologic histological pathologic pathology survival_months her2 tumor_size autism autismo "
        "surdez deafness visao cecidade baixa niezdolnosci niezdolnosc urazu urazy wypadku skutek absencji absencja "
        "necessidade especial verletzungsart korperteil mde angina chd hyp hypertensive bpmeds cig cigarettes "
        "cigpday smk smkev depev canev anxiety_ev frailty grip eurod diab chronic_mod phstat rthlth mnhlth hlt "
        "ever_smoked packyears impairment psychosocial eingriff eingriffe operiert acte_medical intervencion "
        "intervenciones ingreep ingrepen cirurgia cirurgias remedio remedios raucher fumador fumatore roker fumante "
        "palenie palacz enceinte embarazada incinta embarazo gravida internamento pobyt pobytu baja chorobowe "
        "choroby schweregrad gravedad testergebnis ergebnis laborwert laborwerte fachabteilung specjalizacja "
        "specjalnosc geneesmiddel geneesmiddelen krankschreibung liegedauer ligduur arbeitsunfahigkeit au_tage "
        "erwerbsminderung berufskrankheit rehabilitation reha psychotherapie seelisch nervous symptomen tobacco "
        "cannabis cocaine heroin addiction dependence suicide self_harm hearing_loss vision_loss blind deaf "
        "wheelchair medical clinical clinic_code patholog patologie tumore tumori nowotwor cancro kanker krebs "
        "cukrzyca diabetico nadcisnienie zawal infarct infarto infarctus herzinfarkt hartinfarct avc ictus udar "
        "beroerte schlaganfall befund verordnung pflegestufe heilmittel krankenstand krankheitstage allergien "
        "unfallschwere verletzt verletzung verunglueckte getotet schmerz schmerzen prozedur ops rezept blutgruppe "
        "sucht drogen wirkstoff soins ordonnance medicament medicaments posologie hospitalisation hospitalisations "
        "urgence urgences blesses tues invalide ald accouchement tabac antecedents prestation prestations gravite "
        "conge arret aptitude enfermedades fallecidos heridos dosis medicamento medicamentos farmacos alergia "
        "alergias urgencias cirugia causa secuelas drogas vacunas ricovero dimissione intervento interventi "
        "prestazioni ferito patologia esame referto allergia decessi soccorso vaccino gravidanza verrichting "
        "behandeling medicatie medicijn medicijnen zorg klacht klachten gewond dood zwanger beperking aandoening "
        "ernst oorzaak indicatie internacao doencas exame ferido gravidade afastamento atestado leczenie zabieg "
        "przyczyna wypis przyjecie dawka objaw badanie ciaza uraz ranny zabity hospitalizacja hospitalizacji "
        "orzeczenie zwolnienie ciezkosc leku lekow assist assistance assistenza indication indikation alc overdose "
        "procedury procedura prestatie prestatiecode disea seizures relapse remission death_cause disease diseases "
        "diagnosis diagnoses diagnose diag dx dgn dgns icd icd9 icd10 icpc illness condition conditions symptom "
        "symptoms symptome sintomas sintomi objawy treatment treatments therapy therapie terapia tratamiento "
        "tratamento traitement trattamento trt rx medication medications medicine drug drugs med meds prescription "
        "prescrib prescricao receta ricetta recepta procedure procedures prcdr proc procedimiento procedimento "
        "surgery surg surgical operation opertn krankheit maladie enfermedad malattia ziekte choroba doenca sjukdom "
        "diagnostic diagnostico diagnosi rozpoznanie hiv aids cancer tumor tumour tumeur carcinoma disability disab "
        "disabled handicap behinderung schwerbehinderung discapacidad invalidita invalidite deficiencia defic "
        "niepelnosprawnosc pregnancy pregnant pregnancies preg gravidez schwanger grossesse comorbidity comorbidita "
        "medcond specialty speciality especialidad especialidade specialita specialite specialisme spef anomal acid "
        "acidente chronic cronico croni physical phys exercise exer diet strength route investigation invest health "
        "hlth sante salud salute gesundheit gezondheid zdrowie zdrowia saude smoke smoker smoking smok fumo fumeur "
        "tabaco tabaquismo rauchen papierosy roken alcohol alkohol alcool alcoholism drinking drinks obesity "
        "obesidad diabetes diabete diabetic stroke asthma asma hypertension hipertension hipertensao hyperten "
        "epilepsy seizure depression depress mental anxiety psych dementia alzheimer infection infect infct covid "
        "vaccine vaccination vaccinated vaccinato vax impfstoff impfung vacuna vaccin vacina szczepienie allergy "
        "allergies allergie injury injured injuries inj lesion lesiones letsel wound ranni rannych feriti blesse "
        "grav hurt fever febre fiebre cough dolor pain transplant dialysis radiation chemo tnm stage morphology "
        "morphologie grading nodes metastasis histology histol gene genotype allele allel apoe snp locus mutation "
        "genetic dna atc ndc gsn pharm farmaco farmaci leki lek dose dosage dosering drg ghm ghs gop gdrg ebm hcpcs "
        "cpt apache severity severe icu uci intubado neumonia pneumonia epoc copd inmusupr renal kidney chf esrd ra "
        "ihd cvd heart cardiac hospitalized hospitaliz ospedalizzazione hospitalizacao hospdays los verweildauer "
        "beatmung beatmungsstunden opnameduur estancia degenza sejournbj ill sick sickness krank fehltage malattie "
        "ziekteverzuim verzuim arretmaladie zwolnienia bajas adverse ae aeterm reaction nebenwirkung side "
        "readmitted readmission mortality gestacao gestation parto delivery birthdefect anomaly apgar gestant "
        "epilepsie dyslexia dyslexie dsa ulcer thickness steroids inherit outpatient inpatient emergency insulin "
        "metformin glucose glucemia condom contraception abortion fertility parity sexual orientation hospadmi "
        "actdays medicaid medicare pflegegrad care pflege sturz fall_down medikation medikament labor lab labs "
        "biopsy exam exposure contraindication esenzione bloodtype blood groupesanguin sanguin causabas necropsia "
        "linhaa sintoma mialgia cefaleia vomito nausea rash itch diagnos erkrankung behandlung labresult testresult "
        "causeofdeath todesursache psychiatr behinder diabet hipertens hypertens rozpozna arbeitsunfah impf sintom "
        "morbid hospitalis ospedaliz arbeidsongeschikt specjaln krankenh niepelnospraw discapac gezond gesund "
        "infecci infezion krankheits diagnost causebas causaba pneumo psychol",
    ),
    concept(
        "vital",
        "measurements of health",
        SENSITIVE,
        3,
        "presion pressione pressao arterial arterielle arteriosa glucosa glicemia glicose blutzucker bloedsuiker "
        "cukier glycemie herzfrequenz frequence_cardiaque frecuencia_cardiaca frequenza_cardiaca "
        "frequencia_cardiaca cardiaque cardiaca hartslag tetno saturation sauerstoff korpertemperatur febbre koorts "
        "goraczka temperatura colesterol colesterolo cholesterin ureum urea thyroid tsh vitamin lungenfunktion "
        "spirometrie ekg ecg_result pressure blutdruck bp sbp dbp tension tensione bloeddruk cisnienie pulse puls "
        "heartrate hba1c a1c chol cholesterol hdl ldl triglycerides trig platelet plt hemoglobin hemoglobine hgb hb "
        "albumin albumine creatinine creat bilirubin bili ast alt alk crp leukocytes wbc rbc psa ecg restecg spo2 "
        "oxygen temperature temperatur respiration fev1 karno ecog score_pain updrs mmse glycemia glu serum urine "
        "spirometry protime copper edema ascites hepato bloodpressure skinthickness calories calorie cal vital vs "
        "labs hematocrit sodium potassium insulinlevel pedigree_function bloodpress cholest hemoglob creatin "
        "tensionart glucose glyc",
    ),
    concept(
        "money",
        MONEY,
        SENSITIVE,
        5,
        "income incomes inc salary salaries wage wages earnings earning earn einkommen gehalt bruttogehalt "
        "salarisschaal sal nettoeinkommen lohn salaire salaires revenu revenus ingreso_s ingresos sueldo salario "
        "salarial stipendio reddito redditi inkomen inkomst renda rendimento remuner remun remuneracao remuneracion "
        "retribuzione retribution remuneration nomina dochod dochody dochodu wynagrodzenie zarobki pensja loon "
        "brutoloon salaris brutosalaris nettosalaris brutoink nettoink entgelt entgeltgruppe bezuge verdienst "
        "faminc hhinc linc rincome earnweek lwage logwage ressources ressource wealth vermogen patrimonio networth "
        "debt debts schulden dette deuda debito schuld dlug restschuld ingresho ingrh capitalgain capitalloss "
        "wynagrodz reddit stipend lohnst ressourc",
    ),
    concept(
        "payment",
        MONEY,
        SENSITIVE,
        2,
        "schadenhohe premio_assicurativo assicurativo gratificacion gratificacao premia premio einkaufswert "
        "kaufpreis ahorros ahorro risparmi risparmio spaargeld poupanca oszczednosci ausgaben uitgaven wydatki "
        "kredietlimiet kreditrahmen immobilienwert wert waarde valeur valore woningwaarde imposition aliquota "
        "belasting belastingschijf podatek podatkowy podatku impot impots imposto impuesto insolvenza insolvency "
        "insolvent inadimplente zaleglosci zaleglosc prestacion prestaciones_tipo zasilku desempleo disoccupazione "
        "chomage unemployment_benefit unemployed_benefit ww desemprego nieruchomosci immobile imovel inmueble konta "
        "emprestimo zakupu acquisto achat compra aankoop plafond overdraft utilization franchise indemnise "
        "indemnisation bonus_malus malus garantie isee podstawa_wymiaru terugvordering toegekend swiadczenia_rodzaj "
        "bond bail_amount late_payments dayslate past_due_days apr real_estate_loans hheink stated_income "
        "poverty_cat pov povcat inscov hicov coverage_type toetsingsinkomen zwrot refund surcharge monatsrate "
        "darlehen darlehensbetrag aluguel retraite aposentadoria overdue past_due mora ritardo achterstand atraso "
        "opoznienia opoznienie retard_paiement pozyczka pozyczki leenbedrag maandbedrag stopa juros taxa_juros "
        "kaltmiete warmmiete huurprijs nebenkosten leistungsbetrag leistungen zuzahlung eigenanteil "
        "selbstbeteiligung unterhalt alimony alimente kindergeld elterngeld arbeitslosengeld burgergeld sozialhilfe "
        "bijstand wohngeld prestaciones bono bonus provision commission comision provvigione premium_amount umsatz "
        "rechnungsbetrag zuschuss beitrag tilgung cotisation depense depenses indemnite indemnites encours impaye "
        "impayes gasto gastos subsidio ayuda pension pensione pensioen pensao pensiones indemnizacion spesa spese "
        "contributo sussidio fido inkomsten toeslag hypotheek despesa despesas divida beneficio parcela koszty "
        "zasilek emerytura renta skladka oplata zadluzenie sposob_platnosci points_loan chg_off turnover_amount "
        "umsatze guthaben mahnung inkasso kwoty zinsen pret_montant rimborso sovvenzione restitution prets amount "
        "amounts amt amnt betrag bedrag montant mnt importe importo montante kwota valor val vlr vl wartosc balance "
        "bal saldo solde loan loans kredit kredyt kredytu credit credits credito pret prestamo prestito lening "
        "hypothek mortgage hipoteca mutuo installment installments instalment rata rate_amount mensualite cuota "
        "prestacao prestazione interest int_rate zins zinssatz taux tasso interes oprocentowanie rente price preis "
        "prix precio prezzo prijs cena einzelpreis unitprice fare payment payments paid pay pmt paiement pago "
        "pagamento betaling zahlung zahlungsart platnosc platnosci wplata tip tips bill bills bill_amt reimb "
        "reimburse reimbursement remb rem erstattung vergoed premium pramie prime prima premie dti ltv oltv upb "
        "fico cscore schufa default delinq delinquency dlq arrears impagos impago verzug zahlungsverzug "
        "incumprimento sofferenza sconfinamento accordato utilizzato taxes tax steuerklasse steuer irpf benefit "
        "benefits allocation aide rsa_mnt allowance welfare scholarship bourse boursier beca becario stipendium "
        "award deductible deductable excess coinsurance copay ticket_amount expense expenses expenditure "
        "expenditures totexp spending gross net brutto netto bruto savings ersparnis epargne deposit stock "
        "investment assets property_value rent miete loyer alquiler affitto huur czynsz mietkosten annuity term "
        "tenor laufzeit plazo duree_credit okres capital disbursement chgoff grade_loan purpose fraud coverage cov "
        "insurance insur assurance mutuelle versicherung kasse krankenkasse seguro assicurazione ubezpieczenie "
        "verzekering payer pyr poverty povert freelunch lunch escalao uitkeringsbedrag eigen risico taxa moderadora "
        "dol outpdol inpdol meddol ddctbl cst cash fee fees fine multa tariff limit rate_paid hourly_rate "
        "daily_rate hourlyrate dailyrate orig_rate guarantee garanzia rating_credit conforming denial action_taken "
        "churn creditscore creditamount kontostand kreditbetrag bilanz uitkering mensual zahlungs reimburs "
        "krankenkass restschuld oprocent sconfin",
    ),
    concept(
        "cost",
        MONEY,
        SENSITIVE,
        2,
        "charge charges cost costs kosten costo coste costi custo cout couts koszt koszty tarif",
        kind=Kind.NUMERIC,
    ),
    concept("charge", CRIME, SENSITIVE, 2, "charge charges", kind=Kind.CATEGORICAL),
    concept(
        "belief",
        "religion, politics or trade union",
        SENSITIVE,
        4,
        "politikinteresse politique politieke polityka politycznego interes_politica political_interest confesion "
        "geloof geloofsovertuiging wyznanie credo stemgedrag stem syndique syndicalise sindicalizado afiliado "
        "iscritto vakbondslid partei_praeferenz election elections votado wyborcze glosowanie worship mosque "
        "religion religions religious relig religia religiao religione konfession confession kirche church faith "
        "glaube belief beliefs politics political polviews partyid party partei parti partito partido partia vote "
        "voted voting vote92 voto wahl wahlabsicht intencion recuerdo ideology ideol ideologia union unions "
        "gewerkschaft syndicat sindacato sindical sindicato vakbond zwiazkowa zwiazek croyance godsdienst kerk "
        "attend praktyki polint abortion_view attitude attitudes opinion trust religi politic tradeunion "
        "weltanschauung gewerksch sindac syndic zwiazkow",
    ),
    concept(
        "life",
        "sexual life or family planning",
        SENSITIVE,
        5,
        "sexuelle sexuelles sessuale seksuele seksualna orientierung orientamento gerichtheid orientacion "
        "orientacao orientacja orientation homosex homosexual lgbt npartner partners_sexual affairs romantic "
        "sexuality sexualor sexlife sexualit",
    ),
    concept(
        "crime",
        CRIME,
        SENSITIVE,
        3,
        "violazione violazioni overtreding wykroczenia wykroczenie tatwaffe waffe arme arma armas wapen bron "
        "uitspraak judicial judiciaire court_decision decision_tribunal gerichtsentscheidung orzeczenie_sadu "
        "rechterlijke convicts convict_status vorbestraft antecedents_judiciaires antecedentes_penales "
        "precedenti_penali antecedentes_criminais karalnosc haftdauer strafduur kary penal penale penales criminais "
        "judiciaires tatverdachtiger bewahrungshilfe mandato ordinanza delikt tat tatverdacht tatvorwurf strafe "
        "haft verurteilung opfer anklage verstoss bussgeld condamnation condamnations victime plainte amende garde "
        "condenas sentencia victima victimas denuncia multas agresor agresion medida condanna vittima imputazione "
        "sanzione sanzioni delict straf veroordeling slachtoffer verdachte aangifte boete feit delitos condenacao "
        "vitima natureza skazanie ofiara zarzut mandat artykul felonies prison_term inmate_status bail custody "
        "sanction offender_type victim_type assault homicide theft burglary robbery fraud_flag crime crimes "
        "conviction convictions convicted verdict sentence sentences sentlgth sentenced offence offense offences "
        "offenses ofns arrest arrests arrested straftat straftaten urteil strafmass vorstrafen vorstrafe delit "
        "delito reato reati misdrijf przestepstwo czyn kara karany wyrok pena peine condena infraction infrazione "
        "infraccion infracao natinf recidivism recidive recidiva reincidence prior_convictions felony misd "
        "misdemeanor jail prison parole probation bewahrung sospensione juv violation violations citation "
        "contraband search statute paragraph iucr fbi law legislation legal jurisdiction nos weapon drugtest "
        "victimization victimized relacion_agresor judgment judgement recovery articolo punti_decurtati "
        "kwalifikacja rubrica quantum domestic abuse violence timesrvd timeserved suspended discipline expelled "
        "hearing disposition_code demanded amtrec nietrzezwosc nietrzezwosci drunk risk_level ucr criminal convict "
        "offens offenc misdrij przestep recidiv",
    ),
    concept(
        "mark",
        "marks or assessments",
        SENSITIVE,
        3,
        "puntaje punteggi riesgo rischio risico risco ryzyka riziko risiko pontuacao wskaznik desempeno desempenho "
        "valutazione avaliacao functioneringsoordeel oordeel pracownicza leistungsbeurteilung fehlgrund risk "
        "pv1math plausible_value repeat repeated_grade math reading science mathe lesen abschlussnote endnote "
        "final_grade final_mark grade_point eindcijfer ausencias afwezigheid ausenze nota_final calificacion_final "
        "versaumnisse zeugnisnote prufung prufungsergebnis examen esame_voto egzamin toets punkte puntos punti "
        "punten punkty pontos points zensur zensuren zeugnis leistung calificacion calificaciones resultaat "
        "notendurchschnitt durchschnittsnote promedio media_voti gemiddelde srednia aproveitamento conduct "
        "behaviour behavior motivation proficiency achievement score scores scoring mark marks note_ nota notas "
        "note noten noteneng voto voti cijfer cijfers ocena oceny ocene gpa gradepoint exam_score sat satv satq "
        "act_score iq iqscore kww rating ratings performance moyenne decile_score failures failed absences absence "
        "absent absenze assenze faltas nieobecnosci fehlstunden retard redacao punteggio puntuacion punktzahl "
        "result_exam satisfaction satisfied happy happiness zufriedenheit zadowolenie soddisfazione satisfaccion "
        "tevredenheid losat ghq stress anger attrition dropout specialed ell iep foerderbedarf foerder forder "
        "disciplinary turnover evaluation bewertung beurteilung beoordeling mathlevel vocabulary satisfac zufried "
        "soddisf tevreden zadowol fehlstund",
    ),
    concept(
        "outcome",
        "outcomes or results of a person",
        SENSITIVE,
        1,
        "days months weeks minutes seconds secs tage monate wochen jours dias meses giorni mesi dagen maanden dni "
        "miesiace sej util utlztn verstorben gestorben tot fallecido fallecida deceduto deceduta falecido zmarly "
        "overlijden decedes tod entlassungsart mode_sortie tipo_alta tipo_dimissione ontslagbestemming "
        "sposob_wypisu death dth deaths status adm admi admis meth method methode dur duration durata duree dauer "
        "duur czas alta ausgang uitkomst sortie salida uscita wyjscie zakonczenie obito deces decesso decessi "
        "defuncion consult wizyt visits_n vis rank_outcome category_outcome severe_outcome progress decision "
        "decyzja entscheidung outcome outcomes result results resultado resultat risultato resultstatus uitslag "
        "wynik esito outc survived survival alive dead death_flag died deceased expire expired mort morti morte "
        "mortal morto zgon zabitych decede muertos overleden target class_label label censor event_flag delta "
        "status_code evolucao evolution destination bestemming discharge disch dischg entlassungsgrund entlassung "
        "aufnahmeanlass aufnahmegrund urgency urgentie urgent tryb modalita conclusion con_fin clasificacion classi "
        "followup futime afhandeling disposition disp admission admit admitsource stay visit visits visited "
        "hospital hosp emergency er icu transfer sejour duration_stay consultas consultations consulta trauma harm "
        "threat fatal fatality killed severity_code finding findings flag_result value value_as treatment_arm arm "
        "armcd treat random_arm placebo intervention dosegroup answer response resp_value readmit reason reasoncode "
        "motif motivo motivo_consulta noshow show admtype reltype",
    ),
)
