/** Words that German texts cannot do without, and others do not have. */
const germanWords = new Set(
  (
    'der die das und ist nicht ein eine einer eines einem einen den dem des im mit auf für von zu sich auch als bei nach ' +
    'wie wird werden wurde wurden war sind hat haben kann aus über wer wo wann warum welche welcher welches welchen wessen'
  ).split(' '),
)
const otherWords = new Set('the of to and is was for that with what which who how did does are were by'.split(' '))

/** Whether a text is German, by its first hundred words: more would cost large files too much time. */
export function isGerman(text: string): boolean {
  let german = 0
  let other = 0
  for (const [word] of text
    .slice(0, 500)
    .toLowerCase()
    .matchAll(/\p{L}+/gu)) {
    if (germanWords.has(word)) german++
    else if (otherWords.has(word)) other++
  }
  return german > other
}

/** "CISTEM" (Weissweiler and Fraser 2017), without regard to capitals. The word is in lower case. */
export function germanStem(word: string): string {
  let stem = word.replaceAll('ü', 'u').replaceAll('ö', 'o').replaceAll('ä', 'a').replaceAll('ß', 'ss')
  stem = stem
    .replace(/^ge(.{4,})/, '$1')
    .replaceAll('sch', '$')
    .replaceAll('ei', '%')
    .replaceAll('ie', '&')
  stem = stem.replace(/(.)\1/g, '$1*')
  while (stem.length > 3) {
    const shorter = stem.length > 5 ? stem.replace(/(?:e[mr]|nd)$/, '') : stem
    const next = shorter === stem ? stem.replace(/[tesn]$/, '') : shorter
    if (next === stem) break
    stem = next
  }
  return stem.replace(/(.)\*/g, '$1$1').replaceAll('$', 'sch').replaceAll('%', 'ei').replaceAll('&', 'ie')
}
