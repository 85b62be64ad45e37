import type { Segment } from './segments.ts'

/**
 * Fields with the text that names them, as one segment: a value behind the text to its left, a tick before the text to
 * its right, else behind that to its left.
 */
export function withLabels(segments: Segment[]): Segment[] {
  const fields = segments.filter(({ field }) => field)
  if (fields.length === 0) return segments
  let rest = segments.filter(({ field }) => !field)
  for (const field of fields) {
    const label = labelOf(field, rest)
    if (label === undefined) {
      rest = [...rest, field]
      continue
    }
    const isBefore = label.left >= field.left
    const both: Segment = {
      ...label,
      text: isBefore ? `${field.text} ${label.text}` : `${label.text} ${field.text}`,
      words: label.words + field.words,
      left: Math.min(label.left, field.left),
      right: Math.max(label.right, field.right),
      top: Math.min(label.top, field.top),
      bottom: Math.max(label.bottom, field.bottom),
      field: field.field ?? 'value',
    }
    rest = rest.map((one) => (one === label ? both : one))
  }
  return rest
}

/** In points: a tick stands close to its text. */
const farthestTick = 40
const farthestValue = 260

function labelOf(field: Segment, others: Segment[]): Segment | undefined {
  const beside = others.filter(({ base, size }) => Math.abs(base - field.base) <= 0.7 * Math.max(size, field.size))
  const right = nearest(beside, (one) => one.left - field.right + 2)
  const left = nearest(beside, (one) => field.left - one.right + 2)
  if (field.field === 'mark') return within(right, farthestTick) ?? within(left, farthestValue)
  return within(left, farthestValue)
}

interface Near {
  segment: Segment
  distance: number
}

function nearest(segments: Segment[], distanceOf: (segment: Segment) => number): Near | undefined {
  let found: Near | undefined
  for (const segment of segments) {
    const distance = distanceOf(segment)
    if (distance >= 0 && distance < (found?.distance ?? Infinity)) found = { segment, distance }
  }
  return found
}

const within = (near: Near | undefined, most: number) =>
  near !== undefined && near.distance <= most ? near.segment : undefined
