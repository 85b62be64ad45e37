import { existsSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../scripts/process-bundle.ts'
import { LocalServiceError } from '../services/ways.ts'

/** If one of them is set, there is data outside of the data folder. */
const elsewhere = ['MONGODB_URI', 'TEMPORAL_ADDRESS', 'LANCEDB_URI', 'BLOBS_URL']

type Given = {
  /** With full paths. */
  folder: string
  dataDir: string
  env: NodeJS.ProcessEnv
}

/** The settings as `npm start` reads them, and the folder of the backup, relative to where npm was called. */
export function backupSettings(command: string): Given {
  const calledIn = process.env.INIT_CWD ?? process.cwd()
  process.chdir(root)
  if (existsSync('.env')) process.loadEnvFile('.env')
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim()))
  const [given, ...more] = process.argv.slice(2)
  if (!given || more.length > 0) throw new LocalServiceError(`usage: npm run ${command} -- FOLDER`)
  const set = elsewhere.filter((name) => env[name])
  if (env.VECTOR_STORE && env.VECTOR_STORE !== 'lancedb') set.push('VECTOR_STORE')
  if (set.length > 0) {
    throw new LocalServiceError(
      `${set.join(', ')}: set, so not all data is in the data folder of npm start. docs/operations/back-up.md says how to back up such a service.`,
    )
  }
  const [folder, dataDir] = [path.resolve(calledIn, given), path.resolve(env.DATA_DIR ?? '.data')]
  if (`${folder}/`.startsWith(`${dataDir}/`))
    throw new LocalServiceError(`${folder} is inside the data folder ${dataDir}. Choose a folder outside of it.`)
  return { folder, dataDir, env }
}

/** Runs a command: an error that its user can mend shows its message, an unexpected one its stack. */
export async function asCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    console.error(error instanceof LocalServiceError ? error.message : error)
    process.exitCode = 1
  }
}
