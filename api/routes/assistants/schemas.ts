import Type, { type Static } from 'typebox'
import { AssistantConfig } from '../../../domain/assistant-config.ts'
import { requestLimits } from '../../../domain/limits.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { ListedAssistant } from '../../../services/assistants/read-assistants.ts'
import { MadeBy, Timestamp } from '../schemas.ts'

export const AssistantPayload = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 1000 }),
    config: Type.Optional(AssistantConfig),
    public: Type.Optional(Type.Boolean({ description: 'Whether everybody may list and read the assistant.' })),
  },
  { title: 'AssistantPayload', about: 'What an assistant is created or replaced with.' },
)

export const Assistant = Type.Object(
  {
    assistant_id: Type.String(),
    project_id: Type.String(),
    name: Type.String(),
    config: AssistantConfig,
    public: Type.Boolean(),
    created_by: MadeBy,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    title: 'Assistant',
    about: 'An assistant. Callers who are not its owner see of `config` only the access mode and the description.',
  },
)

export const AssistantProjectUpdateRequest = Type.Object(
  { project_id: Type.String({ maxLength: requestLimits.foreignIdLength }) },
  { title: 'AssistantProjectUpdateRequest', about: 'The project that the assistant moves to.' },
)

export const PublicToken = Type.Object(
  {
    assistant_id: Type.String(),
    public_token: Type.String({ description: 'The new token. The old one is no longer valid.' }),
  },
  { title: 'PublicToken', about: 'The new public token of an assistant, shown to its owner only.' },
)

/** `config` is the part of the assistant's configuration that the viewer may see. */
export const makerOf = ({
  user_id: holder,
  created_by: maker = holder,
}: Pick<AssistantRecord, 'user_id' | 'created_by'>): string => maker

export function toAssistant(
  assistant: ListedAssistant,
  config: Record<string, unknown>,
  createdBy: Static<typeof MadeBy> = null,
): Static<typeof Assistant> {
  return {
    assistant_id: assistant._id,
    project_id: assistant.project_id,
    name: assistant.name,
    config,
    public: assistant.public,
    created_by: createdBy,
    created_at: assistant.created_at.toISOString(),
    updated_at: assistant.updated_at.toISOString(),
  }
}
