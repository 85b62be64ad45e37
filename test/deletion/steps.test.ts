import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { createDeletion } from '../../services/deletion/index.ts'
import { retainedCollections, createStores, ownerCollections } from '../../services/deletion/stores.ts'
import { schedulesCapability } from '../../services/schedules/capability.ts'
import { fillEstate, fingerprint, tracesOf } from '../support/estate.ts'
import { mailsTo } from '../support/mailbox.ts'
import { type RunningService, startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

describe('the steps of a deletion', () => {
  const service = useStarted(() => startService({ worker: false }))

  const storesOf = () => {
    const { collections } = service
    const { transaction } = service.api.infra.database
    const { stream } = service.api.platform.core
    return createStores({
      collections,
      transaction,
      stream,
      billing: service.api.services.billing,
      timetable: service.api.platform.core.timetable,
      refreshes: service.api.platform.core.refreshes,
      handOver: service.api.platform.members.handOver,
      knowledge: { collections, ...service.api.infra.knowledge },
    })
  }

  it('cover every collection of the database', async () => {
    const names =
      (await service.api.infra.database.connection.db?.listCollections().toArray())?.map(({ name }) => name) ?? []
    expect(names.length).toBeGreaterThan(10)
    const covered = new Set([
      ...storesOf().flatMap((store) => store.collections),
      ...ownerCollections,
      ...Object.keys(retainedCollections),
    ])
    expect(names.filter((name) => !covered.has(name) && !name.startsWith('system.'))).toEqual([])
  })

  it('count and remove the schedules that Temporal does not list yet, and count none that it still lists', async () => {
    const user = await fillEstate(service, await insertUser(service), { projects: 1 })
    const { timetable } = service.api.platform.core
    const storeThatLists = (ids: string[]) => {
      const [store] = schedulesCapability.stores({
        collections: service.collections,
        timetable: { ...timetable, idsOf: async () => ids },
      })
      return store
    }
    const members = { userIds: [user.userId], projectIds: [], assistantIds: [], threadIds: [] }
    expect(await storeThatLists([])?.countFor(members)).toBe(1)
    await storeThatLists([])?.deleteFor(members)
    expect(await timetable.exists(user.schedules[0] ?? '')).toBe(false)
    expect(await storeThatLists(user.schedules)?.countFor(members)).toBe(0)
  })

  it('can be interrupted after any store and repeated', async () => {
    const other = await fillEstate(service, await insertUser(service))
    const before = await fingerprint(service, other)
    const deps = createDeletionDeps(service)
    const user = await fillEstate(service, await insertUser(service), { projects: 1 })
    const input = { kind: 'account' as const, id: user.userId, receiptId: newId() }
    const cutOff = new Error('cut off')
    let cut = 0
    // Each attempt repeats what those before have done, and is cut off after one store more.
    for (let isOver = false; !isOver;) {
      let operations = 0
      const broken = createDeletion({
        ...deps,
        stores: storesOf().map((store) => ({
          ...store,
          async deleteFor(members) {
            await store.deleteFor(members)
            operations += 1
            if (operations > cut) throw cutOff
          },
        })),
      })
      isOver = await allSteps(broken, input).then(
        () => true,
        (error: unknown) => {
          if (error !== cutOff) throw error
          cut += 1
          return false
        },
      )
    }
    expect(await tracesOf(service, user)).toEqual([])
    expect(await service.collections.receipts.findById(input.receiptId).lean()).toMatchObject({
      status: 'complete',
      found: { threads: 2, files: 3, vector_stores: 1, users: 1 },
    })
    expect(cut).toBeGreaterThan(10)
    expect(await fingerprint(service, other)).toBe(before)
  }, 240_000)

  it('never delete a user that a token created again, however late a step is repeated', async () => {
    const user = await fillEstate(service, await insertUser(service))
    const { deletion } = service.api.platform.deletion
    const input = { kind: 'account' as const, id: user.userId, receiptId: newId() }
    await allSteps(deletion, input)
    await user.call('POST', '/threads/', { name: 'a new life' })
    // As by an exchanged token, which brings its address.
    await service.collections.users.updateOne({ _id: user.userId }, { $set: { email: user.email, verified: true } })
    for (const step of [
      () => deletion.mark(input),
      () => deletion.stop(input),
      () => deletion.endPayments(input),
      () => deletion.erase(input, 'contents'),
      () => deletion.erase(input, 'owners'),
      () => deletion.finish(input, {}),
    ]) {
      await step()
    }
    expect((await user.call('GET', '/threads/')).body).toMatchObject({ total: 1 })
    expect(await service.collections.users.findById(user.userId).lean()).toMatchObject({ thread_counter: 1 })
    expect((await mailsTo(user.email)).map(({ subject }) => subject)).toEqual(['Your account is deleted'])
  })

  it('do not delete an account that no longer matches when the deletion marker is set', async () => {
    const user = await insertUser(service)
    const { deletion } = service.api.platform.deletion
    const longAgo = new Date(Date.now() - 86_400_000).toISOString()
    for (const condition of [{ inactiveSince: longAgo }, { unverifiedSince: new Date().toISOString() }]) {
      expect(await deletion.mark({ kind: 'account', id: user.userId, receiptId: newId(), condition })).toBe(false)
    }
    expect((await user.call('GET', '/projects/')).status).toBe(200)
  })
})

function createDeletionDeps(service: RunningService) {
  const { collections } = service
  const { transaction } = service.api.infra.database
  return {
    collections,
    transaction,
    stream: service.api.platform.core.stream,
    workflows: service.api.platform.core.workflows,
    budgetCounting: service.api.platform.core.budgetCounting,
    billing: service.api.services.billing,
    handOver: service.api.platform.members.handOver,
    tracing: { ended: () => undefined },
    mailer: service.api.platform.core.mailer,
    onError: (error: unknown) => {
      throw error
    },
  }
}

/** What the workflow does, without Temporal. */
async function allSteps(
  deletion: ReturnType<typeof createDeletion>,
  input: Parameters<typeof deletion.mark>[0],
): Promise<void> {
  if (!(await deletion.mark(input))) return
  await deletion.stop(input)
  if (input.kind === 'account') await deletion.endPayments(input)
  const left = { ...(await deletion.erase(input, 'contents')), ...(await deletion.erase(input, 'owners')) }
  expect(Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0))).toEqual({})
  await deletion.finish(input, left)
}
