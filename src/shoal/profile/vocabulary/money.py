"""Words of column names for money: income, payments, debts, insurance, welfare.

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. Words have no accents.
"""

from __future__ import annotations

from shoal.profile.vocabulary.concept import concept
from shoal.schema import Kind, Role

__all__ = ["MONEYS"]

SENSITIVE = Role.SENSITIVE
PAYMENT = "payments, prices or loans"
MONEYS = (
    concept(
        "money",
        "income, debts or wealth",
        SENSITIVE,
        5,
        "income incomes inc salary salaries wage wages earnings earning earn einkommen gehalt bruttogehalt "
        "salarisschaal sal nettoeinkommen lohn salaire salaires revenu revenus ingreso_s ingresos sueldo salario "
        "salarial stipendio reddito redditi inkomen inkomst renda rendimento remuner remun remuneracao remuneracion "
        "retribuzione retribution remuneration nomina dochod dochody dochodu wynagrodzenie zarobki pensja loon "
        "brutoloon salaris brutosalaris nettosalaris brutoink nettoink entgelt entgeltgruppe bezuge verdienst faminc "
        "hhinc linc rincome earnweek lwage logwage ressources ressource wealth vermogen patrimonio networth debt debts "
        "schulden dette deuda debito schuld dlug restschuld ingresho ingrh capitalgain capitalloss wynagrodz reddit "
        "stipend lohnst ressourc einkunfte jahreseinkommen haushaltseinkommen jahresgehalt monatsgehalt grundgehalt "
        "monatslohn stundenlohn jahreslohn besoldung vergutung honorar abfindung lohne gehalter compensation basepay "
        "payrate wagerate hourly_wage annual_salary monthly_income agi liabilities indebtedness indebted "
        "revenus_mensuels smic emoluments patrimoine sueldos salarios renta_familiar stipendi salari retribuzioni "
        "patrimoniale jaarinkomen maandinkomen huishoudinkomen besteedbaar uurloon maandloon jaarloon salarissen "
        "vermogens rendas ordenado ordenados vencimentos rendimentos placa wynagrodzenia pensje zarobek majatek "
        "majatkowy hinctnta hincome pincome hincp pincp wagp totinc totincome persinc famincome incwage inctot ftotinc "
        "hhincome hinc lnwage lnincome logincome capital_gain capital_loss overtime_pay unemployment_benefit "
        "unemployment_benefits take_home takehome takehomepay pay_band payband pay_grade paygrade salary_band "
        "salaryband salary_grade pct_increase salary_hike pay_rise payrise gehaltsstufe gehaltsgruppe tarifgruppe "
        "zulage zulagen zuschlag zuschlage boni tantieme tantiemen sonderzahlung monatsbrutto monatsnetto "
        "bruttoverdienst hhnetto haushaltsnetto bruttomonatsentgelt indice_salarial tranche_revenu tranche_revenus "
        "niveau_vie niveau_de_vie traitement_brut tramo_renta tramo_ingresos nivel_ingresos fascia_reddito "
        "classe_reddito inkomensklasse inkomensgroep faixa_renda faixa_salarial przedzial_dochodu grupa_dochodowa "
        "income_bracket income_band income_group income_cat income_quintile income_decile wealth_quintile wealth_index "
        "windex",
    ),
    concept(
        "payment",
        PAYMENT,
        SENSITIVE,
        2,
        "gratificacion gratificacao premia premio einkaufswert kaufpreis ahorros ahorro risparmi risparmio spaargeld "
        "poupanca oszczednosci ausgaben uitgaven wydatki kredietlimiet kreditrahmen immobilienwert wert waarde valeur "
        "valore woningwaarde imposition aliquota belasting belastingschijf podatek podatkowy podatku impot impots "
        "imposto impuesto insolvenza insolvency insolvent inadimplente zaleglosci zaleglosc nieruchomosci immobile "
        "imovel inmueble konta emprestimo zakupu acquisto achat compra aankoop plafond overdraft utilization garantie "
        "podstawa_wymiaru bond bail_amount late_payments dayslate past_due_days apr real_estate_loans hheink "
        "stated_income toetsingsinkomen zwrot refund surcharge monatsrate darlehen darlehensbetrag aluguel retraite "
        "aposentadoria overdue past_due mora ritardo achterstand atraso opoznienia opoznienie retard_paiement pozyczka "
        "pozyczki leenbedrag maandbedrag stopa juros taxa_juros kaltmiete warmmiete huurprijs nebenkosten "
        "leistungsbetrag leistungen zuzahlung eigenanteil unterhalt alimony alimente bono bonus provision commission "
        "comision provvigione umsatz rechnungsbetrag zuschuss beitrag tilgung cotisation depense depenses encours "
        "impaye impayes gasto gastos pension pensione pensioen pensao pensiones spesa spese contributo fido inkomsten "
        "hypotheek despesa despesas divida parcela koszty emerytura renta skladka oplata zadluzenie sposob_platnosci "
        "points_loan chg_off turnover_amount umsatze guthaben mahnung inkasso kwoty zinsen pret_montant rimborso "
        "sovvenzione restitution prets amount amounts amt amnt betrag bedrag montant mnt importe importo montante "
        "kwota valor val vlr vl wartosc balance bal saldo solde loan loans kredit kredyt kredytu credit credits "
        "credito pret prestamo prestito lening hypothek mortgage hipoteca mutuo installment installments instalment "
        "rata rate_amount mensualite cuota prestacao prestazione interest int_rate zins zinssatz taux tasso interes "
        "oprocentowanie rente price preis prix precio prezzo prijs cena einzelpreis unitprice fare payment payments "
        "paid pay pmt paiement pago pagamento betaling zahlung zahlungsart platnosc platnosci wplata tip tips bill "
        "bills bill_amt reimb reimburse reimbursement remb rem erstattung vergoed dti ltv oltv upb fico cscore schufa "
        "default delinq delinquency dlq arrears impagos impago verzug zahlungsverzug incumprimento sofferenza "
        "sconfinamento accordato utilizzato taxes tax steuerklasse steuer irpf award ticket_amount expense expenses "
        "expenditure expenditures totexp spending gross net brutto netto bruto savings ersparnis epargne deposit stock "
        "investment assets property_value rent miete loyer alquiler affitto huur czynsz mietkosten annuity term tenor "
        "laufzeit plazo duree_credit okres capital disbursement chgoff grade_loan purpose eigen risico taxa moderadora "
        "dol outpdol inpdol meddol ddctbl cst cash fee fees fine multa tariff limit rate_paid hourly_rate daily_rate "
        "hourlyrate dailyrate orig_rate guarantee garanzia rating_credit conforming denial action_taken churn "
        "creditscore creditamount kontostand kreditbetrag bilanz mensual zahlungs reimburs restschuld oprocent sconfin "
        "revenue profit losses payout payouts stipendiary pensions superannuation dividends dividend rental royalties "
        "inheritance childsupport taxpaid taxable withholding deduction deductions creditline creditlimit credit_limit "
        "bankruptcy bankruptcies bankrupt foreclosure foreclosed repossession lien chargeoff writeoff collateral "
        "borrowed liability equity portfolio bonds shares ira homevalue housevalue purchases purchase spend spent "
        "withdrawal withdrawals deposits afford eviction creditworthiness creditrating repayment repayments repaid "
        "payoff owed owing overpayment underpayment reimbursed payable receivable charges_total revolving utilisation "
        "defaulted delinquent delinquencies lateness unpaid bonuszahlung weihnachtsgeld urlaubsgeld altersrente "
        "steuern einkommensteuer lohnsteuer sozialabgaben abgaben kredite kreditsumme kredithohe raten ratenzahlung "
        "ratenkredit kreditwurdigkeit bonitat mahnstufe mahnungen pfandung insolvenz privatinsolvenz zahlungsmoral "
        "sparguthaben geldanlage wertpapiere aktien immobilien erbe gewinn verlust jahresbeitrag gesamtpreis "
        "nettopreis bruttopreis kaufsumme mietpreis zahlungsruckstand ruckstand forderung forderungen minima retraites "
        "taxe foncier emprunt emprunts endettement surendettement decouvert loyers remboursement remboursements "
        "rembourse cotisations subvention subventions chiffre_affaires dettes dividende avoirs placement placements "
        "rentas jubilacion subvencion subvenciones paro hipotecas prestamos deudas morosidad moroso morosos cuotas "
        "costes impuestos tarjeta limite pagos pagado cobro cobros facturado ingresado bonificacion pensioni assegno "
        "assegni mutui prestiti finanziamento finanziamenti debiti indebitamento insoluti insoluto morosita imposta "
        "imposte tasse tributi canone affitti fatturato incasso rimborsi indennita arretrati aow pensioenen "
        "schuldbedrag schuldsanering betalingsachterstand leningen krediet kredieten hypotheekbedrag woz wozwaarde "
        "spaarsaldo inkomstenbelasting belastbaar zorgkosten uitgave bedragen betaald openstaand aflossing pensoes "
        "aposentado reforma emprestimos financiamento prestacoes dividas endividamento inadimplencia poupancas precos "
        "custos impostos receita faturacao faturamento propina propinas devedor stawka emerytury renty alimenty "
        "kredyty raty zadluzenia dlugi windykacja oszczednosc podatki skladki wydatek przychod przychody odsetki "
        "splata splaty inq inquiries inquiry funded funding revol revolver pubrec checking guarantor guarantors "
        "coapplicant cosigner discount discounts rabatt remise descuento sconto korting desconto rabat financial "
        "finances finanzen finanzielle financiero financieel quotient kreditart kreditausfall zahlungsverhalten "
        "kontosaldo credit_history open_acc total_acc pub_rec subgrade sub_grade writtenoff recoveries outstanding "
        "exposure_at_default principal_paid pti tariffs budget expenditure_total consumption_exp outlay outlays "
        "shortage fines debtratio loanstatus loanamount emi roi cibil hypothec vermogenswert zusatzrente betriebsrente "
        "mindestlohn expensive cheap debit debits payments_due amountpaid paidamount totalpaid allowed_amount "
        "allowedamt billed billedamount submitted_charge oop outofpocket out_of_pocket worth valuation appraised "
        "appraisal_value rateable mortgages mtg heloc lienamount origbalance currbalance unpaidbalance interestrate "
        "coupon yield maturity amortization amortisation prepayment prepaid modification forbearance bankruptcy_flag "
        "payhistory payment_history payment_status repay_status limit_bal taxfree taxrate steuersatz steuerbetrag "
        "bemessungsgrundlage prejuizo perdida perdidas perdita perdite verlies straty mietschulden energiekosten "
        "heizkosten stromkosten nebenkosten_betrag konsumausgaben ausgabe ausgabenhohe einnahmen recettes ricavi "
        "inkomsten_totaal receitas wplywy dpd num_late numlate late_count days_late transaction_type "
        "transaction_category merchant merchants merchant_category mcc order_total ordertotal ordervalue basket "
        "basket_value clv ltv_customer pledge pledged donation donations donated giving num_cards numcards "
        "num_accounts crypto_holdings holdings holding_value good_bad goodbad good_bad_flag bad_debt baddebt "
        "collections collection_amt debt_collection writedown pd_score lgd ead scorecard creditrisk credit_risk "
        "credit_rating rating_grade risk_class riskclass riskgrade worthiness pawn remittance remittances voucher "
        "vouchers rebate rebates cashback loyalty_points arrear nonpayment direct_debit bounced insufficient_funds "
        "topup top_up recharge recharge_amt arpu mou billing_amount invoice_amount invoiceamount "
        "ausfallwahrscheinlichkeit spende spenden spendenhohe spendenbetrag bezahlt zahlbetrag inkassofall "
        "kundigungsgrund vertragskundigung kundigung vertragskundigungsgrund mietruckstand stromsperre pfandungsbetrag "
        "warenkorb warenkorbwert bestellwert bestellsumme guthabenstand verschuldung verschuldungsgrad uberschuldung "
        "dispo dispokredit bonitatsindex caf_montant don_montant dons montant_don panier panier_moyen "
        "dommages_interets dommages interets_retard plafond_credit interdit_bancaire fichage cote_credit "
        "tranche_imposition resiliation motif_resiliation ticket_medio donativo donativos donacion donaciones "
        "cesta_media mora_dias dias_mora impagado impagados recibos_impagados monto_total embargos embargo quiebra "
        "donazione donazioni protesti pignoramento classe_rischio classe_di_rischio classe_merito spesa_totale "
        "scoperto spaartegoed spaargelden donatie donaties donatiebedrag giften wanbetaling wanbetaler deurwaarder "
        "beslaglegging schuldhulp schuldhulpverlening doacao doacoes negativado protestos penhora renegociacao "
        "darowizna darowizny egzekucja komornik zajecie_komornicze niewyplacalnosc upadlosc cancellation_reason "
        "churn_reason promo_used returned_items other_debtors debtor debtors energy_use electricity_kwh kwh "
        "energy_consumption gas_usage water_usage socioeconomic socio_economic ses sep_score contribution "
        "contributions contribution_amt firmenwagenwert lohnabrechnung sparkonto mahngebuhr mahngebuhren "
        "rucklastschrift stornogrund storno warengruppe kaufhaufigkeit retourenquote uberschuss stromverbrauch "
        "gasverbrauch depassement_honoraires honoraires treizieme_mois heures_sup_payees classe_risque reste_a_charge "
        "saisie_salaire ingreso_hogar ingreso_mensual ingreso_familiar monto monto_reclamado monto_pagado "
        "nivel_socioeconomico nse remesas remesa copago straordinari classe_bonus merito_creditizio eigen_bijdrage "
        "horas_extras_pagas parcelas_atrasadas nadgodziny_platne stawka_godzinowa historia_kredytowa",
    ),
    concept(
        "payment",
        "insurance, claims or fraud",
        SENSITIVE,
        2,
        "schadenhohe premio_assicurativo assicurativo franchise indemnise indemnisation bonus_malus malus inscov hicov "
        "coverage_type selbstbeteiligung premium_amount indemnite indemnites indemnizacion premium pramie prime prima "
        "premie deductible deductable excess coinsurance copay fraud coverage cov insurance insur assurance mutuelle "
        "versicherung kasse krankenkasse seguro assicurazione ubezpieczenie verzekering payer pyr krankenkass "
        "settlement settlements claimamount claimed reserve reserves indemnity premiums copayment pramien "
        "versicherungssumme schadenssumme schadensumme schadenbetrag primes indemnizaciones indennizzo indennizzi "
        "premies schadebedrag schadevergoeding copays uninsured insured_status insurancetype healthplan health_plan "
        "coverage_status wartosc_szkody odszkodowanie odszkodowania indemnizacao indenizacao sinistralidade "
        "siniestralidad sinistralite schade_bedrag claims claim_cnt claim_count claimcount nclaims claim_type "
        "claimtype claim_status claim_reason claim_history claim_nb claimnb loss_type losstype sum_insured suminsured "
        "insured_value insured_amount suspicious suspicious_activity schadensart schadenart schadenzahl schadensgrund "
        "schadenursache schadensursache schadenanzahl schadenaufwand schadenquote selbstbehalt deckungssumme regress "
        "regresssumme sf_klasse schadenfreiheitsklasse schadenfreiheit schadenssatz sinistres nb_sinistres "
        "type_sinistre nature_sinistre cout_sinistre charge_sinistre siniestros num_siniestros tipo_siniestro "
        "coste_siniestro sinistri numero_sinistri tipo_sinistro costo_sinistro frode frodi aantal_claims claimbedrag "
        "schadeclaim schadeclaims schadeoorzaak schadesoort schadevrij schadevrije_jaren fraude_indicatie sinistros "
        "num_sinistros custo_sinistro szkody szkoda liczba_szkod rodzaj_szkody wyludzenie wyludzenia insured "
        "claim_frequency claim_freq at_fault fault_indicator fault damage damages damage_type damage_amount "
        "damages_claimed damages_awarded property_claim vehicle_claim injury_claim bodily_injury bodily_injuries "
        "liability_limit csl no_claims_bonus noclaims ncd ncd_years lapse lapsed surrendered surrender_value "
        "cancelled_policy loading_pct underwriting underwriting_decision plan_type_insurance vorschaden "
        "vorschaden_anzahl responsabilite_accident danno danno_liquidato schadeverleden szkodowosc",
    ),
    concept(
        "payment",
        "welfare, benefits or need",
        SENSITIVE,
        2,
        "prestacion prestaciones_tipo zasilku desempleo disoccupazione chomage unemployment_benefit unemployed_benefit "
        "ww desemprego isee terugvordering toegekend swiadczenia_rodzaj poverty_cat pov povcat kindergeld elterngeld "
        "arbeitslosengeld burgergeld sozialhilfe bijstand wohngeld prestaciones subsidio ayuda sussidio toeslag "
        "beneficio zasilek benefit benefits allocation aide rsa_mnt allowance welfare scholarship bourse boursier beca "
        "becario stipendium poverty povert freelunch lunch escalao uitkeringsbedrag uitkering grant grants subsidy "
        "subsidies snap tanf ssi foodstamps foodstamp wic hardship grundsicherung hartz transferleistung "
        "leistungsbezug allocations subsidios ayudas sussidi toeslagen huurtoeslag zorgtoeslag kinderbijslag "
        "bijstandsuitkering bolsa auxilio beneficios zasilki fsm eligibility insecurity sozialleistung "
        "sozialleistungen kurzarbeitergeld krankengeld mutterschaftsgeld bafog hilfe beihilfe unterstutzung "
        "arbeitslosigkeit_geld aides secours aide_sociale minimex leefloon pgb wmo dodatek dodatki dofinansowanie "
        "zapomoga kwota_swiadczenia hardship_flag income_support food_bank homeless homelessness shelter_stay "
        "poverty_status entitlement entitlements leistungsbescheid leistungsart sozialleistungsbezug "
        "bedarfsgemeinschaft apl rsa cesta_basica bolsista swiadczenie swiadczenia swiadczen destitute "
        "deprivation_money food_insecurity food_security poor household_poverty leistungsempfanger bildungsgutschein "
        "obdachlosigkeit obdachlos wohnungslos wohnungslosigkeit precarite precaire aide_alimentaire programa_social "
        "pobreza inseguridad_alimentaria poverta disagio_economico assegno_sociale armoede voedselbank "
        "inseguranca_alimentar auxilio_brasil ubostwo free_school_meals free_lunch lunch_status free_meals "
        "school_meals meal_status",
    ),
    concept(
        "cost",
        PAYMENT,
        SENSITIVE,
        2,
        "charge charges cost costs kosten costo coste costi custo cout couts koszt koszty tarif",
        kind=Kind.NUMERIC,
    ),
)
