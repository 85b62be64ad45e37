import { afterAll, beforeAll, inject } from 'vitest'
import { type Engine, startEngine } from './engine.ts'
import { type Installation, install, trustProxyOf } from './installation.ts'

/** Of the proxy of an installation. */
export const url = 'https://localhost:8100'
export const say = (line: string) => console.log(`> ${line}`)

interface StandIns {
  /** The settings by which containers reach them. */
  env: Record<string, string>
  close: () => unknown
}

interface Used<Servers> {
  engine: Engine
  standIns: Servers
  installed: Installation
  /** The file with the certificate of the proxy's authority, which this process trusts. */
  authority: string
}

/** Before the tests of a file docker-compose.yml is started, with what its containers talk to; after them all goes. */
export function useContainers<Servers extends StandIns>(options: {
  project: string
  standIns: (folder: string) => Promise<Servers>
  /** A second compose file over docker-compose.yml. */
  over?: string
}): () => Used<Servers> {
  let engine: Engine | undefined
  let standIns: Servers | undefined
  let used: Used<Servers> | undefined

  beforeAll(async () => {
    engine = await startEngine(inject('containers'), say)
    standIns = await options.standIns(engine.folder)
    const env = { ...standIns.env, SITE_ADDRESS: url, BASE_URL: url }
    const installed = await install(engine, { project: options.project, over: options.over, env, say })
    used = { engine, standIns, installed, authority: await trustProxyOf(installed) }
  }, 900_000)

  afterAll(async () => {
    await (used ? used.installed.remove() : engine?.clear())
    await standIns?.close()
  }, 300_000)

  return () => {
    if (used === undefined) throw new Error('the containers have not started')
    return used
  }
}
