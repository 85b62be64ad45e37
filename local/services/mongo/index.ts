import path from 'node:path'
import type { mongo as Driver } from 'mongoose'
import { exchange, freePort } from '../ports.ts'
import type { Watch } from '../keep-running.ts'
import { startServer } from '../server-process.ts'
import { type Log, type Way, firstThatWorks } from '../ways.ts'
import { embeddedArgs, embeddedEnv, embeddedFromPyPi, embeddedInCache } from './embedded.ts'
import { mongodArgs, mongodFromDownload, mongodInCache, mongodOnPath } from './mongod.ts'

export type MongoServer = { kind: 'mongod' | 'secantusdb'; command: string }

/** Finds or installs a MongoDB server. `mongod` is preferred if it is available. */
export async function prepareMongo(log: Log) {
  return firstThatWorks<MongoServer>('MongoDB', 'MONGODB_URI', [
    way('mongod', 'PATH', mongodOnPath),
    way('mongod', 'cache', async () => mongodInCache()),
    // Checked before the download, which would fail at each start on such systems.
    way('secantusdb', 'cache', async () => embeddedInCache()),
    way('mongod', 'official download', () => mongodFromDownload(log)),
    way('secantusdb', 'SecantusDB from PyPI', () => embeddedFromPyPi(log)),
  ])
}

function way(kind: MongoServer['kind'], name: string, find: () => Promise<string | undefined>): Way<MongoServer> {
  return {
    name,
    async attempt() {
      const command = await find()
      return command === undefined ? undefined : { kind, command }
    },
  }
}

/**
 * Starts a server on its folder in `dataDir`, with transactions. `url` names the database `assistants`. Retryable
 * writes are off for the embedded server, because it keeps each whole answer in memory.
 */
export async function startMongo(options: { server: MongoServer; dataDir: string; port?: number; watch?: Watch }) {
  const port = options.port ?? (await freePort())
  const { kind, command } = options.server
  // A folder for each kind: their files look alike, and neither server may open the other's.
  const home = path.join(options.dataDir, kind)
  const url = `mongodb://127.0.0.1:${port}/assistants?directConnection=true${kind === 'secantusdb' ? '&retryWrites=false' : ''}`
  const server = await startServer(
    {
      name: 'MongoDB',
      command,
      args: { mongod: mongodArgs, secantusdb: embeddedArgs }[kind]({ port, home }),
      ...(kind === 'secantusdb' ? { env: { ...process.env, ...embeddedEnv } } : {}),
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'mongodb.log'),
      async ready() {
        // Loaded while the server starts.
        const { mongo } = await import('mongoose')
        return (await isListening(port)) && isWritable(mongo, url, port)
      },
    },
    options.watch,
  )
  return { ...server, url }
}

/** A listening server does not answer an empty request but keeps the connection; a closed port refuses it. */
async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const answer = setTimeout(() => resolve(true), 100)
  void exchange(port, '').then(() => resolve(false))
  return promise.finally(() => clearTimeout(answer))
}

/** Whether there is a primary. A new mongod is initiated as a replica set. */
async function isWritable(
  { MongoClient }: Pick<typeof Driver, 'MongoClient'>,
  url: string,
  port: number,
): Promise<boolean> {
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
