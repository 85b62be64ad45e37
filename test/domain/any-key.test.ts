import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { expect, it } from 'vitest'
import { AnyKey } from '../../domain/any-key.ts'

const root = path.join(import.meta.dirname, '../..')

it.each(['', 'a', 'a\nb', '\r', 'a\u2028', '__proto__x'])('values under the key %j are checked', (key) => {
  const schema = Type.Record(AnyKey, Type.String({ maxLength: 1 }))
  expect(Value.Check(schema, { [key]: 'x' })).toBe(true)
  expect(Value.Check(schema, { [key]: 'xx' })).toBe(false)
  expect(Value.Check(schema, { [key]: {} })).toBe(false)
})

it('every record with any keys is declared with it', () => {
  const files = globSync('{activities,api,composition,domain,infra,services,worker,workflows}/**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(300)
  const others = files.filter((file) =>
    /Type\.Record\(\s*Type\.String\(/.test(readFileSync(path.join(root, file), 'utf8')),
  )
  expect(others).toEqual([])
})
