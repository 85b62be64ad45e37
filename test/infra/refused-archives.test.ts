import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { readMembers } from '../../infra/archives/read-members.ts'
import { readTar } from '../../infra/archives/read-tar.ts'
import { unpack } from '../../infra/archives/unpack.ts'
import { lines, manifest, member, whole } from '../support/archives.ts'
import { tarEnd } from '../support/tar.ts'

const created_at = '2026-01-01T00:00:00.000Z'
const project = { project_id: 'p', name: 'P', description: '', created_at }
const file = { file_id: 'f', assistant_id: 'a', name: 'f.txt', content_type: 'text/plain', path: 'files/f' }
const changed = (buffer: Buffer, place: number, text: string) => {
  const copy = Buffer.from(buffer)
  copy.write(text, place, 'latin1')
  const sum = copy.subarray(0, 512).reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return copy
}

/** Reads all of an archive, as the thread for it does. */
async function readAll(archive: Buffer): Promise<void> {
  for await (const item of readMembers(readTar(unpack(onePiece(archive), 1000)), (given) => given))
    if (item.type === 'file') for await (const _bytes of item.content);
}

async function* onePiece(archive: Buffer) {
  yield archive
}

it.each<[string, 'invalid_input' | 'payload_too_large', () => Buffer]>([
  ['is not compressed', 'invalid_input', () => Buffer.concat([manifest, tarEnd])],
  ['is empty', 'invalid_input', () => gzipSync(tarEnd)],
  ['has no bytes', 'invalid_input', () => Buffer.alloc(0)],
  [
    'ends within a member',
    'invalid_input',
    () => gzipSync(Buffer.concat([manifest, member('projects-00001.jsonl', 'x'.repeat(600))]).subarray(0, 1700)),
  ],
  [
    'ends within its compression',
    'invalid_input',
    () => whole(member('projects-00001.jsonl', lines(project))).subarray(0, -20),
  ],
  ['goes on behind its end', 'invalid_input', () => gzipSync(Buffer.concat([manifest, tarEnd, manifest]))],
  [
    'does not begin with a manifest',
    'invalid_input',
    () => gzipSync(Buffer.concat([member('user.json', '{}'), tarEnd])),
  ],
  [
    'is of another version',
    'invalid_input',
    () =>
      gzipSync(
        Buffer.concat([member('manifest.json', lines({ format: 'assistant-platform-user', version: 2 })), tarEnd]),
      ),
  ],
  ['leads out of a folder', 'invalid_input', () => whole(member('../../etc/passwd', 'x'))],
  ['names an absolute path', 'invalid_input', () => whole(member('/etc/passwd', 'x'))],
  [
    'hides a path in a known folder',
    'invalid_input',
    () => whole(member('files-00001.jsonl', lines({ ...file, path: 'files/../f' }))),
  ],
  ['holds a link', 'invalid_input', () => whole(changed(member('projects-00001.jsonl', ''), 156, '2'))],
  ['has a name of two parts', 'invalid_input', () => whole(changed(member('projects-00001.jsonl', ''), 345, '..'))],
  [
    'has a damaged header',
    'invalid_input',
    () => whole(Buffer.from(member('projects-00001.jsonl', 'x')).fill('7', 124, 130)),
  ],
  ['has an unknown member', 'invalid_input', () => whole(member('secrets-00001.jsonl', lines({})))],
  [
    'has a member named as what every object has',
    'invalid_input',
    () => whole(member('constructor-00001.jsonl', lines({}))),
  ],
  [
    'has its members in another order',
    'invalid_input',
    () => whole(member('runs-00001.jsonl', ''), member('threads-00001.jsonl', '')),
  ],
  ['has a file without a record', 'invalid_input', () => whole(member('files/f', 'x'))],
  [
    'has a file twice',
    'invalid_input',
    () => whole(member('files-00001.jsonl', lines(file)), member('files/f', 'x'), member('files/f', 'x')),
  ],
  [
    'has a part that is too large',
    'invalid_input',
    () => whole(member('projects-00001.jsonl', '\n'.repeat(33 * 1024 * 1024))),
  ],
  ['has an empty manifest', 'invalid_input', () => gzipSync(Buffer.concat([member('manifest.json', ''), tarEnd]))],
  ['has empty lines', 'invalid_input', () => whole(member('feedback-00001.jsonl', '\n'.repeat(1000)))],
  ['has a line that is not JSON', 'invalid_input', () => whole(member('projects-00001.jsonl', '{\n'))],
  [
    'has a line that nests deeply',
    'invalid_input',
    () => whole(member('projects-00001.jsonl', `${'['.repeat(100_000)}${']'.repeat(100_000)}\n`)),
  ],
  [
    'has a record of another kind',
    'invalid_input',
    () => whole(member('projects-00001.jsonl', lines({ ...project, name: { $gt: '' } }))),
  ],
  [
    'has a record of a day that does not exist',
    'invalid_input',
    () => whole(member('projects-00001.jsonl', lines({ ...project, created_at: '2026-13-45T00:00:00Z' }))),
  ],
  [
    'has a message of no known kind',
    'invalid_input',
    () =>
      whole(
        member(
          'messages-00001.jsonl',
          lines({ thread_id: 't', seq: 1, source: 'update', messages: [{ type: 'X', data: {} }], created_at }),
        ),
      ),
  ],
  [
    'unpacks to far more than its size',
    'payload_too_large',
    () => whole(member('files-00001.jsonl', lines(file)), member('files/f', Buffer.alloc(80 * 1024 * 1024))),
  ],
])('an archive is refused that %s', async (_case, code, archive) => {
  const problem: unknown = await readAll(archive()).catch((error: unknown) => error)
  expect(problem).toBeInstanceOf(AppError)
  expect(problem).toMatchObject({ code })
})

it('an archive of the same kind without a fault is read', async () => {
  const faultless = whole(
    member('projects-00001.jsonl', lines(project)),
    member('files-00001.jsonl', lines(file)),
    member('files/f', 'x'),
  )
  await expect(readAll(faultless)).resolves.toBeUndefined()
})
