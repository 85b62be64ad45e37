import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'

/** What is read of the list of packages that Pyodide is released with (`pyodide-lock.json`). */
const Lock = Type.Object({
  packages: Type.Record(
    AnyKey,
    Type.Object({
      file_name: Type.String({ pattern: '^[A-Za-z0-9_.+-]+$' }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      install_dir: Type.String(),
      depends: Type.Array(Type.String()),
    }),
  ),
})
type Lock = Static<typeof Lock>
type Wheel = Pick<Lock['packages'][string], 'file_name' | 'sha256'>

export interface Distribution {
  /** Names of packages; what they need comes with them. */
  names: readonly string[]
  /** The folder of the files; default: Pyodide's own, of the installed version. */
  url?: string | undefined
}

/** What a build may fetch as one file. */
const maxWheelBytes = 64 * 1024 * 1024
const limitMs = 5 * 60_000

/** Fetches packages of Pyodide's distribution as wheels into `folder`; each must have the checksum of the release. */
export async function fetchPyodideWheels(
  { names, url }: Distribution,
  folder: string,
  installed = installedPyodide(),
): Promise<Wheel[]> {
  const { lock, address } = await installed
  const wheels = wheelsOf(lock, names)
  for (const wheel of wheels) {
    const from = new URL(wheel.file_name, withSlash(url || address))
    const bytes = await bytesOf(from)
    const found = createHash('sha256').update(bytes).digest('hex')
    if (found !== wheel.sha256)
      throw new Error(`${from.href} has the checksum ${found} instead of ${wheel.sha256}: it is not used`)
    await writeFile(path.join(folder, wheel.file_name), bytes)
  }
  return wheels
}

/** The wheels of packages and of all that they need. */
export function wheelsOf({ packages }: Lock, names: readonly string[]): Wheel[] {
  const all = new Map<string, Wheel>()
  const add = (given: string, by?: string) => {
    const name = given.toLowerCase().replaceAll(/[-_.]+/g, '-')
    if (all.has(name)) return
    const found = packages[name]
    const needed = by === undefined ? '' : `, which ${by} needs,`
    if (found === undefined) throw new Error(`the package ${given}${needed} is not in Pyodide's distribution`)
    if (found.install_dir !== 'site' || !found.file_name.endsWith('.whl'))
      throw new Error(`the package ${given}${needed} cannot be used: it is no wheel`)
    all.set(name, found)
    for (const need of found.depends) add(need, given)
  }
  for (const name of names) add(name)
  return [...all.values()]
}

export async function installedPyodide(): Promise<{ lock: Lock; address: string }> {
  const folder = path.dirname(fileURLToPath(import.meta.resolve('pyodide')))
  const lock = parseForeignJson(await readFile(path.join(folder, 'pyodide-lock.json'), 'utf8'), { bytes: 4_000_000 })
  const { version } = Value.Parse(
    Type.Object({ version: Type.String() }),
    parseForeignJson(await readFile(path.join(folder, 'package.json'), 'utf8'), { bytes: 1_000_000 }),
  )
  return { lock: Value.Parse(Lock, lock), address: `https://cdn.jsdelivr.net/pyodide/v${version}/full/` }
}

const withSlash = (url: string) => (url.endsWith('/') ? url : `${url}/`)

async function bytesOf(url: URL): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limitMs) })
  // A mirror's address may hold a password.
  const shown = `${url.origin}${url.pathname}`
  if (!response.ok || response.body === null) throw new Error(`${shown} answered ${response.status}`)
  const body: AsyncIterable<Uint8Array> = response.body
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > maxWheelBytes) throw new Error(`${shown} is larger than ${maxWheelBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
