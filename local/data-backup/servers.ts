import { run } from '../services/command.ts'
import { prepareMongo, versionOfMongo } from '../services/mongo/index.ts'
import { prepareRedis } from '../services/redis.ts'
import { prepareTemporal } from '../services/temporal.ts'
import { type Log, LocalServiceError } from '../services/ways.ts'
import type { Manifest } from './manifest.ts'

type Servers = Manifest['servers']

/** The servers that `npm start` would use here, with major and minor version. */
export async function serversHere(log: Log): Promise<Servers> {
  const [mongo, redis, temporal] = await Promise.all([prepareMongo(log), prepareRedis(log), prepareTemporal(log)])
  const { libraryPath } = redis.value
  const redisEnv = libraryPath ? { ...process.env, LD_LIBRARY_PATH: libraryPath } : process.env
  const [mongoVersion, redisVersion, temporalVersion] = await Promise.all([
    versionOfMongo(mongo.value),
    printedVersion(redis.value.command, ['--version'], redisEnv),
    printedVersion(temporal.value, ['--version']),
  ])
  return {
    MongoDB: { kind: mongo.value.kind, version: mongoVersion.split('.').slice(0, 2).map(Number) },
    Redis: { kind: 'redis-server', version: redisVersion },
    Temporal: { kind: 'temporal', version: temporalVersion },
  }
}

async function printedVersion(command: string, args: string[], env = process.env): Promise<number[]> {
  const printed = await run(command, args, { timeoutMs: 30_000, env })
  // Temporal's command has a version of its own before that of its server.
  const match = /Server (\d+)\.(\d+)/.exec(printed) ?? /(\d+)\.(\d+)/.exec(printed)
  if (!match) throw new LocalServiceError(`${command} does not say its version: ${printed.slice(0, 200)}`)
  return [Number(match[1]), Number(match[2])]
}

/** Throws if a server here cannot read what the one of the backup wrote. */
export function requireFit(backup: Servers, here: Servers): void {
  for (const [name, { kind, version }] of Object.entries(backup)) {
    const own = here[name]
    if (own?.kind !== kind) {
      throw new LocalServiceError(
        `The backup holds files of ${name} as ${kind}, and npm start would use ${own?.kind ?? 'none'} here. Install ${kind}.`,
      )
    }
    if (isOlder(own.version, version)) {
      throw new LocalServiceError(
        `The backup holds files of ${kind} ${version.join('.')}, which the older ${own.version.join('.')} here cannot read. Install ${kind} ${version.join('.')} or newer.`,
      )
    }
  }
}

const isOlder = ([major = 0, minor = 0]: number[], [needed = 0, neededMinor = 0]: number[]) =>
  major < needed || (major === needed && minor < neededMinor)
