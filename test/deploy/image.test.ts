import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { filesOfImage, imageEnv } from '../../faults/production-drill/image-env.ts'
import { steadyMemory } from '../../local/steady-memory.ts'

const root = path.join(import.meta.dirname, '../..')
const linesOf = async (file: string) => (await readFile(path.join(root, file), 'utf8')).split('\n')

test('the image contains nothing of local/, and so not the launcher of a database under the GPL', async () => {
  const allowed = (await linesOf('.dockerignore')).filter((line) => line && !line.startsWith('#'))
  // Everything is left out but what is named.
  expect(allowed[0]).toBe('*')
  const sent = allowed.slice(1)
  expect(sent.length).toBeGreaterThan(5)
  expect(sent.every((line) => /^!(?:local\/)?[a-z.-]+$/.test(line))).toBe(true)
  // Of what only developers run, the packages that build the processes are named.
  expect(sent.filter((line) => line.startsWith('!local'))).toEqual(['!local/package.json'])
  const copied = (await linesOf('Dockerfile')).filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  expect(copied.length).toBeGreaterThan(5)
  for (const line of copied) expect(line).not.toMatch(/COPY \.|(?<!\.\/)local(?!\/package\.json)/)
})

test('the image uses exactly the Node version of the tests', async () => {
  const bootstrap = await readFile(path.join(root, 'local/bootstrap.mjs'), 'utf8')
  const [, tested] = /^const nodeVersion = '(24\.[\d.]+)'$/m.exec(bootstrap) ?? []
  const bases = (await linesOf('Dockerfile')).flatMap((line) => /^FROM (node:\S+)/.exec(line)?.[1] ?? [])
  expect(bases).toEqual([`node:${tested}-bookworm-slim`, `node:${tested}-bookworm-slim`])
})

test('the image sets what keeps memory level as npm start does, and compose and chart change nothing of it', async () => {
  const variables = Object.entries(steadyMemory).map(
    ([name, value]) => `${name}=${/ /.test(value) ? `"${value}"` : value}`,
  )
  const problem = 'copy the values of local/steady-memory.ts to the Dockerfile'
  expect(await linesOf('Dockerfile'), problem).toContain(`ENV ${variables.join(' ')}`)
  const templates = ['api', 'workers', 'migrations'].map((name) => `deploy/helm/templates/${name}.yaml`)
  for (const file of [
    'docker-compose.yml',
    'deploy/helm/values.yaml',
    'deploy/helm/templates/_helpers.tpl',
    ...templates,
  ])
    for (const name of Object.keys(steadyMemory)) expect((await linesOf(file)).join('\n'), file).not.toContain(name)
})

test('what variables of the image name under /app, the drill without containers has as well', async () => {
  const variables = Object.entries(await imageEnv())
  const named = variables.flatMap(([name, value]) => (value.startsWith('/app/') ? [name] : []))
  expect(named.toSorted()).toEqual(filesOfImage)
})
