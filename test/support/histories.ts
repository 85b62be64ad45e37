import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import proto from '@temporalio/proto'
import { everythingIn } from './everything-in.ts'

/**
 * Compressed, so that searches and diffs of the project do not show them; `gunzip -c` prints one. In `histories` those of
 * the code as it is now, which `RECORD_HISTORIES=1` writes anew; in `releases` those that released versions wrote, a
 * folder for each: `scripts/keep-histories.ts` adds one, nothing changes one.
 */
const folder = fileURLToPath(new URL('../replay/', import.meta.url))

const { History } = proto.temporal.api.history.v1
type History = proto.temporal.api.history.v1.IHistory

/** Everything that a history says, as text. What is not in here is not in the history. */
export function historyText(history: History): string {
  return everythingIn(history)
}

/**
 * Keeps a history for the replays of later versions: only with `RECORD_HISTORIES=1`, when a workflow was changed on
 * purpose.
 */
export async function recordHistory(name: string, history: History): Promise<void> {
  if (process.env['RECORD_HISTORIES'] !== '1') return
  const json = History.toObject(History.fromObject(history), { longs: String, bytes: String, enums: String })
  const text = `${JSON.stringify(json, withoutMachine, 1)}\n`
  await writeFile(join(folder, 'histories', `${name}${extension}`), gzipSync(text, { level: 9 }))
}

/** Names of all saved histories, with their folders. */
export async function savedHistories(): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  return files.filter((file) => file.endsWith(extension))
}

const extension = '.json.gz'

export async function readHistory(name: string): Promise<History> {
  return History.fromObject(JSON.parse(gunzipSync(await readFile(join(folder, name))).toString('utf8')))
}

/** Who wrote the history, and where its code lay, is of no use to a replay, and names a machine. */
function withoutMachine(key: string, value: unknown): unknown {
  return key === 'identity' || key === 'stackTrace' ? 'recorded' : value
}
