import type { Pdfium } from './pdfium.ts'

/** Lines that a page draws, along its edges; `y` grows downwards. */
export interface Rules {
  /** At `at`, from `from` to `to`. */
  horizontal: Rule[]
  vertical: Rule[]
  /** Boxes of pictures. */
  pictures: { left: number; right: number; top: number; bottom: number }[]
}

export interface Rule {
  at: number
  from: number
  to: number
}

/** Of a page with more, the first are looked at: maps and drawings. */
const maxObjects = 3000
const maxPoints = 6000
const pathType = 2
const imageType = 3
const formType = 5
const shortest = 8

/** Of upright pages: turned ones are read without their lines. */
export function rulesOf(pdfium: Pdfium, page: number): Rules {
  const { native, at, float } = pdfium
  const rules: Rules = { horizontal: [], vertical: [], pictures: [] }
  let points = 0
  let inspected = 0

  function look(object: number, place: Matrix): void {
    if (++inspected > maxObjects || points > maxPoints) return
    const type = native('FPDFPageObj_GetType')(object)
    if (type === pathType) inspectPath(object, within(matrixOf(object), place))
    else if (type === imageType) inspectPicture(object, place)
    else if (type === formType) {
      const inner = within(matrixOf(object), place)
      const count = native('FPDFFormObj_CountObjects')(object)
      for (let index = 0; index < count && inspected <= maxObjects; index++)
        look(native('FPDFFormObj_GetObject')(object, index), inner)
    }
  }

  function matrixOf(object: number): Matrix {
    native('FPDFPageObj_GetMatrix')(object, at(0))
    return [float(0), float(1), float(2), float(3), float(4), float(5)]
  }

  function inspectPicture(object: number, [a, , , d, e, f]: Matrix): void {
    native('FPDFPageObj_GetBounds')(object, at(0), at(1), at(2), at(3))
    const [left, bottom, right, top] = [float(0), float(2), float(4), float(6)]
    rules.pictures.push({ left: a * left + e, right: a * right + e, top: -(d * top + f), bottom: -(d * bottom + f) })
  }

  function inspectPath(object: number, matrix: Matrix): void {
    const count = native('FPDFPath_CountSegments')(object)
    let [x, y, beginX, beginY] = [0, 0, 0, 0]
    for (let index = 0; index < count && points <= maxPoints; index++) {
      points++
      const segment = native('FPDFPath_GetPathSegment')(object, index)
      native('FPDFPathSegment_GetPoint')(segment, at(0), at(1))
      const [a, b, c, d, e, f] = matrix
      const [nextX, nextY] = [a * float(0) + c * float(2) + e, b * float(0) + d * float(2) + f]
      const kind = native('FPDFPathSegment_GetType')(segment)
      if (kind === moveTo) [beginX, beginY] = [nextX, nextY]
      else if (kind === lineTo) add(x, y, nextX, nextY)
      ;[x, y] = [nextX, nextY]
      if (native('FPDFPathSegment_GetClose')(segment) !== 0) add(x, y, beginX, beginY)
    }
  }

  function add(x: number, y: number, nextX: number, nextY: number): void {
    const [width, height] = [Math.abs(nextX - x), Math.abs(nextY - y)]
    if (width >= shortest && height < 1)
      rules.horizontal.push({ at: -(y + nextY) / 2, from: Math.min(x, nextX), to: Math.max(x, nextX) })
    else if (height >= shortest && width < 1)
      rules.vertical.push({ at: (x + nextX) / 2, from: -Math.max(y, nextY), to: -Math.min(y, nextY) })
  }

  const count = native('FPDFPage_CountObjects')(page)
  for (let index = 0; index < count && inspected <= maxObjects; index++)
    look(native('FPDFPage_GetObject')(page, index), [1, 0, 0, 1, 0, 0])
  return rules
}

const lineTo = 0
const moveTo = 2

type Matrix = [a: number, b: number, c: number, d: number, e: number, f: number]

function within([a, b, c, d, e, f]: Matrix, [A, B, C, D, E, F]: Matrix): Matrix {
  return [a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F]
}
