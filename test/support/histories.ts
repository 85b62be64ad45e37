import { readFile, readdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import proto from '@temporalio/proto'
import { everythingIn } from './everything-in.ts'

/**
 * Histories of the code as it is now: `RECORD_HISTORIES=1` writes them anew. They are compressed, so that searches and
 * diffs of the project do not show them; `gunzip -c` prints one.
 */
const historiesFolder = fileURLToPath(new URL('../replay/histories/', import.meta.url))
/** Histories as released versions wrote them, a folder for each: `scripts/keep-histories.ts` adds one, nothing changes one. */
const releasesFolder = fileURLToPath(new URL('../replay/releases/', import.meta.url))

const { History } = proto.temporal.api.history.v1
type History = proto.temporal.api.history.v1.IHistory

/** Everything that a history says, as text. What is not in here is not in the history. */
export function historyText(history: History): string {
  return everythingIn(history)
}

/** Keeps a history for the replays of later versions: only with `RECORD_HISTORIES=1`, when a workflow was changed on purpose. */
export async function recordHistory(name: string, history: History): Promise<void> {
  if (process.env['RECORD_HISTORIES'] !== '1') return
  const json = History.toObject(History.fromObject(history), { longs: String, bytes: String, enums: String })
  const text = `${JSON.stringify(json, withoutMachine, 1)}\n`
  await writeFile(join(historiesFolder, `${name}${extension}`), gzipSync(text, { level: 9 }))
}

/** Names of all saved histories, those of releases with their version in front. */
export async function savedHistories(): Promise<string[]> {
  const releases = await readdir(releasesFolder, { recursive: true })
  const files = [...(await readdir(historiesFolder)), ...releases.map((file) => `${inReleases}${file}`)]
  return files.filter((file) => file.endsWith(extension))
}

const inReleases = 'releases/'
const extension = '.json.gz'

export async function readHistory(name: string): Promise<History> {
  const file = name.startsWith(inReleases)
    ? join(releasesFolder, name.slice(inReleases.length))
    : join(historiesFolder, name)
  return History.fromObject(JSON.parse(gunzipSync(await readFile(file)).toString('utf8')))
}

/** Who wrote the history, and where its code lay, is of no use to a replay, and names a machine. */
function withoutMachine(key: string, value: unknown): unknown {
  return key === 'identity' || key === 'stackTrace' ? 'recorded' : value
}
