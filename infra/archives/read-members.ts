import { type ArchiveItem, type RecordKind, recordKinds } from '../../domain/archive/items.ts'
import { checkManifest, readFile, readRecord } from '../../domain/archive/read-record.ts'
import type { ArchivedFile } from '../../domain/archive/records.ts'
import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { linesOf, partMaxBytes, smallMemberMaxBytes } from './lines.ts'
import type { TarMember } from './read-tar.ts'

const maxRecords = 5_000_000
/** Their records are held until their bytes come. */
const maxFiles = 20_000
const order: readonly string[] = recordKinds.flatMap((kind) =>
  kind === 'vector_store_files' ? ['files', kind] : [kind],
)

/** The records and files of an archive, each checked. Throws `invalid_input` for an archive of another form. */
export async function* readMembers(members: AsyncIterable<TarMember>): AsyncGenerator<ArchiveItem, undefined> {
  const announced = new Map<string, ArchivedFile>()
  let [place, lines, hasManifest] = [0, 0, false]

  for await (const member of members) {
    if (!hasManifest) {
      await readManifest(member)
      hasManifest = true
      continue
    }
    const file = announced.get(member.name)
    if (file !== undefined) {
      announced.delete(member.name)
      yield { type: 'file', file, content: member.content }
      continue
    }
    if (member.name === 'user.json') {
      if (member.size > smallMemberMaxBytes) throw wrongArchive('one of its members is too large')
      continue
    }
    // Parts of messages are not imported: their text is. The runs of schedules are imported with their threads.
    if (/^(attachments|schedule-runs)[-/][\w.-]{1,80}$/.test(member.name)) continue
    const kind = kindOf(member.name)
    const next = order.indexOf(kind)
    if (next < place) throw wrongArchive('its members are not in order')
    place = next
    for await (const line of linesOf(member, partMaxBytes)) {
      lines += 1
      if (lines > maxRecords) throw wrongArchive(`it has more than ${maxRecords} records`)
      if (kind === 'files') announce(readFile(line))
      else yield readRecord(kind, line)
    }
  }
  if (!hasManifest) throw wrongArchive('it is empty')
  for (const { file_id: id } of announced.values())
    yield { type: 'refused', kind: 'files', id, reason: 'the archive does not hold its bytes' }

  function announce(file: ArchivedFile): void {
    if (announced.size >= maxFiles) throw wrongArchive(`it has more than ${maxFiles} files`)
    announced.set(file.path, file)
  }
}

async function readManifest(member: TarMember): Promise<void> {
  if (member.name !== 'manifest.json') throw wrongArchive('it does not begin with a manifest')
  let isChecked = false
  for await (const line of linesOf(member, smallMemberMaxBytes)) {
    checkManifest(line)
    isChecked = true
  }
  if (!isChecked) throw wrongArchive('its manifest is empty')
}

function kindOf(name: string): RecordKind | 'files' {
  const written = /^([a-z-]{1,20})-\d{5,9}\.jsonl$/.exec(name)?.[1]?.replaceAll('-', '_')
  const kind = written === 'files' ? written : recordKinds.find((known) => known === written)
  if (kind === undefined) throw wrongArchive('it holds a member that is not known here')
  return kind
}
