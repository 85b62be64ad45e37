import Type, { type Static } from 'typebox'
import { type WrittenFile, mentionsOf } from '../../../domain/responses/written-files.ts'

/** Code of an assistant as the assistants API shows it: in steps, and in messages. */

const Logs = Type.Object(
  { type: Type.Literal('logs'), logs: Type.String() },
  { title: 'V1CodeLogs', about: 'What code has printed.' },
)
const Image = Type.Object(
  { type: Type.Literal('image'), image: Type.Object({ file_id: Type.String() }) },
  { title: 'V1CodeImage', about: 'An image that code has drawn, as a file.' },
)
export const CodeCall = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('code_interpreter'),
    code_interpreter: Type.Object({ input: Type.String(), outputs: Type.Array(Type.Union([Logs, Image])) }),
  },
  { title: 'V1CodeCall', about: 'Code that was executed in a step.' },
)
export const FilePath = Type.Object(
  {
    type: Type.Literal('file_path'),
    text: Type.String(),
    start_index: Type.Integer(),
    end_index: Type.Integer(),
    file_path: Type.Object({ file_id: Type.String() }),
  },
  { title: 'V1FilePath', about: 'A file that code has written, and where a text names it.' },
)

/** Where a text names files that code has written, as far as they are files of the project. */
export function filePathsIn(text: string, files: WrittenFile[]): Static<typeof FilePath>[] {
  return mentionsOf(text, files).flatMap(({ file: { fileId }, text: named, start, end }) =>
    fileId === undefined
      ? []
      : [{ type: 'file_path', text: named, start_index: start, end_index: end, file_path: { file_id: fileId } }],
  )
}
