import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { type WorkflowContract, queues, workflowType } from '../../domain/contracts/workflow-contract.ts'
import type { WorkflowClient } from '../../services/workflow-client.ts'
import * as workflows from '../../workflows/index.ts'

const folder = join(import.meta.dirname, '../../domain/contracts')

async function allContracts(): Promise<Record<string, WorkflowContract<any>>> {
  const modules = await Promise.all(globSync('*.ts', { cwd: folder }).map((file) => import(join(folder, file))))
  const entries = modules.flatMap((module: object) => Object.entries(module))
  return Object.fromEntries(entries.filter(([name]) => name.endsWith('Contract')))
}

describe('contracts of workflows', () => {
  it('each belong to one workflow that workers register, and no workflow lacks one', async () => {
    const contracts = Object.values(await allContracts())
    const names = contracts.map(({ type }) => type.name).toSorted()
    expect(names).toEqual(Object.keys(workflows).toSorted())
    for (const { queue } of contracts) expect(queues).toContain(queue)
  })

  it('accept no message, key or search attributes of a wrong type', () => {
    const usage = async (client: WorkflowClient) => {
      const key = { threadId: 't' }
      await client.signal(threadContract, key, 'cancelRun', { runId: 'r' })
      // @ts-expect-error an unknown signal
      await client.signal(threadContract, key, 'cancel', { runId: 'r' })
      // @ts-expect-error a message without its members
      await client.signal(threadContract, key, 'cancelRun', {})
      // @ts-expect-error no message
      await client.signal(threadContract, key, 'cancelRun')
      // @ts-expect-error a key of another workflow
      await client.signal(threadContract, { userId: 'u' }, 'cancelRun', { runId: 'r' })
      // @ts-expect-error a start without what the search attributes say
      await client.start(threadContract, key)
      // @ts-expect-error no limit of the wait
      await client.result(threadContract, key)
    }
    const base = {
      type: workflowType<{ userId: string }, void>('example'),
      queue: 'accounts' as const,
      id: ({ userId }: { userId: string }) => userId,
      input: (start: { userId: string }) => start,
      summary: () => 'An example',
    }
    type Types = {
      key: { userId: string }
      start: { userId: string; projectId: string }
      input: { userId: string }
      result: void
    }
    const complete = {
      ...base,
      attributes: ({ userId, projectId }) => ({ UserId: userId, ProjectId: projectId }),
    } satisfies WorkflowContract<Types>
    // @ts-expect-error no search attributes
    const none = base satisfies WorkflowContract<Types>
    // @ts-expect-error the attribute of the project is missing
    const partial = { ...base, attributes: ({ userId }) => ({ UserId: userId }) } satisfies WorkflowContract<Types>
    expect([usage, complete, none, partial]).toHaveLength(4)
  })
})
