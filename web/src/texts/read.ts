export type Value = string | number

/** The names of the values of each text that has some, in the order in which callers give them. */
export interface Names {
  readonly [text: string]: readonly string[] | Names
}

/** Texts as a page uses them: those that need values are functions of them. */
export type Read<Texts, N> = {
  [Text in keyof Texts]: Text extends keyof N
    ? N[Text] extends readonly string[]
      ? (...values: Values<N[Text]>) => string
      : Read<Texts[Text], N[Text]>
    : Texts[Text]
}

type Values<Own extends readonly string[]> = { [Place in keyof Own]: Value }

/** Makes functions of the texts that `names` lists. They write numbers and choose plural forms as `locale` does. */
export function readTexts<Texts extends object, const N extends Names>(
  texts: Texts,
  names: N,
  locale: string,
): Read<Texts, N> {
  const read = (Object.entries(texts) as [string, unknown][]).map(([key, text]): [string, unknown] => {
    const own = names[key]
    if (own === undefined) return [key, text]
    if (!isList(own)) return [key, readTexts(Object(text) as object, own, locale)]
    return [
      key,
      (...values: Value[]) =>
        fill(String(text), Object.fromEntries(own.map((name, place) => [name, values[place]])), locale),
    ]
  })
  return Object.fromEntries(read) as Read<Texts, N>
}

const isList = (names: readonly string[] | Names): names is readonly string[] => Array.isArray(names)

/**
 * A text with its values in their places. The form is that of ICU messages, without its formats and quotes: `{name}`,
 * `{amount, plural, =0 {none} one {# file} other {# files}}`, and `{kind, select, page {a page} other {something}}`.
 */
export function fill(text: string, values: Readonly<Record<string, Value | undefined>>, locale: string): string {
  const shown = (value: Value = '') => (typeof value === 'number' ? value.toLocaleString(locale) : value)
  let at = 0
  return words()

  /** Up to the end of the text, or of the form of a place; `#` is the amount of the plural around it. */
  function words(amount?: number): string {
    let said = ''
    while (at < text.length && text[at] !== '}') {
      const character = text[at++] ?? ''
      if (character === '{') said += place(amount)
      else said += character === '#' && amount !== undefined ? shown(amount) : character
    }
    at++
    return said
  }

  function place(amount?: number): string {
    const [, name = '', kind] = take(/(\w+)\s*(?:,\s*(plural|select)\s*,)?/y)
    const value = values[name]
    const forms = new Map<string, string>()
    for (let form = take(/\s*(=?\w+)\s*\{/y)[1]; form !== undefined; form = take(/\s*(=?\w+)\s*\{/y)[1])
      forms.set(form, words(kind === 'plural' ? Number(value) : amount))
    take(/\s*\}/y)
    if (kind === undefined) return shown(value)
    const fitting = kind === 'plural' ? new Intl.PluralRules(locale).select(Number(value)) : String(value)
    return forms.get(`=${value}`) ?? forms.get(fitting) ?? forms.get('other') ?? ''
  }

  function take(form: RegExp): RegExpExecArray | [] {
    form.lastIndex = at
    const found = form.exec(text)
    at += found?.[0].length ?? 0
    return found ?? []
  }
}
