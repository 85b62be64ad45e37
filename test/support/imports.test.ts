import { expect, test } from 'vitest'
import { importsOf } from './imports.ts'

test('every form of import is found, and type imports are distinguished from values', () => {
  const source = `
import a from './a.ts'
import type { B } from './b.ts'
import { type C, type D } from './c.ts'
import {
  type E,
  f,
} from './d.ts'
import * as g from './e.ts'
import './f.ts'
export { h } from './g.ts'
export * from './h.ts'
export type { I } from './i.ts'
const j = await import('./j.ts')
// import k from './k.ts'
/* import l from './l.ts' */
`
  expect(importsOf(source)).toEqual([
    { from: './a.ts', typeOnly: false },
    { from: './b.ts', typeOnly: true },
    { from: './c.ts', typeOnly: true },
    { from: './d.ts', typeOnly: false },
    { from: './e.ts', typeOnly: false },
    { from: './f.ts', typeOnly: false },
    { from: './g.ts', typeOnly: false },
    { from: './h.ts', typeOnly: false },
    { from: './i.ts', typeOnly: true },
    { from: './j.ts', typeOnly: false },
  ])
})
