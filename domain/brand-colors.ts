/** Red, green and blue, each from 0 to 255. */
type Rgb = readonly [number, number, number]

interface Theme {
  accent: Rgb
  hover: Rgb
  soft: Rgb
  text: Rgb
  onAccent: Rgb
  second: Rgb
}

const white: Rgb = [255, 255, 255]
const black: Rgb = [13, 16, 20]
const darkPage: Rgb = [23, 25, 22]
/** What WCAG 2 asks of text, and a little more. */
const readable = 4.7

/**
 * A style sheet that gives the console the colour of a brand, `#rrggbb`. The colour is made darker or lighter as far as
 * text on it and of it needs that in the light and the dark theme.
 */
export function brandStyles(color: string): string {
  const brand = rgbOf(color)
  const light = towards(brand, black, (one) => contrast(one, white) >= readable)
  const lightSoft = mix(white, brand, 0.1)
  const dark = towards(brand, white, (one) => contrast(one, black) >= readable)
  const darkSoft = mix(darkPage, brand, 0.24)
  const themes: [string, Theme][] = [
    [
      ':root',
      {
        accent: light,
        hover: mix(light, black, 0.18),
        soft: lightSoft,
        text: towards(light, black, (one) => contrast(one, lightSoft) >= readable),
        onAccent: white,
        second: mix(light, white, 0.5),
      },
    ],
    [
      ":root[data-theme='dark']",
      {
        accent: dark,
        hover: mix(dark, white, 0.18),
        soft: darkSoft,
        text: towards(dark, white, (one) => contrast(one, darkSoft) >= readable),
        onAccent: black,
        second: mix(dark, black, 0.5),
      },
    ],
  ]
  const rules = themes.map(([selector, theme]) => `${selector}{${declarations(theme)}}`)
  return `${rules.join('\n')}\n:root{--welcome:linear-gradient(155deg,${hex(mix(light, black, 0.45))},${hex(light)})}\n`
}

function declarations({ accent, hover, soft, text, onAccent, second }: Theme): string {
  return [
    `--accent:${hex(accent)}`,
    `--accent-hover:${hex(hover)}`,
    `--accent-soft:${hex(soft)}`,
    `--accent-text:${hex(text)}`,
    `--on-accent:${hex(onAccent)}`,
    `--accent-2:${hex(second)}`,
  ].join(';')
}

/** Steps from one colour to another until the condition holds. */
function towards(from: Rgb, to: Rgb, isEnough: (color: Rgb) => boolean): Rgb {
  for (let share = 0; share < 1; share += 0.04) {
    const color = mix(from, to, share)
    if (isEnough(color)) return color
  }
  return to
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(a[index] + (b[index] - a[index]) * share)
  return [part(0), part(1), part(2)]
}

function rgbOf(color: string): Rgb {
  const part = (index: number) => Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16)
  return [part(0), part(1), part(2)]
}

function hex(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

/** From 1 to 21 (WCAG 2, contrast ratio). */
function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
