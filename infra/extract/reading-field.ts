/** Of a field that draws a reading above words (`EQ \o(\s\up 9(reading),words)`), the words. */
export const baseOfReading = (field: string): string | undefined =>
  /^\s*EQ\b[^(]*\\o[^(]*\(\\s\\up ?\d*\([^()]*\),([^()]*)\)/.exec(field)?.[1]
