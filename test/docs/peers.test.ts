import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { peers } from '../support/peers.ts'

const root = path.resolve(import.meta.dirname, '../..')

it('the page on moving names the peers of npm run peers, and each has its test', () => {
  const page = readFileSync(path.join(root, 'docs/moving-from-assistants.md'), 'utf8')
  const [, table = ''] = /<!-- peers:[^>]*-->([\s\S]*?)<!-- end of the peers -->/.exec(page) ?? []
  const rows = [...table.matchAll(/^\| (.+?) +\| `(.+?)`/gm)].map(([, name, file]) => ({ name, file }))
  expect(rows).toEqual(peers)
  expect(peers.filter(({ file }) => !existsSync(path.join(root, file)))).toEqual([])
})
