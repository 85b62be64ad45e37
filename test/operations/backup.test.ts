import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectBackup } from '../../composition/backup.ts'
import { migrate } from '../../composition/migrations.ts'
import { loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import { apiClient } from '../support/api-client.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { plainEnv } from '../support/plain-env.ts'
import { type RunningService, serviceEnv, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

const root = path.join(import.meta.dirname, '../..')
const agreeing = {
  assistants_without_project: 0,
  threads_without_user: 0,
  runs_without_thread: 0,
  checkpoints_without_thread: 0,
  files_without_assistant: 0,
  files_with_other_chunks: 0,
  files_with_other_vectors: 0,
  incomplete_blobs: 0,
}

describe('a backup', () => {
  let service: ModelService
  let folder: string
  const saved = () => path.join(folder, 'saved')
  const backupOf = (of: RunningService) => connectBackup(of.settings, () => undefined)
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'backup-'))
    service = await startModelService()
  })
  afterAll(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** What a user has: an assistant with a file, and a thread. */
  async function settle() {
    const user = await insertUser(service)
    const { assistant_id: assistantId } = await user.post('/assistants/', {
      name: 'Keeper',
      config: { note: 'sealed' },
    })
    const form = new FormData()
    form.append('files', new Blob(['The lighthouse of Hook Head has been lit for eight hundred years.']), 'light.txt')
    const uploaded = await user.fetch('POST', `/assistants/${assistantId}/files`, form)
    const { files }: any = await uploaded.json()
    expect(files[0].metadata.status).toBe('ready')
    const { thread_id: threadId } = await user.post('/threads/', { name: 'Talk' })
    await user.post(`/threads/${threadId}/state`, { values: [{ type: 'human', content: 'Kept words.' }] })
    return { ...user, assistantId, threadId, fileId: String(files[0].id) }
  }

  it('is restored completely into another database, and later deletions are repeated', async () => {
    const [stays, leaves] = [await settle(), await settle()]
    const { thread_id: lateThread } = await stays.post('/threads/', { name: 'To be deleted' })
    const source = await backupOf(service)
    const manifest = await source.save(saved())
    expect(manifest).toMatchObject({ has_vectors: true, collections: { users: 2, threads: 3, files: 2, chunks: 2 } })
    await expect(source.save(saved())).rejects.toThrow('is not empty')

    // After the backup: deletions, whose receipts are kept apart from the database.
    await leaves.call('DELETE', '/auth/delete-user', {
      email_confirmation: (await service.collections.users.findById(leaves.userId).lean())?.email,
    })
    await stays.call('DELETE', `/threads/${lateThread}`)
    const receipts = path.join(folder, 'receipts.jsonl')
    const lines: string[] = []
    for await (const receipt of source.receiptsSince(new Date(manifest.started_at))) lines.push(JSON.stringify(receipt))
    expect(lines).toHaveLength(2)
    await writeFile(receipts, lines.join('\n'))
    await source.close()

    const { MONGODB_URI, DATA_DIR, TASK_QUEUE_PREFIX } = serviceEnv()
    const env = { ...service.env, PORT: '0', MONGODB_URI: String(MONGODB_URI), DATA_DIR: String(DATA_DIR) }
    const target = { ...env, TASK_QUEUE_PREFIX: String(TASK_QUEUE_PREFIX) }
    const settings = loadSettings(target)
    const restoring = await connectBackup(settings, () => undefined)
    expect(await restoring.restore(saved())).toEqual(manifest)
    await migrate(settings, createLogger('test', 'silent'))
    expect(await restoring.check()).toEqual(agreeing)
    await expect(restoring.restore(saved())).rejects.toThrow('contains records')

    const restored = await startService({ env: target })
    try {
      const { users, threads } = restored.collections
      expect(await users.countDocuments()).toBe(2)
      expect((await run('scripts/backup.ts', ['reapply', receipts], target)).output).toContain('"deleted":2')
      expect((await users.find().lean()).map(({ _id }) => _id)).toEqual([stays.userId])
      expect((await threads.find().lean()).map(({ _id }) => _id)).toEqual([stays.threadId])
      expect((await run('scripts/backup.ts', ['reapply', receipts], target)).output).toContain('"gone":2')
      const again = apiClient(restored.url, stays.token)
      const { values } = await again.get(`/threads/${stays.threadId}/state`)
      expect(values.messages[0].data.content).toBe('Kept words.')
      expect((await again.get(`/assistants/${stays.assistantId}`)).config).toEqual({ note: 'sealed' })
      const { vectors, blobs } = restored.api.infra.knowledge
      expect(await vectors.count(stays.assistantId)).toBe(1)
      expect(await vectors.count(leaves.assistantId)).toBe(0)
      const file = await restored.collections.files.findById(stays.fileId).lean()
      expect(await text(blobs.read(String(file?.blob_id)))).toContain('lighthouse')
    } finally {
      await restoring.close()
      await restored.close()
    }
  }, 180_000)

  it('that is incomplete is not restored', async () => {
    const restoring = await connectBackup(loadSettings(serviceEnv()), () => undefined)
    await expect(restoring.restore(path.join(folder, 'nothing'))).rejects.toThrow('not a complete backup')
    const manifest = JSON.parse(await readFile(path.join(saved(), 'manifest.json'), 'utf8'))
    manifest.collections.users += 1
    await writeFile(path.join(saved(), 'manifest.json'), JSON.stringify(manifest))
    await expect(restoring.restore(saved())).rejects.toThrow('its manifest says 3')
    manifest.collections.users -= 1
    await writeFile(path.join(saved(), 'manifest.json'), JSON.stringify(manifest))
    await restoring.close()
  })

  it('passes the drill, which restores it into a temporary database and checks it', async () => {
    const drill = await run('local/restore-drill.ts', [saved()], { SECRETS_KEY: String(service.env['SECRETS_KEY']) })
    expect(drill.output).toContain('The drill passed')
    expect(drill.code).toBe(0)
  }, 180_000)

  it('is checked by counts that find inconsistencies', async () => {
    const checking = await backupOf(service)
    expect(await checking.check()).toEqual(agreeing)
    const { connection } = service.api.infra.database
    const file = await service.collections.files.findOne().lean()
    await service.collections.chunks.deleteMany({ file_id: file?._id })
    await service.api.infra.knowledge.vectors.deleteFile(String(file?.assistant_id), String(file?._id))
    await connection.collection('blobs.chunks').deleteMany({})
    await service.collections.threads.deleteMany({})
    const found = await checking.check()
    expect(found).toMatchObject({ files_with_other_chunks: 1, files_with_other_vectors: 1, incomplete_blobs: 1 })
    expect(found.checkpoints_without_thread).toBe(1)
    await checking.close()
  })
})

async function run(script: string, args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...plainEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, output: said + complained }
}
