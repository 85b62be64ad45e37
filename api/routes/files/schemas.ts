import Type from 'typebox'
import type { FileRecord } from '../../../domain/records/file.ts'
import type { IngestionView as View } from '../../../services/knowledge/files.ts'
import { MadeBy, type Makers, PathId, Timestamp, toMaker } from '../schemas.ts'

export const FilesParams = Type.Object({ aid: PathId })
export const FileParams = Type.Object({ aid: PathId, file_id: PathId })
export const IngestionParams = Type.Object({ aid: PathId, ingestion_id: PathId })

export const UploadQuery = Type.Object({
  wait: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Whether to answer only when every file is ready or failed. Processing continues in any case.',
    }),
  ),
})

/** For the description only: the parts are read as they arrive. */
export const UploadBody = Type.Object(
  {
    files: Type.Array(Type.String({ format: 'binary' }), {
      minItems: 1,
      description: 'One or more files of any type and size. Every file part counts, whatever its name.',
    }),
  },
  { title: 'UploadFilesRequest', about: 'One or more files as multipart form data.' },
)

const shownStatuses = ['queued', 'processing', 'ready', 'failed'] as const

export const EmbeddedFile = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    metadata: Type.Object({
      content_type: Type.String({
        description: 'The content type, detected from the content; before the file is read, as declared by the upload',
      }),
      status: Type.Enum(shownStatuses, { title: 'FileStatus', about: 'Progress of the ingestion of a file.' }),
      chunks: Type.Integer({ description: 'Number of chunks so far' }),
      embedded: Type.Integer({ description: 'Number of chunks that can be found so far' }),
      characters: Type.Integer(),
      sha256: Type.String(),
      error: Type.Optional(Type.String({ description: 'Why a failed file failed' })),
      retryable: Type.Optional(
        Type.Boolean({
          description: 'For a failed file: whether the service caused the failure, so that a retry makes sense',
        }),
      ),
      scan: Type.Optional(
        Type.Object(
          {
            pages: Type.Integer({ description: 'Pages whose text was read from a picture' }),
            confidence: Type.Integer({ description: 'Mean confidence of their words', minimum: 0, maximum: 100 }),
            unreadable_pages: Type.Array(Type.Integer(), {
              description: 'Pages that are pictures without legible words, or more than are read of one file',
              maxItems: 1000,
            }),
          },
          {
            title: 'FileScan',
            about: 'What was read from the pages of a file that are pictures.',
            description: 'Only for a file that was read and has pages that are pictures',
          },
        ),
      ),
      created_by: MadeBy,
      created_at: Timestamp,
    }),
  },
  { title: 'EmbeddedFile', about: 'A file of an assistant and the progress of its ingestion.' },
)

export const FileList = Type.Object(
  { files: Type.Array(EmbeddedFile) },
  { title: 'FileList', about: 'The files of an assistant.' },
)
export const UploadResponse = Type.Object(
  { files: Type.Array(EmbeddedFile), ingestion_id: Type.String() },
  { title: 'UploadFilesResponse', about: 'The files of the upload, and the id of their ingestion.' },
)
export const RetryResponse = Type.Object(
  {
    file: EmbeddedFile,
    ingestion_id: Type.String({ description: 'The ingestion that shows the progress: that of the upload' }),
  },
  {
    title: 'RetryFileResponse',
    about: 'The file that is tried again, and the id of the ingestion that shows its progress.',
  },
)
export const FileDeleted = Type.Object(
  {
    id: Type.String(),
    deleted: Type.Boolean({ description: 'False while it is still under way (status 202).' }),
    receipt_id: Type.String({ description: 'Id of the receipt: GET /receipts/{id}.' }),
  },
  { title: 'FileDeleteResponse', about: 'The deletion of a file.' },
)
export const Ingestion = Type.Object(
  {
    ingestion_id: Type.String(),
    status: Type.Enum(['processing', 'done'], {
      title: 'IngestionStatus',
      about: 'Whether files are still being processed.',
    }),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    files: Type.Array(EmbeddedFile),
  },
  { title: 'Ingestion', about: 'The files of one upload and their progress.' },
)

export const makerOf = ({ user_id: holder, created_by: maker = holder }: FileRecord): string => maker

export function toFileAnswer(file: FileRecord, makers: Makers) {
  return {
    id: file._id,
    name: file.name,
    size: file.size,
    metadata: {
      content_type: file.content_type,
      status: toStatus(file),
      chunks: file.chunks,
      embedded: file.embedded,
      characters: file.characters,
      sha256: file.sha256,
      ...(file.scan && { scan: file.scan }),
      ...(file.error === undefined ? {} : { error: file.error }),
      ...(file.status === 'failed' ? { retryable: file.retryable !== false } : {}),
      created_by: toMaker(makers, makerOf(file)),
      created_at: file.created_at.toISOString(),
    },
  }
}

function toStatus({ status }: FileRecord): (typeof shownStatuses)[number] {
  switch (status) {
    case 'uploading':
      return 'queued'
    case 'failing':
      return 'processing'
    default:
      return status
  }
}

export function toIngestion({ page, ...view }: View, makers: Makers) {
  return { ...view, files: page.entries.map((file) => toFileAnswer(file, makers)) }
}
