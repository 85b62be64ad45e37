import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { JsonLimitError, checkForeignJson, foreignJsonDepth } from '../../domain/foreign-json.ts'
import { parseWithExact } from '../../domain/json.ts'
import type { TarMember } from './read-tar.ts'

const megabyte = 1024 * 1024
/** A part of an archive has four megabytes and one further line. */
export const partMaxBytes = 32 * megabyte
export const smallMemberMaxBytes = 64 * 1024
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
