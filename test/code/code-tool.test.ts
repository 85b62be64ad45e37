import { expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const service = useSharedService()

const withCode = { 'type==agent/tools': [{ type: 'code' }] }
let calls = 0
const code = (text: string) => ({ toolCalls: [{ id: `call-${++calls}`, name: 'code', arguments: { code: text } }] })
const newSession =
  '[A new session: variables of earlier calls are not there; the files of the conversation are in /mnt/data.]'

async function talkWithCode() {
  const talk = await conversation(service, withCode)
  return {
    ...talk,
    /** Lets the model make these calls, one answer after the other; their results. */
    async execute(content: string | object[], ...codes: string[]) {
      for (const reply of [...codes.map(code), { text: 'Done.' }]) service.model.reply(reply)
      const run = await talk.stream('', { input: [{ type: 'human', content }] })
      expect(run.error).toBeUndefined()
      return run.messages.filter(({ type }) => type === 'ToolMessage').map(({ data }) => data)
    },
    read: (id: string, user: TestUser = talk.client) =>
      user.fetch('GET', `/threads/${talk.threadId}/attachments/${id}/content`),
  }
}

it('executes Python with the files of the thread, and gives those that it writes to the person', async () => {
  const talk = await talkWithCode()
  const sales = Buffer.from('month,sum\nMay,3\nJune,4\n').toString('base64')
  const [first, second] = await talk.execute(
    [
      { type: 'text', text: 'How much is it in all?' },
      { type: 'file', file: { file_data: sales, filename: 'sales.csv' } },
    ],
    'import csv\nrows = list(csv.DictReader(open("sales.csv")))\ntotal = sum(int(row["sum"]) for row in rows)\ntotal',
    'open("total.txt", "w").write(f"total {total}")\nopen("raw.bin", "wb").write(bytes([0, 255]))',
  )
  expect(first).toMatchObject({ name: 'code', content: `${newSession}\n7` })
  expect(first.parts).toBeUndefined()
  // The same session: the variable is there.
  expect(second.content).toBe('2\n[Written: raw.bin (2 bytes), total.txt (7 bytes)]')
  expect(second.parts).toMatchObject([
    { type: 'file', name: 'raw.bin', content_type: 'application/octet-stream', size: 2 },
    { type: 'file', name: 'total.txt', content_type: 'text/plain', size: 7 },
  ])
  expect(await (await talk.read(second.parts[1].attachment_id)).text()).toBe('total 7')
  const stranger = await insertUser(service)
  expect((await talk.read(second.parts[1].attachment_id, stranger)).status).toBe(404)
  // The next run goes on, and a failure is told with its line.
  const [third] = await talk.execute('And half of it?', 'print(total / 2)\ntotal / 0')
  expect(third.content).toMatch(/^3\.5\nTraceback [^]*ZeroDivisionError: division by zero$/)
  const { work } = await talk.client.get('/user/usage')
  expect(work.code_seconds).toBeGreaterThan(0)
  expect((await talk.messages()).find(({ data }) => data.id === second.id).data.parts).toEqual(second.parts)

  // What code writes counts in the storage of its owner.
  const { storage_bytes: stored } = await talk.client.get('/user/usage')
  await service.collections.users.updateOne({ _id: talk.client.userId }, { $set: { storage_max_mb: 1 } })
  const [full] = await talk.execute('More', 'open("large.bin", "wb").write(bytes(2_000_000))')
  expect(full.content).toContain('large.bin: The files and kept answers of this account may take 1 MB together')
  expect((await talk.client.get('/user/usage')).storage_bytes).toBeLessThan(stored + 1000)
  await service.collections.users.updateOne({ _id: talk.client.userId }, { $unset: { storage_max_mb: 1 } })

  // An archive has what was written.
  const target = await insertUser(service)
  const { body } = await importInto(service, target, await archiveOf(service, talk.client))
  expect(body).toMatchObject({ imported: { attachments: 3 }, problems: [] })
  const copy = await service.collections.threads.findOne({ user_id: target.userId, name: 'Talk' }).lean()
  const { values } = await target.get(`/threads/${copy?._id}/state`)
  const written = values.messages.findLast(({ data }: { data: { parts?: unknown[] } }) => data.parts?.length === 2).data
  const text = await target.fetch('GET', `/threads/${copy?._id}/attachments/${written.parts[1].attachment_id}/content`)
  expect(await text.text()).toBe('total 7')
  const [last] = await talk.execute('Again', 'open("total.txt").read(), "total" in globals()')
  expect(last.content).toBe("('total 7', True)")
})

it('keeps sessions of threads apart, and shows an image as one', async () => {
  const [one, other] = [await talkWithCode(), await talkWithCode()]
  await one.execute('Remember', 'secret = 42\nopen("mine.txt", "w").write("42")')
  const [seen] = await other.execute('Tell', 'import os\nprint("secret" in globals(), os.listdir("."))')
  expect(seen.content).toBe(`${newSession}\nFalse []`)
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const [drawn] = await one.execute(
    'Draw',
    `import base64; open("dot.png", "wb").write(base64.b64decode("${png}"))\nprint(secret)`,
  )
  expect(drawn.content).toBe('42\n[Written: dot.png (70 bytes)]')
  expect(drawn.parts).toMatchObject([{ type: 'image', name: 'dot.png', content_type: 'image/png' }])
})
