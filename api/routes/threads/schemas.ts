import Type, { type Static } from 'typebox'
import { objectFromJsonText } from '../../../domain/json.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { Message, MessageInput } from '../../../domain/messages.ts'
import { type ThreadRecord, projectAccesses, threadLimits, visibilities } from '../../../domain/records/thread.ts'
import type { ThreadState } from '../../../services/threads/log-states.ts'
import type { ThreadWithStatus } from '../../../services/threads/read-threads.ts'
import { type ThreadStatus, threadStatuses } from '../../../services/threads/status.ts'
import { MadeBy, Maker, type Makers, Timestamp, freeForm, toMaker } from '../schemas.ts'

const Nullable = Type.Union([Type.String(), Type.Null()])

export const Tag = Type.String({ maxLength: threadLimits.tagLength })

export const Visibility = Type.Enum([...visibilities], {
  title: 'ThreadVisibility',
  about: 'Who sees a thread.',
  description: 'Who sees it: whoever made it, or all who use its project.',
})
const ProjectAccess = Type.Enum([...projectAccesses], {
  title: 'ProjectAccess',
  about: 'What others may do in a thread of the project.',
  description: 'What others may do in a chat of the project: read it (the default), or continue it.',
})

export const Thread = Type.Object(
  {
    thread_id: Type.String(),
    name: Type.String(),
    follow_ups: Type.Array(Type.String(), {
      description: 'Questions that may follow the newest answer; empty unless `SMALL_MODEL` is set.',
    }),
    assistant_id: Nullable,
    project_id: Type.String(),
    visibility: Visibility,
    project_access: ProjectAccess,
    created_by: MadeBy,
    metadata: freeForm('Returned unchanged.'),
    pinned: Type.Boolean(),
    archived: Type.Boolean(),
    tags: Type.Array(Type.String()),
    folder_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The folder in which whoever made it keeps it. One that is gone is none.',
    }),
    status: Type.Enum([...threadStatuses], { title: 'ThreadStatus', about: 'State of the newest run of a thread.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Thread', about: 'A conversation.' },
)

export const ThreadListResponse = Type.Object(
  { threads: Type.Array(Thread), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'ThreadListResponse', about: 'A page of threads.' },
)

export const ThreadPutRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 1000 })),
    provisional_name: Type.Optional(
      Type.Boolean({
        description:
          'The name stands in until `SMALL_MODEL` has given another one after the first answer. Default: only where no name is given.',
      }),
    ),
    assistant_id: Type.Optional(
      Type.Union([Type.String({ maxLength: requestLimits.foreignIdLength }), Type.Null()], {
        description: 'Your own assistant or a public one; null for none.',
      }),
    ),
    metadata: Type.Optional(freeForm('Returned unchanged.')),
    visibility: Type.Optional(Visibility),
    project_access: Type.Optional(ProjectAccess),
    pinned: Type.Optional(Type.Boolean({ description: 'Pinned threads come first in the console.' })),
    archived: Type.Optional(
      Type.Boolean({ description: 'Put aside: listed with `archived=true` alone. It counts against the quota.' }),
    ),
    folder_id: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
        description: 'A folder of yours in the project of the thread; null for none.',
      }),
    ),
    tags: Type.Optional(
      Type.Array(Tag, {
        maxItems: threadLimits.tags,
        description: 'All tags of the thread, in place of those before. Blank ones and repetitions are left out.',
      }),
    ),
  },
  { title: 'ThreadPutRequest', about: 'Members of a thread.' },
)

export const ThreadCreateRequest = Type.Object(
  {
    ...ThreadPutRequest.properties,
    temporary: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'The thread is in no list and no archive, and is deleted after a day. It counts against the quota.',
      }),
    ),
  },
  { title: 'ThreadCreateRequest', about: 'A new thread.' },
)

