import Type, { type Static } from 'typebox'
import { requestLimits } from './limits.ts'

const mebibyte = 1024 * 1024

/** What the files of messages may measure. All of a request is held in memory once. */
export const attachmentLimits = {
  user: { bytes: 8 * mebibyte, allBytes: 16 * mebibyte, files: 32 },
  public: { bytes: 2 * mebibyte, allBytes: 4 * mebibyte, files: 4 },
  /** They are kept in one record, which the database limits to 16 MiB. */
  schedule: { bytes: 8 * mebibyte, allBytes: 8 * mebibyte, files: 8 },
} as const
export type AttachmentLimits = Record<keyof (typeof attachmentLimits)['user'], number>

/** The longest data URL: four characters stand for three bytes. */
export const dataLength = Math.ceil((attachmentLimits.user.bytes * 4) / 3) + 1000
const data = Type.String({ minLength: 1, maxLength: dataLength })
const name = Type.String({ maxLength: requestLimits.nameLength })

export const imageDetails = ['auto', 'low', 'high'] as const
export type ImageDetail = (typeof imageDetails)[number]
const detail = Type.Optional(
  Type.Enum([...imageDetails], { title: 'ImageDetail', about: 'How closely the model looks at an image.' }),
)

const ImageInput = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: dataLength,
      description: 'An http or https address, or a data URL with base64.',
    }),
    detail,
  },
  { title: 'ImageInput', about: 'An image, by its address or with its bytes.' },
)
const AudioInput = Type.Object(
  { data, format: Type.Enum(['wav', 'mp3'], { title: 'AudioFormat', about: 'The format of a sound.' }) },
  { title: 'AudioInput', about: 'A sound, in base64.' },
)
const FileInput = Type.Object(
  {
    file_data: Type.Optional(data),
    file_id: Type.Optional(Type.String({ minLength: 1, maxLength: requestLimits.foreignIdLength })),
    filename: Type.Optional(name),
  },
  { title: 'FileInput', about: 'A file, with its bytes or by the id of a file of the project.' },
)

/** Parts of a message as callers send them, in the shapes of the chat-completions API. */
export const ContentPartInput = Type.Union(
  [
    Type.Object({ type: Type.Literal('text'), text: Type.String({ maxLength: requestLimits.messageLength }) }),
    Type.Object({ type: Type.Literal('image_url'), image_url: ImageInput }),
    Type.Object({ type: Type.Literal('input_audio'), input_audio: AudioInput }),
    Type.Object({ type: Type.Literal('file'), file: FileInput }),
  ],
  {
    title: 'ContentPartInput',
    about: 'A part of a message: text, an image, a sound or a file.',
    description: 'A part of a message: text, an image, sound (wav or mp3), or a PDF or text file.',
  },
)
export type ContentPartInput = Static<typeof ContentPartInput>

/** The longest address of an image that is shown again. */
export const imageUrlLength = 8192

const attachment = { attachment_id: Type.String(), content_type: Type.String(), size: Type.Integer() }

/** Parts of a stored message. The bytes are stored apart, under `attachment_id`. */
export const MessagePart = Type.Union(
  [
    Type.Object({ type: Type.Literal('text'), text: Type.String() }),
    Type.Object({
      type: Type.Literal('image'),
      ...attachment,
      detail,
      url: Type.Optional(Type.String({ description: 'The address from which the image was read.' })),
      file_id: Type.Optional(Type.String({ description: 'The file of the project of which it is a copy.' })),
      name: Type.Optional(Type.String({ description: 'Of an image that a tool has written.' })),
    }),
    Type.Object({ type: Type.Literal('audio'), ...attachment }),
    Type.Object({
      type: Type.Literal('file'),
      ...attachment,
      name: Type.String(),
      file_id: Type.Optional(Type.String({ description: 'The file of the project that has the same bytes.' })),
    }),
  ],
  {
    title: 'MessagePart',
    about: 'A part of a stored message: text, or a file that is kept with it.',
    description: 'A part of a message that has more than text.',
  },
)
/** A file of the project that came with a message, to be searched in its thread, or read by code. */
export const FileOfMessage = Type.Object(
  {
    file_id: Type.String(),
    tools: Type.Array(
      Type.Object({
        type: Type.Enum(['file_search', 'code_interpreter'], {
          title: 'FileOfMessageTool',
          about: 'What a file of a message is for.',
        }),
      }),
    ),
  },
  { title: 'FileOfMessage', about: 'A file that came with a message.' },
)
export type FileOfMessage = Static<typeof FileOfMessage>
export type MessagePart = Static<typeof MessagePart>
export type AttachedPart = Exclude<MessagePart, { type: 'text' }>

export const isAttached = (part: MessagePart): part is AttachedPart => part.type !== 'text'
