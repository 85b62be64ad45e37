import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { settingGroups, settingsIn } from '../../infra/settings/schema.ts'

it('each setting of stores and of Temporal belongs to one of the three shapes, or the page says why it stays', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/scale.md'), 'utf8')
  const section = /^## Three shapes$([^]*?)^## /m.exec(page)?.[1] ?? ''
  const named = [...section.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].flatMap(([, name]) => name ?? [])
  const settings = [settingGroups.Stores, settingGroups.Temporal].flatMap((group) => settingsIn(group))
  expect(settings.length).toBeGreaterThan(30)
  expect(settings.map(({ env }) => env).filter((name) => !named.includes(name))).toEqual([])
  // And none is named that the service does not have.
  const all = settingsIn().map(({ env }) => env)
  expect(named.filter((name) => !all.includes(name))).toEqual([])
})
