import Type, { type Static } from 'typebox'
import { AssistantConfig, openConfigKeys } from '../../../domain/assistant-config.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { objectFromJsonText } from '../../../domain/json-text.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import { Timestamp } from '../schemas.ts'

export const AssistantPayload = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 1000 }),
    config: Type.Optional(AssistantConfig),
    public: Type.Optional(Type.Boolean({ description: 'Whether everybody may list and read the assistant.' })),
  },
  { title: 'AssistantPayload' },
)

export const Assistant = Type.Object(
  {
    assistant_id: Type.String(),
    project_id: Type.String(),
    name: Type.String(),
    config: AssistantConfig,
    public: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Assistant' },
)

export const AssistantProjectUpdateRequest = Type.Object(
  { project_id: Type.String({ maxLength: requestLimits.foreignIdLength }) },
  { title: 'AssistantProjectUpdateRequest' },
)

/** What a viewer sees. Only the owner sees the whole config: it may hold secrets. */
export function showAssistant(assistant: AssistantRecord, viewerId: string | undefined): Static<typeof Assistant> {
  const config = Object.entries(objectFromJsonText(assistant.config_json))
  const shown =
    assistant.user_id === viewerId ? config : config.filter(([key]) => openConfigKeys.some((open) => open === key))
  return {
    assistant_id: assistant._id,
    project_id: assistant.project_id,
    name: assistant.name,
    config: Object.fromEntries(shown),
    public: assistant.public,
    created_at: assistant.created_at.toISOString(),
    updated_at: assistant.updated_at.toISOString(),
  }
}
