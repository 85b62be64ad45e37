import { expect, it } from 'vitest'
import { brandStyles } from '../../domain/brand-colors.ts'

const luminanceOf = (color: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrast = (a: string, b: string) => {
  const [dark = 0, light = 0] = [luminanceOf(a), luminanceOf(b)].toSorted((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

it.each(['#000000', '#ffffff', '#ffe000', '#0f766e', '#ff0000', '#3f5bd9', '#808080'])(
  'with the colour %s all texts can be read in both themes',
  (color) => {
    const themes = brandStyles(color).split('\n').slice(0, 2)
    expect(themes.map((rule) => rule.slice(0, rule.indexOf('{')))).toEqual([':root', ":root[data-theme='dark']"])
    for (const rule of themes) {
      const of = (name: string) => new RegExp(`--${name}:(#[0-9a-f]{6})[;}]`).exec(rule)?.[1] ?? ''
      expect(contrast(of('accent'), of('on-accent'))).toBeGreaterThan(4.5)
      expect(contrast(of('accent-hover'), of('on-accent'))).toBeGreaterThan(4.5)
      expect(contrast(of('accent-text'), of('accent-soft'))).toBeGreaterThan(4.5)
    }
  },
)
