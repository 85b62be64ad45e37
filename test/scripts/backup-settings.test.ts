import { execFile } from 'node:child_process'
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
      'The settings cannot be used:\n  - SECRETS_KEY is missing: 32 bytes in base64\n  - JWT_SECRET is missing\n' +
      'The data of npm start needs no settings: npm run backup -- FOLDER, npm run restore -- FOLDER.\n',
  })
})
