import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { plainEnv } from '../support/plain-env.ts'

const run = promisify(execFile)
const missing =
  'The settings cannot be used:\n  - SECRETS_KEY is missing: it must be 32 bytes in base64\n' +
  '  - JWT_SECRET is missing: it must be at least 16 characters long\n'
const hint = 'The data of npm start needs no settings: npm run backup -- FOLDER, npm run restore -- FOLDER.\n'

const programs = [
  { script: 'backup.ts', args: ['check'], hint },
  { script: 'migrate.ts', args: [], hint: '' },
  { script: 'reembed.ts', args: [], hint: '' },
  { script: 'reseal-secrets.ts', args: [], hint: '' },
]

it.each(programs)('scripts/$script names every missing setting at once, without a stack trace', async (program) => {
  await expect(start(program, {})).rejects.toMatchObject({ code: 1, stderr: `${missing}${program.hint}` })
})

it.each(programs)(
  'scripts/$script says that the database cannot be reached, without a stack trace',
  async (program) => {
    const secrets = { SECRETS_KEY: randomBytes(32).toString('base64'), JWT_SECRET: 'x'.repeat(32) }
    const unreachable = { MONGODB_URI: 'mongodb://127.0.0.1:1/none', DEPENDENCY_TIMEOUT_SECONDS: '1' }
    await expect(start(program, { ...secrets, ...unreachable, LOG_LEVEL: 'silent' })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*127\.0\.0\.1:1\n$/),
    })
  },
)

function start({ script, args }: (typeof programs)[number], env: Record<string, string>) {
  return run(process.execPath, [path.join(import.meta.dirname, '../../scripts', script), ...args], {
    cwd: tmpdir(),
    env: { ...plainEnv(), ...env },
  })
}
