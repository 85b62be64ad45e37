import Type, { type Static } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { Metadata } from '../../../domain/metadata.ts'
import { Content } from '../public/chat-schemas.ts'
import { nullable } from '../schemas.ts'
import { V1ToolResources } from './assistant-schemas.ts'
import { strict } from './v1-route.ts'

/** Following the types of the `openai` package (resources/beta/threads). */
export const metadata = Type.Optional(nullable(Metadata))

export const V1MessageRequest = strict(
  {
    role: Type.Enum(['user', 'assistant'], { title: 'V1MessageRole' }),
    content: Content,
    attachments: Type.Optional(
      nullable(Type.Array(Type.Unknown({ description: 'Refused.' }), { maxItems: 1000, description: 'Refused.' })),
    ),
    metadata,
  },
  { title: 'V1MessageRequest' },
)

const messages = Type.Optional(nullable(Type.Array(V1MessageRequest, { maxItems: requestLimits.messages })))
export const additionalMessages = messages

export const V1ThreadCreateRequest = strict(
  { messages, metadata, tool_resources: Type.Optional(nullable(V1ToolResources)) },
  { title: 'V1ThreadCreateRequest', description: 'Refused: `tool_resources` of a thread, and files of messages.' },
)
export type V1ThreadCreateRequest = Static<typeof V1ThreadCreateRequest>

export const V1ThreadUpdateRequest = strict(
  { metadata, tool_resources: Type.Optional(nullable(V1ToolResources)) },
  { title: 'V1ThreadUpdateRequest' },
)
export const V1MessageUpdateRequest = strict({ metadata }, { title: 'V1MessageUpdateRequest' })
