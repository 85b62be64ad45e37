import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { waysByCache } from './cache.ts'
import { findOnPath } from './command.ts'
import { goInstall } from './go-install.ts'
import { httpAnswer } from './http-answer.ts'
import { freePort } from './ports.ts'
import { startServer } from './server-process.ts'
import { type Log, firstThatWorks } from './ways.ts'

const version = '1.8.0'
const cacheName = `versitygw-${version}`
const program = {
  module: 'github.com/versity/versitygw',
  version,
  sum: 'h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc=',
  folder: './cmd/versitygw',
}

/** Finds or builds an S3-compatible store, for tests and drills: Versity's gateway, which keeps objects as files. */
export async function prepareObjectStore(log: Log) {
  return firstThatWorks<string>('An S3-compatible store', 'BLOBS_URL', [
    { name: 'PATH', attempt: () => findOnPath('versitygw') },
    ...waysByCache(cacheName, log, inFolder, [
      { name: 'built with Go', install: (folder) => goInstall(program, folder, log) },
    ]),
  ])
}

const inFolder = (folder: string) => path.join(folder, 'versitygw')

/** Starts the store on its folder in `dataDir`. It has no bucket in the beginning. */
export async function startObjectStore({
  executable,
  dataDir,
  accessKeyId,
  secretAccessKey,
  port: given,
}: {
  executable: string
  dataDir: string
  accessKeyId: string
  secretAccessKey: string
  port?: number
}) {
  const port = given ?? (await freePort())
  const home = path.join(dataDir, 'objects')
  const [buckets, versions, sidecar] = ['buckets', 'versions', 'metadata'].map((name) => path.join(home, name))
  for (const folder of [buckets, versions, sidecar]) await mkdir(folder ?? home, { recursive: true })
  const server = await startServer(
    {
      name: 'S3-compatible store',
      command: executable,
      args: [
        ['--port', `127.0.0.1:${port}`, '--quiet', '--health', '/health', 'posix'],
        ['--versioning-dir', versions ?? '', '--sidecar', sidecar ?? '', buckets ?? ''],
      ].flat(),
      env: { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
      cwd: home,
      logFile: path.join(dataDir, 'logs', 'objects.log'),
      ready: async () => (await httpAnswer(`http://127.0.0.1:${port}/health`, 1000)) !== undefined,
    },
    undefined,
  )
  return { ...server, port, endpoint: `http://127.0.0.1:${port}` }
}
