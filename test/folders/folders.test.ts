import { describe, expect, it } from 'vitest'
import { folderLimits } from '../../domain/records/folder.ts'
import { joinProject } from '../projects/joined.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

async function withFolder(members: object = {}) {
  const owner = await insertUser(service)
  const folder = await owner.post('/folders/', { name: ' Harbour ', ...members })
  const thread = async (body: object = {}) =>
    String((await owner.post('/threads/', { name: 'Tides', ...body })).thread_id)
  return { owner, folderId: String(folder.folder_id), thread }
}

const idsIn = async (client: { get(path: string): Promise<{ threads: { thread_id: string }[] }> }, query = '') =>
  (await client.get(`/threads/${query}`)).threads.map(({ thread_id: id }) => id)

describe('folders of threads', () => {
  it('are made, changed in part, listed by name, and deleted without their threads', async () => {
    const { owner, folderId, thread } = await withFolder({ instructions: ' Answer briefly. ' })
    await owner.post('/folders/', { name: 'Alster' })
    expect(await owner.get('/folders/')).toMatchObject([
      { name: 'Alster', instructions: null, vector_store_id: null },
      { folder_id: folderId, name: 'Harbour', instructions: 'Answer briefly.', project_id: owner.projectId },
    ])
    expect(await owner.put(`/folders/${folderId}`, { name: 'Port' })).toMatchObject({
      name: 'Port',
      instructions: 'Answer briefly.',
    })
    expect(await owner.put(`/folders/${folderId}`, { instructions: null })).toMatchObject({ instructions: null })
    for (const name of [' ', ''])
      expect((await owner.call('PUT', `/folders/${folderId}`, { name })).status).not.toBe(200)

    const [inside, outside] = [await thread({ folder_id: folderId }), await thread()]
    await owner.put(`/threads/${outside}`, { pinned: true })
    expect(await idsIn(owner, `?folder_id=${folderId}`)).toEqual([inside])
    expect(await idsIn(owner, '?folder_id=none')).toEqual([outside])
    expect(await idsIn(owner)).toHaveLength(2)

    await owner.delete(`/folders/${folderId}`)
    expect((await owner.call('DELETE', `/folders/${folderId}`)).status).toBe(404)
    expect(await owner.get(`/threads/${inside}`)).toMatchObject({ folder_id: null })
    expect((await idsIn(owner, '?folder_id=none')).toSorted()).toEqual([inside, outside].toSorted())
  })

  it('take threads in and give them back, which is no use of the thread', async () => {
    const { owner, folderId, thread } = await withFolder()
    const id = await thread()
    const { updated_at: before } = await owner.get(`/threads/${id}`)
    expect(await owner.put(`/threads/${id}`, { folder_id: folderId })).toMatchObject({
      folder_id: folderId,
      updated_at: before,
    })
    expect(await owner.put(`/threads/${id}`, { name: 'High water' })).toMatchObject({ folder_id: folderId })
    expect(await owner.put(`/threads/${id}`, { folder_id: null })).toMatchObject({ folder_id: null })
    expect((await owner.call('PUT', `/threads/${id}`, { folder_id: 'missing' })).status).toBe(404)
    // One of another project of the same person.
    const other = await owner.post('/projects/', { name: 'Other' })
    await service.collections.folders.updateOne({ _id: folderId }, { $set: { project_id: other.project_id } })
    expect((await owner.call('PUT', `/threads/${id}`, { folder_id: folderId })).status).toBe(404)
    // Of a public caller.
    const foreign = await thread()
    await service.collections.threads.updateOne({ _id: foreign }, { $set: { public: true } })
    const { folder_id: another } = await owner.post('/folders/', { name: 'Another' })
    expect((await owner.call('PUT', `/threads/${foreign}`, { folder_id: another })).status).toBe(403)
    // One that is gone without its threads knowing is none.
    await service.collections.threads.updateOne({ _id: id }, { $set: { folder_id: 'gone' } })
    expect(await idsIn(owner, '?folder_id=none')).toEqual([id])
  })

  it('are counted exactly', async () => {
    const { owner } = await withFolder()
    const now = new Date()
    await service.collections.folders.insertMany(
      Array.from({ length: folderLimits.folders - 2 }, (_, place) => ({
        _id: `${owner.userId}-${place}`,
        user_id: owner.userId,
        project_id: owner.projectId,
        name: 'one of many',
        created_at: now,
        updated_at: now,
      })),
    )
    const made = await Promise.all([1, 2, 3].map((place) => owner.call('POST', '/folders/', { name: `New ${place}` })))
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403])
  })

  it('are those of one person, also in a shared project', async () => {
    const { owner, folderId } = await withFolder()
    const member = await joinProject(service, owner.projectId, 'member')
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    expect(await member.get('/folders/')).toEqual([])
    expect((await member.call('PUT', `/folders/${folderId}`, { name: 'mine' })).status).toBe(404)
    expect((await viewer.call('POST', '/folders/', { name: 'mine' })).status).toBe(403)
    expect((await member.call('POST', '/threads/', { name: 'T', folder_id: folderId })).status).toBe(404)
    const own = await member.post('/folders/', { name: 'Mine' })
    const shared = await member.post('/threads/', { name: 'T', visibility: 'project', folder_id: own.folder_id })
    // The folder of another hides nothing.
    expect(await idsIn(owner, '?folder_id=none')).toEqual([shared.thread_id])
    expect(await idsIn(owner, `?folder_id=${own.folder_id}`)).toEqual([])
    expect(await idsIn(member, '?folder_id=none')).toEqual([])
    // Who only uses the project keeps no files in it.
    expect((await member.call('POST', `/folders/${own.folder_id}/files`, { file_id: 'f' })).status).toBe(403)

    await owner.delete(`/projects/${owner.projectId}/members/${member.memberId}`)
    await expect
      .poll(() => service.collections.folders.countDocuments({ user_id: member.userId }), { timeout: 30_000 })
      .toBe(0)
  })

  it('are in the archive of their account, and come back with their threads', async () => {
    const { owner, folderId, thread } = await withFolder({ instructions: 'Answer briefly.' })
    await thread({ folder_id: folderId })
    const archive = await archiveOf(service, owner)
    const heir = await insertUser(service)
    expect((await importInto(service, heir, archive)).body).toMatchObject({ imported: { folders: 1, threads: 1 } })
    expect((await importInto(service, heir, archive)).body).toMatchObject({ existing: { folders: 1 } })
    const found = await service.collections.folders.findOne({ user_id: heir.userId }).lean()
    expect(found).toMatchObject({ name: 'Harbour', instructions: 'Answer briefly.' })
    expect(found?._id).not.toBe(folderId)
    expect(await service.collections.threads.countDocuments({ user_id: heir.userId, folder_id: found?._id })).toBe(1)
  })
})
