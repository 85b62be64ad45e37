import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const script = path.join(import.meta.dirname, '../../scripts/backup.ts')

it('scripts/backup.ts names every missing setting at once, without a stack trace', async () => {
  const failed = promisify(execFile)(process.execPath, [script, 'save', 'folder'], { cwd: tmpdir(), env: {} })
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr:
      'The settings cannot be used:\n  - SECRETS_KEY is missing: it must be 32 bytes in base64\n' +
      '  - JWT_SECRET is missing: it must be at least 16 characters long\n' +
      'The data of npm start needs no settings: npm run backup -- FOLDER, npm run restore -- FOLDER.\n',
  })
})

it('scripts/backup.ts says that the database cannot be reached, without a stack trace', async () => {
  const env = { SECRETS_KEY: randomBytes(32).toString('base64'), JWT_SECRET: 'x'.repeat(32) }
  const unreachable = { MONGODB_URI: 'mongodb://127.0.0.1:1/none', DEPENDENCY_TIMEOUT_SECONDS: '1' }
  const failed = promisify(execFile)(process.execPath, [script, 'check'], {
    cwd: tmpdir(),
    env: { ...env, ...unreachable, LOG_LEVEL: 'silent' },
  })
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^[^\n]*127\.0\.0\.1:1\n$/) })
})
