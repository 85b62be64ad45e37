import { cp } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createActions } from '../../faults/actions.ts'
import { prepareBystander } from '../../faults/bystander.ts'
import { createCaller } from '../../faults/caller.ts'
import { createClientLog } from '../../faults/client-log.ts'
import { createFollow } from '../../faults/follow.ts'
import { createProgress } from '../../faults/progress.ts'
import { createRandom } from '../../faults/random.ts'
import { documentedCommands } from './documented.ts'
import { installationIn, trustProxyOf } from './installation.ts'
import { startStandInsForContainers, storesOf } from './load.ts'
import { say, url, useContainers } from './setup.ts'

describe('the volumes of docker-compose.yml', () => {
  const containers = useContainers({ project: 'first', standIns: startStandInsForContainers })

  it('are saved, and restored into a second, empty project, by the documented commands', async () => {
    const { engine, installed, standIns } = containers()
    const log = createClientLog(path.join(installed.folder, 'client.jsonl'))
    const random = createRandom('restore')
    const caller = createCaller({ urls: [url], random, log, patienceMs: 120_000, isBehindProxy: true })
    const follow = createFollow({ caller, log, progress: createProgress() })
    const actions = createActions({ caller, log, random, follow, mails: standIns.mails })
    const stores = await storesOf(installed)
    const { user, assistant, records } = await prepareBystander({ actions, caller }, stores)
    const saved = await records()
    const vectors = await stores.vectors.count(assistant.id)
    const closed = await stores.temporal.workflow.count()
    await stores.close()

    const [backUp = ''] = await documentedCommands('back-up.md', 'Back up with Compose')
    say(await engine.shell('first', backUp, { cwd: installed.folder }))
    const second = path.join(engine.folder, 'second')
    await cp(installed.folder, second, { recursive: true, preserveTimestamps: true })
    await installed.remove()

    const [restore = ''] = await documentedCommands('back-up.md', 'Restore with Compose')
    const other = installationIn(engine, { folder: second, project: 'second' })
    onTestFinished(() => other.remove())
    say(await engine.shell('second', restore, { cwd: second, timeoutMs: 900_000 }))
    await trustProxyOf(other)
    const restored = await storesOf(other)
    expect(await records(restored)).toEqual(saved)
    expect(await restored.vectors.count(assistant.id)).toBe(vectors)
    expect(vectors).toBeGreaterThan(0)
    // Its search attributes are in a database of their own.
    expect((await restored.temporal.workflow.count()).count).toBeGreaterThanOrEqual(closed.count)
    await restored.close()

    const thread = await actions.newThread(user)
    expect(thread).toBeDefined()
    await actions.streamedRun(user, { threadId: thread ?? '', assistant, tools: true })
    expect(log.problems).toEqual([])
    await log.close()
  }, 1_800_000)
})
