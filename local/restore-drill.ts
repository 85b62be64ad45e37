import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureSecrets } from './secrets.ts'
import { startLocalServices } from './services/index.ts'

/**
 * `npm run restore-drill -- FOLDER`: restores a backup into a temporary database, runs the migrations and checks
 * the stores against each other. Exits with 0 if they agree. Changes nothing else.
 */
process.chdir(path.dirname(import.meta.dirname))
if (existsSync('.env')) process.loadEnvFile('.env')
const [folder] = process.argv.slice(2)
if (!folder) {
  console.error('usage: npm run restore-drill -- FOLDER')
  process.exit(2)
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-drill-'))
const log = (line: string) => console.error(`> ${line}`)
const local = await startLocalServices({ dataDir, env: {}, log, need: ['mongo'] })
try {
  const { LANCEDB_URI: _live, ...given } = process.env
  const env = { ...given, ...ensureSecrets(dataDir, given), ...local.env, DATA_DIR: dataDir }
  const script = path.join('scripts', 'backup.ts')
  const child = spawn(process.execPath, [script, 'restore', path.resolve(folder)], { env, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  console.log(code === 0 ? 'The drill passed: the backup can be restored.' : 'The drill failed.')
  process.exitCode = code === 0 ? 0 : 1
} finally {
  await local.stop()
  await rm(dataDir, { recursive: true, force: true })
}
