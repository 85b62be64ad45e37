import { createReadStream } from 'node:fs'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { connectBackup } from '../composition/backup.ts'
import { migrate } from '../composition/migrations.ts'
import { receiptKinds } from '../domain/records/receipt.ts'
import type { Settings } from '../infra/config.ts'
import { linesOf } from '../infra/lines.ts'
import { createLogger } from '../infra/logger.ts'
import { runProgram } from '../infra/program.ts'
import type { Receipt } from '../services/backup/reapply-deletions.ts'

type Backup = Awaited<ReturnType<typeof connectBackup>>

/** Backup, restore and what belongs to a restore: docs/operations/back-up.md. */
const usage = `usage: node scripts/backup.ts save FOLDER      all records, and the embedded vectors, into an empty folder
       node scripts/backup.ts restore FOLDER   into an empty database; then the migrations, then the check
       node scripts/backup.ts check            counts what does not agree between the stores; status 1 if anything
       node scripts/backup.ts receipts SINCE   deletions since an ISO time, as JSON Lines on standard output
       node scripts/backup.ts reapply FILE     deletes again what such a file names; workers must run`

const [command = '', argument] = process.argv.slice(2)
const since = new Date(argument ?? '')
const needsArgument = command !== 'check'
const isKnown = ['save', 'restore', 'check', 'receipts', 'reapply'].includes(command)
if (
  !isKnown ||
  (argument === undefined) === needsArgument ||
  (command === 'receipts' && Number.isNaN(since.getTime()))
) {
  console.error(usage)
  process.exit(2)
}

// Standard output contains only the result.
await runProgram(
  async (settings) => {
    const backup = await connectBackup(settings, (line) => console.error(line))
    try {
      await run(settings, backup, argument ?? '')
    } finally {
      await backup.close()
    }
  },
  {
    settingsHint: 'The data of npm start needs no settings: npm run backup -- FOLDER, npm run restore -- FOLDER.',
  },
)

async function run(settings: Settings, backup: Backup, given: string): Promise<void> {
  switch (command) {
    case 'save':
      return console.log(JSON.stringify(await backup.save(given)))
    case 'restore':
      console.log(JSON.stringify(await backup.restore(given)))
      await migrate(settings, createLogger('migrate', settings.logLevel))
      return check(backup)
    case 'check':
      return check(backup)
    case 'receipts':
      for await (const receipt of backup.receiptsSince(since)) console.log(JSON.stringify(receipt))
      return
    case 'reapply':
      console.log(JSON.stringify(await backup.reapply(receiptsIn(given))))
  }
}

async function check(backup: Backup): Promise<void> {
  const found = await backup.check()
  console.log(JSON.stringify(found))
  if (Object.values(found).some((count) => count > 0)) process.exitCode = 1
}

async function* receiptsIn(file: string): AsyncGenerator<Receipt> {
  const Stored = Type.Object({
    _id: Type.String(),
    kind: Type.Union(receiptKinds.map((kind) => Type.Literal(kind))),
    subject_id: Type.String(),
    user_id: Type.String(),
    created_at: Type.String(),
  })
  for await (const line of linesOf(createReadStream(file), { maxCharacters: 10_000 })) {
    if (line.trim() === '') continue
    const receipt: unknown = JSON.parse(line)
    if (!Value.Check(Stored, receipt)) throw new Error(`${file} contains a line that is not a receipt`)
    yield { ...receipt, created_at: new Date(receipt.created_at) }
  }
}
