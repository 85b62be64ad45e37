import { readFile, readdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import proto from '@temporalio/proto'
import { everythingIn } from './everything-in.ts'

const historiesFolder = fileURLToPath(new URL('../replay/histories/', import.meta.url))

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
  await writeFile(join(historiesFolder, `${name}.json`), `${JSON.stringify(json, withoutMachine, 1)}\n`)
}

export async function savedHistories(): Promise<string[]> {
  return (await readdir(historiesFolder)).filter((file) => file.endsWith('.json'))
}

export async function readHistory(file: string): Promise<History> {
  return History.fromObject(JSON.parse(await readFile(join(historiesFolder, file), 'utf8')))
}

/** Who wrote the history, and where its code lay, is of no use to a replay, and names a machine. */
function withoutMachine(key: string, value: unknown): unknown {
  return key === 'identity' || key === 'stackTrace' ? 'recorded' : value
}
