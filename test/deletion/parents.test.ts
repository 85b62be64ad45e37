import { describe, expect, it } from 'vitest'
import { createSuspension } from '../../services/admin/suspension.ts'
import { setDeletionMarkers } from '../../services/deletion/index.ts'
import { parentsRemain } from '../../services/parents.ts'
import { commandsDuring } from '../support/commands.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

const marks = ['update', 'findAndModify']

describe('what was stored beneath an assistant', () => {
  const service = useStarted(() => startService({ worker: false }))

  async function family() {
    const client = await insertUser(service)
    const { assistant_id: assistantId } = await client.post('/assistants/', { name: 'Helper' })
    await client.post('/threads/', { name: 'Talk' })
    return { ...client, stored: { project_id: client.projectId, assistant_id: assistantId } }
  }

  /** The collections that `work` asks, in order; with `names` only of these commands. */
  async function asked(work: () => Promise<unknown>, names?: string[]): Promise<string[]> {
    const commands = await commandsDuring(service.databases, work)
    const seen = commands
      .filter(({ name }) => name === 'find' || marks.includes(name))
      .filter(({ name }) => names?.includes(name) ?? true)
      .map(({ name, command }) => String(command[name]))
    return seen.filter((name, index) => name !== seen[index - 1])
  }

  it.each([{ deleting: true }, { suspended: true }])('does not remain if it has the mark %o', async (change) => {
    const { stored } = await family()
    expect(await parentsRemain(service.collections, stored)).toBe(true)
    await service.collections.assistants.updateOne({ _id: stored.assistant_id }, { $set: change })
    expect(await parentsRemain(service.collections, stored)).toBe(false)
  })

  it('needs no look at its project if that is the assistant’s, and one if it is another', async () => {
    const [{ stored }, other] = [await family(), await family()]
    expect(await asked(() => parentsRemain(service.collections, stored))).toEqual(['assistants'])
    const across = { ...stored, project_id: other.projectId }
    expect(await parentsRemain(service.collections, across)).toBe(true)
    await service.collections.projects.updateOne({ _id: other.projectId }, { $set: { deleting: true } })
    expect(await parentsRemain(service.collections, across)).toBe(false)
  })

  // Therefore: who finds the assistant unmarked has stored before the marks reach what is below it.
  it.each(['project', 'account'] as const)('is marked after its assistant, and that after the %s', async (kind) => {
    const { userId, projectId } = await family()
    const { transaction } = service.api.infra.database
    const target = { kind, id: kind === 'project' ? projectId : userId }
    const deps = { collections: service.collections, transaction }
    const order = await asked(() => setDeletionMarkers(deps, target, { condition: {} }), marks)
    const below = ['projects', 'assistants', 'threads']
    expect(order.filter((name) => below.includes(name))).toEqual(below)
  })

  it('is looked for after its assistant was suspended, and that after the project', async () => {
    const { userId } = await family()
    const { transaction } = service.api.infra.database
    const suspension = createSuspension({
      collections: service.collections,
      transaction,
      runs: { cancel: async () => undefined },
    })
    const order = await asked(() => suspension.suspend(userId, 'spam'))
    const places = ['projects', 'assistants', 'runs'].map((name) => order.indexOf(name))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(Math.min(...places)).toBeGreaterThanOrEqual(0)
    expect(order.lastIndexOf('projects')).toBeLessThan(order.indexOf('assistants'))
    expect(order.lastIndexOf('assistants')).toBeLessThan(order.indexOf('runs'))
  })
})
