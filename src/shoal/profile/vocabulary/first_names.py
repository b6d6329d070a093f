"""Common first and last names, and titles, to recognise columns of names of people."""

from __future__ import annotations

from shoal.profile.vocabulary.concept import words

__all__ = ["FIRST_NAMES", "LAST_NAMES", "TITLES"]

FIRST_NAMES = words(
    "aaron abdul abdullah abigail adam adriana agnes agnieszka ahmed ahmet aiden aisha akiko akira alain alan "
    "albert alejandro aleksandra alessandro alessia alex alexander alexandra alexis alfred ali alice alicia alina "
    "alison amanda amelia amina amir amit amy ana anastasia anastasiya anders andrea andreas andrew angel angela "
    "ania anil anita anja ann anna anne annette annika anthony antoine antonio aoife arjun arthur artur asa ashley "
    "astrid aya aylin ayse barbara barry bartosz beata beatrice ben benjamin bernard bernd betty bianca bill "
    "birgit bjarne bjorn bob bogdan boris brandon brenda brian bruno camille carl carla carlos carmen carol "
    "carolina caroline catarina catherine cecilia celine charles charlotte chen chiara chinedu chloe christian "
    "christina christine christopher claire clara claudia claudio cristina cynthia dana daniel daniela danuta "
    "darius dariusz dave david deborah deepa denise deniz dennis diana diane diego dieter dimitri dmitri dmitry "
    "dominik donald donna doris dorothy edith eduardo edward elena eleni elif elisa elisabeth elizabeth ella ellen "
    "emeka emil emily emine emma emre enrico eric erik erika ernst esther eva evelyn ewa fabian fatima fatma "
    "federico felix feng fernando filip florian francesca francesco francisco frank franz franziska frederik freya "
    "gabriel gabriela gareth gemma george gerald gerard gerhard giorgio giovanni giulia giuseppe gloria grace "
    "gregory greta grzegorz guillaume gunter gustav hanna hannah hans harold haruto hassan heather heidi heike "
    "heinz helen helena helga henrik henry hiroko hiroshi holger hugo hussein ian ibrahim ilse imran ines inge "
    "ingeborg ingrid irene irina isabel isabella ivan jack jacob jacqueline jadwiga jakob james jan jane janet "
    "jason javier jean jeffrey jennifer jenny jens jerzy jessica jesus jim jiri joan joanna joao joaquim joe johan "
    "johann johannes john jolanta jonas jonathan joost jorg jorge jose josef joseph joshua jozef juan judith julia "
    "julian julie julien jurgen justin karen karin karl katarina katarzyna kate katherine kathleen kathrin kathy "
    "katie katja kazuki kenji kenneth kevin khalid kim klaus kristina krzysztof kurt lakshmi lara larry lars laura "
    "lauren laurent layla lea leila lena leon leonardo li liam lieke lily lin linda lisa liza louis louise luca "
    "lucas lucia lucie lucy ludwig luigi luis lukas lukasz maciej magda magdalena maja malgorzata manfred manuel "
    "marcel marcin marco marcus marek margaret margarita maria mariana marianne marie mario marion mariusz mark "
    "markus marta martha martin martina mary mateo mateusz matteo matthew matthias max maximilian mehdi mehmet "
    "melanie melissa mia michael michal michele michelle miguel mikael mike mikhail mina ming mohamed mohammad "
    "mohammed monica monika monique muhammad mustafa nadia nancy naoko natalia natalie natasha nathan neha ngozi "
    "nguyen niamh nicholas nicolas nicole nils nina noah noor nora nuno nur ole oleg oleksandr olga oliver olivia "
    "olu oluwaseun omar oscar otto pablo pamela paolo pascal patricia patrick paul paula pavel pawel pedro per "
    "peter petra philip philipp philippe pierre pilar piotr priya quinn rachel rafael rahul raj ralf rania ravi "
    "raymond rebecca regina renate ricardo richard robert roberto roger roland ronald rosa rosemary rui ruth ryan "
    "sabine sakura samantha sami samuel sandra sanjay sanne sara sarah scott sean sebastian selin sergei sergio "
    "sharon shreya simon simone siobhan sofia sophia sophie soren stanislaw stefan stefanie stephane stephanie "
    "stephen steve steven sunita susan susanne sven svetlana sylvia takashi tamara tariq tatiana teresa theresa "
    "thi thomas tim timothy tina tobias tom tomas tomasz ulrich ulrike ursula ute uwe valentina valerie vanessa "
    "vera veronica victor victoria viktor vincent violet virginia vladimir walter wanda wei werner wilhelm willi "
    "william wojciech wolfgang xavier xenia yan yann yasmin yosef youssef yu yuki yusuf yuto zahra zbigniew zeynep "
    "zoe zofia"
)
LAST_NAMES = words(
    "abe adams ahmed ali allen almeida alvarez andersen anderson andersson bailey bakker banerjee bauer becker "
    "bennett berger bernard bertrand bianchi bos brandt bruno campbell carter carvalho castillo chavez chen clark "
    "collins colombo conti cooper costa cox cruz davies davis dekker demir diaz dubois dupont durand edwards "
    "eriksson esposito evans fernandes fernandez ferrari ferreira fischer flores fournier franke fuchs garcia "
    "gomes gomez gonzalez greco gruber gupta gutierrez hahn hansen harris hernandez hoffmann hofmann huber hughes "
    "ibrahim ivanov ivanova jackson jansen janssen jensen jimenez johansson johnson jones joshi kaminska kaminski "
    "kaya keller kelly khan kim kimura klein koch kowalska kowalski krause kruger kumar larsen larsson lee "
    "lefebvre lehmann leroy lewandowski lewis lin liu lopez maier marino marques martinez mayer meier mendoza "
    "meyer mitchell mohamed moore morales moreau moreno morgan morris muller murphy nakamura nelson neumann nguyen "
    "nielsen nilsson novak nowak okafor oliveira olsen ortiz patel pedersen pereira perez peters petersen petit "
    "petrov pham phillips popescu popov ramirez ramos reyes ricci richardson richter rivera roberts robinson "
    "rodrigues rodriguez rogers romano rossi roux ruiz russo sanchez santos sato schafer schmid schmidt schmitt "
    "schneider schreiber schroder schulz schwarz shah sharma silva simon singh smirnov smit smith sorensen sousa "
    "steiner stewart suzuki svensson takahashi tanaka taylor thompson torres tran turner vargas vasiliev vasquez "
    "visser vogel wagner walker wang watson weber weiss werner williams wilson wisniewska wisniewski wojcik wolff "
    "wood wright yamamoto yang yildiz yilmaz zhang zhao zielinski zimmermann"
)
# Titles and forms of address before a name.
TITLES = words(
    "mr mrs ms miss mx dr prof sir dame lord lady hon judge officer ofc sgt det capt lt rev herr frau fr hr mme "
    "mlle monsieur madame sr sra srta senor senora don dona sig sigra signor signora dott dottssa dhr mevr mevrouw "
    "meneer pan pani"
)
