import Type, { type Static } from 'typebox'
import { FileOfMessage, dataLength, imageDetails } from '../../../domain/content-parts.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { Metadata } from '../../../domain/metadata.ts'
import { CompatMessage, CompatThread } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { NewToolResources, V1ToolResources } from './assistant-schemas.ts'
import { FilePath } from './code-objects.ts'
import { strict } from './v1-route.ts'
import { fileId } from './vector-store-schemas.ts'

/** Following the types of the `openai` package (resources/beta/threads). */
export const metadata = Type.Optional(nullable(Metadata))

const text = Type.String({ maxLength: requestLimits.messageLength })
const detail = Type.Optional(Type.Enum([...imageDetails], { title: 'V1ImageDetail' }))
const url = Type.String({
  minLength: 1,
  maxLength: dataLength,
  description: 'An http or https address, or a data URL with base64.',
})

const V1ContentPart = strict(
  {
    type: Type.Enum(['text', 'image_url', 'image_file'], { title: 'V1ContentPartType' }),
    text: Type.Optional(text),
    image_url: Type.Optional(strict({ url, detail }, { title: 'V1ImageUrl' })),
    image_file: Type.Optional(strict({ file_id: fileId, detail }, { title: 'V1ImageFile' })),
  },
  { title: 'V1ContentPart', description: 'Text, or an image of a message of the role `user`.' },
)
export type V1ContentPart = Static<typeof V1ContentPart>

const V1Attachment = strict(
  {
    file_id: Type.Optional(fileId),
    tools: Type.Optional(
      nullable(
        Type.Array(
          strict(
            { type: Type.Enum(['file_search', 'code_interpreter'], { title: 'V1AttachmentToolType' }) },
            { title: 'V1AttachmentTool' },
          ),
          { maxItems: 10 },
        ),
      ),
    ),
  },
  { title: 'V1Attachment', description: 'A file that is searched in this thread, or that code of its runs can read.' },
)

export const V1MessageRequest = strict(
  {
    role: Type.Enum(['user', 'assistant'], { title: 'V1MessageRole' }),
    content: Type.Union([text, Type.Array(V1ContentPart, { maxItems: requestLimits.messages })]),
    attachments: Type.Optional(nullable(Type.Array(V1Attachment, { maxItems: 500 }))),
    metadata,
  },
  { title: 'V1MessageRequest' },
)
export type V1MessageRequest = Static<typeof V1MessageRequest>

const messages = Type.Optional(nullable(Type.Array(V1MessageRequest, { maxItems: requestLimits.messages })))
export const additionalMessages = messages

export const V1ThreadCreateRequest = strict(
  { messages, metadata, tool_resources: Type.Optional(nullable(NewToolResources)) },
  { title: 'V1ThreadCreateRequest' },
)
export type V1ThreadCreateRequest = Static<typeof V1ThreadCreateRequest>

export const V1ThreadUpdateRequest = strict(
  { metadata, tool_resources: Type.Optional(nullable(V1ToolResources)) },
  { title: 'V1ThreadUpdateRequest' },
)

export const V1Thread = Type.Object(
  {
    ...CompatThread.properties,
    tool_resources: nullable(
      Type.Object({
        file_search: Type.Optional(Type.Object({ vector_store_ids: Type.Array(Type.String()) })),
        code_interpreter: Type.Optional(Type.Object({ file_ids: Type.Array(Type.String()) })),
      }),
    ),
  },
  { title: 'V1Thread' },
)

const shownDetail = Type.Optional(Type.Enum([...imageDetails], { title: 'V1ImageDetail' }))
const [CompatTextBlock, RefusalBlock] = CompatMessage.properties.content.items.anyOf
const FileCitation = CompatTextBlock.properties.text.properties.annotations.items
const TextBlock = Type.Object(
  {
    type: Type.Literal('text'),
    text: Type.Object({ value: Type.String(), annotations: Type.Array(Type.Union([FileCitation, FilePath])) }),
  },
  { title: 'V1TextBlock' },
)
const ImageFileBlock = Type.Object(
  { type: Type.Literal('image_file'), image_file: Type.Object({ file_id: Type.String(), detail: shownDetail }) },
  { title: 'V1ImageFileBlock' },
)
const ImageUrlBlock = Type.Object(
  {
    type: Type.Literal('image_url'),
    image_url: Type.Object({
      url: Type.String({
        description: 'As it was sent; of an image that came as data, where the native API gives its bytes.',
      }),
      detail: shownDetail,
    }),
  },
  { title: 'V1ImageUrlBlock' },
)

export const V1Message = Type.Object(
  {
    ...CompatMessage.properties,
    content: Type.Array(Type.Union([TextBlock, RefusalBlock, ImageFileBlock, ImageUrlBlock])),
    attachments: Type.Array(
      Type.Object({
        file_id: Type.String(),
        tools: FileOfMessage.properties.tools,
      }),
    ),
  },
  { title: 'V1Message' },
)
export type V1Message = Static<typeof V1Message>
export const V1MessageUpdateRequest = strict({ metadata }, { title: 'V1MessageUpdateRequest' })
