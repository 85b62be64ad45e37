import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

type Range = readonly [first: number, last?: number]

const packed = 'node_modules/@fontsource/noto-sans-math'
/** What most formulas consist of: letters, digits, common signs, arrows and relations, and all that stretches. */
const common: readonly Range[] = [
  // Latin, and signs of plain text
  [0x20, 0x7e],
  [0xa0],
  [0xac],
  [0xb0, 0xb1],
  [0xb7],
  [0xd7],
  [0xf7],
  [0x131],
  [0x237],
  // Accents
  [0x2c6, 0x2c7],
  [0x2d8, 0x2dc],
  [0x300, 0x304],
  [0x307, 0x308],
  [0x30c],
  [0x338],
  [0x20d7],
  // Greek
  [0x391, 0x3c9],
  [0x3d1],
  [0x3d5, 0x3d6],
  [0x3f1],
  [0x3f5],
  // Dots, primes, and what is not seen
  [0x2016],
  [0x2026],
  [0x2032, 0x2037],
  [0x2061, 0x2064],
  [0x22ee, 0x22f1],
  // Letters that stand among the signs
  [0x2102],
  [0x210a, 0x2113],
  [0x2115],
  [0x2118, 0x211d],
  [0x2124],
  [0x2128],
  [0x212c, 0x212d],
  [0x212f, 0x2131],
  [0x2133, 0x2135],
  // Arrows
  [0x2190, 0x2199],
  [0x21a6],
  [0x21aa],
  [0x21cc],
  [0x21d0, 0x21d5],
  [0x27f5, 0x27fa],
  [0x27fc],
  // Operators and relations
  [0x2200, 0x2237],
  [0x223c],
  [0x2243],
  [0x2245],
  [0x2248],
  [0x224d],
  [0x2250],
  [0x2254],
  [0x2260, 0x2261],
  [0x2264, 0x2265],
  [0x226a, 0x226b],
  [0x227a, 0x227b],
  [0x2282, 0x2287],
  [0x228e],
  [0x2293, 0x2299],
  [0x22a2, 0x22a8],
  [0x22c0, 0x22c6],
  [0x2a01, 0x2a02],
  [0x2a7d, 0x2a7e],
  // Brackets and braces
  [0x2308, 0x230b],
  [0x23b4, 0x23b5],
  [0x23dc, 0x23df],
  [0x27e8, 0x27e9],
  // Shapes
  [0x25a1],
  [0x25b3],
  [0x25cb],
  // Bold and italic letters, script and double-struck capitals
  [0x1d400, 0x1d467],
  [0x1d49c, 0x1d4b5],
  [0x1d538, 0x1d550],
  [0x1d6a8, 0x1d6da],
  [0x1d6fc, 0x1d71b],
  [0x1d7ce, 0x1d7d7],
]
/** All other signs and letters of formulas that the type face has. */
const wider: readonly Range[] = [
  [0x2100, 0x214f],
  [0x2190, 0x22ff],
  [0x2300, 0x23ff],
  [0x25a0, 0x25ff],
  [0x2605, 0x2606],
  [0x2660, 0x266f],
  [0x27c0, 0x27ff],
  [0x2900, 0x2aff],
  [0x1d400, 0x1d7ff],
]

/**
 * Writes the type face of formulas in two parts, each with the tables by which browsers stretch and place signs, and a style
 * sheet that names them: a browser loads a part with the first formula that needs it.
 */
export async function makeMathFonts(root: string, folder: string): Promise<void> {
  // Only now, because most starts build nothing.
  const { default: subset } = await import('subset-font')
  const whole = await readFile(path.join(root, packed, 'files/noto-sans-math-latin-400-normal.woff2'))
  await mkdir(folder, { recursive: true })
  const known = new Set(pointsIn(common))
  const rest = pointsIn(wider).filter((point) => !known.has(point))
  const faces: string[] = []
  for (const [name, points] of [
    ['math', [...known]],
    ['math-more', rest],
  ] as const) {
    const text = String.fromCodePoint(...points)
    await writeFile(
      path.join(folder, `${name}.woff2`),
      await subset(whole, text, { targetFormat: 'woff2', noHinting: true }),
    )
    faces.push(`@font-face {
  font-family: 'Answer Math';
  font-display: swap;
  src: url('./${name}.woff2') format('woff2');
  unicode-range: ${rangesOf(points).join(', ')};
}`)
  }
  await writeFile(path.join(folder, 'math.css'), `${faces.join('\n')}\n`)
}

const pointsIn = (ranges: readonly Range[]): number[] =>
  ranges.flatMap(([first, last = first]) => Array.from({ length: last - first + 1 }, (_, place) => first + place))

/** The points as a style sheet writes them, neighbours together. */
function rangesOf(points: readonly number[]): string[] {
  const sorted = [...new Set(points)].toSorted((a, b) => a - b)
  const ranges: [first: number, last: number][] = []
  for (const point of sorted) {
    const open = ranges.at(-1)
    if (open?.[1] === point - 1) open[1] = point
    else ranges.push([point, point])
  }
  const hex = (point: number) => point.toString(16)
  return ranges.map(([first, last]) => (first === last ? `U+${hex(first)}` : `U+${hex(first)}-${hex(last)}`))
}
