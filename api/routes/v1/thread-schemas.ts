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
const detail = Type.Optional(
  Type.Enum([...imageDetails], { title: 'V1ImageDetail', about: 'How closely a model looks at an image.' }),
)
const url = Type.String({
  minLength: 1,
  maxLength: dataLength,
  description: 'An http or https address, or a data URL with base64.',
})

const V1ContentPart = strict(
  {
    type: Type.Enum(['text', 'image_url', 'image_file'], {
      title: 'V1ContentPartType',
      about: 'What a part of a message is.',
    }),
    text: Type.Optional(text),
    image_url: Type.Optional(
      strict({ url, detail }, { title: 'V1ImageUrl', about: 'An image by its address, or as data.' }),
    ),
    image_file: Type.Optional(
      strict({ file_id: fileId, detail }, { title: 'V1ImageFile', about: 'An image among the files of the project.' }),
    ),
  },
  {
    title: 'V1ContentPart',
    about: 'A part of a message.',
    description: 'Text, or an image of a message of the role `user`.',
  },
)
export type V1ContentPart = Static<typeof V1ContentPart>

const V1Attachment = strict(
  {
    file_id: Type.Optional(fileId),
    tools: Type.Optional(
      nullable(
        Type.Array(
          strict(
            {
              type: Type.Enum(['file_search', 'code_interpreter'], {
                title: 'V1AttachmentToolType',
                about: 'What an attached file is for.',
              }),
            },
            { title: 'V1AttachmentTool', about: 'What an attached file is for.' },
          ),
          { maxItems: 10 },
        ),
      ),
    ),
  },
  {
    title: 'V1Attachment',
    about: 'A file that comes with a message.',
    description: 'A file that is searched in this thread, or that code of its runs can read.',
  },
)

export const V1MessageRequest = strict(
  {
    role: Type.Enum(['user', 'assistant'], { title: 'V1MessageRole', about: 'Who says it.' }),
    content: Type.Union([text, Type.Array(V1ContentPart, { maxItems: requestLimits.messages })]),
    attachments: Type.Optional(nullable(Type.Array(V1Attachment, { maxItems: 500 }))),
    metadata,
  },
  { title: 'V1MessageRequest', about: 'A message for a thread.' },
)
export type V1MessageRequest = Static<typeof V1MessageRequest>

const messages = Type.Optional(nullable(Type.Array(V1MessageRequest, { maxItems: requestLimits.messages })))
export const additionalMessages = messages

export const V1ThreadCreateRequest = strict(
  { messages, metadata, tool_resources: Type.Optional(nullable(NewToolResources)) },
  { title: 'V1ThreadCreateRequest', about: 'A new thread, with its first messages.' },
)
export type V1ThreadCreateRequest = Static<typeof V1ThreadCreateRequest>

export const V1ThreadUpdateRequest = strict(
  { metadata, tool_resources: Type.Optional(nullable(V1ToolResources)) },
  { title: 'V1ThreadUpdateRequest', about: 'The metadata of a thread.' },
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
  { title: 'V1Thread', about: 'A conversation.' },
)

const shownDetail = Type.Optional(Type.Enum([...imageDetails], { title: 'V1ImageDetail' }))
const [CompatTextBlock, RefusalBlock] = CompatMessage.properties.content.items.anyOf
const FileCitation = CompatTextBlock.properties.text.properties.annotations.items
const TextBlock = Type.Object(
  {
    type: Type.Literal('text'),
    text: Type.Object({ value: Type.String(), annotations: Type.Array(Type.Union([FileCitation, FilePath])) }),
  },
  { title: 'V1TextBlock', about: 'The text of a message.' },
)
const ImageFileBlock = Type.Object(
  { type: Type.Literal('image_file'), image_file: Type.Object({ file_id: Type.String(), detail: shownDetail }) },
  { title: 'V1ImageFileBlock', about: 'An image among the files of the project.' },
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
  { title: 'V1ImageUrlBlock', about: 'An image by its address.' },
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
  { title: 'V1Message', about: 'A message of a conversation.' },
)
export type V1Message = Static<typeof V1Message>
export const V1MessageUpdateRequest = strict(
  { metadata },
  { title: 'V1MessageUpdateRequest', about: 'The metadata of a message.' },
)
