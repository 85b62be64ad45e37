import Type, { type Static } from 'typebox'
import { languages } from './languages.ts'

/** How an assistant's chat bubble and public page look and speak; what is absent is as they have it by themselves. */
export const ChatLook = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: 80, description: "Default of the page: the assistant's name." })),
    greeting: Type.Optional(Type.String({ maxLength: 300 })),
    color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$', maxLength: 7, description: '`#rrggbb`' })),
    theme: Type.Optional(
      Type.Enum(['light', 'dark'], { description: 'Default: as the page, or as the reader has it.' }),
    ),
    language: Type.Optional(Type.Enum([...languages], { description: "Default: the page's, or the reader's." })),
  },
  { additionalProperties: false, description: 'How the chat bubble and the public page look and speak.' },
)
export type ChatLook = Static<typeof ChatLook>
