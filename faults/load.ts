import { setTimeout as pause } from 'node:timers/promises'
import type { Actions, Assistant, User } from './actions.ts'
import type { Random } from './random.ts'

/** A user whose client does one thing after the other, chosen by the seed, until it is told to stop. */
export interface Citizen {
  user: User
  assistant: Assistant
  threads: string[]
}

export async function settleCitizen(actions: Actions): Promise<Citizen> {
  const user = await actions.signUp()
  const assistant = user && (await actions.newAssistant(user))
  const thread = user && (await actions.newThread(user))
  if (user === undefined || assistant === undefined || thread === undefined)
    throw new Error('a user of the load could not be made')
  return { user, assistant, threads: [thread] }
}

type Deed = (citizen: Citizen, actions: Actions, random: Random) => Promise<unknown>

/** Each as often as it stands here. */
const deeds: Deed[] = [
  streamed,
  streamed,
  withTools,
  withTools,
  cancelled,
  background,
  background,
  publicly,
  completed,
  completed,
  uploaded,
  noted,
  newThread,
  threadDeleted,
  fileDeleted,
  assistantDeleted,
  projectDeleted,
  accountDeleted,
]

export async function live(
  citizen: Citizen,
  actions: Actions,
  random: Random,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    await random.pick(deeds)(citizen, actions, random)
    await pause(random.between(0, 200))
  }
}

/** Streams one answer after the other, so that there is always one that a fault can interrupt. */
export async function probe(citizen: Citizen, actions: Actions, isStopped: () => boolean): Promise<void> {
  let threadId = citizen.threads[0]
  for (let runs = 1; !isStopped(); runs++) {
    // Short conversations: the harness looks for faults, not at long prompts.
    if (runs % 20 === 0) threadId = (await actions.newThread(citizen.user)) ?? threadId
    if (threadId !== undefined)
      await actions.streamedRun(citizen.user, { threadId, assistant: citizen.assistant, isSteady: true })
  }
}

function streamed({ user, assistant, threads }: Citizen, actions: Actions, random: Random) {
  return actions.streamedRun(user, { threadId: random.pick(threads), assistant })
}

function withTools({ user, assistant, threads }: Citizen, actions: Actions, random: Random) {
  return actions.streamedRun(user, { threadId: random.pick(threads), assistant, tools: true })
}

function cancelled({ user, assistant, threads }: Citizen, actions: Actions, random: Random) {
  return actions.streamedRun(user, {
    threadId: random.pick(threads),
    assistant,
    tools: random.between(0, 1) === 0,
    cancelAfterMs: random.between(0, 1_000),
  })
}

function background({ user, assistant, threads }: Citizen, actions: Actions, random: Random) {
  return actions.backgroundRuns(user, random.pick(threads), assistant, random.between(1, 3))
}

function publicly({ assistant }: Citizen, actions: Actions) {
  return actions.publicRun(assistant)
}

function completed({ assistant }: Citizen, actions: Actions, random: Random) {
  return actions.completion(assistant, random.between(0, 1) === 0)
}

function uploaded({ user, assistant }: Citizen, actions: Actions) {
  return actions.upload(user, assistant)
}

function noted({ user, threads }: Citizen, actions: Actions, random: Random) {
  return actions.addMessage(user, random.pick(threads))
}

async function newThread(citizen: Citizen, actions: Actions) {
  const thread = await actions.newThread(citizen.user)
  if (thread === undefined) return
  citizen.threads.push(thread)
  if (citizen.threads.length > 3) citizen.threads.shift()
}

/** A thread is deleted, now and then while a run is under way in it. */
async function threadDeleted({ user, assistant }: Citizen, actions: Actions, random: Random) {
  const thread = await actions.newThread(user)
  if (thread === undefined) return
  await actions.streamedRun(user, { threadId: thread, assistant, tools: random.between(0, 1) === 0 })
  await actions.remove(user, `/threads/${thread}`, [thread])
}

async function fileDeleted({ user, assistant }: Citizen, actions: Actions) {
  const file = await actions.upload(user, assistant)
  if (file !== undefined) await actions.remove(user, `/assistants/${assistant.id}/files/${file}`, [file])
}

async function assistantDeleted({ user }: Citizen, actions: Actions) {
  const assistant = await actions.newAssistant(user)
  if (assistant === undefined) return
  await actions.publicRun(assistant)
  const file = await actions.upload(user, assistant)
  await actions.remove(user, `/assistants/${assistant.id}`, [assistant.id, ...(file === undefined ? [] : [file])])
}

async function projectDeleted({ user }: Citizen, actions: Actions) {
  const inProject = await actions.newProject(user)
  const ids = inProject && (await furnish(inProject, actions))
  if (inProject !== undefined && ids !== undefined)
    await actions.remove(user, `/projects/${inProject.projectId}?confirm=true`, [inProject.projectId, ...ids])
}

async function accountDeleted(_: Citizen, actions: Actions) {
  const user = await actions.signUp()
  const ids = user && (await furnish(user, actions))
  if (user !== undefined && ids !== undefined)
    await actions.remove(user, '/auth/delete-user', [user.email, ...ids], {
      body: { email_confirmation: user.email },
      isAccount: true,
    })
}

/** An assistant with a file, and a thread with a run. */
async function furnish(user: User, actions: Actions): Promise<string[] | undefined> {
  const assistant = await actions.newAssistant(user)
  const thread = await actions.newThread(user)
  if (assistant === undefined || thread === undefined) return undefined
  const [file] = await Promise.all([
    actions.upload(user, assistant),
    actions.streamedRun(user, { threadId: thread, assistant, tools: true }),
  ])
  return [assistant.id, thread, ...(file === undefined ? [] : [file])]
}
