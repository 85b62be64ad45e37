import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import type { Listening, Recording } from '../../../services/audio/index.ts'
import { brokenOff } from '../../../services/knowledge/upload.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { nameOf, uploadLimits } from '../files/parts.ts'
import { nullable } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'
import { type V1Deps, operation, strict, v1Config, v1Refusals } from './v1-route.ts'

/** As the interface says. */
const maxRecordingBytes = 25 * 1024 * 1024
const maxInputLength = 4096

/** For the description only: the parts are read as they arrive. */
const RecordingBody = Type.Object(
  {
    file: Type.String({ format: 'binary', description: 'A recording of up to 25 MB.' }),
    model: Type.String(),
    language: Type.Optional(Type.String({ description: 'Of the recording (ISO 639-1).' })),
    prompt: Type.Optional(Type.String()),
    response_format: Type.Optional(Type.Enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'])),
    temperature: Type.Optional(Type.String()),
    'timestamp_granularities[]': Type.Optional(Type.String()),
    'include[]': Type.Optional(Type.String()),
    chunking_strategy: Type.Optional(Type.String()),
  },
  { title: 'V1TranscriptionRequest', about: 'A recording, as multipart form data.' },
)
/** They are passed on; the server judges their values. */
const passedOn = Object.keys(RecordingBody.properties).filter((name) => name !== 'file' && name !== 'model')

const SpeechBody = strict(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    input: Type.String({ minLength: 1, maxLength: maxInputLength }),
    voice: Type.Optional(
      nullable(
        Type.Union([
          Type.String({ minLength: 1, maxLength: 200 }),
          strict({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
        ]),
      ),
    ),
    response_format: Type.Optional(nullable(Type.Enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']))),
    speed: Type.Optional(nullable(Type.Number({ minimum: 0.25, maximum: 4 }))),
    instructions: Type.Optional(nullable(Type.String({ maxLength: maxInputLength }))),
    stream_format: Type.Optional(nullable(Type.Enum(['audio']))),
  },
  { title: 'V1SpeechRequest', about: 'A text to read aloud.' },
)

const answer = {
  description: 'What the server has written down, in the form that was wanted.',
  content: {
    'application/json': { schema: Type.Unsafe<string>({ type: 'object', additionalProperties: true }) },
    'text/plain': { schema: Type.Unsafe<string>({ type: 'string' }) },
  },
}

/** `audio`: recordings and spoken texts, through the servers of the settings. */
export const v1AudioRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { audio } }) => {
  await app.register(multipart)

  for (const [kind, summary] of [
    ['transcriptions', 'Write down what is said in a recording'],
    ['translations', 'Write down in English what is said in a recording'],
  ] as const) {
    app.post(
      `/audio/${kind}`,
      {
        config: { ...v1Config, isUpload: true, staysOpen: true, limits: ['runs_user'] },
        ...streamedBody(app),
        schema: {
          ...operation(`audio.${kind}.create`, summary),
          consumes: ['multipart/form-data'],
          body: RecordingBody,
          response: { 200: answer, ...v1Refusals(402, 413, 429, 502, 503, 504) },
        },
      },
      async (request, reply) => {
        if (!request.isMultipart())
          throw new AppError('unsupported_media_type', 'Send the recording as multipart/form-data.')
        const { projectId } = callerOf(request)
        const giveBack = audio.reserve(maxRecordingBytes)
        try {
          const { model, recording } = await readRecording(request, kind)
          const { contentType, text } = await audio.listen({ projectId, model, kind, recording }, request.signal)
          return await reply.type(textType(contentType)).send(text)
        } finally {
          giveBack()
        }
      },
    )
  }

  app.post(
    '/audio/speech',
    {
      config: { ...v1Config, staysOpen: true, limits: ['runs_user'] },
      schema: {
        ...operation('audio.speech.create', 'Read a text aloud'),
        body: SpeechBody,
        response: {
          200: {
            description: 'The sound, while it is made.',
            content: {
              'application/octet-stream': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
            },
          },
          ...v1Refusals(402, 429, 502, 503, 504),
        },
      },
    },
    async (request, reply) => {
      const { model, input, voice, response_format: format, speed, instructions } = request.body
      const others = {
        ...(format ? { response_format: format } : {}),
        ...(speed ? { speed } : {}),
        ...(instructions ? { instructions } : {}),
      }
      const named = typeof voice === 'object' && voice !== null ? voice.id : voice
      const text = { input, others, ...(named ? { voice: named } : {}) }
      const { projectId } = callerOf(request)
      const { contentType, bytes } = await audio.speak({ projectId, model, text }, request.signal)
      return reply.type(contentType).header('x-content-type-options', 'nosniff').send(bytes)
    },
  )
}

/** A page that a server answers must not be opened as one. */
function textType(given: string): string {
  return /json/i.test(given) ? 'application/json' : 'text/plain; charset=utf-8'
}

async function readRecording(
  request: FastifyRequest,
  kind: Listening,
): Promise<{ model: string; recording: Recording }> {
  const members: [string, string][] = []
  let model: string | undefined
  let file: Omit<Recording, 'members'> | undefined
  if (request.raw.destroyed) throw brokenOff(new Error('the connection was closed'))
  for await (const part of partsOf(request)) {
    if (part.type === 'file') {
      if (part.fieldname !== 'file' || file !== undefined)
        throw invalidInput(['body', part.fieldname], 'is not known', 'additionalProperties')
      const bytes = await part.toBuffer().catch(refuseLarge)
      file = { name: nameOf(part.filename), contentType: part.mimetype, bytes }
      continue
    }
    const value = typeof part.value === 'string' ? part.value : ''
    if (part.fieldname === 'model') model = value
    else if (part.fieldname === 'stream' && value !== 'true') continue
    else if (part.fieldname === 'stream') throw invalidInput(['body', 'stream'], 'is not supported', 'unsupported')
    else if (passedOn.includes(part.fieldname)) members.push([part.fieldname, value])
    else throw invalidInput(['body', part.fieldname], 'is not known', 'additionalProperties')
  }
  if (file === undefined) throw invalidInput(['body', 'file'], 'is required', 'missing')
  if (model === undefined || model === '') throw invalidInput(['body', 'model'], 'is required', 'missing')
  if (kind === 'translations' && members.some(([name]) => name === 'language'))
    throw invalidInput(['body', 'language'], 'is not known: translations are in English', 'additionalProperties')
  return { model, recording: { ...file, members } }
}

async function* partsOf(request: FastifyRequest) {
  try {
    yield* request.parts({ limits: { ...uploadLimits, fileSize: maxRecordingBytes } })
  } catch (error) {
    throw brokenOff(error)
  }
}

function refuseLarge(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'FST_REQ_FILE_TOO_LARGE')
    throw new AppError('payload_too_large', 'file is larger than 25 MB.')
  throw brokenOff(error)
}
