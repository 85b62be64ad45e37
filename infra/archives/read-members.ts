import {
  type Announced,
  type AnnouncedKind,
  type ArchiveItem,
  type RecordKind,
  recordKinds,
} from '../../domain/archive/items.ts'
import { announcedId, checkManifest, readAnnounced, readRecord } from '../../domain/archive/read-record.ts'
import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { JsonLimitError, checkForeignJson, foreignJsonDepth } from '../../domain/foreign-json.ts'
import { parseWithExact } from '../../domain/json.ts'
import type { Message } from '../../domain/messages.ts'
import type { TarMember } from './read-tar.ts'

const maxRecords = 5_000_000
/** Their records are held until their bytes come. */
const maxFiles = 20_000
const before: Partial<Record<RecordKind, AnnouncedKind>> = { vector_store_files: 'files' }
const after: Partial<Record<RecordKind, AnnouncedKind>> = { feedback: 'attachments' }
const order: readonly string[] = recordKinds.flatMap((kind) =>
  [before[kind], kind, after[kind]].filter((name) => name !== undefined),
)

/**
 * The records and files of an archive, each checked, with messages as `renamed` makes them. Throws `invalid_input` for an
 * archive of another form.
 */
export async function* readMembers(
  members: AsyncIterable<TarMember>,
  renamed: (message: Message) => Message,
): AsyncGenerator<ArchiveItem, undefined> {
  const announced = new Map<string, Announced>()
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
      yield { type: 'file', ...file, content: member.content }
      continue
    }
    if (member.name === 'user.json') {
      if (member.size > smallMemberMaxBytes) throw wrongArchive('one of its members is too large')
      continue
    }
    // The runs of schedules are imported with their threads.
    if (/^schedule-runs-[\w.-]{1,80}$/.test(member.name)) continue
    // Bytes of another owner than a thread, which are not imported.
    if (/^attachments\/[\w.~-]{1,80}$/.test(member.name)) continue
    const kind = kindOf(member.name)
    const next = order.indexOf(kind)
    if (next < place) throw wrongArchive('its members are not in order')
    place = next
    for await (const line of linesOf(member, partMaxBytes)) {
      lines += 1
      if (lines > maxRecords) throw wrongArchive(`it has more than ${maxRecords} records`)
      if (isAnnounced(kind)) announce(readAnnounced(kind, line))
      else yield readRecord(kind, line, renamed)
    }
  }
  if (!hasManifest) throw wrongArchive('it is empty')
  for (const one of announced.values())
    yield { type: 'refused', kind: one.kind, id: announcedId(one), reason: 'the archive does not hold its bytes' }

  function announce(one: Announced): void {
    if (one.kind === 'attachments' && one.file.thread_id === undefined) return
    if (announced.size >= maxFiles) throw wrongArchive(`it has more than ${maxFiles} files`)
    announced.set(one.file.path, one)
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

const isAnnounced = (kind: RecordKind | AnnouncedKind): kind is AnnouncedKind =>
  kind === 'files' || kind === 'attachments'

function kindOf(name: string): RecordKind | AnnouncedKind {
  const written = /^([a-z-]{1,20})-\d{5,9}\.jsonl$/.exec(name)?.[1]?.replaceAll('-', '_')
  const isOfBytes = written === 'files' || written === 'attachments'
  const kind = isOfBytes ? written : recordKinds.find((known) => known === written)
  if (kind === undefined) throw wrongArchive('it holds a member that is not known here')
  return kind
}

const megabyte = 1024 * 1024
/** A part of an archive has four megabytes and one further line. */
const partMaxBytes = 32 * megabyte
const smallMemberMaxBytes = 64 * 1024
/** A record of the database has 16 MB at most. */
const lineMaxBytes = 16 * megabyte
/**
 * One line holds what several requests brought, each of which has the usual limits: up to a thousand messages, and the
 * arguments of many calls, a few levels deeper than they came.
 */
const lineLimits = { bytes: lineMaxBytes, depth: foreignJsonDepth + 10, containers: 200_000, members: 1_000_000 }

/** The lines of a member, parsed. Holds one of them. Throws `invalid_input` for anything but bounded JSON. */
export async function* linesOf(
  { name, size, content }: TarMember,
  maxBytes: number,
): AsyncGenerator<unknown, undefined> {
  if (size > maxBytes) throw wrongArchive('one of its members is too large')
  let pieces: Buffer[] = []
  let length = 0
  const add = (piece: Buffer) => {
    length += piece.length
    if (length > lineMaxBytes) throw wrongArchive('one of its lines is too long')
    pieces.push(piece)
  }
  const whole = () => {
    if (length === 0) throw wrongArchive('one of its lines is empty')
    const line = parsed(Buffer.concat(pieces).toString('utf8'), name)
    pieces = []
    length = 0
    return line
  }
  for await (const piece of content) {
    let start = 0
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, start)) {
      add(piece.subarray(start, end))
      start = end + 1
      yield whole()
    }
    add(piece.subarray(start))
  }
  if (length > 0) yield whole()
}

function parsed(line: string, member: string): unknown {
  try {
    checkForeignJson(line, lineLimits)
    // Arguments of calls keep the digits of their numbers.
    return parseWithExact(line, 'args')
  } catch (error) {
    // The parser's message would quote the line.
    throw wrongArchive(`a line of ${member} ${error instanceof JsonLimitError ? error.message : 'is not JSON'}`)
  }
}
