import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { emailOf } from '../../faults/email-of.ts'
import { run } from '../../local/services/command.ts'
import { documentedCommands } from './documented.ts'
import { type Engine, startEngine } from './engine.ts'
import { buildImage, imageOfService } from './images.ts'
import { startLoad, startStandInsForContainers } from './load.ts'
import { say, url, useContainers } from './setup.ts'

const root = path.join(import.meta.dirname, '../..')
const [before, now] = ['localhost/assistant-platform:before', 'localhost/assistant-platform:now']
/** The version that is upgraded: the commit before, or another. */
const from = process.env['CONTAINERS_FROM'] ?? 'HEAD~1'

describe('docker-compose.yml from one version to the next', () => {
  let engine: Engine

  beforeAll(async () => {
    engine = await startEngine(inject('containers'), say)
    await engine.podman(['tag', imageOfService, now])
    const isThere = await engine.podman(['image', 'exists', before]).then(
      () => true,
      () => false,
    )
    if (!isThere) {
      const checkout = await mkdtemp(path.join(os.tmpdir(), 'before-'))
      await run('sh', ['-euc', `git archive ${from} | tar -x -C ${checkout}`], { cwd: root })
      say(`building the image of ${from}`)
      await buildImage(engine, checkout)
      await engine.podman(['tag', imageOfService, before])
      await rm(checkout, { recursive: true, force: true })
    }
    await engine.podman(['tag', before, imageOfService])
  }, 3_000_000)
  afterAll(() => engine?.podman(['tag', now, imageOfService]))

  const containers = useContainers({ project: 'upgrade', standIns: startStandInsForContainers })
  beforeAll(async () => {
    const { installed } = containers()
    for (const service of ['api', 'worker'])
      await installed.compose('up', '--detach', '--no-build', '--no-deps', '--scale', `${service}=3`, service)
  }, 300_000)

  const imagesOf = async (service: string) => {
    const labels = ['project=upgrade', `service=${service}`].flatMap((label) => [
      '--filter',
      `label=com.docker.compose.${label}`,
    ])
    const ids = (await engine.podman(['ps', '--quiet', ...labels])).trim().split('\n')
    return (await engine.podman(['inspect', '--format', '{{.Image}}', ...ids])).trim().split('\n')
  }
  const idOf = async (image: string) => (await engine.podman(['image', 'inspect', '--format', '{{.Id}}', image])).trim()

  it('upgrades three of each and goes back by the documented commands under load, and refuses nothing', async () => {
    const [upgrade = '', back = ''] = await documentedCommands('upgrade.md', 'Rolling upgrade with Compose')
    const { installed, standIns } = containers()
    const load = await startLoad({ installed, standIns, url, users: 2, seed: 'upgrade', say })
    const asking = askMeanwhile()
    for (const [name, commands, image] of [
      ['upgrade', upgrade, now],
      ['way back', back, before],
    ] as const) {
      await load.disturb({
        fault: name,
        details: image,
        async inject() {
          await engine.shell('upgrade', commands, { cwd: installed.folder, env: { BUILT: image }, timeoutMs: 900_000 })
          return Date.now()
        },
      })
      const id = await idOf(image)
      for (const service of ['api', 'worker']) expect(await imagesOf(service)).toEqual([id, id, id])
      await load.work(10_000)
    }
    const asked = await asking.end()
    say(`${asked.requests} requests meanwhile, ${asked.refused.length} refused`)
    expect(asked.refused).toEqual([])
    expect((await load.end()).map(({ kind, what }) => `${kind}: ${what}`)).toEqual([])
  }, 3_600_000)
})

/** Somebody who asks all the time, and never again what was refused. */
function askMeanwhile() {
  let isOver = false
  let requests = 0
  const refused: string[] = []
  const ask = async (number: number) => {
    while (!isOver) {
      requests++
      const sent =
        number === 0
          ? fetch(`${url}/ok`)
          : // With a body, which a proxy sends again only if nothing read it.
            fetch(`${url}/auth/login`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ email: emailOf('i999999x'), password: 'nobody has this one' }),
            })
      const status = await sent.then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        (error: unknown) => String(error),
      )
      // Wrong passwords are refused by the service itself.
      if (typeof status === 'string' || status >= 500 || (number === 0 && status !== 200))
        refused.push(`${new Date().toISOString()} ${status}`)
      await pause(100)
    }
  }
  const asking = Promise.all([ask(0), ask(1)])
  return {
    async end() {
      isOver = true
      await asking
      return { requests, refused }
    },
  }
}
