import Type, { type Static } from 'typebox'
import { type MemoryRecord, memoryLimits } from '../../../domain/records/memory.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { ListPage } from '../paging.ts'
import { PathId, Timestamp, nullable } from '../schemas.ts'

const text = Type.String({
  minLength: 1,
  maxLength: memoryLimits.textLength,
  pattern: String.raw`\S`,
  description: 'One fact, as it is given to the model.',
})
const messageId = Type.String({ minLength: 1, maxLength: 200, description: 'The message that the fact is from.' })
const assistantId = 'The only assistant that is given the fact; without it and `project_id`: all of the user.'
const projectId = 'The project whose assistants are given the fact.'

export const MemoryCreateRequest = Type.Object(
  {
    text,
    assistant_id: Type.Optional({ ...PathId, description: assistantId }),
    project_id: Type.Optional({ ...PathId, description: `${projectId} Not together with \`assistant_id\`.` }),
    source_message_id: Type.Optional(messageId),
  },
  { title: 'MemoryCreateRequest', about: 'A fact to keep.' },
)

export const MemoryUpdateRequest = Type.Object(
  {
    text: Type.Optional(text),
    assistant_id: Type.Optional(nullable({ ...PathId, description: assistantId })),
    project_id: Type.Optional(nullable({ ...PathId, description: projectId })),
    source_message_id: Type.Optional(nullable(messageId)),
  },
  {
    title: 'MemoryUpdateRequest',
    about: 'The members of a fact to change. An owner that is named replaces the other one.',
  },
)

export const MemoryQuery = Type.Object({
  ...ListPage.properties,
  assistant_id: Type.Optional({ ...PathId, description: 'Only facts of this assistant.' }),
  project_id: Type.Optional({ ...PathId, description: 'Only facts of this project.' }),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: requestLimits.nameLength,
      description:
        'Only facts about this caller of the assistant, by the name that the requests gave. Without it, facts about callers are left out.',
    }),
  ),
})

export const Memory = Type.Object(
  {
    memory_id: Type.String(),
    text: Type.String(),
    assistant_id: nullable(Type.String()),
    project_id: nullable(Type.String()),
    source_message_id: nullable(Type.String()),
    made_by: Type.Enum(['user', 'assistant'], {
      title: 'MemoryMadeBy',
      about: 'Who saved it: its owner, or an assistant with the tool `memory`.',
    }),
    expires_at: nullable({ ...Timestamp, description: 'When a fact about a caller is deleted.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Memory', about: 'A fact that assistants keep.' },
)

export function toMemory(fact: MemoryRecord): Static<typeof Memory> {
  return {
    memory_id: fact._id,
    text: fact.text,
    assistant_id: fact.assistant_id ?? null,
    project_id: fact.project_id ?? null,
    source_message_id: fact.source_message_id ?? null,
    made_by: fact.made_by,
    expires_at: fact.expires_at?.toISOString() ?? null,
    created_at: fact.created_at.toISOString(),
    updated_at: fact.updated_at.toISOString(),
  }
}
