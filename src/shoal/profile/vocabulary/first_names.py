"""Common first names, to recognise columns of names of people."""

from __future__ import annotations

from shoal.profile.vocabulary.concept import words

__all__ = ["FIRST_NAMES"]

FIRST_NAMES = words(
    "aaron adam ahmed aisha akira alan albert alejandro alessandro alex alexander alexandra ali alice alicia alison "
    "amanda amelia amir amy ana anders andrea andreas andrew angela anil anita anja ann anna anne annette anthony "
    "antoine antonio arthur ashley astrid barbara beatrice benjamin bernard bernd betty birgit bjorn brandon brenda "
    "brian bruno camille carl carla carlos carmen carol caroline catherine cecilia charles charlotte chiara chloe "
    "christian christina christine christopher claire clara claudia claudio cynthia daniel daniela david deborah "
    "deepa denise dennis diana diane diego dieter dimitri dominik donald donna dorothy eduardo edward elena elisa "
    "elizabeth ella ellen emil emily emma eric erik erika ernst esther eva evelyn fabian fatima felix fernando "
    "florian francesca francesco francisco frank franz frederik gabriel gabriela george gerald gerard gerhard "
    "giovanni giulia giuseppe gloria gregory guillaume gunter gustav hanna hannah hans harold hassan heather heidi "
    "heike heinz helen helena helga henrik henry hiroshi hugo ian ibrahim ines ingrid irene isabel isabella ivan jack "
    "jacob jacqueline jakob james jan jane janet jason javier jean jeffrey jennifer jens jessica jesus joan johan "
    "johann johannes john jonas jonathan jorge jose joseph joshua juan judith julia julian julie jurgen justin karen "
    "karin karl katarina katherine kathleen kathrin katja kenji kenneth kevin kim klaus kristina kurt lara larry lars "
    "laura lauren laurent lea lena leon leonardo linda lisa louis louise luca lucas lucia lucy luigi luis lukas "
    "magdalena manuel marco marcus margaret maria mariana marie mario marion mark markus marta martha martin martina "
    "mary mateo matteo matthew matthias max maximilian mehmet melanie melissa mia michael michele michelle miguel "
    "mikael ming mohamed mohammed monica monika muhammad nadia nancy natalia natalie nathan nicholas nicolas nicole "
    "nils nina noah nora nuno olga oliver olivia omar oscar otto pablo pamela paolo patricia patrick paul paula pedro "
    "peter petra philip philipp philippe pierre piotr priya rachel rafael raj ralf ravi raymond rebecca renate "
    "ricardo richard robert roberto roger roland ronald rosa ruth ryan sabine samantha samuel sandra sanjay sara "
    "sarah scott sean sebastian sergio sharon simon simone sofia sophia sophie stefan stefanie stephanie stephen "
    "steven susan susanne sven svetlana sylvia tatiana teresa theresa thomas timothy tobias tom tomas ulrich ulrike "
    "ursula valentina vanessa vera veronica victor victoria viktor vincent virginia vladimir walter wei werner "
    "wilhelm william wolfgang yasmin yuki yusuf"
)
