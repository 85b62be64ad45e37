/** Words of questions that go on with what was said before, in the languages of the console. */
const joining =
  /^(?:and|or|but|und|oder|aber|what about|how about|same for|was ist mit|wie ist es|wie sieht es|das ?selbe für|gleiches für)\b/iu

/** Words that name nothing by themselves. */
const empty = new Set(
  (
    'a about all also an and any are as at be been before but by can could did do does for from had has have he her him his how ' +
    'i in is it its last me more much many my next of on one or our same she so still tell than that the their them then there ' +
    'these they this those to too us was we were what when where which who why will with would year years month quarter you your ' +
    'aber alle als am an auch auf aus bei bin bis da dann das dazu dem den denn der des dessen die dies diese dieser dieses doch ' +
    'du ein eine einem einen einer er es für gibt hat haben hatte ich ihm ihn ihr ihre im in ins ist jahr jahre jahren kann man mehr ' +
    'mir mit monat nach noch nur ob oder sein seine sich sie sieht sind so und uns vom von vor war waren warum was wann wer wie ' +
    'wieviel wir wird wo zu zum zur über quartal'
  ).split(' '),
)

const longest = 80

/**
 * A query that names nothing by itself, such as "and in 2023?", with the subject of the one before. Others stay as they
 * are. Years of before go where the query names its own. Call only with short texts: at most some thousand characters.
 */
export function withSubject(query: string, before: string | undefined): string {
  if (before === undefined || !leansOnOthers(query)) return query
  const years = /\b(?:19|20)\d\d\b/g
  const subject = years.test(query) ? before.replaceAll(years, ' ') : before
  return `${subject} ${query}`.replace(/\s+/g, ' ').trim()
}

/** Whether it can hardly be understood without what was said before. */
export function leansOnOthers(query: string): boolean {
  const text = query.trim()
  if (text.length > longest) return false
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []
  const naming = words.filter((word) => !empty.has(word)).length
  return naming === 0 || (naming === 1 && joining.test(text))
}
