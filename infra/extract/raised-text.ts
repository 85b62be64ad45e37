/** Marks around letters that stand above or below their line, until `withRaised` reads them: no text has these signs. */
export const raisedMarks = { super: ['\ufdd0', '\ufdd1'], sub: ['\ufdd2', '\ufdd3'] } as const

export type Raised = keyof typeof raisedMarks

/** `10` with a raised `6` as `10^6`, not as `106`. Signs of notes behind words, ordinals and `H2O` stay. */
export function withRaised(text: string): string {
  if (!/[\ufdd0-\ufdd3]/.test(text)) return text
  // Parts of one number that a program wrote one by one are one again.
  const joined = text.replace(/\ufdd1\ufdd0|\ufdd3\ufdd2/g, '')
  const read = joined.replace(
    /([\ufdd0\ufdd2])([^\ufdd0-\ufdd3]{1,12})[\ufdd1\ufdd3]/g,
    (_whole, mark: string, given: string, at: number) => {
      const before = joined.slice(Math.max(0, at - 12), at).replace(/[\ufdd0-\ufdd3]/g, '')
      return `${mark === raisedMarks.super[0] ? signAbove(before, given) : signBelow(before, given)}${given}`
    },
  )
  return read.replace(/[\ufdd0-\ufdd3]/g, '')
}

const number = /^\s*[-+−–]?\d+(?:[.,/]\d+)?[-+−–]?\s*$/

/** Behind a digit nothing may become a part of its number; behind letters, only a unit or a variable has a power. */
function signAbove(before: string, raised: string): string {
  // Nobody writes the first power: it is the sign of a note.
  if (raised.trim() === '1' && /\p{L}$/u.test(before)) return ''
  return number.test(raised) && /(?:[\p{N})\]]|(?<!\p{L})\p{L}{1,3})$/u.test(before) ? '^' : ''
}

function signBelow(before: string, lowered: string): string {
  return number.test(lowered) && /\p{N}$/u.test(before) ? '_' : ''
}

const maxClasses = 2000

/** Learns from a style sheet which classes raise or lower letters. */
export function learnRaisedClasses(css: string, classes: Map<string, Raised>): void {
  if (!/vertical-align/i.test(css)) return
  for (const rule of css.split('}')) {
    const [selectors = '', facts = ''] = rule.split('{').slice(-2)
    const raised = raisedByFacts(facts)
    if (raised === undefined) continue
    for (const [, name = ''] of selectors.matchAll(/\.([\w-]{1,100})/g))
      if (classes.size < maxClasses) classes.set(name, raised)
  }
}

/** Whether an element of a page stands above or below its line. */
export function raisedBy(
  { class: names = '', style = '' }: Record<string, string>,
  classes: Map<string, Raised>,
): Raised | undefined {
  const known = names.split(/\s+/, 20).find((name) => classes.has(name))
  return raisedByFacts(style) ?? (known === undefined ? undefined : classes.get(known))
}

function raisedByFacts(facts: string): Raised | undefined {
  const [, align] = /vertical-align\s*:\s*(super|sub)\b/i.exec(facts) ?? []
  return align === undefined ? undefined : align.toLowerCase() === 'super' ? 'super' : 'sub'
}
