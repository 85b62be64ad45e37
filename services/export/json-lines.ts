import type { ArchiveMember } from './packed.ts'

const partBytes = 4 * 1024 * 1024

export function jsonFile(name: string, value: object, modified: Date): ArchiveMember {
  return file(name, json(value), modified)
}

/** Members `{name}-00001.jsonl` and so on: an archive says how long a file is before its first byte. */
export async function* jsonLines(
  name: string,
  lines: AsyncIterable<object>,
  modified: Date,
): AsyncGenerator<ArchiveMember> {
  for await (const [index, part] of partsOf(lines))
    yield file(`${name}-${String(index).padStart(5, '0')}.jsonl`, part, modified)
}

const json = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)

function file(name: string, bytes: Buffer, modified: Date): ArchiveMember {
  return { name, size: bytes.length, modified, content: [bytes] }
}

/** The lines in numbered parts of a few megabytes. */
async function* partsOf(lines: AsyncIterable<object>): AsyncGenerator<[number, Buffer]> {
  let part: Buffer[] = []
  let bytes = 0
  let index = 1
  for await (const line of lines) {
    const text = json(line)
    part.push(text)
    bytes += text.length
    if (bytes < partBytes) continue
    yield [index, Buffer.concat(part)]
    part = []
    bytes = 0
    index += 1
  }
  if (bytes > 0) yield [index, Buffer.concat(part)]
}
