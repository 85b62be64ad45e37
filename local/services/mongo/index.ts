import path from 'node:path'
import {
  embeddedArgs,
  embeddedCacheName,
  embeddedEnv,
  embeddedInFolder,
  embeddedVersionArgs,
  installEmbedded,
} from '../../embedded-database/index.ts'
import { waysByCache } from '../cache.ts'
import { run } from '../command.ts'
import type { Watch } from '../keep-running.ts'
import { accepts, freePort } from '../ports.ts'
import { startServer } from '../server-process.ts'
import { type Log, LocalServiceError, firstThatWorks } from '../ways.ts'
import { downloadMongod, mongodArgs, mongodCacheName, mongodInFolder, mongodOnPath } from './mongod.ts'

export type MongoServer = { kind: 'mongod' | 'secantusdb'; command: string }

/** Finds or installs a MongoDB server. `mongod` is preferred if it is available. */
export async function prepareMongo(log: Log) {
  const mongod = (command: string): MongoServer => ({ kind: 'mongod', command })
  const embedded = (folder: string): MongoServer => ({ kind: 'secantusdb', command: embeddedInFolder(folder) })
  const [inCache, ...downloads] = waysByCache(mongodCacheName, log, (folder) => mongod(mongodInFolder(folder)), [
    { name: 'official download', install: (folder) => downloadMongod(folder, log) },
  ])
  const [embeddedInCache, ...fromPyPi] = waysByCache(await embeddedCacheName(), log, embedded, [
    { name: 'SecantusDB from PyPI', install: (folder) => installEmbedded(folder, log) },
  ])
  const onPath = async () => {
    const command = await mongodOnPath()
    return command === undefined ? undefined : mongod(command)
  }
  // The caches before the download, which would fail at each start on systems without it.
  const ways = [{ name: 'PATH', attempt: onPath }, inCache, embeddedInCache, ...downloads, ...fromPyPi]
  return firstThatWorks<MongoServer>(
    'MongoDB',
    'MONGODB_URI',
    ways.filter((way) => way !== undefined),
  )
}

/** The version that a server's program says it has, such as `8.0.32` or `0.7.0b3`. */
export async function versionOfMongo({ kind, command }: MongoServer): Promise<string> {
  const args = kind === 'mongod' ? ['--version'] : embeddedVersionArgs
  const printed = await run(command, args, { timeoutMs: 30_000 })
  const version = /\d+\.\d[\w.]*/.exec(printed)?.[0]
  if (!version) throw new LocalServiceError(`${command} does not say its version: ${printed.slice(0, 200)}`)
  return version
}

/** What people read about it: `mongod 8.0.32`, or `SecantusDB 0.7.0b3 (the embedded database)`. */
export async function nameOfMongo(server: MongoServer): Promise<string> {
  const version = await versionOfMongo(server)
  return server.kind === 'mongod' ? `mongod ${version}` : `SecantusDB ${version} (the embedded database)`
}

/**
 * Names the database `assistants`. Retryable writes are off for the embedded server, because it keeps each whole answer
 * in memory.
 */
export const mongoUrl = ({ kind }: MongoServer, port: number) =>
  `mongodb://127.0.0.1:${port}/assistants?directConnection=true${kind === 'secantusdb' ? '&retryWrites=false' : ''}`

/** Starts a server on its folder in `dataDir`, with transactions. */
export async function startMongo(options: {
  server: MongoServer
  dataDir: string
  port?: number
  watch?: Watch
  startSignal?: AbortSignal
}) {
  const port = options.port ?? (await freePort())
  const { kind, command } = options.server
  // A folder for each kind: their files look alike, and neither server may open the other's.
  const home = path.join(options.dataDir, kind)
  const url = mongoUrl(options.server, port)
  const server = await startServer(
    {
      name: 'MongoDB',
      command,
      args: { mongod: mongodArgs, secantusdb: embeddedArgs }[kind]({ port, home }),
      ...(kind === 'secantusdb' ? { env: { ...process.env, ...embeddedEnv } } : {}),
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'mongodb.log'),
      // The embedded server is writable as soon as it listens.
      ready: async () => (await accepts(port)) && (kind === 'secantusdb' || isWritable(url, port)),
    },
    options.watch,
    options.startSignal,
  )
  return { ...server, url }
}

/** Whether there is a primary. A new mongod is initiated as a replica set. */
async function isWritable(url: string, port: number): Promise<boolean> {
  // Only here, because its many modules take longer to load than the embedded server to start.
  const { MongoClient } = (await import('mongoose')).mongo
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 })
  try {
    const admin = client.db('admin')
    const hello = await admin.command({ hello: 1 })
    if (hello.isWritablePrimary === true) return true
    if (hello.setName === undefined) {
      const config = { _id: 'local', members: [{ _id: 0, host: `127.0.0.1:${port}` }] }
      await admin.command({ replSetInitiate: config })
    }
    return false
  } catch {
    return false
  } finally {
    await client.close()
  }
}
