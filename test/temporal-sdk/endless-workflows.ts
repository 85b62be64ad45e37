import {
  condition,
  defineQuery,
  defineSignal,
  proxyLocalActivities,
  setHandler,
  sleep,
  uuid4,
} from '@temporalio/workflow'

export const proceed = defineSignal('proceed')
export const finish = defineSignal('finish')
export const progress = defineQuery<number>('progress')

const { step } = proxyLocalActivities<{ step(key: string): Promise<string> }>({ startToCloseTimeout: '10s' })

/** A faulty workflow: it never returns after its first timer. */
export async function endlessWorkflow(): Promise<void> {
  await sleep(10)
  for (;;);
}

export async function endlessAtOnceWorkflow(): Promise<void> {
  for (;;);
}

/** Does one step with each signal, and returns what it did. */
export async function bystanderWorkflow(): Promise<string[]> {
  let asked = 0
  let isLast = false
  const done: string[] = []
  setHandler(proceed, () => void asked++)
  setHandler(finish, () => void (isLast = true))
  setHandler(progress, () => done.length)
  for (;;) {
    await condition(() => asked > done.length || isLast)
    if (asked === done.length) return done
    done.push(await step(`${done.length} ${uuid4()}`))
  }
}
