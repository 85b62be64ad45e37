import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import {
  type ActivityOptions,
  ParentClosePolicy,
  continueAsNew,
  executeChild,
  proxyActivities,
  setCurrentDetails,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow'
import type { createCleanupActivities } from '../activities/cleanup/index.ts'
import type { CleanupInput, CleanupResult, cleanupContract } from '../domain/contracts/cleanup.ts'
import { type DeletionCondition, type OwnedTarget, deletionContract } from '../domain/contracts/deletion.ts'
import { type WorkflowOf, startOptions } from '../domain/contracts/workflow-contract.ts'
import { deletionWorkflow } from './deletion.ts'

/** Reads whole collections; no caller waits for it. */
const stepPolicy: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 20 },
}

type Activities = ReturnType<typeof createCleanupActivities>
const { findUsers, findOwnerless, countOrphans, removeOrphans } = proxyActivities<Activities>(stepPolicy)

const pageSize = 100
const atOnce = 5

/** Finds the targets of a clean-up and, unless it is a dry run, deletes each with a workflow of its own. */
export const cleanupWorkflow: WorkflowOf<typeof cleanupContract> = async (input) => {
  const result = input.kind === 'orphans' ? await cleanOrphans(input) : await cleanUsers(input)
  const verb = input.dryRun ? 'Dry run' : 'Done'
  setCurrentDetails(`${verb}: ${describe(result)}.`)
  return result
}

async function cleanUsers({ kind, before = '', dryRun, progress }: CleanupInput): Promise<CleanupResult> {
  if (kind === 'orphans') throw new Error('a clean-up of orphans has no users')
  const result: CleanupResult = { found: 0, deleted: 0, failed: 0, orphans: {}, ...progress }
  const condition = kind === 'inactive-users' ? { inactiveSince: before } : { unverifiedSince: before }
  let after = progress?.after
  for (;;) {
    const ids: string[] = await findUsers({ kind, before, limit: pageSize, ...(after === undefined ? {} : { after }) })
    result.found += ids.length
    const targets = ids.map((id) => ({ kind: 'account' as const, id, userId: id }))
    if (!dryRun) await deleteAll(targets, result, condition)
    setCurrentDetails(`So far: ${describe(result)}.`)
    after = ids.at(-1)
    if (ids.length < pageSize || after === undefined) return result
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof cleanupWorkflow>({ kind, before, dryRun, progress: { ...result, after } })
    }
  }
}

async function cleanOrphans({ dryRun }: CleanupInput): Promise<CleanupResult> {
  const targets = await findOwnerless({})
  const result: CleanupResult = { found: targets.length, deleted: 0, failed: 0, orphans: await countOrphans({}) }
  if (dryRun) return result
  setCurrentDetails(`Found: ${describe(result)}.`)
  await deleteAll(targets, result, {})
  await removeOrphans({})
  return result
}

/** A few at a time. Targets that are being deleted already are skipped; one that fails does not stop the others. */
async function deleteAll(targets: OwnedTarget[], result: CleanupResult, condition: DeletionCondition): Promise<void> {
  const waiting = [...targets]
  const takeNext = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      try {
        if (await deleteOne(target, condition)) result.deleted += 1
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) result.failed += 1
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeNext))
}

async function deleteOne(target: OwnedTarget, condition: DeletionCondition): Promise<boolean> {
  const { outcome } = await executeChild(deletionWorkflow, {
    ...startOptions(deletionContract, { ...target, receiptId: uuid4(), condition }),
    parentClosePolicy: ParentClosePolicy.ABANDON,
  })
  return outcome === 'deleted'
}

function describe({ found, deleted, failed, orphans }: CleanupResult): string {
  const ownerless = Object.entries(orphans).filter(([, count]) => count > 0)
  const rest = ownerless.map(([name, count]) => `${count} ${name}`).join(', ')
  return `${found} found, ${deleted} deleted, ${failed} failed${rest === '' ? '' : `; without an owner: ${rest}`}`
}
