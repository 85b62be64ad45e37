import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseOutcome } from './support/outcome.ts'
import { peers } from './support/peers.ts'

/** `npm run peers`: runs the tests of `support/peers.ts`, and says at the end how each peer has done. */
const folder = mkdtempSync(path.join(tmpdir(), 'peers-'))
const kept = path.join(folder, 'outcome.json')
const { status } = spawnSync(process.execPath, [path.join(import.meta.dirname, 'run.ts'), ...process.argv.slice(2)], {
  env: { ...process.env, TEST_OUTCOME: kept },
  stdio: 'inherit',
})
const { files } = parseOutcome(read(kept))
rmSync(folder, { recursive: true, force: true })
for (const { name, file } of peers) {
  const { passed = [], failures = [] } = files.find((one) => one.file === file) ?? {}
  const state =
    passed.length + failures.length === 0 ? 'did not run' : `${passed.length} passed, ${failures.length} failed`
  console.log(`${name}: ${state}`)
}
process.exitCode = status ?? 1

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
