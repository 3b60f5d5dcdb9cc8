package memory

import (
	"slices"
	"strings"
)

// functionWords are words that say nothing of what a text is about: articles, pronouns, prepositions,
// conjunctions, auxiliaries, in English, German, French and Spanish, without those that name a thing in
// another of these. How many turns hold a word tells the same in any language, but not while a user
// has only a few turns.
var functionWords = setOf(`
a about after again all also am an and any are as at be because been before being but by can could
did do does doing don done each for from get got had has have having he her here hers him his how i
if in into is isn it its just let like ll may me might more most much must my no nor not now of off
on once only or other our out over please re s same she should so some such t than thank thanks that
the their them then there these they this those through to too under until up us ve very was we were
what when where which while who whom whose why will with would yes yet you your yours

aber als am auch auf aus bei beim bis bist bitte da dann das dass dein deine dem denn der dich doch
du durch ein eine einem einen einer eines es euch für habe haben hast hatte ich ihm ihn ihr ihre im
in ist ja jede jeder jedes kann kannst kein keine können mein meine mich mir muss nach nicht noch
nur ob oder ohne sein seine sich sie sind so über um und uns unter vom von vor wann warum was weil
welche wenn wer werden wie wir wird wo wurde zu zum zur

au aux avec ce ces cet cette comme dans de du elle elles en est et eux il ils je la le les leur
leurs lui ma mais me moi ne nos notre nous on ont ou où pas pourquoi qu quand que quel quelle qui sa
ses si sont ta te tes toi tu un une vos votre vous y

al como con cual cuando cuál cuándo cómo desde donde dónde el ella ellas ellos en entre es esa ese
eso esta estas esto está hasta la las lo los me mi mis muy más nada ni nos o para pero por porque
que quién qué se si sus sí también te tiene tu tus un una unos y ya yo él
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// content returns the terms that aren't function words.
func content(terms []term) []term {
	return slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return functionWords[t.word] })
}
