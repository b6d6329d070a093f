"""Words of column names for what is sensitive about people.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept
from shoal.profile.vocabulary.health import HEALTHS
from shoal.schema import Kind, Role

__all__ = ["SENSITIVES"]

SENSITIVE = Role.SENSITIVE
MONEY = "income, payments or wealth"
CRIME = "offences, sentences or victims"
SENSITIVES = (
    *HEALTHS,
    concept(
        "money",
        MONEY,
        SENSITIVE,
        5,
        "income incomes inc salary salaries wage wages earnings earning earn einkommen gehalt bruttogehalt "
        "salarisschaal sal nettoeinkommen lohn salaire salaires revenu revenus ingreso_s ingresos sueldo salario "
        "salarial stipendio reddito redditi inkomen inkomst renda rendimento remuner remun remuneracao remuneracion "
        "retribuzione retribution remuneration nomina dochod dochody dochodu wynagrodzenie zarobki pensja loon "
        "brutoloon salaris brutosalaris nettosalaris brutoink nettoink entgelt entgeltgruppe bezuge verdienst faminc "
        "hhinc linc rincome earnweek lwage logwage ressources ressource wealth vermogen patrimonio networth debt "
        "debts schulden dette deuda debito schuld dlug restschuld ingresho ingrh capitalgain capitalloss wynagrodz "
        "reddit stipend lohnst ressourc einkunfte jahreseinkommen haushaltseinkommen jahresgehalt monatsgehalt "
        "grundgehalt monatslohn stundenlohn jahreslohn besoldung vergutung honorar abfindung lohne gehalter "
        "compensation basepay payrate wagerate hourly_wage annual_salary monthly_income agi liabilities indebtedness "
        "indebted revenus_mensuels smic emoluments patrimoine sueldos salarios renta_familiar stipendi salari "
        "retribuzioni patrimoniale jaarinkomen maandinkomen huishoudinkomen besteedbaar uurloon maandloon jaarloon "
        "salarissen vermogens rendas ordenado ordenados vencimentos rendimentos placa wynagrodzenia pensje zarobek "
        "majatek majatkowy hinctnta hincome pincome hincp pincp wagp totinc totincome persinc famincome incwage "
        "inctot ftotinc hhincome hinc lnwage lnincome logincome capital_gain capital_loss",
    ),
    concept(
        "payment",
        MONEY,
        SENSITIVE,
        2,
        "schadenhohe premio_assicurativo assicurativo gratificacion gratificacao premia premio einkaufswert kaufpreis "
        "ahorros ahorro risparmi risparmio spaargeld poupanca oszczednosci ausgaben uitgaven wydatki kredietlimiet "
        "kreditrahmen immobilienwert wert waarde valeur valore woningwaarde imposition aliquota belasting "
        "belastingschijf podatek podatkowy podatku impot impots imposto impuesto insolvenza insolvency insolvent "
        "inadimplente zaleglosci zaleglosc prestacion prestaciones_tipo zasilku desempleo disoccupazione chomage "
        "unemployment_benefit unemployed_benefit ww desemprego nieruchomosci immobile imovel inmueble konta "
        "emprestimo zakupu acquisto achat compra aankoop plafond overdraft utilization franchise indemnise "
        "indemnisation bonus_malus malus garantie isee podstawa_wymiaru terugvordering toegekend swiadczenia_rodzaj "
        "bond bail_amount late_payments dayslate past_due_days apr real_estate_loans hheink stated_income poverty_cat "
        "pov povcat inscov hicov coverage_type toetsingsinkomen zwrot refund surcharge monatsrate darlehen "
        "darlehensbetrag aluguel retraite aposentadoria overdue past_due mora ritardo achterstand atraso opoznienia "
        "opoznienie retard_paiement pozyczka pozyczki leenbedrag maandbedrag stopa juros taxa_juros kaltmiete "
        "warmmiete huurprijs nebenkosten leistungsbetrag leistungen zuzahlung eigenanteil selbstbeteiligung unterhalt "
        "alimony alimente kindergeld elterngeld arbeitslosengeld burgergeld sozialhilfe bijstand wohngeld "
        "prestaciones bono bonus provision commission comision provvigione premium_amount umsatz rechnungsbetrag "
        "zuschuss beitrag tilgung cotisation depense depenses indemnite indemnites encours impaye impayes gasto "
        "gastos subsidio ayuda pension pensione pensioen pensao pensiones indemnizacion spesa spese contributo "
        "sussidio fido inkomsten toeslag hypotheek despesa despesas divida beneficio parcela koszty zasilek emerytura "
        "renta skladka oplata zadluzenie sposob_platnosci points_loan chg_off turnover_amount umsatze guthaben "
        "mahnung inkasso kwoty zinsen pret_montant rimborso sovvenzione restitution prets amount amounts amt amnt "
        "betrag bedrag montant mnt importe importo montante kwota valor val vlr vl wartosc balance bal saldo solde "
        "loan loans kredit kredyt kredytu credit credits credito pret prestamo prestito lening hypothek mortgage "
        "hipoteca mutuo installment installments instalment rata rate_amount mensualite cuota prestacao prestazione "
        "interest int_rate zins zinssatz taux tasso interes oprocentowanie rente price preis prix precio prezzo prijs "
        "cena einzelpreis unitprice fare payment payments paid pay pmt paiement pago pagamento betaling zahlung "
        "zahlungsart platnosc platnosci wplata tip tips bill bills bill_amt reimb reimburse reimbursement remb rem "
        "erstattung vergoed premium pramie prime prima premie dti ltv oltv upb fico cscore schufa default delinq "
        "delinquency dlq arrears impagos impago verzug zahlungsverzug incumprimento sofferenza sconfinamento "
        "accordato utilizzato taxes tax steuerklasse steuer irpf benefit benefits allocation aide rsa_mnt allowance "
        "welfare scholarship bourse boursier beca becario stipendium award deductible deductable excess coinsurance "
        "copay ticket_amount expense expenses expenditure expenditures totexp spending gross net brutto netto bruto "
        "savings ersparnis epargne deposit stock investment assets property_value rent miete loyer alquiler affitto "
        "huur czynsz mietkosten annuity term tenor laufzeit plazo duree_credit okres capital disbursement chgoff "
        "grade_loan purpose fraud coverage cov insurance insur assurance mutuelle versicherung kasse krankenkasse "
        "seguro assicurazione ubezpieczenie verzekering payer pyr poverty povert freelunch lunch escalao "
        "uitkeringsbedrag eigen risico taxa moderadora dol outpdol inpdol meddol ddctbl cst cash fee fees fine multa "
        "tariff limit rate_paid hourly_rate daily_rate hourlyrate dailyrate orig_rate guarantee garanzia "
        "rating_credit conforming denial action_taken churn creditscore creditamount kontostand kreditbetrag bilanz "
        "uitkering mensual zahlungs reimburs krankenkass restschuld oprocent sconfin revenue profit losses payout "
        "payouts settlement settlements stipendiary grant grants subsidy subsidies pensions superannuation snap tanf "
        "ssi foodstamps foodstamp wic dividends dividend rental royalties inheritance childsupport taxpaid taxable "
        "withholding deduction deductions creditline creditlimit credit_limit bankruptcy bankruptcies bankrupt "
        "foreclosure foreclosed repossession lien chargeoff writeoff collateral borrowed liability equity portfolio "
        "bonds shares ira homevalue housevalue purchases purchase spend spent withdrawal withdrawals deposits "
        "hardship afford eviction creditworthiness creditrating repayment repayments repaid payoff owed owing "
        "overpayment underpayment claimamount claimed reserve reserves indemnity premiums copayment reimbursed "
        "payable receivable charges_total revolving utilisation defaulted delinquent delinquencies lateness unpaid "
        "bonuszahlung weihnachtsgeld urlaubsgeld pramien altersrente grundsicherung hartz transferleistung "
        "leistungsbezug steuern einkommensteuer lohnsteuer sozialabgaben abgaben kredite kreditsumme kredithohe raten "
        "ratenzahlung ratenkredit kreditwurdigkeit bonitat mahnstufe mahnungen pfandung insolvenz privatinsolvenz "
        "zahlungsmoral sparguthaben geldanlage wertpapiere aktien immobilien erbe gewinn verlust jahresbeitrag "
        "versicherungssumme schadenssumme schadensumme schadenbetrag gesamtpreis nettopreis bruttopreis kaufsumme "
        "mietpreis zahlungsruckstand ruckstand forderung forderungen primes allocations minima retraites taxe foncier "
        "emprunt emprunts endettement surendettement decouvert loyers remboursement remboursements rembourse "
        "cotisations subvention subventions chiffre_affaires dettes dividende avoirs placement placements rentas "
        "jubilacion subsidios subvencion subvenciones ayudas paro hipotecas prestamos deudas morosidad moroso morosos "
        "cuotas costes impuestos tarjeta limite pagos pagado cobro cobros facturado indemnizaciones ingresado "
        "bonificacion pensioni assegno assegni sussidi mutui prestiti finanziamento finanziamenti debiti "
        "indebitamento insoluti insoluto morosita imposta imposte tasse tributi canone affitti fatturato incasso "
        "indennizzo indennizzi rimborsi indennita arretrati toeslagen huurtoeslag zorgtoeslag kinderbijslag "
        "bijstandsuitkering aow pensioenen schuldbedrag schuldsanering betalingsachterstand leningen krediet "
        "kredieten hypotheekbedrag woz wozwaarde spaarsaldo inkomstenbelasting belastbaar premies zorgkosten uitgave "
        "bedragen schadebedrag schadevergoeding betaald openstaand aflossing bolsa auxilio beneficios pensoes "
        "aposentado reforma emprestimos financiamento prestacoes dividas endividamento inadimplencia poupancas precos "
        "custos impostos receita faturacao faturamento propina propinas devedor stawka emerytury renty zasilki "
        "alimenty kredyty raty zadluzenia dlugi windykacja oszczednosc podatki skladki wydatek przychod przychody "
        "odsetki splata splaty inq inquiries inquiry funded funding revol revolver pubrec checking guarantor "
        "guarantors coapplicant cosigner discount discounts rabatt remise descuento sconto korting desconto rabat "
        "financial finances finanzen finanzielle financiero financieel fsm eligibility insecurity quotient kreditart "
        "kreditausfall zahlungsverhalten sozialleistung sozialleistungen kontosaldo credit_history open_acc total_acc "
        "pub_rec subgrade sub_grade writtenoff recoveries outstanding exposure_at_default principal_paid pti tariffs "
        "budget expenditure_total consumption_exp outlay outlays shortage fines debtratio loanstatus loanamount emi "
        "roi cibil hypothec vermogenswert zusatzrente betriebsrente mindestlohn kurzarbeitergeld krankengeld "
        "mutterschaftsgeld bafog expensive cheap debit debits payments_due amountpaid paidamount totalpaid "
        "allowed_amount allowedamt billed billedamount submitted_charge copays oop outofpocket out_of_pocket "
        "uninsured insured_status insurancetype healthplan health_plan coverage_status worth valuation appraised "
        "appraisal_value rateable mortgages mtg heloc lienamount origbalance currbalance unpaidbalance interestrate "
        "coupon yield maturity amortization amortisation prepayment prepaid modification forbearance bankruptcy_flag "
        "payhistory payment_history payment_status repay_status limit_bal taxfree taxrate steuersatz steuerbetrag "
        "bemessungsgrundlage hilfe beihilfe unterstutzung arbeitslosigkeit_geld aides secours aide_sociale minimex "
        "leefloon pgb wmo dodatek dodatki dofinansowanie zapomoga kwota_swiadczenia wartosc_szkody odszkodowanie "
        "odszkodowania indemnizacao indenizacao sinistralidade siniestralidad sinistralite prejuizo perdida perdidas "
        "perdita perdite verlies straty schade_bedrag mietschulden energiekosten heizkosten stromkosten "
        "nebenkosten_betrag konsumausgaben ausgabe ausgabenhohe einnahmen recettes ricavi inkomsten_totaal receitas "
        "wplywy",
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
        "iscritto vakbondslid partei_praeferenz election elections votado wyborcze glosowanie worship mosque religion "
        "religions religious relig religia religiao religione konfession confession kirche church faith glaube belief "
        "beliefs politics political polviews partyid party partei parti partito partido partia vote voted voting "
        "vote92 voto wahl wahlabsicht intencion recuerdo ideology ideol ideologia union unions gewerkschaft syndicat "
        "sindacato sindical sindicato vakbond zwiazkowa zwiazek croyance godsdienst kerk attend praktyki polint "
        "abortion_view attitude attitudes opinion trust religi politic tradeunion weltanschauung gewerksch sindac "
        "syndic zwiazkow protestant catholic muslim jewish religiosity churchgoing pray prayer prayers denomination "
        "denom spiritual spirituality atheist conservative liberal republican democrat leftright lrscale turnout "
        "partisanship partisan agree disagree approve confidence support favor favour oppose abany gunlaw cappun "
        "ideological radical populism protest petition activism activist membership_union polaff politically "
        "voter_choice candidate_choice wahlbeteiligung parteineigung parteipraferenz religionszugehorigkeit kirchgang "
        "glaubig gewerkschaftsmitglied vertrauen einstellung einstellungen meinung zustimmung partei_wahl confiance "
        "religieuse religieux croyances opinions gauche confianza religiosidad creencia creencias opiniones "
        "valoracion ideologico votante_partido religiosita opinione opinioni elettorale credente vertrouwen mening "
        "geloofsrichting kerkbezoek stemt partijkeuze kerkelijke gezindte overtuiging confianca religiosidade crenca "
        "opiniao zaufanie opinia poglady religijnosc wiara wyznania trstprl ppltrst trstplc trstlgl trstplt trstprt "
        "rlgblg rlgdgr rlgatnd kirchenmitglied kirchenmitgliedschaft preferencje polityczne przynaleznosc ideologies "
        "worldview euroscepticism feminism nationalism racism prejudice sympathie sympathy godbelief religpray "
        "religimp relimp relpersn attend_church bibel bibel_glaube moschee gottesdienst messe culte misa messa_freq "
        "mis culto nabozenstwo party_id voted_for votefor presvote pres_vote thermometer feeling_thermometer "
        "approval_rating govt_trust institutional_trust confid conpress conlegis conjudge confed natspac natenvir "
        "grass_legal eqwlth helppoor fepol xmarsex premarsx homosex_view letdie spanking postlife",
    ),
    concept(
        "life",
        "sexual life or family planning",
        SENSITIVE,
        5,
        "sexuelle sexuelles sessuale seksuele seksualna orientierung orientamento gerichtheid orientacion orientacao "
        "orientacja orientation homosex homosexual lgbt npartner partners_sexual affairs romantic sexuality sexualor "
        "sexlife sexualit gay lesbian bisexual heterosexual transgender lgbtq sexorient genderidentity "
        "gender_identity sexualitat homosexuell sexualidad sessualita seksualiteit sexualidade seksualnosc "
        "intercourse sexual_partners sexually nonbinary",
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
        "judiciaires tatverdachtiger bewahrungshilfe mandato ordinanza delikt tat tatverdacht tatvorwurf strafe haft "
        "verurteilung opfer anklage verstoss bussgeld condamnation condamnations victime plainte amende garde "
        "condenas sentencia victima victimas denuncia multas agresor agresion medida condanna vittima imputazione "
        "sanzione sanzioni delict straf veroordeling slachtoffer verdachte aangifte boete feit delitos condenacao "
        "vitima natureza skazanie ofiara zarzut mandat artykul felonies prison_term inmate_status bail custody "
        "sanction offender_type victim_type assault homicide theft burglary robbery fraud_flag crime crimes "
        "conviction convictions convicted verdict sentence sentences sentlgth sentenced offence offense offences "
        "offenses ofns arrest arrests arrested straftat straftaten urteil strafmass vorstrafen vorstrafe delit delito "
        "reato reati misdrijf przestepstwo czyn kara karany wyrok pena peine condena infraction infrazione infraccion "
        "infracao natinf recidivism recidive recidiva reincidence prior_convictions felony misd misdemeanor jail "
        "prison parole probation bewahrung sospensione juv violation violations citation contraband search statute "
        "paragraph iucr fbi law legislation legal jurisdiction nos weapon drugtest victimization victimized "
        "relacion_agresor judgment judgement recovery articolo punti_decurtati kwalifikacja rubrica quantum domestic "
        "abuse violence timesrvd timeserved suspended discipline expelled hearing disposition_code demanded amtrec "
        "nietrzezwosc nietrzezwosci drunk risk_level ucr criminal convict offens offenc misdrij przestep recidiv "
        "murder manslaughter rape assaulted kidnapping larceny vandalism arson trespass trespassing dui dwi speeding "
        "ticketed warrant warrants summons indictment indicted plea pleaded guilty acquitted acquittal imprisoned "
        "imprisonment incarcerated incarceration detention detained custodial fined penalty penalties punishment gang "
        "firearm firearms knife use_of_force frisk frisked searched handcuffed priors recid recidivist violent "
        "nonviolent abused neglect maltreatment victimised victimhood harassment harassed bullying bullied molested "
        "shoplifting forgery embezzlement prostitution rearrest rearrested reconviction charged chargedesc decharge "
        "escape bailed remand strafverfahren straftatbestand tatbestand deliktart raub diebstahl mord "
        "korperverletzung gewalt freiheitsstrafe geldstrafe bewahrungsstrafe haftstrafe gefangnis ruckfall festnahme "
        "verhaftung betrug einbruch deliktsart tatart strafzeit delits vols violences homicides agression agressions "
        "escroquerie cambriolage ecrou sursis recidiviste infractions peines robo robos hurto hurtos homicidio "
        "homicidios asesinato violacion violencia estafa delictivo prision carcel detencion detenido arresto "
        "reincidente agravante infracciones condenado furto furti rapina rapine omicidio violenza truffa carcere "
        "detenzione recidivo colpevole pene diefstal inbraak geweld moord mishandeling oplichting gevangenis detentie "
        "celstraf taakstraf arrestatie aanhouding veroordeeld misdrijven delicten roubo roubos estupro lesao_corporal "
        "prisao detencao sentenca kradziez rozboj zabojstwo przemoc oszustwo wlamanie wiezienie areszt zatrzymanie "
        "wyroki wyroku skazany winny przestepstwa przestepstw kradzieze fel fels felon felony_count offgeneral "
        "offdetail offense_type casualty casualties grievance misconduct violations_n charge_degree pleas crim "
        "criminals verdicts sentlen sentencing servedtime offencecode offensecode perpetrator suspect_type "
        "incident_type incidenttype crimetype weapontype weapons shooting stabbing robberies burglaries thefts "
        "assaults rapes murders disorder antisocial asb restraining protective_order juvenile delinquency_acts "
        "delictual tatmittel tatfolge schuldspruch freispruch relaxe acquittement absolucion assoluzione vrijspraak "
        "absolvicao uniewinnienie tribunal_decision sanctions sanktion sancion sanciones sanzionato sancao sankcja "
        "fiscalia_delito maltrato maltraitance maltrattamenti kindermishandeling maus_tratos znecanie misshandlung",
    ),
    concept(
        "mark",
        "marks or assessments",
        SENSITIVE,
        3,
        "puntaje punteggi riesgo rischio risico risco ryzyka riziko risiko pontuacao wskaznik desempeno desempenho "
        "valutazione avaliacao functioneringsoordeel oordeel pracownicza leistungsbeurteilung fehlgrund risk pv1math "
        "plausible_value repeat repeated_grade math reading science mathe lesen abschlussnote endnote final_grade "
        "final_mark grade_point eindcijfer ausencias afwezigheid ausenze nota_final calificacion_final versaumnisse "
        "zeugnisnote prufung prufungsergebnis examen esame_voto egzamin toets punkte puntos punti punten punkty "
        "pontos points zensur zensuren zeugnis leistung calificacion calificaciones resultaat notendurchschnitt "
        "durchschnittsnote promedio media_voti gemiddelde srednia aproveitamento conduct behaviour behavior "
        "motivation proficiency achievement score scores scoring mark marks note_ nota notas note noten noteneng voto "
        "voti cijfer cijfers ocena oceny ocene gpa gradepoint exam_score sat satv satq act_score iq iqscore kww "
        "rating ratings performance moyenne decile_score failures failed absences absence absent absenze assenze "
        "faltas nieobecnosci fehlstunden retard redacao punteggio puntuacion punktzahl result_exam satisfaction "
        "satisfied happy happiness zufriedenheit zadowolenie soddisfazione satisfaccion tevredenheid losat ghq stress "
        "anger attrition dropout specialed ell iep foerderbedarf foerder forder disciplinary turnover evaluation "
        "bewertung beurteilung beoordeling mathlevel vocabulary satisfac zufried soddisf tevreden zadowol fehlstund "
        "exams quiz quizzes midterm homework assignment assignments coursework toefl ielts gre gmat lsat mcat "
        "percentile standardized writing spelling arithmetic verbal numeracy appraisal appraisals promotion promoted "
        "dismissal dismissed fired layoff terminated termination engagement involvement commitment morale burnout "
        "workload jobsat worklife nps recommend personality neuroticism extraversion openness agreeableness "
        "conscientiousness selfesteem self_esteem memory cognition cognitive reasoning wechsler raven moca aggression "
        "aggressive competence competency skill skills aptitude_score ability mathscore readscore truancy truant "
        "suspensions suspension expulsion detentions retained gifted remedial passed passing fail pass lifesat "
        "lifesatisfaction quality_of_life qol eq5d sf36 sf12 whoqol schulnote deutschnote mathenote mathematiknote "
        "klausur klausuren klassenarbeit prufungen versetzung sitzenbleiben abiturnote durchschnitt bewertungen "
        "wohlbefinden lebenszufriedenheit arbeitszufriedenheit fehlzeiten lernstand einschatzung bulletin "
        "redoublement redoublant reussite mention appreciation absenteisme bac epreuve epreuves evaluations calif "
        "aprobado suspenso suspendido repetidor rendimiento evaluacion evaluaciones satisfecho bienestar "
        "inasistencias prueba promosso bocciato ripetente valutazioni soddisfatto benessere prova prove eindexamen "
        "examenresultaat cito citoscore toetsscore doubleren zittenblijven beoordelingen welzijn reprovado reprovacao "
        "aprovado avaliacoes satisfacao classificacao proficiencia punktacja egzaminy egzaminu sprawdzian zdal "
        "promocja zachowanie frekwencja samopoczucie wynikow stflife stfeco stfdem stfgov attainment attainments "
        "exclusion exclusions assessment_result teacher_assessment worry worried worries fear fears optimism "
        "pessimism resilience coping asistencia assiduidade assiduite anwesenheit presenze obecnosc aanwezigheid "
        "attendance_rate mathss readss math_score reading_score writing_score points_total totalscore finalscore "
        "finalgrade finalmark overallscore testscore examscore examresult exam_result pretest posttest pre_test "
        "post_test baseline_score subscore subscale scale_score zscore rawscore tscore bewertungsnote gesamtnote "
        "halbjahresnote fachnote prufungsnote prufungsergebnisse notenschnitt notes_bac resultat_final "
        "calificaciones_finales puntajes voto_laurea votazione giudizio rapportcijfers cijferlijst toetsresultaat "
        "notas_finais aproveitamento_final swiadectwo oceny_czastkowe wynik_matury matura maturity_score likert "
        "agreement_scale rating_scale quality_rating motivated discouraged bored boredom interest_school belonging "
        "teamwork leadership initiative punctuality effort participation_score classroom_behavior",
    ),
    concept(
        "outcome",
        "outcomes or results of a person",
        SENSITIVE,
        1,
        "days months weeks minutes seconds secs tage monate wochen jours dias meses giorni mesi dagen maanden dni "
        "miesiace sej util utlztn verstorben gestorben tot fallecido fallecida deceduto deceduta falecido zmarly "
        "overlijden decedes tod entlassungsart mode_sortie tipo_alta tipo_dimissione ontslagbestemming sposob_wypisu "
        "death dth deaths status adm admi admis meth method methode dur duration durata duree dauer duur czas alta "
        "ausgang uitkomst sortie salida uscita wyjscie zakonczenie obito deces decesso decessi defuncion consult "
        "wizyt visits_n vis rank_outcome category_outcome severe_outcome progress decision decyzja entscheidung "
        "outcome outcomes result results resultado resultat risultato resultstatus uitslag wynik esito outc survived "
        "survival alive dead death_flag died deceased expire expired mort morti morte mortal morto zgon zabitych "
        "decede muertos overleden target class_label label censor event_flag delta status_code evolucao evolution "
        "destination bestemming discharge disch dischg entlassungsgrund entlassung aufnahmeanlass aufnahmegrund "
        "urgency urgentie urgent tryb modalita conclusion con_fin clasificacion classi followup futime afhandeling "
        "disposition disp admission admit admitsource stay visit visits visited hospital hosp emergency er icu "
        "transfer sejour duration_stay consultas consultations consulta trauma harm threat fatal fatality killed "
        "severity_code finding findings flag_result value value_as treatment_arm arm armcd treat random_arm placebo "
        "intervention dosegroup answer response resp_value readmit reason reasoncode motif motivo motivo_consulta "
        "noshow show admtype reltype hospitalizations length_of_stay lengthofstay remarks_outcome consequence "
        "consequences fatalities recovered recovering cured healed outcomecode dropout_reason genesen geheilt "
        "aufenthaltsdauer sterbefall ergebnisse guerison gueri decedee fallecimiento curado recuperado egreso guarito "
        "deceduti esiti hersteld genezen verblijfsduur cura_obito permanencia wyleczony wynikow_leczenia hospitaldays "
        "nights_hospital bed_days beddays docvis doctor_visits hospvis numvisits clinicvisits wait waiting waittime "
        "wartezeit attente espera attesa wachttijd oczekiwania survtime survdays survmonths vitalstatus vital_status "
        "os_status dfs pfs rfs",
    ),
)
