import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const tokens = readFileSync(path.join(import.meta.dirname, '../../web/src/styles/tokens.css'), 'utf8')
const [light = '', dark = ''] = tokens.split(":root[data-theme='dark']")

function colour(theme: string, name: string): number {
  const hex = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(theme)?.[1] ?? ''
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

it.each([
  ['light', light],
  ['dark', dark],
])(
  'draws lines of fields that are seen in the %s theme (WCAG 2.2, 1.4.11), and no darker than that',
  (_name, theme) => {
    const line = contrast(colour(theme, 'field-line'), colour(theme, 'surface'))
    expect(line).toBeGreaterThanOrEqual(3)
    expect(line).toBeLessThan(3.4)
  },
)
