/** What tells a header from data. */

/** Neither a number nor an amount nor a date in figures. */
export const isName = (value: string): boolean => !/^[-+(]?[\d.,\s%€$£:/-]+\)?$/.test(value)

/** What stands where a value is missing. */
export const isPlaceholder = (value: string): boolean => /^([-–—?.]+|n\/?a|k\. ?a\.?|none|null|tbd)$/i.test(value)

/** Whether values that have figures are of several kinds, such as `24 months` and `1,250.00 EUR`. */
export function areOfManyKinds(values: string[]): boolean {
  const given = values.filter((value) => !isPlaceholder(value))
  const kinds = given.map((value) => {
    if (!isName(value)) return '9'
    const short = value.slice(0, 200).toLowerCase()
    return /\p{N}/u.test(short) ? short.replace(/[\p{N}.,]+/gu, '9') : 'x'
  })
  return new Set(kinds).size > 1
}

/** Years as names of columns: in order, and none twice. */
export function areYears(values: string[]): boolean {
  if (!values.every((value) => /^(19|20)\d\d$/.test(value))) return false
  const years = values.map(Number)
  const steps = years.slice(1).map((year, index) => year - (years[index] ?? 0))
  return steps.every((step) => step > 0) || steps.every((step) => step < 0)
}

/**
 * Whether the first row is data like those below: a column has the same particular shape in all of them, such as
 * `Mr Binder` below `Ms Adler`. Single words and numbers say nothing.
 */
export function isOfOneKind(first: Map<number, string>, below: Map<number, string>[]): boolean {
  if (below.length < 2) return false
  return [...first].some(([column, value]) => {
    const shape = shapeOf(value)
    if (!/[Xx]/.test(shape) || !/[^Xx]/.test(shape)) return false
    return below.every((row) => shapeOf(row.get(column) ?? '') === shape)
  })
}

/** `Ms Adler` is `X X`, `a7@x.org` is `x9@x.x`. */
function shapeOf(value: string): string {
  return value
    .slice(0, 200)
    .replace(/\p{Lu}[\p{L}\p{M}]*/gu, 'X')
    .replace(/[\p{Ll}\p{Lo}][\p{L}\p{M}]*/gu, 'x')
    .replace(/\p{N}+/gu, '9')
}
