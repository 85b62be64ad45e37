/**
 * A cron expression from words such as "every weekday at 8", in English or German. Undefined for what is not understood
 * entirely: a word that was passed over could have meant another time.
 */
export function cronOfWords(words: string): string | undefined {
  const rest = new Rest(words)
  const repeated = intervalIn(rest)
  if (repeated !== undefined) return rest.isEmpty ? repeated : undefined
  const weekdays = weekdaysIn(rest)
  const date = dateIn(rest)
  const isDaily = rest.take(/\b(?:every day|each day|daily|taeglich|jeden tag)\b/) !== undefined
  if ([weekdays, date, isDaily || undefined].filter((one) => one !== undefined).length > 1) return undefined
  const time = timeIn(rest)
  if (time === undefined || !rest.isEmpty) return undefined
  // A time alone is not yet how often.
  if (weekdays === undefined && date === undefined && !isDaily) return undefined
  return `${time} ${date ?? '*'} * ${weekdays ?? '*'}`
}

const longest = 120
/** Words between the others, without a meaning of their own. */
const fillers = new Set(
  'every each on at the and of in um am an jeden jede jedes jeder und uhr oclock hour with from ab days day'.split(' '),
)

/** What has not been understood yet. */
class Rest {
  #text: string

  constructor(words: string) {
    this.#text = words
      .slice(0, longest)
      .toLowerCase()
      .replaceAll('ä', 'ae')
      .replaceAll('ü', 'ue')
      .replaceAll(/[’'"“”„]/g, '')
      .replaceAll(/[,;&]/g, ' and ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  }

  /** Takes the first match out of the text. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.#text = `${this.#text.slice(0, found.index)} ${this.#text.slice(found.index + found[0].length)}`
    return found
  }

  get isEmpty(): boolean {
    return this.#text
      .split(/[\s.]+/)
      .filter(Boolean)
      .every((word) => fillers.has(word))
  }
}

function intervalIn(rest: Rest): string | undefined {
  const minutes = rest.take(/\b(?:every|each|alle|jede) (?:(\d{1,2}) )?(?:minutes?|minuten?)\b/)
  if (minutes !== undefined) return stepOf(Number(minutes[1] ?? 1), 60, (step) => `${step} * * * *`)
  if (rest.take(/\b(?:hourly|stuendlich|every hour|each hour|jede stunde)\b/) !== undefined) return '0 * * * *'
  const hours = rest.take(/\b(?:every|alle) (\d{1,2}) (?:hours|stunden)\b/)
  return hours === undefined ? undefined : stepOf(Number(hours[1]), 24, (step) => `0 ${step} * * *`)
}

/** Steps that do not divide the whole would begin anew with each hour or day. */
function stepOf(size: number, whole: number, expression: (step: string) => string): string | undefined {
  if (size < 1 || size >= whole || whole % size !== 0) return undefined
  return expression(size === 1 ? '*' : `*/${size}`)
}

const weekdayNames = [
  'sundays?|sun|sonntags?|so',
  'mondays?|mon|montags?|mo',
  'tuesdays?|tues?|dienstags?|di',
  'wednesdays?|wed|mittwochs?|mi',
  'thursdays?|thurs?|thu|donnerstags?|do',
  'fridays?|fri|freitags?|fr',
  'saturdays?|sat|samstags?|sonnabends?|sa',
]
const anyWeekday = weekdayNames.join('|')
const numberOf = (name: string) => weekdayNames.findIndex((names) => new RegExp(`^(?:${names})$`).test(name))

function weekdaysIn(rest: Rest): string | undefined {
  if (rest.take(/\b(?:weekdays?|working days?|workdays?|werktags?|werktagen|wochentags)\b/) !== undefined) return '1-5'
  if (rest.take(/\b(?:weekends?|wochenendes?|wochenenden)\b/) !== undefined) return '0,6'
  const range = rest.take(new RegExp(String.raw`\b(${anyWeekday}) ?(?:to|until|through|bis|-|–) ?(${anyWeekday})\b`))
  if (range?.[1] !== undefined && range[2] !== undefined) {
    const [from, to] = [numberOf(range[1]), numberOf(range[2]) || 7]
    return from < to ? `${from}-${to}` : undefined
  }
  const named = new Set<number>()
  for (;;) {
    const [, name] = rest.take(new RegExp(String.raw`\b(${anyWeekday})\b`)) ?? []
    if (name === undefined) break
    named.add(numberOf(name))
  }
  return named.size === 0 ? undefined : [...named].toSorted((a, b) => a - b).join(',')
}

/** A day of each month. */
function dateIn(rest: Rest): string | undefined {
  const month =
    /\b(?:of (?:every|each|the) month|(?:every|each) month|monthly|jedes monats|jeden monats|des monats|im monat|jeden monat|monatlich)\b/
  if (rest.take(month) === undefined) return undefined
  const [, day] =
    rest.take(/\b(?:on the|on day|day|am|the|tag) (\d{1,2})(?:st|nd|rd|th|\.)?(?= |$)/) ??
    rest.take(/\b(\d{1,2})(?:st|nd|rd|th|\.)(?= |$)/) ??
    []
  if (day === undefined) {
    rest.take(/\b(?:first|ersten)\b/)
    return '1'
  }
  const number = Number(day)
  return number >= 1 && number <= 31 ? String(number) : undefined
}

/** Minute and hours. Without a time: at eight. */
function timeIn(rest: Rest): string | undefined {
  const isEvening = rest.take(
    /\b(?:in the evening|in the afternoon|at night|abends|am abend|nachmittags|am nachmittag)\b/,
  )
  rest.take(/\b(?:in the morning|morgens|am morgen|frueh|vormittags|am vormittag)\b/)
  const times: { hour: number; minute: number }[] = []
  if (rest.take(/\b(?:noon|mittags|am mittag)\b/) !== undefined) times.push({ hour: 12, minute: 0 })
  if (rest.take(/\b(?:midnight|mitternacht|mitternachts)\b/) !== undefined) times.push({ hour: 0, minute: 0 })
  for (;;) {
    const found = rest.take(/\b(\d{1,2})(?:[:.](\d{2}))? ?(am|pm|a\.m\.|p\.m\.|uhr|h|oclock)?(?![\w:])/)
    if (found === undefined) break
    const [, hour = '', minute = '0', half = ''] = found
    const isAfternoon = half.startsWith('p') || (isEvening !== undefined && Number(hour) < 12)
    const shown = Number(hour)
    if (half.startsWith('a') || half.startsWith('p') ? shown < 1 || shown > 12 : shown > 23) return undefined
    const twelve = half.startsWith('a') || half.startsWith('p') ? shown % 12 : shown
    times.push({ hour: twelve + (isAfternoon ? 12 : 0), minute: Number(minute) })
  }
  const [first = { hour: 8, minute: 0 }] = times
  if (first.minute > 59 || times.some(({ minute }) => minute !== first.minute)) return undefined
  const hours = times.length === 0 ? [8] : [...new Set(times.map(({ hour }) => hour))].toSorted((a, b) => a - b)
  return `${first.minute} ${hours.join(',')}`
}