const messageList = Type.Array(MessageInput, { maxItems: requestLimits.messages })
export const ThreadPostRequest = Type.Object(
  {
    values: Type.Union([messageList, Type.Object({ messages: messageList })], {
      description: 'A message whose id exists is replaced, others are appended.',
    }),
    config: Type.Optional(freeForm('Accepted and ignored.')),
  },
  {
    title: 'ThreadPostRequest',
    about: 'Messages for the state of a thread: one whose id exists is replaced, others are appended.',
  },
)

export const ThreadStateView = Type.Object(
  {
    values: Type.Object({ messages: Type.Array(Message) }),
    next: Type.Array(Type.String(), { description: 'What follows: `model`, `tools`, or nothing.' }),
    checkpoint_id: Nullable,
    parent_checkpoint_id: Nullable,
    created_at: Type.Union([Timestamp, Type.Null()]),
    authors: Type.Optional(
      Type.Array(Maker, {
        description:
          'In a chat of a project: who made it and who wrote the messages shown, by `author_id`. Messages without one are of whoever made it.',
      }),
    ),
    metadata: Type.Object({
      thread_id: Type.String(),
      source: Type.Optional(Type.String()),
      step: Type.Optional(Type.Integer({ description: 'Number of the state within the thread, from 1.' })),
      run_id: Type.Optional(Type.String()),
      omitted_messages: Type.Optional(
        Type.Integer({
          description:
            'How many older messages did not fit into the answer. To read them, call `GET …/state?before=` with the id of the first message shown.',
        }),
      ),
    }),
  },
  { title: 'ThreadState', about: 'The messages of a thread at one of its checkpoints.' },
)

export const makerOf = ({ user_id: userId, created_by: maker = userId }: ThreadRecord): string => maker

export function toThread(thread: ThreadWithStatus, makers: Makers): Static<typeof Thread> {
  return {
    thread_id: thread._id,
    name: thread.name,
    follow_ups: thread.follow_ups?.questions ?? [],
    assistant_id: thread.assistant_id ?? null,
    project_id: thread.project_id,
    visibility: thread.visibility ?? 'private',
    project_access: thread.project_access ?? 'read',
    created_by: toMaker(makers, makerOf(thread)),
    metadata: objectFromJsonText(thread.metadata_json),
    pinned: thread.pinned ?? false,
    archived: thread.archived ?? false,
    tags: thread.tags ?? [],
    folder_id: thread.folder_id ?? null,
    status: thread.status,
    created_at: thread.created_at.toISOString(),
    updated_at: thread.updated_at.toISOString(),
  }
}

/** What followed a state, if its run has ended or another state followed; see `followOf`. */
export function toState(
  threadId: string,
  state: ThreadState | null,
  next: string[],
  authors?: Static<typeof Maker>[],
): Static<typeof ThreadStateView> {
  const { checkpoint, messages = [], omitted = 0, parentId = null } = state ?? {}
  return {
    values: { messages },
    next,
    checkpoint_id: checkpoint?._id ?? null,
    parent_checkpoint_id: parentId,
    created_at: checkpoint?.created_at.toISOString() ?? null,
    ...(authors === undefined ? {} : { authors }),
    metadata: {
      thread_id: threadId,
      ...(checkpoint === undefined ? {} : { source: checkpoint.source, step: checkpoint.seq }),
      ...(checkpoint?.run_id === undefined ? {} : { run_id: checkpoint.run_id }),
      ...(omitted === 0 ? {} : { omitted_messages: omitted }),
    },
  }
}

/** What a run does after an entry: the model answers inputs and tool results, tools answer the model's calls. */
export function followOf(state: ThreadState | null): string[] {
  switch (state?.checkpoint.source) {
    case 'input':
    case 'tools':
      return ['model']
    case 'step':
      return state.callsTools ? ['tools'] : []
    case 'update':
    case undefined:
      return []
  }
}

/** The current state's `next`: empty if no run is open. */
export function nextOf(status: ThreadStatus, state: ThreadState | null): string[] {
  return status === 'busy' || status === 'interrupted' ? followOf(state) : []
}
