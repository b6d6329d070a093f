"""Words of column names for what is sensitive about people.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept
from shoal.profile.vocabulary.health import HEALTHS
from shoal.profile.vocabulary.money import MONEYS
from shoal.schema import Kind, Role

__all__ = ["SENSITIVES"]

SENSITIVE = Role.SENSITIVE
CRIME = "offences, sentences or victims"
SENSITIVES = (
    *HEALTHS,
    *MONEYS,
    concept("charge", CRIME, SENSITIVE, 2, "charge charges", kind=Kind.CATEGORICAL),
    concept(
        "belief",
        "religion, politics or trade union",
        SENSITIVE,
        4,
        "politikinteresse politique politieke polityka politycznego interes_politica political_interest confesion "
        "geloof geloofsovertuiging wyznanie credo stemgedrag stem syndique syndicalise sindicalizado afiliado iscritto "
        "vakbondslid partei_praeferenz election elections votado wyborcze glosowanie worship mosque religion religions "
        "religious relig religia religiao religione konfession confession kirche church faith glaube belief beliefs "
        "politics political polviews partyid party partei parti partito partido partia vote voted voting vote92 voto "
        "wahl wahlabsicht intencion recuerdo ideology ideol ideologia union unions gewerkschaft syndicat sindacato "
        "sindical sindicato vakbond zwiazkowa zwiazek croyance godsdienst kerk attend praktyki polint abortion_view "
        "attitude attitudes opinion trust religi politic tradeunion weltanschauung gewerksch sindac syndic zwiazkow "
        "protestant catholic muslim jewish religiosity churchgoing pray prayer prayers denomination denom spiritual "
        "spirituality atheist conservative liberal republican democrat leftright lrscale turnout partisanship partisan "
        "agree disagree approve confidence support favor favour oppose abany gunlaw cappun ideological radical "
        "populism protest petition activism activist membership_union polaff politically voter_choice candidate_choice "
        "wahlbeteiligung parteineigung parteipraferenz religionszugehorigkeit kirchgang glaubig gewerkschaftsmitglied "
        "vertrauen einstellung einstellungen meinung zustimmung partei_wahl confiance religieuse religieux croyances "
        "opinions gauche confianza religiosidad creencia creencias opiniones valoracion ideologico votante_partido "
        "religiosita opinione opinioni elettorale credente vertrouwen mening geloofsrichting kerkbezoek stemt "
        "partijkeuze kerkelijke gezindte overtuiging confianca religiosidade crenca opiniao zaufanie opinia poglady "
        "religijnosc wiara wyznania trstprl ppltrst trstplc trstlgl trstplt trstprt rlgblg rlgdgr rlgatnd "
        "kirchenmitglied kirchenmitgliedschaft preferencje polityczne przynaleznosc ideologies worldview "
        "euroscepticism feminism nationalism racism prejudice sympathie sympathy godbelief religpray religimp relimp "
        "relpersn attend_church bibel bibel_glaube moschee gottesdienst messe culte misa messa_freq mis culto "
        "nabozenstwo party_id voted_for votefor presvote pres_vote thermometer feeling_thermometer approval_rating "
        "govt_trust institutional_trust confid conpress conlegis conjudge confed natspac natenvir grass_legal eqwlth "
        "helppoor fepol xmarsex premarsx homosex_view letdie spanking postlife gun_control guncontrol gunban "
        "climate_concern climate_worry climatechange env_concern environmental_concern concern concerns concerned "
        "gov_approval approval_gov approves approval_score legitimacy_score tolerance tolerant authoritarian "
        "authoritarianism egalitarian patriotism nationalist immigration_attitude attitude_immigration values_survey "
        "schwartz moral morality ethics_view euthanasia gaymarriage gay_marriage samesex death_penalty deathpenalty "
        "viewpoint views believes believe disbelief conspiracy gender_roles sexism sexist sonntagsfrage parteibindung "
        "parteisympathie links_rechts linksrechts politisch politische demokratiezufriedenheit kirchenzugehorigkeit "
        "konfessionslos frommigkeit weiterempfehlungsabsicht proximite_partisane proximite_politique "
        "sympathie_partisane echelle_gauche_droite pratique_religieuse pratiquant pratiquante appartenance_religieuse "
        "adhesion_syndicat escala_ideologica simpatia_partido cercania_partido voto_anterior practica_religiosa "
        "creyente catolico afiliacion_politica afiliacion_sindical fiducia fiducia_istituzioni fiducia_governo "
        "fiducia_partiti orientamento_politico autocollocazione praticante pratica_religiosa tessera_sindacale "
        "tesserato partijvoorkeur politieke_voorkeur links_rechts_schaal kerkelijk kerklid levensbeschouwing "
        "partido_preferido confianca_governo simpatia_partidaria posicionamento_politico praticante_religioso filiado "
        "preferencje_partyjne poglady_polityczne praktyki_religijne wierzacy wierzaca lewica_prawica "
        "czlonkostwo_zwiazku zweitstimme erststimme wahlteilnahme frequenza_messa fede gelovig frequencia_igreja "
        "fe_religiosa glos glos_oddany uczestnictwo_msza msza msze frequentation_culte asistencia_misa autoubicacion "
        "religious_service service_attendance",
    ),
    concept(
        "life",
        "sexual life or family planning",
        SENSITIVE,
        5,
        "sexuelle sexuelles sessuale seksuele seksualna orientierung orientamento gerichtheid orientacion orientacao "
        "orientacja orientation homosex homosexual lgbt npartner partners_sexual affairs romantic sexuality sexualor "
        "sexlife sexualit gay lesbian bisexual heterosexual transgender lgbtq sexorient genderidentity gender_identity "
        "sexualitat homosexuell sexualidad sessualita seksualiteit sexualidade seksualnosc intercourse sexual_partners "
        "sexually nonbinary sex_partners num_sex_partners sexpartners nsexpartners sex_debut sexual_debut first_sex "
        "lmp gest_age gestage_weeks gestational_age ga_weeks idade_gestacional edad_gestacional eta_gestazionale "
        "age_gestationnel gestationsalter menarche_age age_menarche age_menopause family_planning prep_use partner_hiv "
        "num_partners number_of_partners lifetime_partners",
    ),
    concept(
        "crime",
        CRIME,
        SENSITIVE,
        3,
        "violazione violazioni overtreding wykroczenia wykroczenie tatwaffe waffe arme arma armas wapen bron uitspraak "
        "judicial judiciaire court_decision decision_tribunal gerichtsentscheidung orzeczenie_sadu rechterlijke "
        "convicts convict_status vorbestraft antecedents_judiciaires antecedentes_penales precedenti_penali "
        "antecedentes_criminais karalnosc haftdauer strafduur kary penal penale penales criminais judiciaires "
        "tatverdachtiger bewahrungshilfe mandato ordinanza delikt tat tatverdacht tatvorwurf strafe haft verurteilung "
        "opfer anklage verstoss bussgeld condamnation condamnations victime plainte amende garde condenas sentencia "
        "victima victimas denuncia multas agresor agresion medida condanna vittima imputazione sanzione sanzioni "
        "delict straf veroordeling slachtoffer verdachte aangifte boete feit delitos condenacao vitima natureza "
        "skazanie ofiara zarzut mandat artykul felonies prison_term inmate_status bail custody sanction offender_type "
        "victim_type assault homicide theft burglary robbery fraud_flag crime crimes conviction convictions convicted "
        "verdict sentence sentences sentlgth sentenced offence offense offences offenses ofns arrest arrests arrested "
        "straftat straftaten urteil strafmass vorstrafen vorstrafe delit delito reato reati misdrijf przestepstwo czyn "
        "kara karany wyrok pena peine condena infraction infrazione infraccion infracao natinf recidivism recidive "
        "recidiva reincidence prior_convictions felony misd misdemeanor jail prison parole probation bewahrung "
        "sospensione juv violation violations citation contraband search statute paragraph iucr fbi law legislation "
        "legal jurisdiction nos weapon drugtest victimization victimized relacion_agresor judgment judgement recovery "
        "articolo punti_decurtati kwalifikacja rubrica quantum domestic abuse violence timesrvd timeserved suspended "
        "discipline expelled hearing disposition_code demanded amtrec nietrzezwosc nietrzezwosci drunk risk_level ucr "
        "criminal convict offens offenc misdrij przestep recidiv murder manslaughter rape assaulted kidnapping larceny "
        "vandalism arson trespass trespassing dui dwi speeding ticketed warrant warrants summons indictment indicted "
        "plea pleaded guilty acquitted acquittal imprisoned imprisonment incarcerated incarceration detention detained "
        "custodial fined penalty penalties punishment gang firearm firearms knife use_of_force frisk frisked searched "
        "handcuffed priors recid recidivist violent nonviolent abused neglect maltreatment victimised victimhood "
        "harassment harassed bullying bullied molested shoplifting forgery embezzlement prostitution rearrest "
        "rearrested reconviction charged chargedesc decharge escape bailed remand strafverfahren straftatbestand "
        "tatbestand deliktart raub diebstahl mord korperverletzung gewalt freiheitsstrafe geldstrafe bewahrungsstrafe "
        "haftstrafe gefangnis ruckfall festnahme verhaftung betrug einbruch deliktsart tatart strafzeit delits vols "
        "violences homicides agression agressions escroquerie cambriolage ecrou sursis recidiviste infractions peines "
        "robo robos hurto hurtos homicidio homicidios asesinato violacion violencia estafa delictivo prision carcel "
        "detencion detenido arresto reincidente agravante infracciones condenado furto furti rapina rapine omicidio "
        "violenza truffa carcere detenzione recidivo colpevole pene diefstal inbraak geweld moord mishandeling "
        "oplichting gevangenis detentie celstraf taakstraf arrestatie aanhouding veroordeeld misdrijven delicten roubo "
        "roubos estupro lesao_corporal prisao detencao sentenca kradziez rozboj zabojstwo przemoc oszustwo wlamanie "
        "wiezienie areszt zatrzymanie wyroki wyroku skazany winny przestepstwa przestepstw kradzieze fel fels felon "
        "felony_count offgeneral offdetail offense_type casualty casualties grievance misconduct violations_n "
        "charge_degree pleas crim criminals verdicts sentlen sentencing servedtime offencecode offensecode perpetrator "
        "suspect_type incident_type incidenttype crimetype weapontype weapons shooting stabbing robberies burglaries "
        "thefts assaults rapes murders disorder antisocial asb restraining protective_order juvenile delinquency_acts "
        "delictual tatmittel tatfolge schuldspruch freispruch relaxe acquittement absolucion assoluzione vrijspraak "
        "absolvicao uniewinnienie tribunal_decision sanctions sanktion sancion sanciones sanzionato sancao sankcja "
        "fiscalia_delito maltrato maltraitance maltrattamenti kindermishandeling maus_tratos znecanie misshandlung "
        "accused_of allegation allegations alleged complaint_type complaint_category misconduct_type incident_category "
        "incidentcategory incident_nature nature_of_call nature_of_suit nature_of_offence nature_offense call_type "
        "calltype nibrs nibrs_code mo_codes relief_sought cause_of_action causeofaction fta failure_to_appear "
        "release_type pretrial pretrial_release force_type forcetype force_used taser pepper deportation deported "
        "removal_order asylum asylum_decision refugee_status immigration_status visa_violation undocumented irregular "
        "background_check criminal_record criminalrecord record_check drugs_found search_result stop_outcome "
        "stop_reason reason_for_stop arrest_reason booking_reason courtroom_outcome case_outcome ruling rulings "
        "adjudication adjudicated diversion community_service restitution_amt served_days days_served time_served "
        "gang_member trafficking smuggling stalking extortion terrorism hatecrime hate_crime bias_motivation "
        "cybercrime counterfeiting perjury contempt eviction_case injunction nature_infraction qualification_penale "
        "motif_garde condamne mis_en_cause mise_en_cause victime_type plaignant_prejudice issue_procedure "
        "suite_judiciaire classement_sans_suite dommage_corporel tagessatz tagessatze tatwerkzeug tathergang "
        "abschiebung aufenthaltsstatus aufenthaltstitel asylstatus duldung haftgrund einstellungsgrund schuldfahigkeit "
        "tatmotiv straffallig verfahrensausgang libertad_condicional situacion_irregular situacion_legal "
        "antecedente_penal atestado_policial hecho_delictivo motivo_detencion pena_meses permesso_soggiorno precedenti "
        "carichi_pendenti capo_imputazione esito_processo aggravante aggravanti misura_cautelare denunce vonnis "
        "vonnissen strafblad schorsing_straf verblijfsstatus verblijfsvergunning delictsoort maatregel gevangenisstraf "
        "artigo_penal decisao_judicial medida_protetiva flagrante boletim_natureza situacao_prisional recydywa "
        "recydywista grzywna grzywny nagana_sad kwalifikacja_czynu wymiar_kary czyn_zabroniony srodek_karny dozor "
        "victim_relationship relationship_victim victim_offender_relationship trial_outcome case_cleared clearance "
        "clearance_status cleared_by quantity_seized seized drugs_seized modus_operandi motive motives substantiated "
        "unsubstantiated program_completed police_report witnesses_reported airbag_deployed at_fault_driver tatschwere "
        "vollzugslockerung weisungen tater_opfer tater_opfer_beziehung beutewert hilfe_zur_erziehung nature_delit tig "
        "peine_ferme quantum_peine lien_auteur_victime situacion_juridica victimizacion relacion_victima tipo_arma "
        "misura relazione_vittima tbs relatie_dader_slachtoffer regime_pena relacao_vitima rodzaj_wykroczenia "
        "relacja_z_ofiara uzycie_broni",
    ),
    concept(
        "mark",
        "marks, assessments or conduct",
        SENSITIVE,
        3,
        "puntaje punteggi riesgo rischio risico risco ryzyka riziko risiko pontuacao wskaznik desempeno desempenho "
        "valutazione avaliacao functioneringsoordeel oordeel pracownicza leistungsbeurteilung fehlgrund risk pv1math "
        "english_grade french_grade german_grade spanish_grade latin_grade history_grade geography_grade physics_grade "
        "chemistry_grade biology_grade music_grade art_grade sports_grade course_grade exam_grade test_grade "
        "midterm_grade letter_grade "
        "plausible_value repeat repeated_grade math reading science mathe lesen abschlussnote endnote final_grade "
        "final_mark grade_point eindcijfer ausencias afwezigheid ausenze nota_final calificacion_final versaumnisse "
        "zeugnisnote prufung prufungsergebnis examen esame_voto egzamin toets punkte puntos punti punten punkty pontos "
        "points zensur zensuren zeugnis leistung calificacion calificaciones resultaat notendurchschnitt "
        "durchschnittsnote promedio media_voti gemiddelde srednia aproveitamento conduct behaviour behavior motivation "
        "proficiency achievement score scores scoring mark marks note_ nota notas note noten noteneng voto voti cijfer "
        "cijfers ocena oceny ocene gpa gradepoint exam_score sat satv satq act_score iq iqscore kww rating ratings "
        "performance moyenne decile_score failures failed absences absence absent absenze assenze faltas nieobecnosci "
        "fehlstunden retard redacao punteggio puntuacion punktzahl result_exam satisfaction satisfied happy happiness "
        "zufriedenheit zadowolenie soddisfazione satisfaccion tevredenheid losat ghq stress anger specialed ell iep "
        "foerderbedarf foerder forder disciplinary evaluation bewertung beurteilung beoordeling mathlevel vocabulary "
        "satisfac zufried soddisf tevreden zadowol fehlstund exams quiz quizzes midterm homework assignment "
        "assignments coursework toefl ielts gre gmat lsat mcat percentile standardized writing spelling arithmetic "
        "verbal numeracy appraisal appraisals promotion promoted engagement involvement commitment morale burnout "
        "workload jobsat worklife nps recommend personality neuroticism extraversion openness agreeableness "
        "conscientiousness selfesteem self_esteem memory cognition cognitive reasoning wechsler raven moca aggression "
        "aggressive competence competency skill skills aptitude_score ability mathscore readscore truancy truant "
        "suspensions suspension expulsion detentions retained gifted remedial passed passing fail pass lifesat "
        "lifesatisfaction quality_of_life qol eq5d sf36 sf12 whoqol schulnote deutschnote mathenote mathematiknote "
        "klausur klausuren klassenarbeit prufungen versetzung sitzenbleiben abiturnote durchschnitt bewertungen "
        "wohlbefinden lebenszufriedenheit arbeitszufriedenheit fehlzeiten lernstand einschatzung bulletin redoublement "
        "redoublant reussite mention appreciation absenteisme bac epreuve epreuves evaluations calif aprobado suspenso "
        "suspendido repetidor rendimiento evaluacion evaluaciones satisfecho bienestar inasistencias prueba promosso "
        "bocciato ripetente valutazioni soddisfatto benessere prova prove eindexamen examenresultaat cito citoscore "
        "toetsscore doubleren zittenblijven beoordelingen welzijn reprovado reprovacao aprovado avaliacoes satisfacao "
        "classificacao proficiencia punktacja egzaminy egzaminu sprawdzian zdal promocja zachowanie frekwencja "
        "samopoczucie wynikow stflife stfeco stfdem stfgov attainment attainments exclusion exclusions "
        "assessment_result teacher_assessment worry worried worries fear fears optimism pessimism resilience coping "
        "asistencia assiduidade assiduite anwesenheit presenze obecnosc aanwezigheid attendance_rate mathss readss "
        "math_score reading_score writing_score points_total totalscore finalscore finalgrade finalmark overallscore "
        "testscore examscore examresult exam_result pretest posttest pre_test post_test baseline_score subscore "
        "subscale scale_score zscore rawscore tscore bewertungsnote gesamtnote halbjahresnote fachnote prufungsnote "
        "prufungsergebnisse notenschnitt notes_bac resultat_final calificaciones_finales puntajes voto_laurea "
        "votazione giudizio rapportcijfers cijferlijst toetsresultaat notas_finais aproveitamento_final swiadectwo "
        "oceny_czastkowe wynik_matury matura maturity_score likert agreement_scale rating_scale quality_rating "
        "motivated discouraged bored boredom interest_school belonging teamwork leadership initiative punctuality "
        "effort participation_score classroom_behavior nine_box ninebox warnings_count written_warning "
        "written_warnings final_warning late_arrivals reprimand reprimands demerit demerits merits kpi okr "
        "target_achievement goal_achievement bonus_rating calibration_rating potential_rating cgpa sgpa "
        "percentage_marks marks_percent pct_marks act_composite class_rank classrank rank_in_class referral_behaviour "
        "office_referrals tardy tardies tardiness ehcp sen_support senco lexile cogat predicted_grade teacher_comment "
        "reading_age readingage reading_level final_result correct n_correct num_correct ncorrect incorrect accuracy "
        "error_rate errorrate errors_made latency reaction_time reactiontime rt_ms response_time responsetime stroop "
        "wcst digit_span digitspan n_back nback trail_making trailmaking empathy narcissism machiavellianism "
        "psychopathy dark_triad self_efficacy selfefficacy efficacy locus_of_control impulsivity sensation_seeking "
        "mindfulness gratitude grit rumination perfectionism attachment_style emotion emotional emotions affect "
        "positive_affect negative_affect panas valence arousal angry afraid jealous guilt shame stigma discrimination "
        "discriminated discrimination_experience preference preferences preferred_choice willingness "
        "willingness_to_pay wtp likelihood intention intentions perceived perception perceptions expectation "
        "expectations autonomy_score meaning_in_life purpose_in_life social_support isolation_score bmi_perception "
        "decile percentile_rank quintile_score stars star_rating helpfulness stfjob stfhlth stfedu zielerreichung "
        "zielerreichungsgrad abmahnung abmahnungen verwarnung verweis verweise tadel schulverweis bestanden "
        "durchgefallen nichtbestanden nicht_bestanden lesekompetenz rechenkompetenz kompetenz kompetenzstufe "
        "sonderpadagogisch sonderpadagogischer nachteilsausgleich unentschuldigt verhaltensauffalligkeit "
        "verhaltensauffallig verhalten ordnungsmassnahme lrs lernmittelbefreiung lernschwierigkeit forderschwerpunkt "
        "einsamkeit selbstwert selbstwirksamkeit stresslevel weiterempfehlung gluck antwortzeit reaktionszeit "
        "fehlerzahl richtig falsch bonheur avertissement avertissements blame blames exclusion_temporaire ressenti "
        "sentiment_insecurite estime_de_soi solitude note_manager temps_reaction bonnes_reponses avis_client felicidad "
        "estres soledad autoestima nee necesidades_educativas amonestacion amonestaciones expediente_disciplinario "
        "suspensos tiempo_reaccion aciertos felicita solitudine autostima bocciature bocciati bes pei sostegno "
        "nota_disciplinare note_disciplinari condotta richiamo richiami debiti_formativi esito_scrutinio "
        "tempo_reazione geluk gelukkig eenzaam eenzaamheid zelfvertrouwen geslaagd gezakt schooladvies rugzakje "
        "zorgleerling gedragsprobleem gedragsproblemen schorsing waarschuwing waarschuwingen functioneringsgesprek "
        "verzuimpercentage reactietijd felicidade solidao advertencia advertencias reprovacoes escore tempo_reacao "
        "acertos szczescie samotnosc samoocena nagana nagany upomnienie zdany niezdany orzeczenie_ppp poprawka "
        "niedostateczny czas_reakcji manager_feedback feedback_score assessment_center number_project number_projects "
        "raised_hands raisedhands discussion_posts studied_credits num_prev_attempts prev_attempts attempts_exam "
        "participation_pct going_out goout free_time freetime csat ces_score customer_effort resolved_satisfactorily "
        "meaning_life impulsiveness ultimatum_offer dictator_giving trust_game payoff payoffs hit_rate false_alarms "
        "recall_words word_recall block_design matrix_reasoning processing_speed relationship_quality "
        "marital_satisfaction infidelity divorce_reason racial_resentment civic_participation volunteer_hours "
        "volunteering friend_count item_total total_score sum_score hits_correct security_level custody_level_rating "
        "supervision_level studienerfolg schulerfolg wiederholer klassenwiederholung sitzengeblieben lernbehinderung "
        "inklusion konzentration lebenssinn gerechtigkeitsempfinden risikobereitschaft coming_out schulleistung "
        "schulleistungen sozialverhalten arbeitsverhalten sorgen angst angste resultats_scolaires niveau_lecture aesh "
        "bien_etre mal_etre insatisfaction mesure_educative comportement percepcion percepcion_inseguridad inseguridad "
        "inseguridad_percibida rendimiento_academico materias_reprobadas reprobadas bienestar_psicologico "
        "rendimento_scolastico insufficienze comportamento insicurezza benessere_psicologico invalsi gedrag "
        "onvoldoende onvoldoendes welbevinden welbevindenscore onveiligheid schoolprestatie schoolprestaties "
        "leerstoornis desempenho_escolar rendimento_escolar bem_estar inseguranca poczucie_bezpieczenstwa dobrostan "
        "dyskryminacja wyniki_w_nauce wyniki_nauczania",
    ),
    concept(
        "mark",
        "leaving a job or a school",
        SENSITIVE,
        3,
        "attrition dropout turnover dismissal dismissed fired layoff terminated termination austrittsgrund "
        "kundigungsart entlassungsgrund_arbeit motif_depart motif_licenciement motif_rupture cause_depart motivo_baja "
        "motivo_salida motivo_cese desercion abandono abandono_escolar abbandono motivo_cessazione motivo_dimissioni "
        "reden_vertrek ontslagreden_werk vertrekreden motivo_desligamento motivo_saida evasao evasao_escolar "
        "powod_odejscia przyczyna_odejscia przyczyna_rozwiazania left_company resigned resignation resignation_reason "
        "quit_reason quit quitting intention_to_quit reason_for_leaving leaving_reason schulabbruch studienabbruch "
        "austrittsart abwanderung decrochage decrocheur abbandono_scolastico schooluitval evasao_aluno",
    ),
    concept(
        "behaviour",
        "calls, messages, media or purchases of a person",
        SENSITIVE,
        2,
        "calls calls_made total_calls eve_calls day_calls night_calls missed_calls mins day_mins eve_mins intl_mins "
        "msgs messages_sent clicks clicked page_views pageviews pages_viewed viewed browsing browse browsed watched "
        "watched_item watch_time watchtime listened listening streams streaming plays playcount playlist likes "
        "followers following usage data_usage app_usage screen_time screentime dwell_time swipe swipes items_bought "
        "bought cart wishlist downloads downloaded searches search_query searchquery query queries search_term "
        "gambling gambled bets betting wager wagers gaming social_media socialmedia facebook internet_use tv_hours "
        "tvhours tv_watching roaming voicemail incoming_calls outgoing_calls books_borrowed rentals binge_watching "
        "session_duration sessions time_spent conversation genre_preference anrufe anrufdauer gesprache gesprachsdauer "
        "datenvolumen datenverbrauch nutzung nutzungsdauer nutzungshaufigkeit mediennutzung bestellungen einkaufe "
        "suchbegriff spielverhalten glucksspiel appels appel duree_appel conso_data communications_duree achats "
        "jeux_argent recherche_terme temps_ecran llamadas llamada duracion_llamada consumo_datos compras uso_internet "
        "apuestas tiempo_pantalla chiamate chiamata durata_chiamata traffico_dati acquisti scommesse tempo_schermo "
        "oproepen belduur belminuten gesprekken dataverbruik aankopen gokken internetgebruik schermtijd chamadas "
        "chamada duracao_chamada consumo_dados apostas tempo_tela rozmowy rozmow czas_rozmowy polaczenia "
        "zuzycie_danych zakupy hazard korzystanie",
    ),
    concept(
        "outcome",
        "outcomes or results",
        SENSITIVE,
        1,
        "util utlztn verstorben gestorben tot fallecido fallecida deceduto deceduta falecido zmarly overlijden decedes "
        "tod entlassungsart mode_sortie tipo_alta tipo_dimissione ontslagbestemming sposob_wypisu death dth deaths "
        "status adm admi admis meth method methode alta ausgang uitkomst sortie salida uscita wyjscie zakonczenie "
        "obito deces decesso decessi defuncion consult wizyt visits_n vis rank_outcome category_outcome severe_outcome "
        "progress decision decyzja entscheidung outcome outcomes result results resultado resultat risultato "
        "resultstatus uitslag wynik esito outc survived survival alive dead death_flag died deceased expire expired "
        "mort morti morte mortal morto zgon zabitych decede muertos overleden target class_label label censor "
        "event_flag delta status_code evolucao evolution destination bestemming discharge disch dischg "
        "entlassungsgrund entlassung aufnahmeanlass aufnahmegrund urgency urgentie urgent tryb modalita conclusion "
        "con_fin clasificacion classi followup afhandeling disposition disp admission admit admitsource visit visits "
        "visited hospital hosp emergency er icu transfer consultas consultations consulta trauma harm threat fatal "
        "fatality killed severity_code finding findings flag_result value value_as answer response resp_value readmit "
        "reason reasoncode motif motivo motivo_consulta noshow show admtype reltype hospitalizations remarks_outcome "
        "consequence consequences fatalities recovered recovering cured healed outcomecode dropout_reason genesen "
        "geheilt sterbefall ergebnisse guerison gueri decedee fallecimiento curado recuperado egreso guarito deceduti "
        "esiti hersteld genezen cura_obito wyleczony wynikow_leczenia docvis doctor_visits hospvis numvisits "
        "clinicvisits survtime survdays survmonths vitalstatus vital_status os_status dfs pfs rfs antwort antworten "
        "reponse reponses respuesta respuestas risposta risposte antwoord antwoorden resposta respostas odpowiedz "
        "odpowiedzi responder nonresponder endpoint endpoints primary_endpoint event_type_outcome relapsed improved "
        "improvement deterioration worsened change_from_baseline chg pchg aval avalc baseline_value cured_flag "
        "success_flag failure_flag",
    ),
    concept(
        "outcome",
        "a duration, such as that of a stay or a call",
        SENSITIVE,
        1,
        "days months weeks minutes seconds secs tage monate wochen jours dias meses giorni mesi dagen maanden dni "
        "miesiace sej dur duration durata duree dauer duur czas futime stay sejour duration_stay length_of_stay "
        "lengthofstay aufenthaltsdauer verblijfsduur permanencia hospitaldays nights_hospital bed_days beddays wait "
        "waiting waittime wartezeit attente espera attesa wachttijd oczekiwania time_to_event timetoevent",
    ),
    concept(
        "outcome",
        "treatments or arms of a study",
        SENSITIVE,
        1,
        "treatment_arm arm armcd treat random_arm placebo intervention dosegroup",
    ),
)
