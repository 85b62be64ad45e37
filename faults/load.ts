import { setTimeout as pause } from 'node:timers/promises'
import type { Actions } from './actions.ts'
import type { Random } from './random.ts'
import type { Assistant, User } from './record-actions.ts'

/** A user whose client executes one action after the other, chosen by the seed, until it is stopped. */
export interface SimulatedUser {
  user: User
  assistant: Assistant
  threads: string[]
}

export async function createSimulatedUser(actions: Actions): Promise<SimulatedUser> {
  const user = await actions.signUp()
  const assistant = user && (await actions.newAssistant(user))
  const thread = user && (await actions.newThread(user))
  if (user === undefined || assistant === undefined || thread === undefined)
    throw new Error('a simulated user could not be created')
  return { user, assistant, threads: [thread] }
}

type UserAction = (simulated: SimulatedUser, actions: Actions, random: Random) => Promise<unknown>

/** An action is chosen as often as it is listed here. */
const userActions: UserAction[] = [
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

export async function simulateUser(
  simulated: SimulatedUser,
  actions: Actions,
  random: Random,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    await random.pick(userActions)(simulated, actions, random)
    await pause(random.between(0, 200))
  }
}

/** Streams one answer after the other, so that there is always one that a fault can interrupt. */
export async function probe(simulated: SimulatedUser, actions: Actions, isStopped: () => boolean): Promise<void> {
  let threadId = simulated.threads[0]
  for (let runs = 1; !isStopped(); runs++) {
    // Conversations are short, because the harness does not test long prompts.
    if (runs % 20 === 0) threadId = (await actions.newThread(simulated.user)) ?? threadId
    if (threadId !== undefined)
      await actions.streamedRun(simulated.user, { threadId, assistant: simulated.assistant, isSteady: true })
  }
}

function streamed({ user, assistant, threads }: SimulatedUser, actions: Actions, random: Random) {
  return actions.streamedRun(user, { threadId: random.pick(threads), assistant })
}

function withTools({ user, assistant, threads }: SimulatedUser, actions: Actions, random: Random) {
  return actions.streamedRun(user, { threadId: random.pick(threads), assistant, tools: true })
}

function cancelled({ user, assistant, threads }: SimulatedUser, actions: Actions, random: Random) {
  return actions.streamedRun(user, {
    threadId: random.pick(threads),
    assistant,
    tools: random.between(0, 1) === 0,
    cancelAfterMs: random.between(0, 1_000),
  })
}

function background({ user, assistant, threads }: SimulatedUser, actions: Actions, random: Random) {
  return actions.backgroundRuns(user, random.pick(threads), assistant, random.between(1, 3))
}

function publicly({ assistant }: SimulatedUser, actions: Actions) {
  return actions.publicRun(assistant)
}

function completed({ assistant }: SimulatedUser, actions: Actions, random: Random) {
  return actions.completion(assistant, random.between(0, 1) === 0)
}

function uploaded({ user, assistant }: SimulatedUser, actions: Actions) {
  return actions.upload(user, assistant)
}

function noted({ user, threads }: SimulatedUser, actions: Actions, random: Random) {
  return actions.addMessage(user, random.pick(threads))
}

async function newThread(simulated: SimulatedUser, actions: Actions) {
  const thread = await actions.newThread(simulated.user)
  if (thread === undefined) return
  simulated.threads.push(thread)
  if (simulated.threads.length > 3) simulated.threads.shift()
}

/** Deletes a thread after a run, with or without tools. */
async function threadDeleted({ user, assistant }: SimulatedUser, actions: Actions, random: Random) {
  const thread = await actions.newThread(user)
  if (thread === undefined) return
  await actions.streamedRun(user, { threadId: thread, assistant, tools: random.between(0, 1) === 0 })
  await actions.remove(user, `/threads/${thread}`, [thread])
}

async function fileDeleted({ user, assistant }: SimulatedUser, actions: Actions) {
  const file = await actions.upload(user, assistant)
  if (file !== undefined) await actions.remove(user, `/assistants/${assistant.id}/files/${file}`, [file])
}

async function assistantDeleted({ user }: SimulatedUser, actions: Actions) {
  const assistant = await actions.newAssistant(user)
  if (assistant === undefined) return
  await actions.publicRun(assistant)
  const file = await actions.upload(user, assistant)
  await actions.remove(user, `/assistants/${assistant.id}`, [assistant.id, ...(file === undefined ? [] : [file])])
}

async function projectDeleted({ user }: SimulatedUser, actions: Actions) {
  const inProject = await actions.newProject(user)
  const ids = inProject && (await addContents(inProject, actions))
  if (inProject !== undefined && ids !== undefined)
    await actions.remove(user, `/projects/${inProject.projectId}?confirm=true`, [inProject.projectId, ...ids])
}

async function accountDeleted(_: SimulatedUser, actions: Actions) {
  const user = await actions.signUp()
  const ids = user && (await addContents(user, actions))
  if (user !== undefined && ids !== undefined)
    await actions.remove(user, '/auth/delete-user', [user.email, ...ids], {
      body: { email_confirmation: user.email },
      isAccount: true,
    })
}

/** An assistant with a file, and a thread with a run. */
async function addContents(user: User, actions: Actions): Promise<string[] | undefined> {
  const assistant = await actions.newAssistant(user)
  const thread = await actions.newThread(user)
  if (assistant === undefined || thread === undefined) return undefined
  const [file] = await Promise.all([
    actions.upload(user, assistant),
    actions.streamedRun(user, { threadId: thread, assistant, tools: true }),
  ])
  return [assistant.id, thread, ...(file === undefined ? [] : [file])]
}
